//! What a check of a filter's memory found to be wrong.

use std::fmt;

use crate::error::Error;

/// An invariant that does not hold, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    what: &'static str,
    at: u64,
}

impl Violation {
    pub(crate) fn new(what: &'static str, at: u64) -> Self {
        Violation { what, at }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at {})", self.what, self.at)
    }
}

impl std::error::Error for Violation {}

/// For those who verify a filter against its keys.
impl From<Violation> for Error {
    fn from(violation: Violation) -> Self {
        Error::mismatch(violation.to_string())
    }
}
