//! The list that is built once: small, exact, and shipped as a file.
//!
//! # The construction
//!
//! Section 5.1 of the paper inserts `Y` into an adaptive filter, queries `N`, fixes every
//! mistake, and fails if the slots do not suffice. Here nothing is inserted and nothing fails.
//! Both lists are sorted by their hashes and walked side by side, minirun by minirun:
//!
//! ```text
//!   Y  ─ hash ─ sort ─┐
//!                     ├─ walk: how long must each fingerprint be?  ─► count slots exactly
//!   N  ─ hash ─ sort ─┘  again, with the right number of slots     ─► write, front to back
//! ```
//!
//! The walk counts the slots, and where the last run ends, before anything is allocated (how
//! many quotients there are decides which NO keys a YES key meets, so it takes a few walks to
//! find the number). The [plan](super::plan) chooses the width of the remainders. The table has
//! no spare slots but those that the last run spills into: it is full but for the last block,
//! or for what the promised rate demands.
//!
//! # What it promises
//!
//! | | |
//! | --- | --- |
//! | all of `Y` | YES |
//! | all of `N` | NO |
//! | other keys | YES with probability at most `fpr` over the seed |
//! | space | `(r + 3.25)(1 + x)` bits a YES key, at least 99% of the slots used from some 20,000 slots on |
//! | query | an adaptive filter's |
//! | same lists, seed and rate | same bytes |
//!
//! ```
//! use twiceshy::View;
//! use twiceshy::lists::{Answer, StaticYesNo};
//!
//! let revoked: Vec<u64> = (0..1_000).collect();
//! let good: Vec<u64> = (1_000..100_000).collect();
//! let list = StaticYesNo::build(&revoked, &good, 0.01)?;
//!
//! // The keys are not needed any more; the file is.
//! let file = list.to_bytes();
//! assert!(file.len() < 2_300);
//! let list = View::<StaticYesNo>::new(&file)?;
//! assert!(revoked.iter().all(|key| list.answer(key) == Answer::Yes));
//! assert!(good.iter().all(|key| list.answer(key) == Answer::No));
//! # Ok::<(), twiceshy::Error>(())
//! ```

use std::fmt;

use super::build::{count, fill};
use super::join::Lists;
use super::{Answer, BuildList, List, YesNoList, check_rate};
use crate::bits::Bytes;
use crate::error::Error;
use crate::facade::facade;
use crate::filters::adaptive::AdaptiveFilter;
use crate::geometry::Geometry;
use crate::hash::{Hashed, Key, Seed, Sip13, StreamHash};
use crate::mem::Memory;
use crate::stats::Stats;
use crate::traits::Filter;
use crate::violation::Violation;

pub use super::build::Builder;

/// A YES/NO list that does not change. See the [module](self).
pub struct StaticYesNo<H: StreamHash = Sip13, M = Memory> {
    pub(super) filter: AdaptiveFilter<H, M>,
    /// How long the NO list was. Nothing else of it is kept.
    pub(super) no: u64,
    /// Are most runs displaced from their home block?
    crowded: bool,
}

/// The slots that a new geometry of [`StaticYesNo::build_like`] leaves free.
pub const HEADROOM: f64 = 0.03;

impl StaticYesNo {
    /// A list with a random seed and the default hash: YES for all of `yes`, NO for all of
    /// `no`, and YES for at most the share `fpr` of other keys.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if a key is in both lists, [`Error::Geometry`] if there is no such
    /// rate or no memory, [`Error::Inseparable`] if two keys have the same hash,
    /// [`Error::Seed`] if the system has no randomness to give.
    pub fn build<Y: Key, N: Key>(yes: &[Y], no: &[N], fpr: f64) -> Result<Self, Error> {
        Self::builder().fpr(fpr).build(yes, no)
    }

    /// For everything else that can be chosen.
    pub fn builder() -> Builder {
        Builder::new()
    }
}

/// How a later version of a list was built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Like {
    /// With the geometry of the old one: a [delta](super::delta) between them is small.
    Same,
    /// The old geometry has no room for the new lists, or not at that rate. This one has the
    /// same seed and [`HEADROOM`]; a delta is the whole file.
    Grown,
}

impl<H: StreamHash, M: Bytes> StaticYesNo<H, M> {
    /// A list of a filter that was told of so many NO keys.
    pub(super) fn of(filter: AdaptiveFilter<H, M>, no: u64) -> Self {
        // Above this load, a run starts more than half a block behind its home on average.
        let crowded = filter.load() > 0.98;
        StaticYesNo {
            filter,
            no,
            crowded,
        }
    }

    /// A later version of this list, with the same seed and, as long as the lists fit, the
    /// same geometry, so that a [delta](super::delta) from this version to that is small. Where
    /// they do not fit, the new version has room for [`HEADROOM`] more.
    ///
    /// ```
    /// use twiceshy::lists::StaticYesNo;
    /// use twiceshy::lists::static_::Like;
    ///
    /// let yes: Vec<u64> = (0..10_000).collect();
    /// let old = StaticYesNo::builder().headroom(0.03).build(&yes, &["no"])?;
    /// let (new, like) = old.build_like(&yes[10..], &["no", "never"], 0.01)?;
    /// assert_eq!(like, Like::Same);
    /// assert_eq!(new.geometry(), old.geometry());
    /// # Ok::<(), twiceshy::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`StaticYesNo::build`].
    pub fn build_like<Y: Key, N: Key>(
        &self,
        yes: &[Y],
        no: &[N],
        fpr: f64,
    ) -> Result<(StaticYesNo<H>, Like), Error> {
        check_rate(fpr)?;
        let (seed, geometry) = (self.seed(), self.geometry());
        let lists = Lists::new::<H, Y, N>(seed, yes, no)?;
        let count = count(&geometry, &lists)?;
        let slots = self.filter.core().table.slots();
        if count.end <= slots && count.unextended <= fpr * geometry.ids() as f64 {
            let list = fill(geometry, slots / 64, seed, &lists)?;
            return Ok((list, Like::Same));
        }
        let builder = Builder::new().hash::<H>().fpr(fpr).headroom(HEADROOM);
        Ok((builder.build_lists(seed, &lists)?, Like::Grown))
    }

    /// Hashes a key the way this list does.
    #[inline]
    pub fn hash<'k, K: Key + ?Sized>(&self, key: &'k K) -> Hashed<'k> {
        self.filter.hash(key)
    }

    /// What the list says about a key.
    #[inline]
    pub fn answer<K: Key + ?Sized>(&self, key: &K) -> Answer {
        Answer::yes_if(self.contains(key))
    }

    /// [`answer`](Self::answer) for a key that is hashed already.
    #[inline]
    #[must_use]
    pub fn answer_hashed(&self, key: &Hashed<'_>) -> Answer {
        Answer::yes_if(self.filter.contains_hashed(key))
    }

    /// Is the answer YES?
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        if self.crowded {
            return self.filter.contains_slow(key);
        }
        self.filter.contains(key)
    }

    /// [`contains`](Self::contains) for a key that is hashed already.
    #[inline]
    #[must_use]
    pub fn contains_hashed(&self, key: &Hashed<'_>) -> bool {
        self.filter.contains_hashed(key)
    }

    fn contains_all<K: Key>(&self, keys: &[K], found: &mut Vec<bool>) {
        self.filter.contains_batch_into(keys, found);
    }

    fn contains_all_hashed(&self, keys: &[Hashed<'_>], found: &mut Vec<bool>) {
        self.filter.contains_batch_hashed_into(keys, found);
    }

    fn len(&self) -> u64 {
        self.yes_len()
    }

    /// How many keys are on the YES list.
    #[must_use]
    pub fn yes_len(&self) -> u64 {
        self.filter.len()
    }

    /// How many keys were on the NO list.
    #[must_use]
    pub fn no_len(&self) -> u64 {
        self.no
    }

    /// The seed of the hash.
    #[must_use]
    pub fn seed(&self) -> Seed {
        self.filter.seed()
    }

    /// Slots that quotients point at, and remainder bits.
    #[must_use]
    pub fn geometry(&self) -> Geometry {
        self.filter.geometry()
    }

    /// Used slots per slot, those behind the last quotient included: what is not empty.
    #[must_use]
    pub fn load(&self) -> f64 {
        let table = &self.filter.core().table;
        table.used() as f64 / table.slots() as f64
    }

    /// The chance that a key on neither list is answered YES: exact for this list, over keys
    /// that have nothing to do with its seed. Reads the whole table.
    #[must_use]
    pub fn expected_fpr(&self) -> f64 {
        let core = self.filter.core();
        let ids = core.table.geometry().ids() as f64;
        let width = f64::from(core.widths.width);
        let mut last = None;
        let mut matched = 0.0;
        for (fingerprint, print) in core.iter() {
            // Of equal ones, and of those behind a prefix of theirs, one counts.
            let inside = last.as_ref().is_some_and(|(home, root): &(_, Vec<u64>)| {
                *home == fingerprint && print.extension.starts_with(root)
            });
            if !inside {
                matched += f64::exp2(-width * print.extension.len() as f64);
                last = Some((fingerprint, print.extension));
            }
        }
        matched / ids
    }

    /// Size, load and space; `slots` and `load` are those of quotients, as in other filters.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let mut stats = self.filter.stats();
        stats.expected_fpr = self.expected_fpr();
        stats
    }

    /// Verifies everything that must hold in the table.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn check_invariants(&self) -> Result<(), Violation> {
        self.filter.check_invariants()?;
        let mut prints = self.filter.core().iter();
        match prints.find(|(_, print)| print.count != 1) {
            Some((fingerprint, _)) => Err(Violation::new(
                "a list has a counter or a ghost",
                fingerprint.quotient,
            )),
            None => Ok(()),
        }
    }
}

impl<H: StreamHash, M: Bytes> YesNoList for StaticYesNo<H, M> {
    fn hash<'k, K: Key + ?Sized>(&self, key: &'k K) -> Hashed<'k> {
        self.hash(key)
    }

    fn answer_hashed(&self, key: &Hashed<'_>) -> Answer {
        self.answer_hashed(key)
    }

    #[inline]
    fn answer<K: Key + ?Sized>(&self, key: &K) -> Answer {
        self.answer(key)
    }

    fn len_of(&self, list: List) -> u64 {
        match list {
            List::Yes => self.yes_len(),
            List::No => self.no_len(),
        }
    }

    fn bytes(&self) -> u64 {
        self.filter.core().table.bytes()
    }

    fn expected_fpr(&self) -> f64 {
        self.expected_fpr()
    }
}

impl<H: StreamHash> BuildList for StaticYesNo<H> {
    fn build_seeded<Y: Key, N: Key>(
        yes: &[Y],
        no: &[N],
        fpr: f64,
        seed: Seed,
    ) -> Result<Self, Error> {
        let builder = Builder::new().hash::<H>().fpr(fpr).seed(seed);
        builder.build(yes, no)
    }
}

facade! {
    [H: StreamHash, M: Bytes] StaticYesNo<H, M>: Filter;
}

impl<H: StreamHash> Clone for StaticYesNo<H> {
    fn clone(&self) -> Self {
        StaticYesNo::of(self.filter.clone(), self.no)
    }
}

impl<H: StreamHash, M: Bytes> fmt::Debug for StaticYesNo<H, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StaticYesNo")
            .field("yes", &self.yes_len())
            .field("no", &self.no)
            .field("slots", &self.geometry().slots())
            .field("remainder_bits", &self.geometry().remainder_bits())
            .field("hash", &H::KIND)
            .finish_non_exhaustive()
    }
}
