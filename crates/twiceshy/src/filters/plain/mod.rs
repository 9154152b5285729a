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
use crate::bits::Bytes;
use crate::builder::{Buildable, Builder, Parts};
use crate::error::Error;
use crate::facade::facade;
use crate::geometry::Geometry;
use crate::hash::{Seed, Sip13, StreamHash};
use crate::mem::Memory;
use crate::stats::Stats;
use crate::table::{Bare, Found, Table};
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

facade! {
    [H: StreamHash, M: Bytes] QuotientFilter<H, M>: Hash, Words, Filter;
    [H: StreamHash] QuotientFilter<H>: Insert, Remove, Clone;
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
    #[inline(always)]
    fn contains_h0(&self, h0: u64) -> bool {
        let table = &self.core.table;
        table.contains(h0) == Found::Yes
    }

    /// How many items the filter holds, duplicates counted.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.core.table.used()
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
