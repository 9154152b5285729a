//! Records in the places of an adaptive cuckoo filter's fingerprints, in a real database.
//!
//! The filter must know the key of every fingerprint that it moves, and a fingerprint that moves
//! takes its record along: each kick of an insertion is a read, a removal and an insertion in the
//! database. This is what figure 5 of the paper shows; nobody should build a store this way.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;

use anyhow::Result;
use twiceshy::cuckoo::{AdaptiveCuckooFilter, LockStep, Scheme};
use twiceshy::hash::Seed;
use twiceshy_store::engine::{Changes, Snapshot, Table};
use twiceshy_store::{Durability, Engine, EngineError};

use super::data::{Data, Key};
use super::subject::{Write, Writes};

/// An adaptive cuckoo filter, and its records by cell.
pub(super) struct CuckooStore<E>(RefCell<(AdaptiveCuckooFilter, Cells<E>)>);

struct Cells<E> {
    engine: E,
    /// What the next commit changes.
    pending: HashMap<u64, Option<Vec<u8>>>,
    /// The value of the record that is being put.
    value: Vec<u8>,
}

impl<E: Engine> CuckooStore<E> {
    /// An empty one that `keys` records fill to 90%.
    pub(super) fn new(engine: E, keys: u64) -> Result<Self> {
        let filter = AdaptiveCuckooFilter::builder(Scheme::Swapping)
            .bins((keys as f64 / 0.9 / 4.0).ceil() as u64)
            .fingerprint_bits(12)
            .seed(Seed::from_u64(1))
            .build()?;
        let cells = Cells {
            engine,
            pending: HashMap::new(),
            value: Vec::new(),
        };
        Ok(CuckooStore(RefCell::new((filter, cells))))
    }
}

impl<E: Engine> Writes for CuckooStore<E> {
    fn insert(&self, data: Data, numbers: Range<u64>, batch: usize, write: Write) -> Result<()> {
        let (filter, cells) = &mut *self.0.borrow_mut();
        for first in numbers.clone().step_by(batch) {
            for i in first..numbers.end.min(first + batch as u64) {
                let key = data.member(i);
                let hashed = filter.hash(&key[..]);
                if write == Write::InsertNew || !filter.is_member_hashed(&hashed, cells)? {
                    cells.value = data.value(i);
                    filter.insert_hashed(&hashed, cells)?;
                }
            }
            cells.commit()?;
        }
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        Ok(self.0.borrow().1.engine.sync()?)
    }
}

/// Cells in order are keys in order.
fn key_of(cell: u64) -> [u8; 8] {
    cell.swap_bytes().to_le_bytes()
}

impl<E: Engine> Cells<E> {
    fn record(&self, cell: u64) -> Result<Option<Vec<u8>>, EngineError> {
        match self.pending.get(&cell) {
            Some(record) => Ok(record.clone()),
            None => {
                let snapshot = self.engine.snapshot()?;
                snapshot.get(Table::Even, &key_of(cell), <[u8]>::to_vec)
            }
        }
    }

    fn commit(&mut self) -> Result<(), EngineError> {
        let mut changes = Changes::new();
        for (cell, record) in self.pending.drain() {
            match record {
                Some(record) => changes.put(Table::Even, key_of(cell), record),
                None => changes.delete(Table::Even, key_of(cell)),
            }
        }
        self.engine.write(&changes, Durability::Buffered)
    }
}

impl<E: Engine> LockStep for Cells<E> {
    type Error = anyhow::Error;

    fn read<R>(&self, cell: u64, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        let record = self.record(cell)?;
        Ok(record.map(|record| read(&record[..size_of::<Key>()])))
    }

    fn put(&mut self, cell: u64, key: &[u8]) -> Result<()> {
        let record = [key, &self.value].concat();
        self.pending.insert(cell, Some(record));
        Ok(())
    }

    fn take(&mut self, cell: u64) -> Result<()> {
        self.pending.insert(cell, None);
        Ok(())
    }

    fn relocate(&mut self, from: u64, to: u64) -> Result<()> {
        let record = self.record(from)?;
        self.pending.insert(from, None);
        self.pending.insert(to, record);
        Ok(())
    }

    fn swap(&mut self, one: u64, two: u64) -> Result<()> {
        let (first, second) = (self.record(one)?, self.record(two)?);
        self.pending.insert(one, second);
        self.pending.insert(two, first);
        Ok(())
    }
}
