//! Who is behind a fingerprint: the keys, in hash order.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};

/// An ordered set of (`h0`, key): what an adaptive filter needs to fix a mistake.
///
/// A minirun is a range of `h0`, so no resize, growth or change of remainder bits ever
/// rewrites the map, and any ordered store can serve: a B-tree, an LSM tree, an index of a
/// SQL database.
pub trait ReverseMap {
    /// What can go wrong in the store.
    type Error;

    /// Calls `each` with every key whose `h0` is in the range.
    ///
    /// # Errors
    /// The store's.
    fn keys(
        &self,
        h0: RangeInclusive<u64>,
        each: impl FnMut(u64, &[u8]),
    ) -> Result<(), Self::Error>;

    /// Adds a key; `false` if it was there.
    ///
    /// # Errors
    /// The store's.
    fn insert(&mut self, h0: u64, key: &[u8]) -> Result<bool, Self::Error>;

    /// Removes a key; `false` if it was not there.
    ///
    /// # Errors
    /// The store's.
    fn remove(&mut self, h0: u64, key: &[u8]) -> Result<bool, Self::Error>;
}

/// A reverse map in memory.
///
/// ```
/// use twiceshy::ReverseMap;
/// use twiceshy::sets::reverse_map::MemoryMap;
///
/// let mut map = MemoryMap::default();
/// map.insert(7, b"anna").unwrap();
/// map.insert(9, b"otto").unwrap();
/// let mut found = vec![];
/// map.keys(0..=8, |h0, key| found.push((h0, key.to_vec()))).unwrap();
/// assert_eq!(found, [(7, b"anna".to_vec())]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct MemoryMap {
    keys: BTreeSet<(u64, Box<[u8]>)>,
}

impl MemoryMap {
    /// How many keys there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Is it empty?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// All keys in hash order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.keys.iter().map(|(h0, key)| (*h0, &**key))
    }
}

impl ReverseMap for MemoryMap {
    type Error = Infallible;

    fn keys(
        &self,
        h0: RangeInclusive<u64>,
        mut each: impl FnMut(u64, &[u8]),
    ) -> Result<(), Infallible> {
        let from = (*h0.start(), Box::default());
        for (found, key) in self.keys.range(from..) {
            if found > h0.end() {
                break;
            }
            each(*found, key);
        }
        Ok(())
    }

    fn insert(&mut self, h0: u64, key: &[u8]) -> Result<bool, Infallible> {
        Ok(self.keys.insert((h0, key.into())))
    }

    fn remove(&mut self, h0: u64, key: &[u8]) -> Result<bool, Infallible> {
        Ok(self.keys.remove(&(h0, key.into())))
    }
}

/// How often a reverse map was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Accesses {
    /// Ranges that were read.
    pub reads: u64,
    /// Keys that were in them.
    pub keys: u64,
    /// Keys that were added or removed.
    pub writes: u64,
}

/// A reverse map that counts how often it is used. That is what a filter costs its store.
///
/// ```
/// use twiceshy::ReverseMap;
/// use twiceshy::sets::reverse_map::{Counted, MemoryMap};
///
/// let mut map = Counted::new(MemoryMap::default());
/// map.insert(7, b"anna").unwrap();
/// map.keys(0..=9, |_, _| {}).unwrap();
/// let accesses = map.accesses();
/// assert_eq!((accesses.reads, accesses.keys, accesses.writes), (1, 1, 1));
/// ```
#[derive(Debug, Default)]
pub struct Counted<R> {
    map: R,
    reads: AtomicU64,
    keys: AtomicU64,
    writes: u64,
}

impl<R> Counted<R> {
    /// Counts from zero.
    #[must_use]
    pub fn new(map: R) -> Self {
        Counted {
            map,
            reads: AtomicU64::new(0),
            keys: AtomicU64::new(0),
            writes: 0,
        }
    }

    /// The map.
    #[must_use]
    pub fn get(&self) -> &R {
        &self.map
    }

    /// The map alone.
    #[must_use]
    pub fn into_inner(self) -> R {
        self.map
    }

    /// How often it was used.
    #[must_use]
    pub fn accesses(&self) -> Accesses {
        Accesses {
            reads: self.reads.load(Ordering::Relaxed),
            keys: self.keys.load(Ordering::Relaxed),
            writes: self.writes,
        }
    }
}

impl<R: Clone> Clone for Counted<R> {
    fn clone(&self) -> Self {
        let Accesses {
            reads,
            keys,
            writes,
        } = self.accesses();
        Counted {
            map: self.map.clone(),
            reads: AtomicU64::new(reads),
            keys: AtomicU64::new(keys),
            writes,
        }
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
        let result = self.map.keys(h0, |h0, key| {
            keys += 1;
            each(h0, key);
        });
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.keys.fetch_add(keys, Ordering::Relaxed);
        result
    }

    fn insert(&mut self, h0: u64, key: &[u8]) -> Result<bool, R::Error> {
        self.writes += 1;
        self.map.insert(h0, key)
    }

    fn remove(&mut self, h0: u64, key: &[u8]) -> Result<bool, R::Error> {
        self.writes += 1;
        self.map.remove(h0, key)
    }
}
