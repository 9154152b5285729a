//! The one error type of this crate.

use std::{fmt, io};

use crate::minirun::Minirun;

/// What can go wrong in a filter. Every operation that returns one of these has
/// changed nothing.
///
/// ```
/// use twiceshy::{Error, QuotientFilter};
///
/// let Err(error) = QuotientFilter::new(1_000, 2.0) else { panic!() };
/// assert!(matches!(error, Error::Geometry { .. }));
/// assert!(error.to_string().contains("between 0 and 1"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// No free slot is left where one was needed.
    Full {
        /// The slots that hold something.
        used: u64,
        /// All slots of the table, the spare ones at its end included.
        slots: u64,
    },
    /// A size, rate or width that no filter can have, or more memory than the system has.
    Geometry {
        /// What was asked for and what would do instead.
        reason: String,
    },
    /// The filters can't be merged: they differ in what must be equal, or say different
    /// things about the same minirun.
    Merge {
        /// The difference.
        reason: String,
    },
    /// The keys that were given are not those of the minirun, or not in the right order.
    Mismatch {
        /// What does not fit.
        reason: String,
    },
    /// The minirun holds more than the operation can tell apart without its keys.
    NeedsKeys {
        /// The minirun whose keys to give.
        minirun: Minirun,
    },
    /// A block has no room for what is to be remembered, and making some takes the keys
    /// of its neighbourhood.
    NeedsHashes {
        /// The lowest first hash word of the keys to give.
        first: u64,
        /// The highest.
        last: u64,
    },
    /// Keys that were said to be in the order of their hashes are not.
    Unsorted {
        /// The first key, counted from zero, whose hash is lower than the one before.
        position: u64,
    },
    /// Two different keys whose hashes agree for [`Hashed::MAX_WORDS`] words. With random
    /// seeds this does not happen; with chosen hashes it can.
    ///
    /// [`Hashed::MAX_WORDS`]: crate::hash::Hashed::MAX_WORDS
    Inseparable,
    /// A count beyond `u64::MAX`.
    Overflow,
    /// Bytes that are no file of this library, or one of another kind than was asked for.
    Format {
        /// What they are, and what was expected.
        reason: String,
    },
    /// A file that is damaged or was never right.
    Corrupt {
        /// What is wrong, and where.
        reason: String,
    },
    /// A delta was made for another file.
    Delta {
        /// What does not fit.
        reason: String,
    },
    /// A file could not be read.
    Io {
        /// The kind of the reader's error.
        kind: io::ErrorKind,
        /// The reader's own words.
        reason: String,
    },
    /// The operating system gave no random seed.
    Seed {
        /// The system's own words.
        reason: String,
    },
}

impl Error {
    pub(crate) fn merge(reason: impl Into<String>) -> Self {
        Error::Merge {
            reason: reason.into(),
        }
    }

    pub(crate) fn mismatch(reason: impl Into<String>) -> Self {
        Error::Mismatch {
            reason: reason.into(),
        }
    }

    pub(crate) fn format(reason: impl Into<String>) -> Self {
        Error::Format {
            reason: reason.into(),
        }
    }

    pub(crate) fn corrupt(reason: impl Into<String>) -> Self {
        Error::Corrupt {
            reason: reason.into(),
        }
    }

    pub(crate) fn geometry(reason: impl Into<String>) -> Self {
        Error::Geometry {
            reason: reason.into(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Full { used, slots } => write!(
                f,
                "the filter is full: {used} of {slots} slots are used or needed and none is free \
                 where one is needed; give it more slots: `rebuild` with the keys, `doubled` \
                 without, or a larger capacity from the start"
            ),
            Error::Geometry { reason } => write!(f, "this filter can't be built: {reason}"),
            Error::Merge { reason } => write!(f, "these filters can't be merged: {reason}"),
            Error::Mismatch { reason } => write!(f, "the keys do not fit the filter: {reason}"),
            Error::NeedsKeys { minirun } => write!(
                f,
                "minirun {} holds fingerprints that can't be told apart without its keys; read \
                 them from the reverse map and use the method that takes them",
                minirun.id()
            ),
            Error::NeedsHashes { first, last } => write!(
                f,
                "this takes all keys whose first hash words are from {first} to {last}; read them \
                 from the reverse map and use the method that takes them"
            ),
            Error::Unsorted { position } => write!(
                f,
                "the key at position {position} (counted from 0) has a lower hash than the one \
                 before it; sort the keys by their first hash word under the filter's seed, or \
                 use a method that takes them in any order"
            ),
            Error::Inseparable => write!(
                f,
                "two different keys have the same hash, however long; use another seed"
            ),
            Error::Overflow => write!(f, "a count would exceed 2^64 - 1"),
            Error::Format { reason } => write!(
                f,
                "this file can't be opened here: {reason}; open it as what it is (`any::peek` \
                 tells), with the version that wrote it or a later one"
            ),
            Error::Corrupt { reason } => write!(
                f,
                "the file is damaged: {reason}; take another copy of it, or build the filter \
                 again from its keys"
            ),
            Error::Delta { reason } => write!(
                f,
                "the delta can't be applied: {reason}; apply all deltas in the order in which they \
                 were made, or fetch the whole file"
            ),
            Error::Io { reason, .. } => write!(f, "the file could not be read: {reason}"),
            Error::Seed { reason } => write!(
                f,
                "the system gave no random seed ({reason}); pass one with `seed`"
            ),
        }
    }
}

impl std::error::Error for Error {}
