//! Who is behind a fingerprint: the keys, in hash order.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::ops::RangeInclusive;

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
/// use twiceshy::reverse_map::MemoryMap;
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
