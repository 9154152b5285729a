//! Lists that change: keys come, go and move from one list to the other, at any time.
//!
//! # The idea
//!
//! The filter holds `Y`; the reverse map, an ordered set of hashes and keys, holds both lists.
//! Whatever happens to a key concerns its minirun alone, so every change reads that minirun
//! (one range of the map) and leaves in the filter what the lists demand of it:
//!
//! ```text
//!   add to Y       a fingerprint, extended against the NO keys of its minirun
//!   add to N       the fingerprints that it matches are extended
//!   move           the one goes, the other comes, and what they no longer need is dropped
//!   remove         its fingerprint goes, and others become as short as they can be
//! ```
//!
//! What a minirun's fingerprints are is a function of the keys that are listed there: each is as
//! short as the other list lets it be. So the filter forgets no key and keeps no
//! history: after any sequence of changes it has the bytes of one that was built from the
//! lists as they are, which is what [`check_invariants`](DynamicList::check_invariants) verifies. A
//! change that finds the filter full makes it grow first.
//!
//! At every moment all of `Y` is answered YES and all of `N` NO: a change that fails, in the
//! filter or in the map, has not happened. (If the map fails at a move and at taking it back, the
//! key is on neither list, for the map and for the filter.)
//!
//! The map is any [`ReverseMap`]: in memory by default, or an engine that keeps keys on disk.
//! In it a key stands behind one byte, `Y` or `N`, so a list needs a map of its own. A key that
//! moves is removed from the one list before it is added to the other: if the program dies in
//! between, it is on neither.
//!
//! # What it promises
//!
//! | | [`YesNo`] | [`TaggedYesNo`](super::TaggedYesNo) |
//! | --- | --- | --- |
//! | all of `Y`, all of `N` | YES, NO | YES, NO |
//! | other keys | YES with probability at most `fpr`, or NO | YES or NO with probability at most `fpr`, or unlisted |
//! | the filter holds | `Y` | `Y` and `N` |
//! | a change | one range read, one or two writes of the map; a filter insert or a minirun rewritten | the same |
//!
//! ```
//! use twiceshy::lists::{Answer, List, YesNo};
//!
//! let mut list = YesNo::new(1_000, 1_000, 0.01)?;
//! list.add("ads.example", List::Yes)?;
//! list.add("news.example", List::No)?;
//! assert_eq!(list.answer("ads.example"), Answer::Yes);
//! assert_eq!(list.answer("news.example"), Answer::No);
//!
//! // Which of the two is it, or none? The reverse map knows.
//! assert_eq!(list.lookup_exact("news.example")?, Some(List::No));
//! assert_eq!(list.lookup_exact("other.example")?, None);
//!
//! list.add("news.example", List::Yes)?; // moves it
//! assert_eq!(list.answer("news.example"), Answer::Yes);
//! list.remove("ads.example")?;
//! assert_eq!((list.len_of(List::Yes), list.len_of(List::No)), (1, 0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;
use std::marker::PhantomData;

use super::minirun::{Members, parse};
use super::{Answer, List, StaticYesNo, YesNoList, plan};
use crate::builder::Parts;
use crate::error::Error;
use crate::filters::adaptive::AdaptiveFilter;
use crate::filters::core::Core;
use crate::filters::facade::OwnedCore;
use crate::geometry::Geometry;
use crate::hash::{Hashed, Key, Seed, Sip13, StreamHash};
use crate::mem::HugePages;
use crate::minirun::Minirun;
use crate::sets::reverse_map::{MemoryMap, ReverseMap};
use crate::sizing::{self, MAX_LOAD};
use crate::violation::Violation;

/// What the filter of a dynamic list stores; see [`YesNo`] and [`TaggedYesNo`](super::TaggedYesNo).
pub trait Form: sealed::Form + Copy + fmt::Debug {}

pub(crate) mod sealed {
    use super::{AdaptiveFilter, Answer, Hashed, List, StreamHash};

    /// There are two forms, and they are known here.
    pub trait Form {
        /// Bits that say which list a fingerprint is of.
        const TAG_BITS: u32;

        /// The tag of a list's keys; `None` if the filter does not hold them.
        fn value(list: List) -> Option<u64>;

        /// What the filter says.
        fn answer<H: StreamHash>(filter: &AdaptiveFilter<H>, key: &Hashed<'_>) -> Answer;
    }
}

/// The filter holds the YES list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Untagged;

impl Form for Untagged {}

impl sealed::Form for Untagged {
    const TAG_BITS: u32 = 0;

    fn value(list: List) -> Option<u64> {
        (list == List::Yes).then_some(0)
    }

    #[inline]
    fn answer<H: StreamHash>(filter: &AdaptiveFilter<H>, key: &Hashed<'_>) -> Answer {
        Answer::yes_if(filter.contains_hashed(key))
    }
}

/// A YES/NO list that changes, over a reverse map `R`. See the [module](self).
pub type YesNo<R = MemoryMap, H = Sip13> = DynamicList<Untagged, R, H>;

/// What [`YesNo`] and [`TaggedYesNo`](super::TaggedYesNo) have in common: all but what the
/// filter stores.
pub struct DynamicList<F: Form, R = MemoryMap, H: StreamHash = Sip13> {
    pub(super) filter: AdaptiveFilter<H>,
    pub(super) map: R,
    pub(super) yes: u64,
    pub(super) no: u64,
    /// The minirun that a change is about; kept for its memory.
    pub(super) members: Members,
    form: PhantomData<F>,
}

/// What a change did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The key was on neither list.
    Added,
    /// The key was on the other list.
    Moved,
    /// The key was there already.
    Nothing,
}

/// What a list over an `R` says and may fail with.
pub(super) type Outcome<T, R> = Result<T, <R as ReverseMap>::Error>;

impl<F: Form> DynamicList<F> {
    /// An empty list in memory that plans for so many keys (it grows beyond), with at most the
    /// share `fpr` of other keys answered YES, a random seed and the default hash.
    ///
    /// # Errors
    /// [`Error::Geometry`] if there is no such list or no memory for it, [`Error::Seed`] if the
    /// system has no randomness to give.
    pub fn new(yes: u64, no: u64, fpr: f64) -> Result<Self, Error> {
        let seed = Seed::random()?;
        Self::with_map(MemoryMap::default(), yes, no, fpr, seed)
    }
}

impl<F: Form, R: ReverseMap<Error: From<Error>>, H: StreamHash> DynamicList<F, R, H> {
    /// The list of a reverse map, which is empty or was written by such a list with this seed:
    /// the filter is made by two scans of it. Plans for at least so many keys.
    ///
    /// # Errors
    /// [`Error::Geometry`] if there is no such list or no memory for it; [`Error::Mismatch`] if
    /// the map holds something else; [`Error::Inseparable`] if two keys on different lists have
    /// the same hash, or are the same; the map's.
    pub fn with_map(map: R, yes: u64, no: u64, fpr: f64, seed: Seed) -> Outcome<Self, R> {
        Self::open(map, seed, |yes_now, no_now| {
            geometry::<F>(yes.max(yes_now), no.max(no_now), fpr)
        })
    }

    /// [`with_map`](Self::with_map) with measures of your own. Slots that do not suffice are
    /// doubled as often as it takes; remainder bits stay.
    ///
    /// # Errors
    /// As [`with_map`](Self::with_map).
    pub fn with_geometry(map: R, geometry: Geometry, seed: Seed) -> Outcome<Self, R> {
        Self::open(map, seed, |_, _| Ok(geometry))
    }

    fn open(
        map: R,
        seed: Seed,
        geometry: impl FnOnce(u64, u64) -> Result<Geometry, Error>,
    ) -> Outcome<Self, R> {
        let (mut yes_now, mut no_now, mut foreign) = (0, 0, false);
        let count = |_, entry: &[u8]| match parse(entry) {
            Some((List::Yes, _)) => yes_now += 1,
            Some((List::No, _)) => no_now += 1,
            None => foreign = true,
        };
        map.keys(0..=u64::MAX, count)?;
        if foreign {
            return Err(super::minirun::foreign().into());
        }
        let geometry = geometry(yes_now, no_now)?;
        let mut list = DynamicList {
            filter: AdaptiveFilter::from_core(empty::<F>(geometry, seed)?, seed),
            map,
            yes: yes_now,
            no: no_now,
            members: Members::default(),
            form: PhantomData,
        };
        if yes_now + no_now > 0 {
            list.fill(geometry)?;
        }
        Ok(list)
    }

    /// Puts a key on a list; if it is on the other one, it moves.
    ///
    /// # Errors
    /// [`Error::Inseparable`] if a key of the other list has the same hash, however long,
    /// [`Error::Geometry`] if the filter had to grow and there is no memory; the map's. Nothing
    /// has changed then, unless the map failed twice: at writing a key that moves to its new list,
    /// and at putting it back on the old. Then it is on neither.
    pub fn add<K: Key + ?Sized>(&mut self, key: &K, list: List) -> Outcome<Change, R> {
        let hashed = self.filter.hash(key);
        Ok(match self.change(&hashed, Some(list))? {
            Some(before) if before == list => Change::Nothing,
            Some(_) => Change::Moved,
            None => Change::Added,
        })
    }

    /// Takes a key off its list, and says which it was; `None` if it was on neither.
    ///
    /// # Errors
    /// The map's; nothing has changed then.
    pub fn remove<K: Key + ?Sized>(&mut self, key: &K) -> Outcome<Option<List>, R> {
        let hashed = self.filter.hash(key);
        self.change(&hashed, None)
    }

    /// What the filter says about a key; does not read the map.
    #[inline]
    pub fn answer<K: Key + ?Sized>(&self, key: &K) -> Answer {
        F::answer(&self.filter, &self.filter.hash(key))
    }

    /// [`answer`](Self::answer) for a key that is hashed already.
    #[inline]
    #[must_use]
    pub fn answer_hashed(&self, key: &Hashed<'_>) -> Answer {
        F::answer(&self.filter, key)
    }

    /// The list that a key is on, by the reverse map; `None` if it is on neither.
    ///
    /// # Errors
    /// The map's.
    pub fn lookup_exact<K: Key + ?Sized>(&self, key: &K) -> Outcome<Option<List>, R> {
        let hashed = self.filter.hash(key);
        let bytes = hashed.key().expect("a key was hashed");
        let mut found = None;
        self.map.keys(hashed.h0()..=hashed.h0(), |_, entry| {
            let listed = parse(entry).filter(|&(_, key)| key == bytes);
            found = listed.map(|(list, _)| list).or(found);
        })?;
        Ok(found)
    }

    /// How many keys are on a list.
    #[must_use]
    pub fn len_of(&self, list: List) -> u64 {
        match list {
            List::Yes => self.yes,
            List::No => self.no,
        }
    }

    /// The filter.
    #[must_use]
    pub fn filter(&self) -> &AdaptiveFilter<H> {
        &self.filter
    }

    /// The reverse map: each key behind a byte, `Y` or `N`.
    #[must_use]
    pub fn map(&self) -> &R {
        &self.map
    }

    /// The reverse map, without the filter.
    #[must_use]
    pub fn into_map(self) -> R {
        self.map
    }

    /// Sizes the filter for the lists as they are, and at least so many keys.
    ///
    /// # Errors
    /// [`Error::Geometry`] if there is no memory for it; the map's. Nothing has changed then.
    pub fn resize(&mut self, yes: u64, no: u64) -> Outcome<(), R> {
        let bits = f64::from(self.filter.geometry().remainder_bits());
        // Slightly more than the rate of these bits, so that rounding does not add one.
        let fpr = MAX_LOAD / bits.exp2() * (1.0 + 1e-9);
        let geometry = geometry::<F>(self.yes.max(yes), self.no.max(no), fpr)?;
        self.fill(geometry)
    }

    /// Verifies the filter, and that it holds exactly what the map demands.
    ///
    /// # Errors
    /// The first invariant that does not hold; the map's.
    pub fn check_invariants(&self) -> Outcome<(), R> {
        self.filter.check_invariants().map_err(Error::from)?;
        let (mut yes, mut no, mut live) = (0, 0, 0);
        let core = self.filter.core();
        let mut broken = None;
        self.scan(core.table.geometry(), &mut Members::default(), |members| {
            yes += members.count(List::Yes);
            no += members.count(List::No);
            let seed = self.filter.seed();
            let id = |h0| core.table.geometry().id(h0);
            members.miniruns::<F, H>(&seed, core.widths.width, id, |id, prints| {
                live += prints.len() as u64;
                if core.contents_of(Minirun::from_id(id)).prints != prints {
                    broken = Some(id);
                }
                Ok(())
            })
        })??;
        let counted = (yes, no, live) == (self.yes, self.no, self.filter.len());
        let violation = match broken {
            Some(id) => Violation::new("a minirun does not hold what the lists demand", id),
            None if !counted => Violation::new("keys are not counted right", live),
            None => return Ok(()),
        };
        Err(Error::from(violation).into())
    }
}

impl<R: ReverseMap, H: StreamHash> YesNo<R, H> {
    /// The list as it is now, without the map: to be written to a file, and to make
    /// [deltas](super::delta) of.
    ///
    /// # Errors
    /// [`Error::Geometry`] if a second table does not fit in memory.
    pub fn snapshot(&self) -> Result<StaticYesNo<H>, Error> {
        Ok(StaticYesNo::of(self.filter.try_clone()?, self.no))
    }
}

/// An empty table.
pub(super) fn empty<F: Form>(geometry: Geometry, seed: Seed) -> Result<Core, Error> {
    Core::from_parts(&Parts {
        geometry,
        seed,
        huge_pages: HugePages::default(),
        value_bits: F::TAG_BITS,
    })
}

/// Measures for so many keys. The width of remainders is that of the smallest list, but such
/// that the rate holds whatever becomes of the NO list.
fn geometry<F: Form>(yes: u64, no: u64, fpr: f64) -> Result<Geometry, Error> {
    let least = sizing::remainder_bits(fpr)?;
    let (bits, used) = match F::value(List::No) {
        None => {
            let plan = plan::smallest(yes, no, fpr)?;
            (plan.remainder_bits.max(least), plan.used.ceil() as u64)
        }
        // Keys of different lists that share a home fingerprint take a slot more each.
        Some(_) => (least, (yes + no) + (yes + no) / 64),
    };
    Geometry::new(sizing::slots(used)?, bits)
}

impl<F: Form, R: ReverseMap<Error: From<Error>>, H: StreamHash> YesNoList for DynamicList<F, R, H> {
    fn hash<'k, K: Key + ?Sized>(&self, key: &'k K) -> Hashed<'k> {
        self.filter.hash(key)
    }

    fn answer_hashed(&self, key: &Hashed<'_>) -> Answer {
        self.answer_hashed(key)
    }

    fn len_of(&self, list: List) -> u64 {
        self.len_of(list)
    }

    fn bytes(&self) -> u64 {
        self.filter.core().table.bytes()
    }

    fn expected_fpr(&self) -> f64 {
        sizing::expected_fpr(&self.filter.geometry(), self.yes)
    }
}

impl<F: Form, R: Clone, H: StreamHash> Clone for DynamicList<F, R, H> {
    fn clone(&self) -> Self {
        DynamicList {
            filter: self.filter.clone(),
            map: self.map.clone(),
            members: Members::default(),
            ..*self
        }
    }
}

impl<F: Form, R, H: StreamHash> fmt::Debug for DynamicList<F, R, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynamicList")
            .field("yes", &self.yes)
            .field("no", &self.no)
            .field("tag_bits", &F::TAG_BITS)
            .field("filter", &self.filter)
            .finish_non_exhaustive()
    }
}
