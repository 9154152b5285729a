//! Counting what is asked of a store of keys.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};

use super::reverse_map::ReverseMap;
use crate::cuckoo::LockStep;

/// A store of keys that counts how often it is used: what a filter costs its store, and the columns
/// of table 1 of *Adaptive Quotient Filters*.
///
/// ```
/// use twiceshy::ReverseMap;
/// use twiceshy::cuckoo::{LockStep, MemoryCells};
/// use twiceshy::sets::{Counted, MemoryMap};
///
/// let mut map = Counted::new(MemoryMap::default());
/// map.insert(7, b"anna")?;
/// map.keys(0..=9, |_, _| {})?;
/// let accesses = map.accesses();
/// assert_eq!((accesses.inserts, accesses.reads, accesses.keys), (1, 1, 1));
///
/// let mut cells = Counted::new(MemoryCells::default());
/// cells.put(1, b"otto")?;
/// cells.relocate(1, 2)?;
/// assert_eq!((cells.accesses().inserts, cells.accesses().updates), (1, 1));
/// # Ok::<(), twiceshy::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Counted<S> {
    store: S,
    /// But for what is read, which takes no `&mut`.
    writes: Accesses,
    reads: AtomicU64,
    keys: AtomicU64,
}

/// How often a store of keys was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Accesses {
    /// Ranges or cells that were read.
    pub reads: u64,
    /// Keys that were in them.
    pub keys: u64,
    /// Keys that were added.
    pub inserts: u64,
    /// Keys that were moved; two for an exchange.
    pub updates: u64,
    /// Keys that were removed.
    pub removals: u64,
}

impl<S> Counted<S> {
    /// Counts from zero.
    #[must_use]
    pub fn new(store: S) -> Self {
        Counted {
            store,
            writes: Accesses::default(),
            reads: AtomicU64::new(0),
            keys: AtomicU64::new(0),
        }
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &S {
        &self.store
    }

    /// How often it was used.
    #[must_use]
    pub fn accesses(&self) -> Accesses {
        Accesses {
            reads: self.reads.load(Ordering::Relaxed),
            keys: self.keys.load(Ordering::Relaxed),
            ..self.writes
        }
    }

    fn count_read(&self, keys: u64) {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.keys.fetch_add(keys, Ordering::Relaxed);
    }
}

impl<R: ReverseMap> ReverseMap for Counted<R> {
    type Error = R::Error;

    fn keys(
        &self,
        h0: RangeInclusive<u64>,
        mut each: impl FnMut(u64, &[u8]),
    ) -> Result<(), R::Error> {
        let mut keys = 0;
        let result = self.store.keys(h0, |h0, key| {
            keys += 1;
            each(h0, key);
        });
        self.count_read(keys);
        result
    }

    fn insert(&mut self, h0: u64, key: &[u8]) -> Result<bool, R::Error> {
        self.writes.inserts += 1;
        self.store.insert(h0, key)
    }

    fn insert_all<K: AsRef<[u8]>>(
        &mut self,
        keys: impl IntoIterator<Item = (u64, K)>,
    ) -> Result<(), R::Error> {
        let inserts = &mut self.writes.inserts;
        self.store
            .insert_all(keys.into_iter().inspect(|_| *inserts += 1))
    }

    fn remove(&mut self, h0: u64, key: &[u8]) -> Result<bool, R::Error> {
        self.writes.removals += 1;
        self.store.remove(h0, key)
    }
}

impl<S: LockStep> LockStep for Counted<S> {
    type Error = S::Error;

    fn read<R>(&self, cell: u64, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>, S::Error> {
        let result = self.store.read(cell, read);
        self.count_read(u64::from(matches!(result, Ok(Some(_)))));
        result
    }

    fn put(&mut self, cell: u64, key: &[u8]) -> Result<(), S::Error> {
        self.writes.inserts += 1;
        self.store.put(cell, key)
    }

    fn take(&mut self, cell: u64) -> Result<(), S::Error> {
        self.writes.removals += 1;
        self.store.take(cell)
    }

    fn relocate(&mut self, from: u64, to: u64) -> Result<(), S::Error> {
        self.writes.updates += 1;
        self.store.relocate(from, to)
    }

    fn swap(&mut self, one: u64, two: u64) -> Result<(), S::Error> {
        self.writes.updates += 2;
        self.store.swap(one, two)
    }
}
