//! Filters that take the keys from a reverse map by themselves, and a set that bundles both.
//!
//! An adaptive filter needs the keys behind its fingerprints whenever it learns. Which ones,
//! it knows best: those of a minirun, of a run, or, where a block has to forget something, of
//! the runs around it. A [`KeyedFilter`] is given the whole [`ReverseMap`] and reads the
//! ranges that it needs. [`KeyedSet`] keeps filter and map together, so that nothing can go
//! wrong, and counts what the filter reads.
//!
//! ```
//! use twiceshy::TelescopingSet;
//!
//! let mut set = TelescopingSet::new(1_000, 0.1)?;
//! for word in ["robin", "wren", "finch"] {
//!     set.insert(word)?;
//! }
//! for query in 0..1_000_u64 {
//!     if set.contains(&query) {
//!         set.report_false_positive(&query)?;
//!         assert!(!set.contains(&query));
//!     }
//! }
//! assert!(set.contains("robin"));
//! println!("{} reads of the map", set.accesses().reads);
//! # Ok::<(), twiceshy::Error>(())
//! ```

use std::fmt;
use std::ops::RangeInclusive;

use crate::builder::{Buildable, Builder};
use crate::error::Error;
use crate::hash::{Hashed, Key, Seed, StreamHash};
use crate::outcome::{Adapted, Inserted, Removed, Reported};
use crate::sets::reverse_map::{Accesses, Counted, MemoryMap, ReverseMap};
use crate::table::Violation;
use crate::traits::Filter;

/// What can go wrong: in the filter, or in the map of its keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure<E> {
    /// The filter refused.
    Filter(Error),
    /// The reverse map could not be read.
    Map(E),
}

impl<E> From<Error> for Failure<E> {
    fn from(error: Error) -> Self {
        Failure::Filter(error)
    }
}

impl<E: fmt::Display> fmt::Display for Failure<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Filter(error) => error.fmt(f),
            Failure::Map(error) => write!(f, "the keys could not be read: {error}"),
        }
    }
}

impl<E: std::error::Error + 'static> std::error::Error for Failure<E> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Failure::Filter(error) => Some(error),
            Failure::Map(error) => Some(error),
        }
    }
}

/// A filter that reads what keys it needs from a reverse map.
pub trait KeyedFilter: Filter + Buildable {
    /// The hash that it was built with.
    type Hash: StreamHash;

    /// The seed of the hash.
    fn seed(&self) -> Seed;

    /// Adds a key that is not a member yet. The map is read only if a block has no room for
    /// symbols that move into it, and may or may not have the new key.
    ///
    /// # Errors
    /// [`Error::Full`] if no slot is left; nothing has changed then. Errors of the map.
    fn insert_from<R: ReverseMap>(
        &mut self,
        key: &Hashed<'_>,
        keys: &R,
    ) -> Result<(), Failure<R::Error>>;

    /// Removes a member. The map still has the key.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the key is not in the map, or the map does not fit the filter.
    /// Errors of the map.
    fn remove_from<R: ReverseMap>(
        &mut self,
        key: &Hashed<'_>,
        keys: &R,
    ) -> Result<(), Failure<R::Error>>;

    /// Fixes a false positive.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the query is in the map, or the map does not fit the filter.
    /// Errors of the map.
    fn adapt_from<R: ReverseMap>(
        &mut self,
        query: &Hashed<'_>,
        keys: &R,
    ) -> Result<Adapted, Failure<R::Error>>;

    /// Can all of these keys, of which all or none of every quotient are given, be paired with
    /// fingerprints of their own?
    fn pairs(&self, keys: &[Hashed<'_>]) -> bool;

    /// Verifies the filter by itself.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    fn check_invariants(&self) -> Result<(), Violation>;
}

/// Reads the keys of a range, hashed.
pub(crate) fn read<H: StreamHash, R: ReverseMap>(
    keys: &R,
    seed: &Seed,
    h0: RangeInclusive<u64>,
) -> Result<Vec<Hashed<'static>>, Failure<R::Error>> {
    let mut found = Vec::new();
    let each = |_, key: &[u8]| found.push(Hashed::from_bytes::<H>(seed, key).into_owned());
    keys.keys(h0, each).map_err(Failure::Map)?;
    Ok(found)
}

/// A set of keys and a filter in front of it. Nothing that it offers can make the filter say
/// "no" for a member.
///
/// The keys are in memory, so this is for tests, tools, and sets that fit; in front of a
/// database, implement [`ReverseMap`] for it and use the [`KeyedFilter`].
#[derive(Clone, Debug)]
pub struct KeyedSet<F> {
    pub(crate) filter: F,
    keys: Counted<MemoryMap>,
}

impl<F: KeyedFilter> KeyedSet<F> {
    /// An empty set with a filter built to order.
    ///
    /// # Errors
    /// Those of [`Builder::build`].
    pub fn from_builder(builder: Builder<F>) -> Result<Self, Error> {
        Ok(Self::from_filter(builder.build()?))
    }

    /// A set of a filter, perhaps from a file, and its keys.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if these are not the keys of the filter.
    pub fn from_parts(filter: F, keys: MemoryMap) -> Result<Self, Error> {
        let keys = Counted::new(keys);
        let set = KeyedSet { filter, keys };
        match set.check_keys() {
            Ok(()) => Ok(set),
            Err(violation) => Err(Error::mismatch(violation.to_string())),
        }
    }

    /// The filter and the keys.
    pub fn into_parts(self) -> (F, MemoryMap) {
        (self.filter, self.keys.into_inner())
    }

    /// An empty set with an empty filter.
    pub(crate) fn from_filter(filter: F) -> Self {
        KeyedSet {
            filter,
            keys: Counted::new(MemoryMap::default()),
        }
    }

    /// Adds a key, if it is not a member already.
    ///
    /// # Errors
    /// [`Error::Full`] if no slot is left; nothing has changed then.
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<Inserted, Error> {
        let hashed = self.filter.hash(key);
        if self.is_member(&hashed) {
            return Ok(Inserted::Present);
        }
        in_memory(self.filter.insert_from(&hashed, &self.keys))?;
        let bytes = hashed.key().expect("a key was hashed");
        in_memory(self.keys.insert(hashed.h0(), bytes).map_err(Failure::Map))?;
        Ok(Inserted::New)
    }

    /// Removes a key, if it is a member.
    ///
    /// # Errors
    /// None that are known; the `Result` is that of the filter.
    pub fn remove<K: Key + ?Sized>(&mut self, key: &K) -> Result<Removed, Error> {
        let hashed = self.filter.hash(key);
        if !self.is_member(&hashed) {
            return Ok(Removed::NotFound);
        }
        in_memory(self.filter.remove_from(&hashed, &self.keys))?;
        let bytes = hashed.key().expect("a key was hashed");
        in_memory(self.keys.remove(hashed.h0(), bytes).map_err(Failure::Map))?;
        Ok(Removed::One)
    }

    /// May `key` be a member? The filter's answer: `false` is certain, `true` may be wrong.
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.filter.contains(key)
    }

    /// The store behind the filter did not have this key: learn from it. Harmless for keys
    /// that are members, or that the filter answers "no" already.
    ///
    /// # Errors
    /// None that are known; the `Result` is that of the filter.
    pub fn report_false_positive<K: Key + ?Sized>(&mut self, key: &K) -> Result<Reported, Error> {
        let hashed = self.filter.hash(key);
        if !self.filter.contains_hashed(&hashed) {
            return Ok(Reported::NotPositive);
        }
        if self.is_member(&hashed) {
            return Ok(Reported::Member);
        }
        in_memory(self.filter.adapt_from(&hashed, &self.keys)).map(Reported::Fixed)
    }

    /// How many keys there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.get().len()
    }

    /// Is it empty?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.get().is_empty()
    }

    /// The filter.
    #[must_use]
    pub fn filter(&self) -> &F {
        &self.filter
    }

    /// The keys, in hash order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.keys.get().iter().map(|(_, key)| key)
    }

    /// How often filter and set have used the map of the keys.
    #[must_use]
    pub fn accesses(&self) -> Accesses {
        self.keys.accesses()
    }

    /// Verifies the filter, that its keys can be paired with its fingerprints, and that it says
    /// "maybe" for every key.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn check_invariants(&self) -> Result<(), Violation> {
        self.filter.check_invariants()?;
        self.check_keys()
    }

    /// Has every key a fingerprint of its own, and every fingerprint a key?
    fn check_keys(&self) -> Result<(), Violation> {
        if self.filter.len() != self.len() as u64 {
            let len = self.filter.len();
            return Err(Violation::new("not one fingerprint for each key", len));
        }
        let seed = self.filter.seed();
        let hash = |(_, key)| Hashed::from_bytes::<F::Hash>(&seed, key);
        let keys: Vec<_> = self.keys.get().iter().map(hash).collect();
        if !self.filter.pairs(&keys) {
            return Err(Violation::new("some key has no fingerprint", 0));
        }
        for key in &keys {
            if !self.filter.contains_hashed(key) {
                return Err(Violation::new("a member is answered \"no\"", key.h0()));
            }
        }
        Ok(())
    }

    fn is_member(&self, key: &Hashed<'_>) -> bool {
        let bytes = key.key().expect("a key was hashed");
        let mut found = false;
        let same = |_, other: &[u8]| found |= other == bytes;
        match self.keys.keys(key.h0()..=key.h0(), same) {
            Ok(()) => found,
            Err(never) => match never {},
        }
    }
}

fn in_memory<T>(result: Result<T, Failure<std::convert::Infallible>>) -> Result<T, Error> {
    result.map_err(|failure| match failure {
        Failure::Filter(error) => error,
        Failure::Map(never) => match never {},
    })
}
