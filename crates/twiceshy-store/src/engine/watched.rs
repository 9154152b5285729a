//! Snapshots of engines that stand around another one.

use std::ops::ControlFlow;

use super::{Bounds, EngineError, Snapshot, Table};

/// What an engine does about each read of the one behind it: counts it, delays it, lets it fail.
pub trait Watch {
    /// Is called before each read.
    ///
    /// # Errors
    /// The end of the read. A range hands out its first entry all the same, if there is one: nobody
    /// may use what he saw of a range that failed.
    fn before(&self, read: Read) -> Result<(), EngineError>;

    /// Is called after a range that has handed out so many entries.
    fn handed_out(&self, _entries: u64) {}
}

/// A read of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// Of a value.
    Get,
    /// Of the entries in a range.
    Range,
}

/// The tables of an engine at one moment, as another one shows them.
#[derive(Debug)]
pub struct Watched<'e, S, W> {
    snapshot: S,
    watch: &'e W,
}

impl<'e, S, W> Watched<'e, S, W> {
    /// A snapshot whose reads are watched.
    pub fn new(snapshot: S, watch: &'e W) -> Self {
        Watched { snapshot, watch }
    }
}

impl<S: Snapshot, W: Watch> Snapshot for Watched<'_, S, W> {
    fn get<T>(
        &self,
        table: Table,
        key: &[u8],
        read: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, EngineError> {
        self.watch.before(Read::Get)?;
        self.snapshot.get(table, key, read)
    }

    fn range(
        &self,
        table: Table,
        bounds: Bounds<'_>,
        mut each: impl FnMut(&[u8], &[u8]) -> ControlFlow<()>,
    ) -> Result<(), EngineError> {
        let verdict = self.watch.before(Read::Range);
        let mut entries = 0;
        let read = self.snapshot.range(table, bounds, |key, value| {
            entries += 1;
            match (each(key, value), &verdict) {
                (flow, Ok(())) => flow,
                (_, Err(_)) => ControlFlow::Break(()),
            }
        });
        self.watch.handed_out(entries);
        verdict.and(read)
    }
}
