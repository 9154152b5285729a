//! How a step of a game ends early.

use std::fmt;

use crate::source::Exhausted;

/// Why a step did not come to its end.
pub(super) enum Stop {
    /// The source has no more choices.
    Exhausted,
    /// Something is not as foretold.
    Failed(String),
}

impl From<Exhausted> for Stop {
    fn from(_: Exhausted) -> Self {
        Stop::Exhausted
    }
}

pub(super) fn fail<T>(what: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Failed(what.into()))
}

pub(super) fn expect<T: PartialEq + fmt::Debug>(
    what: &str,
    found: T,
    expected: T,
) -> Result<(), Stop> {
    if found == expected {
        Ok(())
    } else {
        fail(format!("{what} is {found:?}, not {expected:?}"))
    }
}
