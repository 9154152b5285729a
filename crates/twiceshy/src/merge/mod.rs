//! Merging filters, and changing their size without the keys.
//!
//! # The idea
//!
//! A table is its fingerprints in hash order. Filters of equal seed and equal `N = n * 2^r`
//! number their miniruns alike, whatever their `n`, so a merge reads all of them front to
//! back, as one stream in the order of minirun ids, and writes the result front to back:
//!
//! ```text
//!   a   n slots, r bits    3  17  17  40 …  ─┐
//!   b   n slots, r bits    5  17  90 …       ├─►  3  5  17  17  17  40  90 …   n slots, r bits
//!   c   2n slots, r-1 bits 5  41 …          ─┘    5  41                    or  2n slots, r-1 bits
//! ```
//!
//! No key is needed, nothing is searched, nothing is shifted. Doubling a filter is the same
//! with one input: quotients get a bit more, remainders a bit less, ids stay.
//!
//! | | |
//! | --- | --- |
//! | time | one pass over the inputs and one over the result |
//! | memory | the result, and 3 KB an input |
//! | plain | the union of the multisets: the same bytes as inserting everything into one |
//! | counting | the counts of equal fingerprints add up, or go to [`Merge::resolve`] |
//! | adaptive | extensions, counts, values and ghosts are kept; see below |
//!
//! # What adaptive filters keep
//!
//! *A key that is in two inputs* has two fingerprints afterwards. One of them is surplus; the
//! next `adapt` or `remove` of its minirun drops it.
//!
//! *Counts above one and values* must not be ambiguous. Where fingerprints of one minirun
//! match a common key and disagree on them, or two inputs have counted it, only the caller can
//! know what that means. [`Merge::resolve`] is asked for one [`Entry`], and all of them get
//! it: each keeps its own fingerprint, so that no member is lost and later adaptations find
//! one for every key, and each answers the same. Without a resolver it is an error that
//! names the minirun.
//!
//! *Extensions* are cut from the key's hash in digits as wide as a slot. Into narrower slots
//! they are re-cut: `k` digits of `w` bits make `floor(k w / w')` digits of `w'` bits, at least
//! `k` of them. What remains, less than a digit, is lost, so a mistake that only these last
//! bits had fixed comes back: after one doubling about one in `2^w` for extensions of one
//! digit, one in `2^(w-k)` for `k` digits. [`Resized`] says how many extensions were shortened.
//! If the loss made counts or values ambiguous, it is an error, unless the resolver decides.
//! Into *wider* slots a digit would not be filled, and the whole of a short extension would
//! be lost: that is an error. [`AdaptiveFilter::rebuild`] loses nothing, as it has the keys.
//!
//! ```
//! use twiceshy::hash::Seed;
//! use twiceshy::merge::Merge;
//! use twiceshy::QuotientFilter;
//!
//! let new = || QuotientFilter::builder().slots(1_000).remainder_bits(9).seed(Seed::from_u64(1));
//! let (mut monday, mut tuesday) = (new().build()?, new().build()?);
//! for key in 0..800_u64 {
//!     monday.insert(&key)?;
//!     tuesday.insert(&(key + 10_000))?;
//! }
//! // Both are nearly full, so the result gets twice the slots.
//! let both = Merge::of([&monday, &tuesday]).doubled(1).build()?;
//! assert_eq!((both.len(), both.geometry().slots()), (1_600, 2_000));
//! assert!((0..800_u64).all(|key| both.contains(&key) && both.contains(&(key + 10_000))));
//! # Ok::<(), twiceshy::Error>(())
//! ```
//!
//! Paper: Wen et al., "Adaptive Quotient Filters" (2024), section 6.7, for the merge of two
//! halves into a whole.
//!
//! [`AdaptiveFilter::rebuild`]: crate::AdaptiveFilter::rebuild

mod ground;
mod stream;
#[cfg(test)]
mod tests;

use std::fmt;

use crate::builder::Parts;
use crate::entry::Entry;
use crate::error::Error;
use crate::mem::HugePages;
use crate::minirun::Minirun;

pub(crate) use self::ground::{Ground, Target};
pub(crate) use self::stream::Homes;

/// Merges filters of one kind: [`QuotientFilter`](crate::QuotientFilter)s,
/// [`CountingFilter`](crate::CountingFilter)s or [`AdaptiveFilter`](crate::AdaptiveFilter)s.
/// See the [module](self).
#[must_use = "nothing is merged until `build`"]
pub struct Merge<'f, F> {
    pub(crate) filters: Vec<&'f F>,
    pub(crate) target: Target,
    pub(crate) huge_pages: HugePages,
    pub(crate) resolver: Option<Resolver<'f>>,
}

/// What decides about colliding counts and values.
pub type Resolver<'f> = Box<dyn FnMut(&Collision<'_>) -> Result<Entry, Error> + 'f>;

/// Counts or values of one minirun that can't stay side by side: the fingerprints match a
/// common key. They may be of one key that is in several inputs, or of different keys.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Collision<'a> {
    /// Where.
    pub minirun: Minirun,
    /// What they say, two at least.
    pub entries: &'a [Contender],
}

/// One side of a [`Collision`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Contender {
    /// Which of the inputs it is from, counted from 0 in the order that they were given.
    pub source: usize,
    /// Its count and value.
    pub entry: Entry,
}

impl Collision<'_> {
    /// The sum of all counts.
    ///
    /// # Errors
    /// [`Error::Overflow`] if it exceeds `u64::MAX`.
    pub fn total(&self) -> Result<u64, Error> {
        let mut counts = self.entries.iter().map(|contender| contender.entry.count);
        let sum = counts.try_fold(0_u64, u64::checked_add);
        sum.ok_or(Error::Overflow)
    }
}

/// What happened to extensions, counts and values on the way into another table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Resized {
    /// Fingerprints with an extension, ghosts among them.
    pub extended: u64,
    /// Those of them that lost their last bits, fewer than a slot has: mistakes that only
    /// these bits had fixed have come back.
    pub shortened: u64,
    /// Collisions that the resolver has decided.
    pub resolved: u64,
}

impl<'f, F> Merge<'f, F> {
    /// The filters to merge: one or more, of equal seed and equal number `n * 2^r` of minirun
    /// ids. By default the result has the geometry of the one with the most slots.
    pub fn of(filters: impl IntoIterator<Item = &'f F>) -> Self {
        Merge {
            filters: filters.into_iter().collect(),
            target: Target::default(),
            huge_pages: HugePages::default(),
            resolver: None,
        }
    }

    /// Doubles the slots that often, at the price of a remainder bit each time; the number of
    /// ids, and so the false-positive rate of each fingerprint, stays.
    pub fn doubled(mut self, times: u32) -> Self {
        self.target = Target::Doubled(times);
        self
    }

    /// The exact number of slots: that of the inputs, doubled or halved any number of times.
    pub fn slots(mut self, slots: u64) -> Self {
        self.target = Target::Slots(slots);
        self
    }

    /// Half of the slots, with a remainder bit more.
    pub(crate) fn halved(mut self) -> Self {
        self.target = Target::Halved;
        self
    }

    /// What the result is built from, if the filters have the ground in common that `ground` tells of
    /// each.
    ///
    /// # Errors
    /// [`Error::Merge`] that names the difference, [`Error::Geometry`] if there is no result of this size.
    pub(crate) fn parts(&self, ground: impl Fn(&F) -> Ground) -> Result<Parts, Error> {
        let ground = Ground::common(self.filters.iter().map(|&filter| ground(filter)))?;
        Ok(Parts {
            geometry: self.target.geometry(&ground.geometry)?,
            seed: ground.seed,
            huge_pages: self.huge_pages,
            value_bits: ground.value_bits,
        })
    }

    /// Whether the result may ask for huge pages. Default: it does if it is large.
    pub fn huge_pages(mut self, huge_pages: HugePages) -> Self {
        self.huge_pages = huge_pages;
        self
    }

    /// What to make of counts and values that collide, in place of an error, or in counting filters of
    /// their sum. All the fingerprints of the [`Collision`] get the entry that `resolver` gives; an error
    /// ends the merge. The value of a counting filter's entry must be zero. Plain filters have neither
    /// counts nor values, and never ask.
    ///
    /// ```
    /// use twiceshy::hash::Seed;
    /// use twiceshy::{AdaptiveFilter, CountingFilter, Entry, Merge};
    ///
    /// let new = || AdaptiveFilter::builder().capacity(100).seed(Seed::from_u64(1)).build();
    /// let (mut a, mut b) = (new()?, new()?);
    /// let anna = a.hash("anna");
    /// a.insert_with(&anna, 2, 0, &[])?;
    /// b.insert_with(&anna, 3, 0, &[])?;
    /// assert!(AdaptiveFilter::merge([&a, &b]).is_err());
    /// let both = Merge::of([&a, &b])
    ///     .resolve(|collision| Ok(Entry::new(collision.total()?, 0)))
    ///     .build()?;
    /// assert_eq!(both.entry("anna"), Some(Entry::new(5, 0)));
    ///
    /// let new = || CountingFilter::builder().capacity(1_000).seed(Seed::from_u64(1)).build();
    /// let (mut a, mut b) = (new()?, new()?);
    /// a.insert_count("anna", u64::MAX)?;
    /// b.insert_count("anna", 50)?;
    /// let capped = Merge::of([&a, &b])
    ///     .resolve(|collision| Ok(Entry::new(collision.total().unwrap_or(u64::MAX), 0)))
    ///     .build()?;
    /// assert_eq!(capped.count("anna"), u64::MAX);
    /// # Ok::<(), twiceshy::Error>(())
    /// ```
    pub fn resolve(
        mut self,
        resolver: impl FnMut(&Collision<'_>) -> Result<Entry, Error> + 'f,
    ) -> Self {
        self.resolver = Some(Box::new(resolver));
        self
    }
}

impl<F> fmt::Debug for Merge<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Merge")
            .field("filters", &self.filters.len())
            .field("target", &self.target)
            .field("huge_pages", &self.huge_pages)
            .finish_non_exhaustive()
    }
}

/// The inputs hold more than the result has slots for.
pub(crate) fn too_full(error: Error, needed: u64) -> Error {
    match error {
        Error::Full { slots, used } => Error::Full {
            used: needed.max(used),
            slots,
        },
        other => other,
    }
}
