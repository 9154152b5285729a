//! What can go wrong in a database.

use std::error::Error;
use std::fmt;

/// An error of the database behind a store, in its own words.
#[derive(Debug)]
pub struct EngineError {
    engine: &'static str,
    doing: &'static str,
    source: Box<dyn Error + Send + Sync>,
}

impl EngineError {
    /// While `engine` was `doing` something ("reading", "committing").
    pub fn new(
        engine: &'static str,
        doing: &'static str,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        EngineError {
            engine,
            doing,
            source: source.into(),
        }
    }

    /// What the database said.
    #[must_use]
    pub fn cause(&self) -> &(dyn Error + Send + Sync + 'static) {
        &*self.source
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} failed while {}: {}",
            self.engine, self.doing, self.source
        )
    }
}

impl Error for EngineError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.source)
    }
}
