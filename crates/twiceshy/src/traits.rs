//! What filters have in common.
//!
//! Each trait is one ability, so that code can ask for just what it needs. Every
//! method that takes a key has a twin that takes a ready [`Hashed`] key: hash once,
//! ask many filters of the same hash and seed.

use std::fmt;

use crate::batch::{Interrupted, PIECE};
use crate::error::Error;
use crate::hash::{Hashed, Key};
use crate::outcome::{Adapted, Removed};
use crate::stats::Stats;

/// Approximate membership: "maybe" (`true`) or "no" (`false`), and never "no" for a
/// member.
pub trait Filter {
    /// Hashes a key the way this filter does: same hash function, same seed.
    #[must_use]
    fn hash<'k, K: Key + ?Sized>(&self, key: &'k K) -> Hashed<'k>;

    /// May `key` be a member? `false` is certain, `true` is wrong at the filter's
    /// false-positive rate.
    #[must_use]
    fn contains_hashed(&self, key: &Hashed<'_>) -> bool;

    /// May `key` be a member?
    #[must_use]
    fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hashed(&self.hash(key))
    }

    /// May each of `keys` be a member? The answers replace what is in `found`. Faster than
    /// one by one where the filter is larger than the caches; see [`batch`](crate::batch).
    fn contains_batch_into<K: Key>(&self, keys: &[K], found: &mut Vec<bool>) {
        found.clear();
        found.extend(keys.iter().map(|key| self.contains(key)));
    }

    /// [`contains_batch_into`](Self::contains_batch_into) for keys that are hashed already.
    fn contains_batch_hashed_into(&self, keys: &[Hashed<'_>], found: &mut Vec<bool>) {
        found.clear();
        found.extend(keys.iter().map(|key| self.contains_hashed(key)));
    }

    /// May each of `keys` be a member?
    #[must_use]
    fn contains_batch<K: Key>(&self, keys: &[K]) -> Vec<bool> {
        let mut found = Vec::new();
        self.contains_batch_into(keys, &mut found);
        found
    }

    /// [`contains_batch`](Self::contains_batch) for keys that are hashed already.
    #[must_use]
    fn contains_batch_hashed(&self, keys: &[Hashed<'_>]) -> Vec<bool> {
        let mut found = Vec::new();
        self.contains_batch_hashed_into(keys, &mut found);
        found
    }

    /// May each of `keys` be a member? Takes a few hundred keys at a time from the iterator
    /// and gives their answers in order.
    fn contains_each<I: IntoIterator<Item: Key>>(
        &self,
        keys: I,
    ) -> ContainsEach<'_, Self, I::IntoIter>
    where
        Self: Sized,
    {
        ContainsEach::new(self, keys.into_iter())
    }

    /// How many items the filter holds, duplicates counted.
    #[must_use]
    fn len(&self) -> u64;

    /// Is the filter empty?
    #[must_use]
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Size, load, space and expected error.
    #[must_use]
    fn stats(&self) -> Stats;
}

/// The answers to an iterator of keys, in order; see [`Filter::contains_each`].
#[must_use = "an iterator does nothing until it is asked"]
pub struct ContainsEach<'f, F: ?Sized, I: Iterator> {
    filter: &'f F,
    keys: I,
    piece: Vec<I::Item>,
    found: Vec<bool>,
    next: usize,
}

impl<'f, F: ?Sized, I: Iterator> ContainsEach<'f, F, I> {
    fn new(filter: &'f F, keys: I) -> Self {
        ContainsEach {
            filter,
            keys,
            piece: Vec::new(),
            found: Vec::new(),
            next: 0,
        }
    }
}

impl<F: Filter, I: Iterator<Item: Key>> Iterator for ContainsEach<'_, F, I> {
    type Item = bool;

    #[inline]
    fn next(&mut self) -> Option<bool> {
        if self.next == self.found.len() {
            self.piece.clear();
            self.piece.extend(self.keys.by_ref().take(PIECE));
            self.filter
                .contains_batch_into(&self.piece, &mut self.found);
            self.next = 0;
        }
        let found = self.found.get(self.next).copied();
        self.next += usize::from(found.is_some());
        found
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let ready = self.found.len() - self.next;
        let (low, high) = self.keys.size_hint();
        let high = high.and_then(|high| high.checked_add(ready));
        (low.saturating_add(ready), high)
    }
}

impl<F: ?Sized, I: Iterator> fmt::Debug for ContainsEach<'_, F, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContainsEach")
            .field("ready", &(self.found.len() - self.next))
            .finish_non_exhaustive()
    }
}

/// Filters that take new members one at a time.
pub trait Insert: Filter {
    /// Adds a key that is already hashed.
    ///
    /// # Errors
    /// [`Error::Full`] if no slot is left; nothing has changed then.
    fn insert_hashed(&mut self, key: &Hashed<'_>) -> Result<(), Error>;

    /// Adds a key.
    ///
    /// # Errors
    /// As [`insert_hashed`](Insert::insert_hashed).
    fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<(), Error> {
        let hashed = self.hash(key);
        self.insert_hashed(&hashed)
    }

    /// Adds many keys, from a slice or an iterator, in their order. Faster than one by one
    /// where the filter is larger than the caches; see [`batch`](crate::batch).
    ///
    /// # Errors
    /// [`Interrupted`] at the first key that [`insert`](Insert::insert) refuses, with its
    /// error; the keys before it are in.
    fn insert_batch<K: Key>(
        &mut self,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<(), Interrupted> {
        for (inserted, key) in (0..).zip(keys) {
            self.insert(&key)
                .map_err(|error| Interrupted { inserted, error })?;
        }
        Ok(())
    }
}

/// Filters that can forget a member.
///
/// **The caller vouches for membership.** A filter without the keys cannot tell a
/// member from a false positive: removing a key that was never inserted, but whose
/// fingerprint matches a member's, takes that member's fingerprint away, and the
/// filter will then wrongly say "no" for it.
pub trait Remove: Filter {
    /// Removes one copy of a member that is already hashed.
    ///
    /// # Errors
    /// Those of the filter; a plain quotient filter has none.
    fn remove_hashed(&mut self, key: &Hashed<'_>) -> Result<Removed, Error>;

    /// Removes one copy of a member.
    ///
    /// # Errors
    /// As [`remove_hashed`](Remove::remove_hashed).
    fn remove<K: Key + ?Sized>(&mut self, key: &K) -> Result<Removed, Error> {
        let hashed = self.hash(key);
        self.remove_hashed(&hashed)
    }
}

/// Filters that learn from their mistakes.
pub trait Adaptive: Filter {
    /// Names where a positive answer came from, in coordinates that stay right while the
    /// filter changes.
    type Place;

    /// Where `key` matches, or `None` if it is certainly no member.
    fn lookup_hashed(&self, key: &Hashed<'_>) -> Option<Self::Place>;

    /// Fixes a false positive, given all keys stored at its place.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the keys do not fit or the query is one of them,
    /// [`Error::Full`] if slots are missing. Nothing has changed then.
    fn adapt(
        &mut self,
        query: &Hashed<'_>,
        at: Self::Place,
        stored: &[Hashed<'_>],
    ) -> Result<Adapted, Error>;
}
