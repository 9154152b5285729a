//! The one error type of this crate.

use std::fmt;

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
    /// The operating system gave no random seed.
    Seed {
        /// The system's own words.
        reason: String,
    },
}

impl Error {
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
                "the filter is full: {used} of {slots} slots are used and none is free where \
                 one is needed; build it with a larger capacity"
            ),
            Error::Geometry { reason } => write!(f, "this filter can't be built: {reason}"),
            Error::Seed { reason } => write!(
                f,
                "the system gave no random seed ({reason}); pass one with `seed`"
            ),
        }
    }
}

impl std::error::Error for Error {}
