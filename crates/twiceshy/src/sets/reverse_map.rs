//! Reverse maps: the keys behind the fingerprints, in hash order.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use crate::error::Error;
use crate::hash::{Hashed, Seed, StreamHash};
use crate::outcome::Removed;
use crate::traits::Filter;

/// An ordered set of (`h0`, key): what an adaptive filter needs to fix a mistake.
///
/// A minirun is a range of `h0`, so no resize, growth or change of remainder bits ever
/// rewrites the map, and any ordered store can serve: a B-tree, an LSM tree, an index of a
/// SQL database.
pub trait ReverseMap {
    /// What can go wrong in the store. For a [`KeyedSet`](super::KeyedSet) it must also be able to
    /// hold a filter's [`Error`], by `From`.
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

    /// Adds many keys, each with its `h0`; those that are there stay. A store with transactions
    /// overrides it, to make one of many keys.
    ///
    /// # Errors
    /// The store's. Some of the keys may be in then.
    fn insert_all<K: AsRef<[u8]>>(
        &mut self,
        keys: impl IntoIterator<Item = (u64, K)>,
    ) -> Result<(), Self::Error> {
        keys.into_iter()
            .try_for_each(|(h0, key)| self.insert(h0, key.as_ref()).map(drop))
    }

    /// Removes a key; `false` if it was not there.
    ///
    /// # Errors
    /// The store's.
    fn remove(&mut self, h0: u64, key: &[u8]) -> Result<bool, Self::Error>;
}

/// A reverse map in memory. It does not fail.
///
/// ```
/// use twiceshy::ReverseMap;
/// use twiceshy::sets::MemoryMap;
///
/// let mut map = MemoryMap::default();
/// map.insert(7, b"anna")?;
/// map.insert(9, b"otto")?;
/// let mut found = vec![];
/// map.keys(0..=8, |h0, key| found.push((h0, key.to_vec())))?;
/// assert_eq!(found, [(7, b"anna".to_vec())]);
/// # Ok::<(), twiceshy::Error>(())
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
    type Error = Error;

    fn keys(&self, h0: RangeInclusive<u64>, mut each: impl FnMut(u64, &[u8])) -> Result<(), Error> {
        let from = (*h0.start(), Box::default());
        for (found, key) in self.keys.range(from..) {
            if found > h0.end() {
                break;
            }
            each(*found, key);
        }
        Ok(())
    }

    fn insert(&mut self, h0: u64, key: &[u8]) -> Result<bool, Error> {
        Ok(self.keys.insert((h0, key.into())))
    }

    fn remove(&mut self, h0: u64, key: &[u8]) -> Result<bool, Error> {
        Ok(self.keys.remove(&(h0, key.into())))
    }
}

/// Reads the keys of a range, hashed.
pub(super) fn read<H: StreamHash, R: ReverseMap>(
    keys: &R,
    seed: &Seed,
    h0: RangeInclusive<u64>,
) -> Result<Vec<Hashed<'static>>, R::Error> {
    let mut found = Vec::new();
    keys.keys(h0, |_, key| {
        found.push(Hashed::from_bytes::<H>(seed, key).into_owned());
    })?;
    Ok(found)
}

/// Is this key in the map?
pub(super) fn has<R: ReverseMap<Error: From<Error>>>(
    keys: &R,
    key: &Hashed<'_>,
) -> Result<bool, R::Error> {
    let bytes = key.stored_key()?;
    let mut found = false;
    keys.keys(key.h0()..=key.h0(), |_, other| found |= other == bytes)?;
    Ok(found)
}

/// Removes a key from the map, and if it was there from the filter: its fingerprint is the last to
/// go. Where that fails, the map gets the key back.
pub(super) fn remove<R: ReverseMap<Error: From<Error>>>(
    keys: &mut R,
    key: &Hashed<'_>,
    from_filter: impl FnOnce(&R) -> Result<(), R::Error>,
) -> Result<Removed, R::Error> {
    let bytes = key.stored_key()?;
    if !keys.remove(key.h0(), bytes)? {
        return Ok(Removed::NotFound);
    }
    if let Err(error) = from_filter(keys) {
        keys.insert(key.h0(), bytes)?;
        return Err(error);
    }
    Ok(Removed::One)
}

/// Verifies that a filter has one fingerprint for each of its keys, and none more.
pub(super) fn check<F: Filter>(filter: &F, keys: &[Hashed<'_>]) -> Result<(), Error> {
    if filter.len() != keys.len() as u64 {
        return Err(Error::mismatch("not one fingerprint for each key"));
    }
    match keys.iter().find(|key| !filter.contains_hashed(key)) {
        Some(key) => Err(Error::mismatch(format!(
            "a member is answered \"no\", at the hash {}",
            key.h0()
        ))),
        None => Ok(()),
    }
}
