//! A reverse map in an engine.

use std::ops::{ControlFlow, RangeInclusive};

use twiceshy::ReverseMap;

use crate::engine::{Changes, Durability, Engine, EngineError, Snapshot, Table};
use crate::hash_order;

/// Keys that are committed together when there are many.
const KEYS_PER_COMMIT: usize = 1 << 13;

/// A reverse map in any [engine](crate::engine), for a [`Guard`](crate::Guard) or for an adaptive filter of
/// your own. It has the engine's table [`Even`](Table::Even) to itself; the other tables are
/// left alone.
///
/// Each insertion is a commit, [`Sync`](Durability::Sync) by default, so that the map knows after
/// a crash what your database knows; a rebuild makes one of some thousand keys. With [`Buffered`](Durability::Buffered) commits,
/// [`rebuild`](crate::Guard::rebuild) the guard after a crash.
#[derive(Clone, Debug)]
pub struct EngineMap<E> {
    engine: E,
    durability: Durability,
}

impl<E: Engine> EngineMap<E> {
    /// In this engine.
    pub fn new(engine: E) -> Self {
        EngineMap {
            engine,
            durability: Durability::Sync,
        }
    }

    /// With commits of this durability.
    #[must_use]
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// The engine.
    pub fn engine(&self) -> &E {
        &self.engine
    }

    fn is_listed(&self, entry: &[u8]) -> Result<bool, EngineError> {
        is_listed(&self.engine.snapshot()?, entry)
    }
}

fn is_listed(snapshot: &impl Snapshot, entry: &[u8]) -> Result<bool, EngineError> {
    Ok(snapshot.get(Table::Even, entry, |_| ())?.is_some())
}

impl<E: Engine> ReverseMap for EngineMap<E> {
    type Error = EngineError;

    fn keys(
        &self,
        h0: RangeInclusive<u64>,
        mut each: impl FnMut(u64, &[u8]),
    ) -> Result<(), EngineError> {
        let snapshot = self.engine.snapshot()?;
        hash_order::scan(&snapshot, Table::Even, &h0, |h0, key, _| {
            each(h0, key);
            ControlFlow::Continue(())
        })
    }

    fn insert(&mut self, h0: u64, key: &[u8]) -> Result<bool, EngineError> {
        let entry = hash_order::entry(h0, key);
        if self.is_listed(&entry)? {
            return Ok(false);
        }
        let mut changes = Changes::new();
        changes.put(Table::Even, entry, Vec::new());
        self.engine.write(&changes, self.durability)?;
        Ok(true)
    }

    fn insert_all<K: AsRef<[u8]>>(
        &mut self,
        keys: impl IntoIterator<Item = (u64, K)>,
    ) -> Result<(), EngineError> {
        let mut keys = keys.into_iter().peekable();
        while keys.peek().is_some() {
            let some = keys.by_ref().take(KEYS_PER_COMMIT);
            let mut entries: Vec<_> = some
                .map(|(h0, key)| hash_order::entry(h0, key.as_ref()))
                .collect();
            // Neighbours share pages.
            entries.sort_unstable();
            entries.dedup();
            let snapshot = self.engine.snapshot()?;
            let mut changes = Changes::new();
            for entry in entries {
                if !is_listed(&snapshot, &entry)? {
                    changes.put(Table::Even, entry, Vec::new());
                }
            }
            drop(snapshot);
            if !changes.is_empty() {
                self.engine.write(&changes, self.durability)?;
            }
        }
        Ok(())
    }

    fn remove(&mut self, h0: u64, key: &[u8]) -> Result<bool, EngineError> {
        let entry = hash_order::entry(h0, key);
        if !self.is_listed(&entry)? {
            return Ok(false);
        }
        let mut changes = Changes::new();
        changes.delete(Table::Even, entry);
        self.engine.write(&changes, self.durability)?;
        Ok(true)
    }
}
