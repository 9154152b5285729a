//! The plain quotient filter.
//!
//! A set of fingerprints, each a quotient (where it lives) and a remainder (what is
//! stored there); `docs/design.md` says how the table works. It answers
//! "maybe" when the fingerprint of the asked key is in the table, so it never says "no"
//! for a member, and says "maybe" for another key with probability `(m / n) 2^-r`.
//!
//! | | |
//! | --- | --- |
//! | space | `r + 2.25` bits a slot, `(r + 2.25) / load` bits an item |
//! | false-positive rate | `1 - (1 - 1/(n 2^r))^m`, about `load * 2^-r` |
//! | lookup | one or two cache lines, no data-dependent branch inside a block |
//! | insert, remove | the same, and `O(1/(1 - load)^2)` slots moved, many at a time |
//!
//! Unlike a Bloom filter it can remove, can be iterated, and keeps duplicates apart.

mod batch;
mod bulk;
mod file;
mod iter;
mod merge;
mod write;

use std::fmt;

pub use self::iter::Iter;
use crate::batch::Interrupted;
use crate::bits::Bytes;
use crate::builder::{Buildable, Builder, Parts};
use crate::error::Error;
use crate::geometry::Geometry;
use crate::hash::{Hashed, Key, Seed, Sip13, StreamHash, first_word};
use crate::mem::Memory;
use crate::outcome::Removed;
use crate::stats::Stats;
use crate::table::{Bare, Found, Table};
use crate::traits::{Filter, Insert, Remove};
use crate::violation::Violation;

/// A quotient filter: approximate membership with removal, iteration and duplicates.
///
/// ```
/// use twiceshy::{QuotientFilter, Removed};
///
/// let mut filter = QuotientFilter::new(1_000, 0.001)?;
/// filter.insert("anna")?;
/// filter.insert("anna")?; // kept twice
/// assert!(filter.contains("anna"));
///
/// assert_eq!(filter.remove("anna")?, Removed::One);
/// assert!(filter.contains("anna"), "one copy is left");
/// assert_eq!(filter.remove("anna")?, Removed::One);
/// assert_eq!(filter.remove("anna")?, Removed::NotFound);
/// # Ok::<(), twiceshy::Error>(())
/// ```
pub struct QuotientFilter<H: StreamHash = Sip13, M = Memory> {
    core: Core<M>,
    keyed: H::Keyed,
    seed: Seed,
}

/// The filter without its hash function: what the operations work on.
struct Core<M = Memory> {
    table: Table<Bare, M>,
}

impl QuotientFilter {
    /// An empty filter for `capacity` keys with a false-positive rate of at most `fpr`, a
    /// random seed, and the default hash, which is safe against keys chosen by an
    /// attacker.
    ///
    /// # Errors
    /// [`Error::Geometry`] if there is no such filter or no memory for it,
    /// [`Error::Seed`] if the system has no randomness to give.
    pub fn new(capacity: u64, fpr: f64) -> Result<Self, Error> {
        Self::builder().capacity(capacity).fpr(fpr).build()
    }

    /// For everything else that can be chosen, another hash among them.
    pub fn builder() -> Builder<Self> {
        Builder::new()
    }
}

impl<H: StreamHash> Buildable for QuotientFilter<H> {
    type WithHash<X: StreamHash> = QuotientFilter<X>;

    fn from_parts(parts: Parts) -> Result<Self, Error> {
        let options = file::table_options(&parts.geometry, parts.huge_pages);
        Ok(QuotientFilter {
            core: Core {
                table: Table::new(options)?,
            },
            keyed: H::keyed(&parts.seed),
            seed: parts.seed,
        })
    }
}

impl<H: StreamHash, M: Bytes> QuotientFilter<H, M> {
    /// Hashes a key the way this filter does, for the methods that take a [`Hashed`] key: of
    /// this filter, or of another one with the same hash and seed.
    #[inline]
    #[must_use]
    pub fn hash<'k, K: Key + ?Sized>(&self, key: &'k K) -> Hashed<'k> {
        Hashed::new::<H, K>(&self.seed, key)
    }

    /// May `key` be a member? `false` is certain; `true` is wrong for a key that was never
    /// inserted at the false-positive rate.
    #[inline]
    #[must_use]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_h0(first_word::<H, K>(&self.keyed, key))
    }

    /// [`contains`](Self::contains) for a key that is hashed already, with this filter's hash
    /// and seed. (Under others it is another key, which nothing here can notice.)
    #[inline]
    #[must_use]
    pub fn contains_hashed(&self, key: &Hashed<'_>) -> bool {
        self.contains_h0(key.h0())
    }

    #[inline(always)]
    fn contains_h0(&self, h0: u64) -> bool {
        let table = &self.core.table;
        table.contains(table.at(h0)) == Found::Yes
    }

    /// How many items the filter holds, duplicates counted.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.core.table.used()
    }

    /// Is it empty?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Items per slot. Above [`sizing::MAX_LOAD`](crate::sizing::MAX_LOAD) insertions become slow.
    #[must_use]
    pub fn load(&self) -> f64 {
        self.len() as f64 / self.core.table.geometry().slots() as f64
    }

    /// Slots and remainder bits.
    #[must_use]
    pub fn geometry(&self) -> Geometry {
        self.core.table.geometry()
    }

    /// The seed of the hash. Keep it from those who may choose keys.
    #[must_use]
    pub fn seed(&self) -> Seed {
        self.seed
    }

    /// All fingerprints in hash order, duplicates as often as they were inserted.
    #[must_use]
    pub fn iter(&self) -> Iter<'_, M> {
        Iter {
            table: &self.core.table,
            runs: self.core.table.runs(),
            run: None,
            left: self.len(),
        }
    }

    /// Size, load, space and expected error. Reads the whole table (for the longest
    /// cluster).
    #[must_use]
    pub fn stats(&self) -> Stats {
        let items = self.len();
        Stats::of_table(&self.core.table, &self.core.table.geometry(), items, items)
    }

    /// The bytes of the table.
    #[cfg(test)]
    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.core.table.as_bytes()
    }

    /// Verifies everything that must hold in the table, from scratch. For tests and for
    /// the suspicious; linear in the size of the filter.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn check_invariants(&self) -> Result<(), Violation> {
        self.core.table.check_invariants()?;
        let mut last = None;
        for fingerprint in self.iter() {
            if last > Some(fingerprint) {
                return Err(Violation::new("a run is not sorted", fingerprint.quotient));
            }
            last = Some(fingerprint);
        }
        Ok(())
    }
}

#[cfg(test)]
impl<H: StreamHash> QuotientFilter<H> {
    /// The bytes of the table, to damage them.
    pub(crate) fn raw_mut(&mut self) -> &mut [u8] {
        self.core.table.raw_mut()
    }
}

impl<H: StreamHash> Clone for QuotientFilter<H> {
    fn clone(&self) -> Self {
        match self.try_clone() {
            Ok(copy) => copy,
            // As `Vec` does; `try_clone` is there for those who would rather know.
            Err(error) => panic!("{error}"),
        }
    }
}

impl<H: StreamHash, M: Bytes> fmt::Debug for QuotientFilter<H, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QuotientFilter")
            .field("len", &self.len())
            .field("slots", &self.core.table.geometry().slots())
            .field(
                "remainder_bits",
                &self.core.table.geometry().remainder_bits(),
            )
            .field("hash", &H::KIND)
            .finish_non_exhaustive()
    }
}

impl<H: StreamHash, M: Bytes> Filter for QuotientFilter<H, M> {
    #[inline]
    fn hash<'k, K: Key + ?Sized>(&self, key: &'k K) -> Hashed<'k> {
        self.hash(key)
    }

    #[inline]
    fn contains_hashed(&self, key: &Hashed<'_>) -> bool {
        self.contains_hashed(key)
    }

    #[inline]
    fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains(key)
    }

    fn contains_batch_into<K: Key>(&self, keys: &[K], found: &mut Vec<bool>) {
        self.contains_all(keys, found);
    }

    fn contains_batch_hashed_into(&self, keys: &[Hashed<'_>], found: &mut Vec<bool>) {
        self.contains_all_hashed(keys, found);
    }

    fn len(&self) -> u64 {
        self.len()
    }

    fn stats(&self) -> Stats {
        self.stats()
    }
}

impl<H: StreamHash> Insert for QuotientFilter<H> {
    #[inline]
    fn insert_hashed(&mut self, key: &Hashed<'_>) -> Result<(), Error> {
        self.insert_hashed(key)
    }

    #[inline]
    fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<(), Error> {
        self.insert(key)
    }

    fn insert_batch<K: Key>(
        &mut self,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<(), Interrupted> {
        self.insert_all(keys)
    }
}

impl<H: StreamHash> Remove for QuotientFilter<H> {
    #[inline]
    fn remove_hashed(&mut self, key: &Hashed<'_>) -> Result<Removed, Error> {
        self.remove_hashed(key)
    }

    #[inline]
    fn remove<K: Key + ?Sized>(&mut self, key: &K) -> Result<Removed, Error> {
        self.remove(key)
    }
}
