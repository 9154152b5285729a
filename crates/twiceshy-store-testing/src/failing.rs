//! An engine that fails.

use std::ops::ControlFlow;

use crate::cut::Cut;
use twiceshy_store::engine::{Bounds, Changes, Durability, Engine, EngineError, Snapshot, Table};

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
        = FailingSnapshot<'e, E::Snapshot<'e>>
    where
        E: 'e;

    fn snapshot(&self) -> Result<Self::Snapshot<'_>, EngineError> {
        if !self.cut.passes() {
            return Err(failure("reading"));
        }
        let snapshot = self.engine.snapshot()?;
        Ok(FailingSnapshot {
            snapshot,
            cut: &self.cut,
        })
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

/// The tables of a [`Failing`] engine at one moment.
#[derive(Debug)]
pub struct FailingSnapshot<'e, S> {
    snapshot: S,
    cut: &'e Cut,
}

impl<S: Snapshot> Snapshot for FailingSnapshot<'_, S> {
    fn get<T>(
        &self,
        table: Table,
        key: &[u8],
        read: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, EngineError> {
        match self.cut.passes() {
            true => self.snapshot.get(table, key, read),
            false => Err(failure("reading")),
        }
    }

    fn range(
        &self,
        table: Table,
        bounds: Bounds<'_>,
        mut each: impl FnMut(&[u8], &[u8]) -> ControlFlow<()>,
    ) -> Result<(), EngineError> {
        if self.cut.passes() {
            return self.snapshot.range(table, bounds, each);
        }
        self.snapshot.range(table, bounds, |key, value| {
            let _ = each(key, value);
            ControlFlow::Break(())
        })?;
        Err(failure("reading"))
    }
}
