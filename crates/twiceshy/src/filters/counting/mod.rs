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

mod bulk;
mod core;
mod rebuild;
mod write;

use self::core::Counting;
use super::facade::TableFilter;
use crate::bits::Bytes;
use crate::geometry::Fingerprint;
use crate::hash::{Hashed, Key, Sip13, StreamHash};
use crate::mem::Memory;

/// A quotient filter that counts.
///
/// Its methods are those of all table filters ([`TableFilter`]), and of its own
/// [`count`](CountingFilter::count), [`insert_count`](CountingFilter::insert_count),
/// [`remove_count`](CountingFilter::remove_count), [`remove`](CountingFilter::remove) and
/// [`iter`](CountingFilter::iter).
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
pub type CountingFilter<H = Sip13, M = Memory> = TableFilter<Counting<M>, H>;

impl<H: StreamHash, M: Bytes> CountingFilter<H, M> {
    /// How often a key was inserted, or more if another key has the same fingerprint.
    pub fn count<K: Key + ?Sized>(&self, key: &K) -> u64 {
        self.core.count(self.first_word(key))
    }

    /// [`count`](Self::count) for a key that is hashed already.
    #[must_use]
    pub fn count_hashed(&self, key: &Hashed<'_>) -> u64 {
        self.core.count(key.h0())
    }

    /// All fingerprints with their counts, in hash order.
    pub fn iter(&self) -> impl Iterator<Item = (Fingerprint, u64)> + '_ {
        let prints = self.core.marks.iter();
        prints.map(|(fingerprint, print)| (fingerprint, print.count))
    }

    /// The sum of all counts.
    #[must_use]
    pub fn total(&self) -> u128 {
        self.core.total
    }

    /// How many distinct fingerprints there are.
    #[must_use]
    pub fn distinct(&self) -> u64 {
        self.core.marks.live()
    }
}
