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

mod core;
mod write;

use self::core::Plain;
use super::facade::TableFilter;
use crate::bits::Bytes;
use crate::geometry::Fingerprint;
use crate::hash::{Sip13, StreamHash};
use crate::mem::Memory;

/// A quotient filter: approximate membership with removal, iteration and duplicates.
///
/// Its methods are those of all table filters ([`TableFilter`]), [`remove`](QuotientFilter::remove),
/// [`insert_unique`](QuotientFilter::insert_unique) and [`iter`](QuotientFilter::iter).
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
pub type QuotientFilter<H = Sip13, M = Memory> = TableFilter<Plain<M>, H>;

impl<H: StreamHash, M: Bytes> QuotientFilter<H, M> {
    /// All fingerprints in hash order, duplicates as often as they were inserted.
    pub fn iter(&self) -> impl Iterator<Item = Fingerprint> + '_ {
        super::bare_fingerprints(&self.core.table)
    }
}
