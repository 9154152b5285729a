//! The telescoping adaptive filter: it changes a remainder that was wrong.
//!
//! # The idea
//!
//! A quotient filter stores a remainder of each key. This one has many remainders of each key
//! to choose from, pieces of its hash stream, and a *hash selector* beside each slot that says
//! which one is there. At first all selectors are 0. When a query is wrongly answered "maybe",
//! the next remainder of the member takes the place of the one that the query shares:
//!
//! ```text
//!   member  x   q | r0 | r1 | r2 …          stored   r0, selector 0     matches x and z
//!   query   z   q | r0 | s1 | s2 …          adapt:   r1, selector 1     matches x, not z
//! ```
//!
//! Selectors are stored in 56 bits for each block of 64 slots by an arithmetic [`code`], 0.875
//! bits a slot. Where that is not enough, some go back to 0 ([`Overflow`]), and their mistakes
//! may come back. So the filter never grows, and needs not be told of every mistake.
//!
//! | | |
//! | --- | --- |
//! | space | `r + 3.125` bits a slot, for ever |
//! | false negatives | none, ever, if the keys given are the right ones |
//! | false-positive rate | `load * 2^-r` for a new query, and the same for one that was wrong before, as long as codes have room: for about `0.2 * 2^r` different queries an item, see `docs/design.md` |
//! | lookup | that of the plain filter, and one comparison; where a selector is near, its block's code is read |
//! | adapt | the keys of one run; where a code is full, of the runs of a block |
//!
//! Unlike an extension, a changed remainder says nothing about queries that were never asked:
//! fixing one mistake fixes no other.
//!
//! # Keys
//!
//! The keys of a run are a range of hashes ([`Stretch`]), found by a [`ReverseMap`]. Fingerprints with
//! selectors are not nested, so which slot is whose is found by bipartite matching. A *right*
//! state is one in which all keys of each run can be matched. [`TelescopingSet`] bundles filter
//! and keys, so that nothing can go wrong; in front of a store of your own use
//! [`insert_from`](crate::sets::keyed::KeyedFilter::insert_from), [`adapt_from`](crate::sets::keyed::KeyedFilter::adapt_from) and
//! [`remove_from`](crate::sets::keyed::KeyedFilter::remove_from).
//!
//! An insertion needs no keys, unless it moves a selector into a block whose code is full: then
//! it is refused ([`Error::NeedsHashes`]) until it is given the keys around it.
//!
//! Papers: Lee, McCauley, Singh, Stein, "Telescoping Filter: A Practical Adaptive Filter" (2021);
//! Lee, "A Practical Adaptive Quotient Filter" (2021), where it is called SELQF. The variant
//! with plainly stored selectors, uTAF, is [`PlainTelescopingFilter`].
//!
//! [`code`]: crate::code
//! [`ReverseMap`]: crate::ReverseMap

mod adapt;
mod file;
mod remove;
#[cfg(test)]
mod tests;

use std::fmt;
use std::ops::RangeInclusive;

use crate::bits::Bytes;
use crate::builder::{Buildable, Builder, Parts};
use crate::code::{Coder, Coding, Planes, Selector, Selectors};
use crate::error::Error;
use crate::file::FilterKind;
use crate::filters::lettered::{Core, Glimpse, Refuse};
use crate::hash::{Hashed, Key, Seed, Sip13, StreamHash, first_word};
use crate::mem::Memory;
use crate::sets::keyed::KeyedSet;
use crate::stats::Stats;
use crate::table::{Fingerprint, Geometry, Look, Violation};
use crate::traits::{Filter, Insert};

pub use crate::filters::lettered::Overflow;

/// A telescoping adaptive filter. See the [module](self) for how to use it rightly, or take
/// [`TelescopingSet`].
///
/// ```
/// use twiceshy::TelescopingFilter;
///
/// let mut filter = TelescopingFilter::new(1_000, 0.01)?;
/// filter.insert("anna")?;
/// assert!(filter.contains("anna"));
/// # Ok::<(), twiceshy::Error>(())
/// ```
pub struct TelescopingFilter<
    H: StreamHash = Sip13,
    C: SelectorCoding = Coder<Selectors>,
    M = Memory,
> {
    core: Core<C, M>,
    keyed: H::Keyed,
    seed: Seed,
    overflow: Overflow,
}

/// The same with selectors of three bits each, stored as they are: uTAF. For comparison: it
/// takes 2.1 bits a slot more.
pub type PlainTelescopingFilter<H = Sip13> = TelescopingFilter<H, Planes>;

/// A [`TelescopingFilter`] together with its keys.
pub type TelescopingSet<H = Sip13, C = Coder<Selectors>> = KeyedSet<TelescopingFilter<H, C>>;

impl TelescopingSet {
    /// An empty set for `capacity` keys, with a filter of false-positive rate `fpr`, a random
    /// seed and the default hash.
    ///
    /// # Errors
    /// Those of [`Builder::build`].
    pub fn new(capacity: u64, fpr: f64) -> Result<Self, Error> {
        Self::from_builder(TelescopingFilter::builder().capacity(capacity).fpr(fpr))
    }
}

/// A way to store hash selectors: [`Coder<Selectors>`](Coder) or [`Planes`].
pub trait SelectorCoding: Coding<Letter = Selector> {
    /// The highest selector.
    const MAX: Selector;

    /// What a file with such selectors is called.
    const KIND: FilterKind;

    /// The coding for remainders of so many bits.
    fn for_width(bits: u32) -> Self;
}

impl SelectorCoding for Coder<Selectors> {
    const MAX: Selector = Selectors::MAX;
    const KIND: FilterKind = FilterKind::Telescoping;

    fn for_width(bits: u32) -> Self {
        Coder::new(Selectors::for_width(bits))
    }
}

impl SelectorCoding for Planes {
    const MAX: Selector = Planes::MAX;
    const KIND: FilterKind = FilterKind::PlainTelescoping;

    fn for_width(_: u32) -> Self {
        Planes
    }
}

/// The keys of some neighbouring runs: those whose `h0` is in a range. Stable, whatever is
/// inserted, removed or fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stretch {
    first: u64,
    last: u64,
}

impl Stretch {
    /// All first hash words from `first` to `last`, as [`Error::NeedsHashes`] names them.
    #[must_use]
    pub fn new(first: u64, last: u64) -> Self {
        Stretch { first, last }
    }

    /// The first hash words of the keys.
    #[must_use]
    pub fn hashes(self) -> RangeInclusive<u64> {
        self.first..=self.last
    }

    /// All keys of some quotients.
    fn of_quotients(geometry: &Geometry, quotients: RangeInclusive<u64>) -> Self {
        let bits = geometry.remainder_bits();
        let (first, last) = (
            quotients.start() << bits,
            ((quotients.end() + 1) << bits) - 1,
        );
        Stretch {
            first: *geometry.hash_range(first).start(),
            last: *geometry.hash_range(last).end(),
        }
    }
}

/// A lookup must look at the letters if there may be any beside its run.
struct AnyOfRun;

impl Glimpse for AnyOfRun {
    const ASKS_ONLY_EQUALS: bool = false;

    #[inline(always)]
    fn asks(look: &Look<'_>) -> Option<u32> {
        (look.occupied != 0).then_some(look.start + look.last)
    }
}

impl TelescopingFilter {
    /// An empty filter for `capacity` keys with a false-positive rate of at most `fpr`, a
    /// random seed, and the default hash, which is safe against keys chosen by an attacker.
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

impl<H: StreamHash, C: SelectorCoding> Buildable for TelescopingFilter<H, C> {
    type WithHash<X: StreamHash> = TelescopingFilter<X, C>;

    fn from_parts(parts: Parts) -> Result<Self, Error> {
        let coding = C::for_width(parts.geometry.remainder_bits());
        Ok(TelescopingFilter {
            core: Core::from_parts(&parts, coding)?,
            keyed: H::keyed(&parts.seed),
            seed: parts.seed,
            overflow: Overflow::default(),
        })
    }
}

/// The remainder of a key that a selector stands for.
#[inline]
fn remainder(geometry: &Geometry, key: &Hashed<'_>, selector: Selector) -> u64 {
    match selector.checked_sub(1) {
        None => geometry.fingerprint(key.h0()).remainder,
        Some(piece) => {
            let bits = geometry.remainder_bits();
            key.bits(u64::from(piece) * u64::from(bits), bits)
        }
    }
}

impl<H: StreamHash, C: SelectorCoding, M: Bytes> TelescopingFilter<H, C, M> {
    /// Hashes a key the way this filter does.
    #[inline]
    pub fn hash<'k, K: Key + ?Sized>(&self, key: &'k K) -> Hashed<'k> {
        Hashed::new::<H, K>(&self.seed, key)
    }

    /// May `key` be a member? `false` is certain.
    #[inline(always)]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        let h0 = first_word::<H, K>(&self.keyed, key);
        match self.core.answer::<AnyOfRun>(h0) {
            Some(found) => found,
            None => self.contains_by_words(key),
        }
    }

    /// Kept out of line, so that the common case can be inlined.
    #[inline(never)]
    fn contains_by_words<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.matches(&self.hash(key))
    }

    /// [`contains`](Self::contains) for a key that is hashed already.
    #[inline]
    #[must_use]
    pub fn contains_hashed(&self, key: &Hashed<'_>) -> bool {
        match self.core.answer::<AnyOfRun>(key.h0()) {
            Some(found) => found,
            None => self.matches(key),
        }
    }

    fn matches(&self, key: &Hashed<'_>) -> bool {
        let geometry = &self.core.geometry;
        let home = geometry.fingerprint(key.h0());
        let run = self.core.run(home.quotient);
        let found = self.core.find_slot(&run, |value, selector| {
            value
                == match selector {
                    0 => home.remainder,
                    _ => remainder(geometry, key, selector),
                }
        });
        found.is_some()
    }

    /// The run that matches `key`, as the range of its keys' hashes; `None` if `key` is
    /// certainly no member.
    pub fn lookup<K: Key + ?Sized>(&self, key: &K) -> Option<Stretch> {
        self.lookup_hashed(&self.hash(key))
    }

    /// [`lookup`](Self::lookup) for a key that is hashed already.
    #[must_use]
    pub fn lookup_hashed(&self, key: &Hashed<'_>) -> Option<Stretch> {
        let found = self.contains_hashed(key);
        found.then(|| self.stretch(self.quotient(key)))
    }

    fn quotient(&self, key: &Hashed<'_>) -> u64 {
        self.core.geometry.fingerprint(key.h0()).quotient
    }

    /// The keys of a quotient.
    fn stretch(&self, quotient: u64) -> Stretch {
        Stretch::of_quotients(&self.core.geometry, quotient..=quotient)
    }

    /// The keys whose slots may have to change so that the letters of a block fit: those of
    /// the block, and of the slot before it.
    fn stretch_of_block(&self, block: u64) -> Stretch {
        let slots = self.core.geometry.slots();
        let last = (block * 64 + 63).min(slots - 1);
        let from = (block * 64).saturating_sub(1);
        let mut first = from.min(last);
        while first > 0 && self.core.run(first).start > from {
            first -= 1;
        }
        Stretch::of_quotients(&self.core.geometry, first..=last)
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

    /// How many fingerprints have a selector above 0. Reads the whole table.
    #[must_use]
    pub fn adapted(&self) -> u64 {
        self.core.count_letters()
    }

    /// Slots and remainder bits.
    #[must_use]
    pub fn geometry(&self) -> Geometry {
        self.core.geometry
    }

    /// The seed of the hash. Keep it from those who may choose keys.
    #[must_use]
    pub fn seed(&self) -> Seed {
        self.seed
    }

    /// What happens to the selectors of a block whose code is full.
    #[must_use]
    pub fn overflow(&self) -> Overflow {
        self.overflow
    }

    /// Size, load, space and expected error. Reads the whole table.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let items = self.len();
        Stats::of_table(&self.core.table, &self.core.geometry, items, items)
    }

    /// All stored fingerprints in the order of the table: quotients, and the remainders that
    /// stand in the slots. The remainder of an item that has adapted is that of its selector.
    pub fn iter(&self) -> impl Iterator<Item = Fingerprint> + '_ {
        self.core.fingerprints()
    }

    /// Verifies everything that must hold in the table, from scratch. For tests and for the
    /// suspicious; linear in the size of the filter.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn check_invariants(&self) -> Result<(), Violation> {
        self.core.check_invariants()
    }
}

impl<H: StreamHash, C: SelectorCoding> TelescopingFilter<H, C> {
    /// What shall happen to the selectors of a block whose code is full. Default:
    /// [`Overflow::Keep`].
    #[must_use]
    pub fn with_overflow(mut self, overflow: Overflow) -> Self {
        self.overflow = overflow;
        self
    }

    /// Adds a key. A key that is added twice is there twice.
    ///
    /// # Errors
    /// [`Error::Full`] if no slot is left; [`Error::NeedsHashes`] if a selector would move
    /// into a block whose code is full: [`insert_with`](Self::insert_with) does it then.
    /// Nothing has changed.
    #[inline(always)]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<(), Error> {
        self.insert_h0(first_word::<H, K>(&self.keyed, key))
    }

    /// [`insert`](Self::insert) for a key that is hashed already.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn insert_hashed(&mut self, key: &Hashed<'_>) -> Result<(), Error> {
        self.insert_h0(key.h0())
    }

    #[inline(always)]
    fn insert_h0(&mut self, h0: u64) -> Result<(), Error> {
        match self.core.insert(h0) {
            Ok(()) => Ok(()),
            Err(error) => Err(self.explain(error)),
        }
    }

    /// The error for callers: the keys that are needed, not the block that is full.
    #[cold]
    fn explain(&self, error: Error) -> Error {
        match Refuse::block(&error) {
            Some(block) => self.needs(block),
            None => error,
        }
    }

    #[cold]
    fn needs(&self, block: u64) -> Error {
        let Stretch { first, last } = self.stretch_of_block(block);
        Error::NeedsHashes { first, last }
    }

    /// Removes everything and keeps the memory.
    pub fn clear(&mut self) {
        self.core.table.clear();
    }

    /// A copy, or an error where [`Clone`] would abort for want of memory.
    ///
    /// # Errors
    /// [`Error::Geometry`] if a second table does not fit in memory.
    pub fn try_clone(&self) -> Result<Self, Error> {
        Ok(TelescopingFilter {
            core: self.core.try_clone()?,
            ..*self
        })
    }
}

impl<H: StreamHash, C: SelectorCoding> Clone for TelescopingFilter<H, C> {
    fn clone(&self) -> Self {
        match self.try_clone() {
            Ok(copy) => copy,
            // As `Vec` does; `try_clone` is there for those who would rather know.
            Err(error) => panic!("{error}"),
        }
    }
}

impl<H: StreamHash, C: SelectorCoding, M: Bytes> fmt::Debug for TelescopingFilter<H, C, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TelescopingFilter")
            .field("len", &self.len())
            .field("slots", &self.core.geometry.slots())
            .field("remainder_bits", &self.core.geometry.remainder_bits())
            .field("hash", &H::KIND)
            .finish_non_exhaustive()
    }
}

impl<H: StreamHash, C: SelectorCoding, M: Bytes> Filter for TelescopingFilter<H, C, M> {
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

    fn len(&self) -> u64 {
        self.len()
    }

    fn stats(&self) -> Stats {
        self.stats()
    }
}

impl<H: StreamHash, C: SelectorCoding> Insert for TelescopingFilter<H, C> {
    #[inline]
    fn insert_hashed(&mut self, key: &Hashed<'_>) -> Result<(), Error> {
        self.insert_hashed(key)
    }

    #[inline]
    fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<(), Error> {
        self.insert(key)
    }
}
