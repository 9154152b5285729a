//! An engine that fails.

use crate::cut::Cut;
use twiceshy_store::engine::{Changes, Durability, Engine, EngineError, Read, Watch, Watched};

/// What has become of a commit that failed. An engine can't promise either: the error may
/// come before the commit or after it, on the way back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailedWrite {
    /// Nothing of it is there.
    NotApplied,
    /// All of it is there.
    Applied,
}

/// Fails where a [`Cut`] says so.
///
/// Every snapshot, get, range, write and sync is one operation. A range that fails has handed
/// out its first entry, if there is one: nobody may use what he saw of it.
#[derive(Debug)]
pub struct Failing<E> {
    engine: E,
    cut: Cut,
    failed: FailedWrite,
}

impl<E> Failing<E> {
    /// The same engine with failures.
    pub fn new(engine: E, cut: Cut, failed: FailedWrite) -> Self {
        Failing {
            engine,
            cut,
            failed,
        }
    }

    /// The engine behind it, which doesn't fail.
    pub fn inner(&self) -> &E {
        &self.engine
    }

    /// The engine behind it.
    pub fn into_inner(self) -> E {
        self.engine
    }
}

fn failure(doing: &'static str) -> EngineError {
    EngineError::new("failing engine", doing, "an injected failure")
}

impl<E: Engine> Engine for Failing<E> {
    type Snapshot<'e>
        = Watched<'e, E::Snapshot<'e>, Self>
    where
        E: 'e;

    fn snapshot(&self) -> Result<Self::Snapshot<'_>, EngineError> {
        if !self.cut.passes() {
            return Err(failure("reading"));
        }
        Ok(Watched::new(self.engine.snapshot()?, self))
    }

    fn write(&self, changes: &Changes, durability: Durability) -> Result<(), EngineError> {
        let passes = self.cut.passes();
        if passes || self.failed == FailedWrite::Applied {
            self.engine.write(changes, durability)?;
        }
        passes.then_some(()).ok_or_else(|| failure("committing"))
    }

    fn sync(&self) -> Result<(), EngineError> {
        let passes = self.cut.passes();
        if passes || self.failed == FailedWrite::Applied {
            self.engine.sync()?;
        }
        passes.then_some(()).ok_or_else(|| failure("syncing"))
    }

    fn max_key_len(&self) -> usize {
        self.engine.max_key_len()
    }

    fn name(&self) -> &'static str {
        self.engine.name()
    }
}

impl<E> Watch for Failing<E> {
    fn before(&self, _read: Read) -> Result<(), EngineError> {
        let passes = self.cut.passes();
        passes.then_some(()).ok_or_else(|| failure("reading"))
    }
}
