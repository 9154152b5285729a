//! Filters that learn in fixed space: telescoping and extension.
//!
//! # The idea
//!
//! A quotient filter stores a remainder of each key. These have a *symbol* beside each slot that
//! says what of its key's hash stream stands there. At first no slot has one. When a query is
//! wrongly answered "maybe", the member's slot is replaced by one that the query does not share:
//!
//! ```text
//!                     telescoping: another remainder        extension: further bits
//! member  x           q | r0 | r1 | r2 …                     q | r | 1 0 1 …
//! query   z           q | r0 | s1 | s2 …                     q | r | 1 1 0 …
//! stored              r0, selector 0                         r, extension ""
//! adapted             r1, selector 1                         r, extension "10"
//! ```
//!
//! The symbols of the 64 slots of a block are one arithmetic code of 56 bits, 0.875 bits a slot.
//! Where that is not enough, some are dropped ([`Overflow`]), and their mistakes may come back. So
//! the filter never grows, and needs not be told of every mistake.
//!
//! | | telescoping | extension |
//! | --- | --- | --- |
//! | space | `r + 3.125` bits a slot, for ever | the same |
//! | false negatives | none, ever, if the keys given are the right ones | the same |
//! | false-positive rate | `load * 2^-r` for a new query, and the same for one that was wrong before, as long as codes have room: for about `0.2 * 2^r` different queries an item | `load * 2^-r`, and less the more has been fixed: an extension of `k` bits leaves one in `2^k` of the mistakes of its fingerprint |
//! | lookup | that of the plain filter, and one comparison; where a selector is near, its block's code is read | that of the plain filter; the code is read where the remainder is found and an extension is near |
//! | adapt | the keys of one run; where a code is full, of the runs of a block | the keys of one minirun |
//!
//! A changed remainder fixes one mistake and no other. An extension takes four bits of code on
//! average, a selector two; but each extension fixes mistakes that were never asked for, and
//! lookups of strangers don't touch the codes.
//!
//! # Keys
//!
//! The keys that could have given a positive answer are a range of hashes ([`Stretch`]), found by a
//! [`ReverseMap`]: those of a minirun, or, where symbols change remainders, of a run. Slots with
//! selectors are not nested, so which slot is whose is found by bipartite matching. A *right*
//! state is one in which all keys can be matched. [`TelescopingSet`] and [`ExtensionSet`] bundle
//! filter and keys, so that nothing can go wrong.
//!
//! An insertion needs no keys, with one exception: in a telescoping filter, if it moves a selector
//! into a block whose code is full. Then it is refused ([`Error::NeedsHashes`](crate::Error::NeedsHashes)) until it is given
//! the keys around it. An extension can be dropped without knowing the key.
//!
//! ```
//! use twiceshy::ExtensionSet;
//!
//! let mut set = ExtensionSet::new(1_000, 0.1)?;
//! set.insert("robin")?;
//! let wrong: Vec<u64> = (0..20_000).filter(|query| set.contains(query)).collect();
//! for query in &wrong {
//!     set.report_false_positive(query)?;
//! }
//! assert!(wrong.iter().all(|query| !set.contains(query)));
//! assert!(set.contains("robin"));
//! # Ok::<(), twiceshy::Error>(())
//! ```
//!
//! # Inside
//!
//! `symbols` has all in which the two differ. `core` is the table with its codes, `moves` what
//! happens to symbols when slots move, `runs` how runs are read and written with their symbols, and
//! `code` the coders.
//!
//! Papers: Lee, McCauley, Singh, Stein, "Telescoping Filter: A Practical Adaptive Filter" (2021);
//! Lee, "A Practical Adaptive Quotient Filter" (2021), where they are called SELQF and EXTQF. The
//! variant with plainly stored selectors, uTAF, is [`PlainTelescopingFilter`].
//!
//! [`ExtensionSet`]: crate::ExtensionSet
//! [`ReverseMap`]: crate::ReverseMap
//! [`TelescopingSet`]: crate::TelescopingSet

mod adapt;
pub(crate) mod code;
mod core;
mod keys;
mod matching;
mod moves;
mod remove;
mod runs;
mod symbols;
#[cfg(test)]
mod tests;

use self::code::{Coder, Extensions, PlainSelectors, Selectors};
use self::core::Coded;
use super::facade::TableFilter;
use crate::bits::Bytes;
use crate::geometry::Fingerprint;
use crate::hash::{Hashed, Key, Sip13, StreamHash};
use crate::mem::Memory;

pub use self::symbols::{Stretch, Symbols};

/// A filter that adapts in fixed space: a [`TelescopingFilter`] or an [`ExtensionFilter`]. See the
/// [module](self) for how to use it rightly, or take a set, which has the keys as well.
///
/// Its methods are those of all table filters ([`TableFilter`]), and of its own
/// [`lookup`](CodedFilter::lookup), [`adapt`](CodedFilter::adapt), [`insert_with`](CodedFilter::insert_with),
/// [`remove`](CodedFilter::remove) and [`iter`](CodedFilter::iter).
///
/// ```
/// use twiceshy::{ExtensionFilter, TelescopingFilter};
///
/// let mut filter = TelescopingFilter::new(1_000, 0.01)?;
/// filter.insert("anna")?;
/// assert!(filter.contains("anna"));
///
/// let mut filter = ExtensionFilter::new(1_000, 0.01)?;
/// filter.insert("anna")?;
/// assert!(filter.contains("anna"));
/// # Ok::<(), twiceshy::Error>(())
/// ```
pub type CodedFilter<S, H = Sip13, M = Memory> = TableFilter<Coded<S, M>, H>;

/// A telescoping adaptive filter: it changes a remainder that was wrong.
pub type TelescopingFilter<H = Sip13, M = Memory> = CodedFilter<Coder<Selectors>, H, M>;

/// A telescoping filter with selectors of three bits each, stored as they are: uTAF. For
/// comparison: it takes 2.1 bits a slot more.
pub type PlainTelescopingFilter<H = Sip13, M = Memory> = CodedFilter<PlainSelectors, H, M>;

/// An extension adaptive filter: it lengthens a fingerprint that was wrong.
pub type ExtensionFilter<H = Sip13, M = Memory> = CodedFilter<Coder<Extensions>, H, M>;

/// What happens to the symbols of a block whose code is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Overflow {
    /// One after the other is dropped until the rest fits: what can be kept, is kept.
    #[default]
    Keep,
    /// All of them are dropped, but for the newest: the rule of the papers.
    Rebuild,
}

impl<S: Symbols, H: StreamHash, M: Bytes> CodedFilter<S, H, M> {
    /// The range of hashes of the keys that may have given a positive answer; `None` if `key` is
    /// certainly no member.
    pub fn lookup<K: Key + ?Sized>(&self, key: &K) -> Option<Stretch> {
        self.lookup_hashed(&self.hash(key))
    }

    /// [`lookup`](Self::lookup) for a key that is hashed already.
    #[must_use]
    pub fn lookup_hashed(&self, key: &Hashed<'_>) -> Option<Stretch> {
        let found = self.contains_hashed(key);
        found.then(|| self.core.stretch(key.h0()))
    }

    /// How many fingerprints have a symbol beside them. Reads the whole table.
    #[must_use]
    pub fn adapted(&self) -> u64 {
        self.core.count_symbols()
    }

    /// What happens to the symbols of a block whose code is full.
    #[must_use]
    pub fn overflow(&self) -> Overflow {
        self.core.overflow
    }

    /// All stored fingerprints in the order of the table: quotients, and what stands in the slots.
    /// That is the remainder of the key, or where a selector is beside it, another one.
    pub fn iter(&self) -> impl Iterator<Item = Fingerprint> + '_ {
        super::bare_fingerprints(&self.core.table)
    }
}

impl<S: Symbols, H: StreamHash> CodedFilter<S, H> {
    /// What shall happen to the symbols of a block whose code is full. Default:
    /// [`Overflow::Keep`].
    #[must_use]
    pub fn with_overflow(mut self, overflow: Overflow) -> Self {
        self.core.overflow = overflow;
        self
    }
}
