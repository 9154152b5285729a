//! Bloom filters: the standard one, the blocked one, and two that know more about their keys.
//!
//! # The idea
//!
//! An array of bits. A key sets `k` of them, and is thought to be there while all `k` are set.
//!
//! ```text
//!   Bloom        . . 1 . . . . 1 . . . . . . . . . . . . 1 . . . . . . . 1 . .   anywhere
//!   blocked      . . . . . . . . | . 1 . 1 . . 1 1 | . . . . . . . . | . . . .   one cache line
//! ```
//!
//! | type | bits a key at 2⁻⁹ | cache lines | what is special |
//! | --- | --- | --- | --- |
//! | [`BloomFilter`] | 13.0 | up to `k` | smallest of the four |
//! | [`BlockedBloomFilter`] | 13.9 | 1 | fastest; more bits for the same rate |
//! | [`WeightedBloomFilter`] | 13.0 | up to `k` | fewer mistakes on keys that are asked for often |
//! | [`RetouchedBloomFilter`] | 13.0 | up to `k` | fixes mistakes at the price of members |
//!
//! [`sizing`] has the formulas. A Bloom filter never fills up and its bits do not depend on the
//! order of insertion, so filters can be united by a plain "or" ([`BitFilter::union`]). It can't
//! remove, count or iterate, and no bit in it belongs to one key alone, which is why it
//! can't adapt without forgetting members. At rates below 3% a
//! [`CuckooFilter`](crate::cuckoo::CuckooFilter) or [`QuotientFilter`](crate::QuotientFilter) is
//! smaller.
//!
//! A block is one cache line where the array starts at one: in memory maps, and in arrays of 2
//! MiB and more on Linux (feature `huge-pages`). Elsewhere it may lie across two.
//!
//! From *Space/Time Trade-offs in Hash Coding with Allowable Errors* (CACM 1970), *Cache-,
//! Hash- and Space-Efficient Bloom Filters* (WEA 2007), and section 2 of the survey of adaptive
//! filters.
//!
//! # Example
//!
//! ```
//! use twiceshy::bloom::BlockedBloomFilter;
//! use twiceshy::{Filter, View};
//!
//! let mut filter = BlockedBloomFilter::new(1_000, 0.01)?;
//! filter.insert("anna");
//! assert_eq!(filter.contains_batch(&["anna", "otto"]), [true, false]);
//!
//! let bytes = filter.to_bytes();
//! assert!(View::<BlockedBloomFilter>::new(&bytes)?.contains("anna"));
//! # Ok::<(), twiceshy::Error>(())
//! ```

mod builder;
mod file;
mod filter;
mod probes;
mod retouched;
pub mod sizing;
mod weighted;

pub use self::builder::{Bits, BloomBuilder};
pub use self::filter::BitFilter;
pub use self::probes::{OneLine, OneSided, Planned, Probes, Scattered};
pub use self::retouched::{Choice, Cleared, Price, RetouchedBloomFilter};
pub use self::weighted::{Class, Most, WeightedBloomFilter, Weights};
use crate::error::Error;
use crate::hash::Sip13;
use crate::mem::Memory;

/// A Bloom filter: the bits of a key are anywhere in the array.
///
/// ```
/// use twiceshy::bloom::BloomFilter;
///
/// let mut filter = BloomFilter::new(1_000, 0.01)?;
/// filter.insert("anna");
/// assert!(filter.contains("anna"));
/// # Ok::<(), twiceshy::Error>(())
/// ```
pub type BloomFilter<H = Sip13, M = Memory> = BitFilter<H, Scattered, M>;

/// A blocked Bloom filter: all bits of a key are in one block of 512 bits, a cache line.
///
/// ```
/// use twiceshy::bloom::BlockedBloomFilter;
///
/// let mut filter = BlockedBloomFilter::new(1_000, 0.01)?;
/// filter.insert("anna");
/// assert!(filter.contains("anna"));
/// # Ok::<(), twiceshy::Error>(())
/// ```
pub type BlockedBloomFilter<H = Sip13, M = Memory> = BitFilter<H, OneLine, M>;

impl<P: Planned> BitFilter<Sip13, P> {
    /// An empty filter for `capacity` keys with a false-positive rate of about `fpr`, a random
    /// seed, and the default hash, which is safe against keys chosen by an attacker.
    ///
    /// # Errors
    /// [`Error::Geometry`] if there is no such filter or no memory for it, [`Error::Seed`] if
    /// the system has no randomness to give.
    pub fn new(capacity: u64, fpr: f64) -> Result<Self, Error> {
        Self::builder().capacity(capacity).fpr(fpr).build()
    }

    /// For everything else that can be chosen, another hash among them.
    pub fn builder() -> BloomBuilder<P> {
        BloomBuilder::new()
    }
}
