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
use std::marker::PhantomData;

use super::join::{Keys, Lists};
use super::plan::{self, fullest};
use super::{Answer, BuildList, List, YesNoList, check_rate};
use crate::adaptive::AdaptiveFilter;
use crate::adaptive::core::Core;
use crate::adaptive::fill::Fill;
use crate::bits::Bytes;
use crate::error::Error;
use crate::hash::{Hashed, Key, Seed, Sip13, StreamHash};
use crate::mem::Memory;
use crate::quotient::{Geometry, Marks, Violation, size};
use crate::stats::Stats;
use crate::traits::Filter;

/// A YES/NO list that does not change. See the [module](self).
pub struct StaticYesNo<H: StreamHash = Sip13, M = Memory> {
    pub(super) filter: AdaptiveFilter<H, M>,
    /// How long the NO list was. Nothing else of it is kept.
    pub(super) no: u64,
}

/// Builds a [`StaticYesNo`] with choices of its own.
///
/// ```
/// use twiceshy::hash::Seed;
/// use twiceshy::lists::StaticYesNo;
///
/// let yes: Vec<u64> = (0..100).collect();
/// let list = StaticYesNo::builder()
///     .fpr(0.001)
///     .seed(Seed::from_u64(7))
///     .headroom(0.03) // for later versions of the same geometry
///     .build(&yes, &["no"])?;
/// assert!(list.expected_fpr() <= 0.001);
/// # Ok::<(), twiceshy::Error>(())
/// ```
#[must_use = "a builder does nothing until `build`"]
#[derive(Clone, Debug)]
pub struct Builder<H: StreamHash = Sip13> {
    fpr: f64,
    seed: Option<Seed>,
    headroom: f64,
    remainder_bits: Option<u32>,
    hash: PhantomData<H>,
}

/// The slots that a new geometry of [`StaticYesNo::build_like`] leaves free.
pub const HEADROOM: f64 = 0.03;

impl Builder {
    fn new() -> Self {
        Builder {
            fpr: 0.01,
            seed: None,
            headroom: 0.0,
            remainder_bits: None,
            hash: PhantomData,
        }
    }
}

impl<H: StreamHash> Builder<H> {
    /// The share of keys on neither list that may be answered YES, above 0; 1 promises
    /// nothing for them. Default: 0.01.
    pub fn fpr(mut self, fpr: f64) -> Self {
        self.fpr = fpr;
        self
    }

    /// The seed of the hash. Default: random.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = Some(seed);
        self
    }

    /// The share of slots to leave free for [later versions](StaticYesNo::build_like) of the
    /// same geometry. Default: none.
    pub fn headroom(mut self, share: f64) -> Self {
        self.headroom = share;
        self
    }

    /// The width of remainders. Default: the one that makes the list smallest.
    pub fn remainder_bits(mut self, bits: u32) -> Self {
        self.remainder_bits = Some(bits);
        self
    }

    /// Another hash function than the default [`Sip13`].
    pub fn hash<X: StreamHash>(self) -> Builder<X> {
        Builder {
            fpr: self.fpr,
            seed: self.seed,
            headroom: self.headroom,
            remainder_bits: self.remainder_bits,
            hash: PhantomData,
        }
    }

    /// Builds the list.
    ///
    /// # Errors
    /// As [`StaticYesNo::build`].
    pub fn build<Y: Key, N: Key>(&self, yes: &[Y], no: &[N]) -> Result<StaticYesNo<H>, Error> {
        let seed = self.seed.map_or_else(Seed::random, Ok)?;
        self.build_lists(seed, &Lists::new::<H, Y, N>(seed, yes, no)?)
    }

    /// [`build`](Self::build) for keys that are hashed already, with the seed of the builder.
    ///
    /// # Errors
    /// As [`StaticYesNo::build`], and [`Error::Geometry`] if no seed is set.
    pub fn build_hashed(
        &self,
        yes: &[Hashed<'_>],
        no: &[Hashed<'_>],
    ) -> Result<StaticYesNo<H>, Error> {
        let seed = self.seed.ok_or_else(crate::bulk::needs_seed)?;
        self.build_lists(seed, &Lists::of(Keys::hashed(yes), Keys::hashed(no))?)
    }

    fn build_lists(&self, seed: Seed, lists: &Lists<'_>) -> Result<StaticYesNo<H>, Error> {
        check_rate(self.fpr)?;
        if !(0.0..=1.0).contains(&self.headroom) {
            return Err(Error::geometry(format!(
                "a headroom is a share of the slots, from 0 to 1, not {}",
                self.headroom
            )));
        }
        let (geometry, blocks) = self.measure(lists)?;
        fill(geometry, blocks, seed, lists)
    }

    /// The smallest table for these lists: its geometry and how many blocks it has.
    fn measure(&self, lists: &Lists<'_>) -> Result<(Geometry, u64), Error> {
        let plan = plan::smallest(lists.yes.len(), lists.no.len(), self.fpr)?;
        let bits = self.remainder_bits.unwrap_or(plan.remainder_bits);
        let mut quotients = (plan.quotients * (1.0 + self.headroom)).ceil().max(1.0);
        // Quotients decide which NO keys are met, and these how many slots are needed and how
        // many quotients the rate allows. That settles soon: more quotients mean fewer
        // meetings, but ten times fewer than more.
        for round in 0..20 {
            let geometry = Geometry::new(quotients as u64, bits)?;
            let count = count(&geometry, lists)?;
            let least = count.least_quotients(bits, self.fpr);
            let next = f64::max(least, fullest(count.used as f64).ceil());
            let next = (next * (1.0 + self.headroom)).ceil();
            // Later rounds only make sure of the rate.
            let near = (next - quotients).abs() <= 2.0 + quotients / 4096.0;
            if (near || round >= 6) && least <= quotients {
                let most = most_blocks(&geometry);
                if self.headroom > 0.0 {
                    return Ok((geometry, most));
                }
                let blocks = count.blocks(&geometry);
                if blocks <= most {
                    return self.squeeze(lists, geometry, count);
                }
                // More spill than a table has spare slots: only the smallest ones, overfull.
                quotients += 1.0 + (count.end - geometry.slots()) as f64 / 4.0;
            } else {
                quotients = if near { least } else { next };
            }
        }
        Err(Error::geometry(
            "no number of slots was found for these lists; take another seed",
        ))
    }

    /// In a small table a block is a share of it that counts: a few less quotients, and so less
    /// room before the last run, may save one.
    fn squeeze(
        &self,
        lists: &Lists<'_>,
        geometry: Geometry,
        count: Count,
    ) -> Result<(Geometry, u64), Error> {
        let bits = geometry.remainder_bits();
        let (mut best, mut now) = ((geometry, count.blocks(&geometry)), (geometry, count));
        for _ in 0..4 {
            let (geometry, count) = &now;
            let full = count.used.div_ceil(64);
            if count.used > 1 << 16 || best.1 <= full {
                break;
            }
            let fewer = geometry.slots().saturating_sub(1 + count.used.isqrt() / 2);
            let Ok(geometry) = Geometry::new(fewer, bits) else {
                break;
            };
            let count = self::count(&geometry, lists)?;
            let blocks = count.blocks(&geometry);
            if count.least_quotients(bits, self.fpr) > fewer as f64 {
                break;
            }
            if blocks < best.1 && blocks <= most_blocks(&geometry) {
                best = (geometry, blocks);
            }
            now = (geometry, count);
        }
        Ok(best)
    }
}

/// The blocks of a table with all its spare slots.
fn most_blocks(geometry: &Geometry) -> u64 {
    let size = size::<Marks>(geometry.slots(), geometry.remainder_bits());
    size.map_or(0, |(blocks, _)| blocks)
}

/// What a walk along the lists has counted.
struct Count {
    /// Slots.
    used: u64,
    /// One past the last slot.
    end: u64,
    /// YES keys without extension, and others by what they still match.
    unextended: f64,
}

impl Count {
    /// As many quotients as the rate demands.
    fn least_quotients(&self, remainder_bits: u32, fpr: f64) -> f64 {
        (self.unextended / f64::from(remainder_bits).exp2() / fpr).ceil()
    }

    /// Blocks with all runs, and a slot for each quotient.
    fn blocks(&self, geometry: &Geometry) -> u64 {
        self.end.max(geometry.slots()).div_ceil(64)
    }
}

fn count(geometry: &Geometry, lists: &Lists<'_>) -> Result<Count, Error> {
    let width = geometry.remainder_bits();
    let mut count = Count {
        used: 0,
        end: 0,
        unextended: 0.0,
    };
    lists.miniruns(geometry, |id, yes, no| {
        let quotient = geometry.fingerprint_of(id).quotient;
        let mut slots = yes.len() as u64;
        if no.is_empty() {
            count.unextended += slots as f64;
        } else {
            for key in yes {
                let digits = lists.digits(key, no, width)?;
                slots += digits as u64;
                count.unextended += f64::exp2(-(digits as f64) * f64::from(width));
            }
        }
        count.used += slots;
        count.end = count.end.max(quotient) + slots;
        Ok(())
    })?;
    Ok(count)
}

/// Writes the table.
fn fill<H: StreamHash>(
    geometry: Geometry,
    blocks: u64,
    seed: Seed,
    lists: &Lists<'_>,
) -> Result<StaticYesNo<H>, Error> {
    let width = geometry.remainder_bits();
    let mut fill = Fill::new(Core::of_blocks(geometry, blocks)?);
    let mut prints = Vec::new();
    lists.miniruns(&geometry, |id, yes, no| {
        if no.is_empty() {
            return yes.iter().try_for_each(|_| fill.home(id, 0));
        }
        prints.clear();
        for key in yes {
            prints.push(lists.print(key, lists.digits(key, no, width)?, width));
        }
        prints.sort_unstable();
        prints.iter().try_for_each(|print| fill.print(id, print))
    })?;
    Ok(StaticYesNo {
        filter: AdaptiveFilter::from_core(fill.finish(), seed),
        no: lists.no.len(),
    })
}

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
    #[inline(always)]
    pub fn answer<K: Key + ?Sized>(&self, key: &K) -> Answer {
        Answer::yes_if(self.filter.contains(key))
    }

    /// [`answer`](Self::answer) for a key that is hashed already.
    #[inline]
    #[must_use]
    pub fn answer_hashed(&self, key: &Hashed<'_>) -> Answer {
        Answer::yes_if(self.filter.contains_hashed(key))
    }

    /// Is the answer YES?
    #[inline(always)]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.filter.contains(key)
    }

    /// [`contains`](Self::contains) for a key that is hashed already.
    #[inline]
    #[must_use]
    pub fn contains_hashed(&self, key: &Hashed<'_>) -> bool {
        self.filter.contains_hashed(key)
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
        let ids = core.geometry.ids() as f64;
        let width = f64::from(core.layout.width);
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

impl<H: StreamHash, M: Bytes> Filter for StaticYesNo<H, M> {
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

    fn contains_batch_into<K: Key>(&self, keys: &[K], found: &mut Vec<bool>) {
        self.filter.contains_batch_into(keys, found);
    }

    fn contains_batch_hashed_into(&self, keys: &[Hashed<'_>], found: &mut Vec<bool>) {
        self.filter.contains_batch_hashed_into(keys, found);
    }

    fn len(&self) -> u64 {
        self.yes_len()
    }

    fn stats(&self) -> Stats {
        self.stats()
    }
}

impl<H: StreamHash> Clone for StaticYesNo<H> {
    fn clone(&self) -> Self {
        StaticYesNo {
            filter: self.filter.clone(),
            no: self.no,
        }
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
