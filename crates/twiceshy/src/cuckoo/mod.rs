//! Cuckoo filters: plain, vacuum, and adaptive in three ways.
//!
//! # The idea
//!
//! A fingerprint may lie in one of two buckets of four slots. When both are full, a fingerprint moves
//! to its own other bucket; with two choices of four slots
//! a table takes keys up to 95% and more. A lookup compares at most eight fingerprints in two
//! cache lines.
//!
//! ```text
//!   key ─► h0 ─► bucket 6, fingerprint f         bucket   slots
//!                  │                                 2   | a | . | c | d |
//!                  ├────────────────────────────►    6   | e | f | . | . |   here,
//!                  └─► other(6, f) = 2 ─────────►    2   | a | . | c | d |   or here
//! ```
//!
//! | type | other bucket | learns | keys needed |
//! | --- | --- | --- | --- |
//! | [`CuckooFilter`] | anywhere, found from the fingerprint | no | never |
//! | [`VacuumFilter`] | near, found from the fingerprint | no | never |
//! | [`AdaptiveCuckooFilter`], in an [`AdaptiveCuckooSet`](crate::sets::AdaptiveCuckooSet) | anywhere, from the key | in one of three ways | to insert, to adapt |
//!
//! With `w`-bit fingerprints, any number `m` of buckets, and `n` keys:
//!
//! | | |
//! | --- | --- |
//! | space | `4 m w` bits, [semi-sorted](Packing) `4 m (w - 1)` |
//! | false-positive rate | `1 - (1 - 2 / (m (2^w - 1)))^n`, about `8 load / 2^w` |
//! | lookup | two cache lines; the vacuum filter's are mostly close together |
//! | insertion | the same until a bucket is full, and then a search for room |
//!
//! Compared with a [`QuotientFilter`](crate::QuotientFilter), lookups are about twice as fast
//! and take about as much space; there is no order, so no iteration, merge or resizing without
//! the keys, and a key can be there eight times at most.
//!
//! From *Cuckoo Filter: Practically Better Than Bloom* (CoNEXT 2014), *Vacuum Filters* (VLDB
//! 2019), *Adaptive Cuckoo Filters* (ALENEX 2018) and *Support Optimality and Adaptive Cuckoo
//! Filters* (WADS 2021). What is different here: any number of buckets in both; an insertion
//! finds its way before it moves a fingerprint, so that one that [fails](crate::Error::Full)
//! loses none; and every fingerprint but zero is equally likely.
//!
//! # Example
//!
//! ```
//! use twiceshy::cuckoo::{CuckooFilter, VacuumFilter};
//! use twiceshy::{Error, Filter, Removed};
//!
//! let mut filter = VacuumFilter::new(1_000, 0.001)?;
//! filter.insert("anna")?;
//! assert_eq!(filter.contains_batch(&["anna", "otto"]), [true, false]);
//! assert_eq!(filter.remove("anna")?, Removed::One);
//!
//! // A filter that is full says so, and still has all its keys.
//! let mut tiny = CuckooFilter::builder().buckets(5).fingerprint_bits(16).build()?;
//! let inside = (0..).take_while(|key: &u64| tiny.insert(key).is_ok()).count() as u64;
//! assert!(matches!(tiny.insert(&inside), Err(Error::Full { .. })));
//! assert!((0..inside).all(|key| tiny.contains(&key)));
//! # Ok::<(), twiceshy::Error>(())
//! ```

pub mod adaptive;
mod alternate;
mod batch;
mod builder;
mod file;
mod filter;
mod lanes;
mod one_word;
mod search;
mod semi_sort;
mod shape;
mod table;

pub use self::adaptive::{
    AdaptiveCuckooBuilder, AdaptiveCuckooFilter, Bins, LockStep, MemoryCells, Plan, Scheme,
};
pub use self::alternate::{Alternate, Anywhere, Near};
pub use self::builder::{Buckets, CuckooBuilder};
pub use self::filter::PartialKeyFilter;
pub use self::shape::{Packing, Shape};
use crate::error::Error;
use crate::hash::Sip13;
use crate::mem::Memory;

/// A cuckoo filter: the other bucket of a fingerprint is anywhere in the table.
///
/// ```
/// use twiceshy::cuckoo::CuckooFilter;
///
/// let mut filter = CuckooFilter::new(1_000, 0.001)?;
/// filter.insert("anna")?;
/// assert!(filter.contains("anna"));
/// # Ok::<(), twiceshy::Error>(())
/// ```
pub type CuckooFilter<H = Sip13, M = Memory> = PartialKeyFilter<H, Anywhere, M>;

/// A vacuum filter: a cuckoo filter whose two buckets of a fingerprint are mostly close to each
/// other, on one page and often in one cache line or its neighbour.
///
/// ```
/// use twiceshy::cuckoo::VacuumFilter;
///
/// let mut filter = VacuumFilter::new(1_000, 0.001)?;
/// filter.insert("anna")?;
/// assert!(filter.contains("anna"));
/// # Ok::<(), twiceshy::Error>(())
/// ```
pub type VacuumFilter<H = Sip13, M = Memory> = PartialKeyFilter<H, Near, M>;

impl<A: Alternate> PartialKeyFilter<Sip13, A> {
    /// An empty filter for `capacity` keys with a false-positive rate of at most `fpr`, a
    /// random seed, and the default hash, which is safe against keys chosen by an attacker.
    ///
    /// # Errors
    /// [`Error::Geometry`] if there is no such filter or no memory for it, [`Error::Seed`] if
    /// the system has no randomness to give.
    pub fn new(capacity: u64, fpr: f64) -> Result<Self, Error> {
        Self::builder().capacity(capacity).fpr(fpr).build()
    }

    /// For everything else that can be chosen, another hash among them.
    pub fn builder() -> CuckooBuilder<A> {
        CuckooBuilder::new()
    }
}
