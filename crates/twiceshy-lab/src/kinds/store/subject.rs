//! What is measured: a store of any kind, behind one small face.

use std::ops::Range;

use anyhow::Result;
use twiceshy_store::attack::Attacker;
use twiceshy_store::engine::{Counting, Counts, Snapshot, Table};
use twiceshy_store::{Batch, Durability, Engine, Layout, Stats, Store};

use super::data::{Data, Key};

/// Whether a batch asks for its keys first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Write {
    /// `put`: they may be there.
    Put,
    /// `insert_new`: the caller knows that they are not.
    InsertNew,
}

/// What is filled with records.
pub(super) trait Writes {
    /// Writes records, `batch` in each commit.
    fn insert(&self, data: Data, numbers: Range<u64>, batch: usize, write: Write) -> Result<()>;

    /// Makes what was written safe.
    fn sync(&self) -> Result<()>;
}

/// A store that is measured.
pub(super) trait Subject: Writes + Sync {
    /// Asks for all of these keys; says how many there are.
    fn ask(&self, keys: &[Key]) -> Result<u64>;

    /// Asks for keys under the engine's own roof, without filter and store: one snapshot for
    /// each, or one for all.
    fn ask_engine(&self, keys: &[Key], one_snapshot: bool) -> Result<u64>;

    /// Asks for keys that are not there, while an attacker watches the reads.
    fn watch(&self, keys: &[Key], attacker: &mut Attacker<Key>) -> Result<()>;

    /// What was asked of the engine so far.
    fn counts(&self) -> Counts;

    fn stats(&self) -> Stats;

    /// Begins to change the seed.
    fn rotate(&self) -> Result<()>;

    fn is_rotating(&self) -> bool;

    /// Saves the filter and ends.
    fn close(self: Box<Self>) -> Result<()>;
}

impl<E: Engine, L: Layout> Writes for Store<Counting<E>, L> {
    fn insert(&self, data: Data, numbers: Range<u64>, batch: usize, write: Write) -> Result<()> {
        for first in numbers.clone().step_by(batch) {
            let mut records = Batch::new();
            records.durability(Durability::Buffered);
            for i in first..numbers.end.min(first + batch as u64) {
                match write {
                    Write::Put => records.put(data.member(i), data.value(i)),
                    Write::InsertNew => records.insert_new(data.member(i), data.value(i)),
                };
            }
            self.write(records)?;
        }
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        Ok(Store::sync(self)?)
    }
}

impl<E: Engine, L: Layout> Subject for Store<Counting<E>, L> {
    fn ask(&self, keys: &[Key]) -> Result<u64> {
        let mut found = 0;
        for key in keys {
            found += u64::from(self.get_with(key, |_| ())?.is_some());
        }
        Ok(found)
    }

    fn ask_engine(&self, keys: &[Key], one_snapshot: bool) -> Result<u64> {
        let engine = self.engine().inner();
        let mut found = 0;
        let mut snapshot = engine.snapshot()?;
        for key in keys {
            if !one_snapshot {
                snapshot = engine.snapshot()?;
            }
            // As long as the keys that are there, in the table where most of them are.
            let mut entry = [0; 8 + size_of::<Key>()];
            entry[..8].copy_from_slice(&key[8..]);
            entry[8..].copy_from_slice(key);
            found += u64::from(snapshot.get(Table::Even, &entry, |_| ())?.is_some());
        }
        Ok(found)
    }

    fn watch(&self, keys: &[Key], attacker: &mut Attacker<Key>) -> Result<()> {
        for key in keys {
            let before = self.engine().counts().reads();
            self.get_with(key, |_| ())?;
            attacker.hear(key, self.engine().counts().reads() > before);
        }
        Ok(())
    }

    fn counts(&self) -> Counts {
        self.engine().counts()
    }

    fn stats(&self) -> Stats {
        Store::stats(self)
    }

    fn rotate(&self) -> Result<()> {
        Ok(Store::rotate(self)?)
    }

    fn is_rotating(&self) -> bool {
        Store::is_rotating(self)
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(Store::close(*self)?)
    }
}
