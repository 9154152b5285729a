//! The one error type of this crate.

use std::{fmt, io};

use crate::engine::EngineError;

/// What can go wrong in a store.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The database failed. What was to be written may be there, all of it, or not at all.
    Engine(EngineError),
    /// A filter could not be built: impossible measures, or no memory for it.
    Filter(twiceshy::Error),
    /// A file beside the database could not be written.
    Files {
        /// What was being done.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The key is longer than the engine can take.
    KeyTooLong {
        /// Bytes of the key.
        len: usize,
        /// Bytes that it may have.
        max: usize,
        /// The engine.
        engine: &'static str,
    },
    /// The filter has no room and may not grow ([`WhenFull::Refuse`](crate::WhenFull::Refuse)).
    /// Nothing has changed.
    Full {
        /// Records that the store holds.
        records: u64,
    },
    /// What the database holds was not written by such a store.
    Foreign {
        /// What it is, and what to do.
        reason: String,
    },
    /// [`verify`](crate::Store::verify) found something that must not be.
    Inconsistent {
        /// What.
        reason: String,
    },
}

impl Error {
    pub(crate) fn foreign(reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Error::Foreign { reason }
    }

    pub(crate) fn inconsistent(reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Error::Inconsistent { reason }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Engine(error) => write!(f, "the database failed: {error}"),
            Error::Filter(error) => write!(f, "the filter can't be built: {error}"),
            Error::Files { doing, source } => write!(
                f,
                "{doing} failed: {source}; the records are safe, and the filter is built from \
                 them when the store is opened again"
            ),
            Error::KeyTooLong { len, max, engine } => write!(
                f,
                "a key of {len} bytes is too long for {engine}, which leaves {max} bytes for keys \
                 here; use a digest of the key, or another engine"
            ),
            Error::Full { records } => write!(
                f,
                "the filter has no room for more than these {records} records and is not allowed \
                 to grow; open the store with a larger capacity or `WhenFull::Grow`"
            ),
            Error::Foreign { reason } => write!(f, "this database is no store of ours: {reason}"),
            Error::Inconsistent { reason } => write!(
                f,
                "the store is damaged: {reason}; please report this, with what happened before"
            ),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Engine(error) => Some(error),
            Error::Filter(error) => Some(error),
            Error::Files { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl From<EngineError> for Error {
    fn from(error: EngineError) -> Self {
        Error::Engine(error)
    }
}

impl From<twiceshy::Error> for Error {
    fn from(error: twiceshy::Error) -> Self {
        Error::Filter(error)
    }
}
