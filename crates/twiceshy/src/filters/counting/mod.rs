//! The counting quotient filter: a quotient filter that knows how often.
//!
//! Each distinct fingerprint is stored once; how often it was inserted stands in *counter
//! slots* behind it, marked as such by one bit a slot:
//!
//! ```text
//!   inserted once        | remainder |
//!   inserted 700 times   | remainder | 188 | 1 |      700 = 188 + 1 * 2^9, with 9-bit slots
//! ```
//!
//! | | |
//! | --- | --- |
//! | space | `r + 3.25` bits a slot; a slot for each distinct fingerprint, none more for a count of one, `ceil(log2(c + 1) / r)` more for a count of `c` |
//! | counts | never too low; too high by the counts of other keys with the same fingerprint, with the probability of a false positive |
//! | largest count | `u64::MAX`; beyond it is an error, not a wrap |
//!
//! The encoding works with remainders of one bit and more. Paper: Pandey, Bender, Johnson,
//! Patro, "A General-Purpose Counting Filter" (2017); the simpler encoding with a mark for
//! each slot is that of "Adaptive Quotient Filters" (2024), section 4.2.

mod batch;
mod bulk;
mod file;
mod merge;
mod rebuild;
mod write;

use std::fmt;

use crate::bits::Bytes;
use crate::builder::{Buildable, Builder, Parts};
use crate::error::Error;
use crate::facade::facade;
use crate::filters::core::{Contents, Core};
use crate::geometry::{Fingerprint, Geometry};
use crate::hash::{Hashed, Key, Seed, Sip13, StreamHash, first_word};
use crate::mem::Memory;
use crate::stats::Stats;
use crate::table::Found;
use crate::violation::Violation;

/// A quotient filter that counts.
///
/// ```
/// use twiceshy::CountingFilter;
///
/// let mut filter = CountingFilter::new(1_000, 0.001)?;
/// filter.insert("anna")?;
/// filter.insert_count("otto", 1_000_000)?; // at the price of two slots more
/// assert_eq!(filter.count("anna"), 1);
/// assert_eq!(filter.count("otto"), 1_000_000);
/// assert_eq!(filter.remove_count("otto", 999_999)?, 999_999);
/// assert_eq!(filter.count("otto"), 1);
/// assert_eq!(filter.count("eve"), 0);
/// # Ok::<(), twiceshy::Error>(())
/// ```
pub struct CountingFilter<H: StreamHash = Sip13, M = Memory> {
    core: Core<M>,
    /// The sum of all counts, which may exceed what one count can be.
    total: u128,
    keyed: H::Keyed,
    seed: Seed,
}

impl CountingFilter {
    /// An empty filter for `capacity` distinct keys with a false-positive rate of at most
    /// `fpr`. Counts above one take slots as well: leave room for them.
    ///
    /// # Errors
    /// [`Error::Geometry`] if there is no such filter or no memory for it,
    /// [`Error::Seed`] if the system has no randomness to give.
    pub fn new(capacity: u64, fpr: f64) -> Result<Self, Error> {
        Self::builder().capacity(capacity).fpr(fpr).build()
    }

    /// For everything else that can be chosen.
    pub fn builder() -> Builder<Self> {
        Builder::new()
    }
}

facade! {
    [H: StreamHash, M: Bytes] CountingFilter<H, M>: Hash, Words, Filter;
    [H: StreamHash] CountingFilter<H>: Insert, Remove, Clone;
}

impl<H: StreamHash> Buildable for CountingFilter<H> {
    type WithHash<X: StreamHash> = CountingFilter<X>;

    fn from_parts(parts: Parts) -> Result<Self, Error> {
        Ok(CountingFilter {
            core: Core::from_parts(&parts)?,
            total: 0,
            keyed: H::keyed(&parts.seed),
            seed: parts.seed,
        })
    }
}

impl<H: StreamHash, M: Bytes> CountingFilter<H, M> {
    #[inline]
    fn contains_h0(&self, h0: u64) -> bool {
        // Nothing is extended here: what goes on is a counter.
        self.core.contains(h0) != Found::No
    }

    /// How often a key was inserted, or more if another key has the same fingerprint.
    pub fn count<K: Key + ?Sized>(&self, key: &K) -> u64 {
        self.count_h0(first_word::<H, K>(&self.keyed, key))
    }

    /// [`count`](Self::count) for a key that is hashed already.
    #[must_use]
    pub fn count_hashed(&self, key: &Hashed<'_>) -> u64 {
        self.count_h0(key.h0())
    }

    fn count_h0(&self, h0: u64) -> u64 {
        match self.core.contains(h0) {
            Found::No => 0,
            Found::Yes | Found::Ask => count_of(&self.contents(h0)),
        }
    }

    fn contents(&self, h0: u64) -> Contents {
        self.core.contents_of(self.core.minirun_of(h0))
    }

    /// All fingerprints with their counts, in hash order.
    pub fn iter(&self) -> impl Iterator<Item = (Fingerprint, u64)> + '_ {
        self.core
            .iter()
            .map(|(fingerprint, print)| (fingerprint, print.count))
    }

    /// The sum of all counts, or `u64::MAX` if it is larger; see [`total`](Self::total).
    #[must_use]
    pub fn len(&self) -> u64 {
        u64::try_from(self.total).unwrap_or(u64::MAX)
    }

    /// The sum of all counts.
    #[must_use]
    pub fn total(&self) -> u128 {
        self.total
    }

    /// How many distinct fingerprints there are.
    #[must_use]
    pub fn distinct(&self) -> u64 {
        self.core.live()
    }

    /// Slots and remainder bits.
    #[must_use]
    pub fn geometry(&self) -> Geometry {
        self.core.table.geometry()
    }

    /// Size, load, space and expected error. Reads the whole table.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let table = &self.core.table;
        Stats::of_table(table, &table.geometry(), self.len(), self.distinct())
    }

    /// The bytes of the table.
    #[cfg(test)]
    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.core.table.as_bytes()
    }

    /// Verifies everything that must hold in the table, from scratch.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn check_invariants(&self) -> Result<(), Violation> {
        self.core.check_invariants()?;
        let mut last = None;
        let mut total = 0;
        for (fingerprint, print) in self.core.iter() {
            let at = fingerprint.quotient;
            if !print.extension.is_empty() || print.is_ghost() {
                return Err(Violation::new("a counting filter holds but counts", at));
            }
            if last == Some(fingerprint) {
                return Err(Violation::new("a fingerprint is there twice", at));
            }
            last = Some(fingerprint);
            total += u128::from(print.count);
        }
        if total != self.total {
            return Err(Violation::new("the sum of all counts is wrong", self.len()));
        }
        Ok(())
    }
}

fn count_of(contents: &Contents) -> u64 {
    contents.prints.first().map_or(0, |print| print.count)
}

impl<H: StreamHash, M: Bytes> fmt::Debug for CountingFilter<H, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CountingFilter")
            .field("total", &self.total)
            .field("distinct", &self.distinct())
            .field("slots", &self.core.table.geometry().slots())
            .field(
                "remainder_bits",
                &self.core.table.geometry().remainder_bits(),
            )
            .field("hash", &H::KIND)
            .finish_non_exhaustive()
    }
}
