//! What can go wrong beside somebody else's database.

use std::error::Error;
use std::fmt;

/// What can go wrong in a [`Guard`](super::Guard). `M` is the error of its reverse map.
#[derive(Debug)]
#[non_exhaustive]
pub enum GuardError<M> {
    /// The reverse map failed.
    Map(M),
    /// The filter could not be built or does not fit the map.
    Filter(twiceshy::Error),
    /// The hashes in the map were made with another seed.
    Seed,
    /// The key that was said to be deleted is still listed.
    StillThere,
    /// The filter has no room and may not grow.
    Full,
}

impl<M> GuardError<M> {
    /// Of an error that the builder can make.
    pub(crate) fn from_store(error: crate::Error) -> Self {
        match error {
            crate::Error::Filter(error) => GuardError::Filter(error),
            other => GuardError::Filter(twiceshy::Error::Geometry {
                reason: other.to_string(),
            }),
        }
    }
}

impl<M> GuardError<M> {
    /// What went wrong, but for what the map has to say of it.
    pub(super) fn reason(&self) -> String {
        match self {
            GuardError::Map(_) => "the reverse map failed".to_owned(),
            GuardError::Filter(error) => {
                format!("{error}; if keys were written without the guard, `rebuild` it")
            }
            GuardError::Seed => {
                "the hashes in the reverse map were made with another seed; open the \
                                 guard with `seed`, with what `Guard::seed` said then"
                    .to_owned()
            }
            GuardError::StillThere => {
                "the key is listed in the reverse map, or somebody is inserting \
                                       it; commit the deletion first, then call `deleted`"
                    .to_owned()
            }
            GuardError::Full => {
                "the filter has no room for another key and is not allowed to grow; \
                                 give it a larger capacity or `WhenFull::Grow`"
                    .to_owned()
            }
        }
    }
}

impl<M: fmt::Display> fmt::Display for GuardError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason())?;
        match self {
            GuardError::Map(error) => write!(f, ": {error}"),
            _ => Ok(()),
        }
    }
}

impl<M: Error + 'static> Error for GuardError<M> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            GuardError::Map(error) => Some(error),
            GuardError::Filter(error) => Some(error),
            _ => None,
        }
    }
}

impl<M> From<twiceshy::Error> for GuardError<M> {
    fn from(error: twiceshy::Error) -> Self {
        GuardError::Filter(error)
    }
}
