//! A shard: the filter of a range of hashes.
//!
//! Everyone may ask the filter at any time ([`Shard::ask`]); that takes the shard's *front* lock for
//! reading, for as long as the filter takes to answer. Whoever changes the filter, or the keys that
//! it stands for, takes the shard's turn first: [`turn`](crate::turn) has the protocol. Nobody who
//! only reads waits for a turn: a false positive that is found while another has it is left in a
//! list for that one to learn ([`Shard::push_pending`]).

use std::fmt;
use std::ops::RangeInclusive;

use twiceshy::filters::adaptive::Leave;
use twiceshy::hash::{Hashed, Seed, Sip13};
use twiceshy::sets::policy::{Decision, Judge, Policy};
use twiceshy::{Error, Minirun};

use crate::counters::Counters;
use crate::filter::{Filter, Measures};
use crate::sync::{Latch, Mutex, Shared};

/// How many keys are handed over at a time, about.
pub(crate) const STEP: u64 = 256;

/// False positives that may wait for whoever has the turn.
const MAX_PENDING: usize = 1 << 8;

/// Miniruns that a policy may remember in a shard before it forgets them all.
const MAX_WAITING: usize = 1 << 16;

/// Which hashes a shard has: those that start with the `bits` bits of `index`. Its filter is asked with
/// the rest of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) index: u64,
    pub(crate) bits: u32,
}

impl Place {
    /// The whole hash of which the filter knows the rest.
    pub(crate) fn whole(self, rest: u64) -> u64 {
        match self.bits {
            0 => rest,
            bits => self.index << (64 - bits) | rest >> bits,
        }
    }

    /// What the filter knows of a whole hash.
    pub(crate) fn rest(self, whole: u64) -> u64 {
        whole << self.bits
    }

    /// The hashes of this shard whose rests are in a range.
    pub(crate) fn range(self, rests: &RangeInclusive<u64>) -> RangeInclusive<u64> {
        let start = rests.start().div_ceil(1 << self.bits) << self.bits;
        self.whole(start)..=self.whole(*rests.end())
    }

    /// All hashes of this shard.
    pub(crate) fn all(self) -> RangeInclusive<u64> {
        self.range(&(0..=u64::MAX))
    }
}

/// What the filter says, and what one must know to act on it.
pub(crate) enum Asked {
    /// Certainly not here.
    No,
    /// Perhaps.
    Maybe(Maybe),
    /// The key belongs to the next generation.
    Moved,
}

/// A positive answer.
#[derive(Clone, Debug)]
pub(crate) struct Maybe {
    /// Of the filter that gave it.
    pub(crate) version: u64,
    /// The hashes of the keys that it may stem from.
    pub(crate) range: RangeInclusive<u64>,
    /// The record may be on its way into the next generation.
    pub(crate) moving: bool,
}

/// What became of a false positive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lesson {
    /// It won't happen again.
    Learnt,
    /// The policy waits for more.
    Waiting,
    /// The filter has changed since its keys were read.
    Stale,
    /// There is no room for it.
    Full,
    /// Nothing to learn here any more: no fingerprint matches, it is a member by now, it is learnt where it
    /// moves to, or there is no filter.
    Known,
}

/// When to learn from a false positive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// As the policy has it.
    PolicySays,
    /// Now: it was learnt before.
    AtOnce,
}

struct Front {
    filter: Filter,
    growth: Option<Growth>,
    /// Counts changes.
    version: u64,
    rotation: Option<Rotation>,
}

/// A larger filter in the making.
struct Growth {
    into: Filter,
    /// Rests of hashes below this one are answered by `into`.
    frontier: u64,
}

/// Records on their way into the next generation. Those with hashes below `moved` are there only; those
/// between `moved` and `moving` are here or there, as a commit is under way; all others are here.
struct Rotation {
    /// Hashes below this one have arrived.
    moved: u128,
    /// Hashes below this one are here or there.
    moving: u128,
}

impl Front {
    fn filter_at(&self, rest: u64) -> &Filter {
        match &self.growth {
            Some(growth) if rest < growth.frontier => &growth.into,
            _ => &self.filter,
        }
    }

    fn filter_at_mut(&mut self, rest: u64) -> &mut Filter {
        match &mut self.growth {
            Some(growth) if rest < growth.frontier => &mut growth.into,
            _ => &mut self.filter,
        }
    }
}

/// The filter of a range of hashes.
pub(crate) struct Shard {
    place: Place,
    measures: Measures,
    pub(crate) turn: Latch,
    front: Shared<Front>,
    judge: Mutex<Judge>,
    /// False positives that wait for whoever has the turn.
    pending: Mutex<Vec<Box<[u8]>>>,
    pub(crate) counters: Counters,
}

impl Shard {
    pub(crate) fn new(place: Place, measures: Measures, policy: Policy, filter: Filter) -> Self {
        Shard {
            place,
            measures,
            turn: Latch::default(),
            front: Shared::new(Front {
                filter,
                growth: None,
                version: 0,
                rotation: None,
            }),
            judge: Mutex::new(Judge::new(policy)),
            pending: Mutex::default(),
            counters: Counters::default(),
        }
    }

    pub(crate) fn place(&self) -> Place {
        self.place
    }

    /// Does the filter deny every key with this hash? That is how nearly all lookups of strangers
    /// end, and it takes neither the later words of the hash nor a copy of the key.
    #[inline]
    pub(crate) fn denies(&self, rest: u64) -> bool {
        let front = self.front.read();
        // Where records move, one has to look more closely.
        front.rotation.is_none() && front.filter_at(rest).denies(rest)
    }

    /// The version of the filter that says "maybe" to the key whose hash starts with this word.
    /// `hash` makes the others where they decide. For shards whose records never move.
    #[inline]
    pub(crate) fn ask_by<'k>(&self, rest: u64, hash: impl FnOnce() -> Hashed<'k>) -> Option<u64> {
        let front = self.front.read();
        let is_maybe = front.filter_at(rest).contains_by(rest, hash);
        is_maybe.then_some(front.version)
    }

    /// Asks the filter.
    #[inline]
    pub(crate) fn ask(&self, key: &Hashed<'_>) -> Asked {
        let front = self.front.read();
        let mut moving = false;
        if let Some(rotation) = &front.rotation {
            let h0 = u128::from(self.place.whole(key.h0()));
            if h0 < rotation.moved {
                return Asked::Moved;
            }
            moving = h0 < rotation.moving;
        }
        let filter = front.filter_at(key.h0());
        if !filter.contains(key) {
            return Asked::No;
        }
        Asked::Maybe(Maybe {
            version: front.version,
            range: self.place.range(&filter.range(key.h0())),
            moving,
        })
    }

    /// Has the record of such a key moved to the next generation?
    pub(crate) fn has_moved(&self, key: &Hashed<'_>) -> bool {
        let h0 = u128::from(self.place.whole(key.h0()));
        let front = self.front.read();
        (front.rotation.as_ref()).is_some_and(|rotation| h0 < rotation.moved)
    }

    /// May the record of a key have left for another generation since the filter was asked?
    /// Whoever moves records says so before the commit, so if it had left when the engine was
    /// read, it shows now.
    pub(crate) fn has_left(&self, key: &Hashed<'_>, asked: &Maybe) -> bool {
        let front = self.front.read();
        let Some(rotation) = &front.rotation else {
            return false;
        };
        let h0 = u128::from(self.place.whole(key.h0()));
        h0 < rotation.moved || (h0 < rotation.moving && !asked.moving)
    }

    /// The hashes of the keys that share this one's minirun.
    pub(crate) fn range_of(&self, key: &Hashed<'_>) -> RangeInclusive<u64> {
        let front = self.front.read();
        let rests = front.filter_at(key.h0()).range(key.h0());
        self.place.range(&rests)
    }

    /// The same, if the filter is still at this version.
    pub(crate) fn range_at(&self, version: u64, key: &Hashed<'_>) -> Option<RangeInclusive<u64>> {
        let is_as_it_was = self.front.read().version == version;
        is_as_it_was.then(|| self.range_of(key))
    }

    /// Adds a fingerprint. The caller has the turn.
    pub(crate) fn add(&self, key: &Hashed<'_>) -> Result<(), Error> {
        let mut front = self.front.write();
        front.filter_at_mut(key.h0()).insert(key)?;
        front.version += 1;
        Ok(())
    }

    /// A commit of keys whose fingerprints were added before has happened, or failed. Whoever
    /// asked between the two may have read the keys without them. The caller has the turn.
    pub(crate) fn committed(&self) {
        self.front.write().version += 1;
    }

    /// Drops the fingerprint of a key that was just deleted. `keys` are all keys of its
    /// minirun, the deleted one among them. The caller has the turn.
    pub(crate) fn drop_print(
        &self,
        key: &Hashed<'_>,
        keys: &[Hashed<'_>],
        leave: Leave,
    ) -> Result<(), Error> {
        let mut front = self.front.write();
        front.version += 1;
        let filter = front.filter_at_mut(key.h0());
        match filter.remove(key, keys, leave) {
            // A ghost is a favour; without a slot for it there is none.
            Err(Error::Full { .. }) => filter.remove(key, keys, Leave::Nothing),
            result => result,
        }
    }

    /// Learns from a false positive, given all keys of its minirun, if these were read at this
    /// version of the filter, if it is time. The caller has the turn.
    pub(crate) fn learn(
        &self,
        query: &Hashed<'_>,
        version: u64,
        keys: &[Hashed<'_>],
        when: When,
    ) -> Result<Lesson, Error> {
        let mut front = self.front.write();
        if front.version != version {
            return Ok(Lesson::Stale);
        }
        let filter = front.filter_at_mut(query.h0());
        let Some(geometry) = filter.geometry() else {
            return Ok(Lesson::Known);
        };
        if !filter.contains(query) {
            return Ok(Lesson::Known);
        }
        let minirun = Minirun::from_id(geometry.id(query.h0()));
        let mut judge = self.judge.lock();
        if judge.waiting() > MAX_WAITING {
            judge.forget();
        }
        if when == When::PolicySays && judge.on_false_positive(minirun.id()) == Decision::Wait {
            return Ok(Lesson::Waiting);
        }
        match filter.adapt(query, keys) {
            Ok(_) => {
                front.version += 1;
                Ok(Lesson::Learnt)
            }
            Err(Error::Full { .. }) => {
                judge.on_failure(minirun.id());
                Ok(Lesson::Full)
            }
            Err(error) => Err(error),
        }
    }

    /// Leaves a false positive for whoever has the turn.
    pub(crate) fn push_pending(&self, query: &[u8]) {
        let mut pending = self.pending.lock();
        if pending.len() < MAX_PENDING {
            pending.push(query.into());
        }
    }

    /// Takes what was left.
    pub(crate) fn take_pending(&self) -> Vec<Box<[u8]>> {
        std::mem::take(&mut *self.pending.lock())
    }

    pub(crate) fn has_pending(&self) -> bool {
        !self.pending.lock().is_empty()
    }

    /// A key of this shard, as its filter knows it.
    pub(crate) fn hash<'k>(&self, key: &'k [u8]) -> Hashed<'k> {
        rest_of(&self.measures.seed, self.place.bits, key)
    }
}

/// Growing.
impl Shard {
    /// Has the filter no room for so many more keys?
    pub(crate) fn is_full(&self, more: u64) -> bool {
        let front = self.front.read();
        match &front.growth {
            Some(growth) => growth.into.is_full(more) || front.filter.is_full(more),
            None => front.filter.is_full(more),
        }
    }

    /// Are there free slots for so many more keys, wherever they go?
    pub(crate) fn has_slots(&self, more: u64) -> bool {
        let front = self.front.read();
        let has = |filter: &Filter| match filter.usage() {
            (_, 0) => true,
            (used, slots) => used + more <= slots,
        };
        has(&front.filter) && front.growth.as_ref().is_none_or(|growth| has(&growth.into))
    }

    pub(crate) fn is_growing(&self) -> bool {
        self.front.read().growth.is_some()
    }

    /// Begins to fill a filter of twice the slots, if none is being filled. The caller has the
    /// turn.
    pub(crate) fn begin_to_grow(&self) -> Result<bool, Error> {
        let mut front = self.front.write();
        let Some(geometry) = front.filter.geometry() else {
            return Ok(false);
        };
        if front.growth.is_some() {
            return Ok(false);
        }
        let into = Filter::empty(&self.measures, 2 * geometry.slots())?;
        front.growth = Some(Growth { into, frontier: 0 });
        front.version += 1;
        Ok(true)
    }

    /// The hashes whose keys are to be handed over next: a whole number of miniruns, with about
    /// [`STEP`] keys.
    pub(crate) fn next_stretch(&self) -> Option<RangeInclusive<u64>> {
        let front = self.front.read();
        let frontier = front.growth.as_ref()?.frontier;
        let (used, _) = front.filter.usage();
        let width = (u64::MAX / used.max(1)).saturating_mul(STEP);
        let end = *front.filter.range(frontier.saturating_add(width)).end();
        // The rests of hashes have zeros at their ends.
        let end = end | ((1 << self.place.bits) - 1);
        Some(self.place.range(&(frontier..=end)))
    }

    /// Hands the keys of that stretch over to the larger filter, which takes the other's place
    /// after the last one. Says whether that has happened. The caller has the turn since
    /// before the keys were read.
    pub(crate) fn hand_over(
        &self,
        stretch: &RangeInclusive<u64>,
        keys: &[Vec<u8>],
    ) -> Result<bool, Error> {
        let keys: Vec<_> = keys.iter().map(|key| self.hash(key)).collect();
        let mut front = self.front.write();
        let front = &mut *front;
        let Some(growth) = &mut front.growth else {
            return Ok(true);
        };
        front.version += 1;
        let minirun = |key: &Hashed<'_>| front.filter.range(key.h0());
        for keys in keys.chunk_by(|a, b| minirun(a).contains(&b.h0())) {
            front.filter.hand_over(keys, &mut growth.into)?;
            // If the next one finds no room, it is the first to be tried again.
            growth.frontier = minirun(&keys[0]).end().saturating_add(1);
        }
        if *stretch.end() < *self.place.all().end() {
            growth.frontier = (stretch.end() + 1) << self.place.bits;
            return Ok(false);
        }
        if let Some(growth) = front.growth.take() {
            front.filter = growth.into;
        }
        Ok(true)
    }
}

/// Starting afresh.
impl Shard {
    /// Takes over the filter of another shard of the same place and measures, with the number of
    /// its records. The caller has the turn, and nobody uses the other.
    pub(crate) fn take_filter_of(&self, other: &Shard) {
        let filter = std::mem::replace(&mut other.front.write().filter, Filter::None);
        let mut front = self.front.write();
        front.filter = filter;
        front.growth = None;
        front.version += 1;
        self.counters.remove_records(self.counters.records());
        self.counters.add_records(other.counters.records());
    }
}

/// Moving on to another generation.
impl Shard {
    /// From now on records move from here to there. Those with hashes below `moved` have.
    pub(crate) fn begin_to_move(&self, moved: u128) {
        self.front.write().rotation = Some(Rotation {
            moved,
            moving: moved,
        });
    }

    /// Records with hashes below this one are about to move.
    pub(crate) fn set_moving(&self, below: u128) {
        if let Some(rotation) = &mut self.front.write().rotation {
            rotation.moving = rotation.moving.max(below);
        }
    }

    /// They have moved.
    pub(crate) fn set_moved(&self, below: u128) {
        let mut front = self.front.write();
        front.version += 1;
        if let Some(rotation) = &mut front.rotation {
            rotation.moved = below;
            rotation.moving = below;
        }
        if below > u128::from(*self.place.all().end()) {
            // Nobody asks it any more.
            front.filter = Filter::None;
            front.growth = None;
        }
    }
}

/// For images of the whole filter, statistics and checks.
impl Shard {
    /// The filter and the one that it grows into, with the frontier, as bytes.
    pub(crate) fn image(&self) -> (Vec<u8>, Option<(u64, Vec<u8>)>) {
        let front = self.front.read();
        let growth = front.growth.as_ref();
        let growth = growth.map(|growth| (growth.frontier, growth.into.to_bytes()));
        (front.filter.to_bytes(), growth)
    }

    /// Goes on with a larger filter that was in the making.
    pub(crate) fn restore_growth(&self, frontier: u64, into: Filter) {
        self.front.write().growth = Some(Growth { into, frontier });
    }

    /// Used slots, slots and bytes.
    pub(crate) fn usage(&self) -> (u64, u64, u64) {
        let front = self.front.read();
        let (mut used, mut slots) = front.filter.usage();
        let mut bytes = front.filter.bytes();
        if let Some(growth) = &front.growth {
            let (more_used, more_slots) = growth.into.usage();
            (used, slots) = (used.max(more_used), slots.max(more_slots));
            bytes += growth.into.bytes();
        }
        (used, slots, bytes)
    }

    pub(crate) fn check_invariants(&self) -> Result<(), String> {
        let front = self.front.read();
        front.filter.check_invariants()?;
        match &front.growth {
            Some(growth) => growth.into.check_invariants(),
            None => Ok(()),
        }
    }
}

/// What is left of a key's hash when the number of its shard is taken off.
pub(crate) fn rest_of<'k>(seed: &Seed, bits: u32, key: &'k [u8]) -> Hashed<'k> {
    Hashed::from_bytes::<Sip13>(seed, key).split_top(bits).1
}

impl fmt::Debug for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shard")
            .field("place", &self.place)
            .field("growing", &self.is_growing())
            .finish_non_exhaustive()
    }
}
