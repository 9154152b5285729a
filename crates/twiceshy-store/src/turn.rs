//! A turn: the right to change a shard, and all that is done with it.
//!
//! # The protocol
//!
//! Everyone may ask a shard's filter at any time ([`Shard::ask`]). Whoever changes keys of the
//! shard, or its filter, takes its *turn* first and keeps it until the keys are committed:
//!
//! ```text
//!   put      turn ─ fingerprint in ─ commit ──────────────────── release
//!   delete   turn ─ commit ─ fingerprint out ─────────────────── release
//!   adapt    (ask, read keys) ─ turn ─ version as asked? extend ─ release
//!   grow     turn ─ read keys ─ hand over, move the frontier ─── release
//! ```
//!
//! So a committed key always has its fingerprint, and while somebody adapts no put or delete of
//! the shard is under way: the keys that there are are those that the filter stands for, but for
//! fingerprints that a failed put left behind, which are surplus. Each change of the filter
//! counts the *version* up, and so does each commit, *after* it: whoever asked when a new
//! fingerprint was in and read the keys when its key was not yet committed would take it for
//! surplus. An adaptation whose keys were read at an older version reads them again.
//!
//! Who has the keys is said by [`Members`]: a store reads them in its engine; a guard in a
//! reverse map, and those whose commits are under way elsewhere.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Instant;

use twiceshy::Error;
use twiceshy::hash::Hashed;

use crate::filter::FilterChoice;
use crate::generation::{Asked, Generation, HashedKey, Lesson, Shard, When};
use crate::options::{Options, WhenFull};

/// How often somebody who gives a turn back looks after what others have left.
const MAX_ROUNDS: u32 = 4;

/// Who has the keys that the filters stand for.
pub(crate) trait Members {
    type Error: From<Error>;

    fn options(&self) -> &Options;

    /// All keys with hashes in a range, in hash order, that have fingerprints in the shard whose
    /// turn it is.
    fn keys(&self, turn: &Turn, hashes: &RangeInclusive<u64>) -> Result<Vec<Vec<u8>>, Self::Error>;

    /// When are false positives learnt from? `None` while it is unknown where some keys are:
    /// then no filter may be made to fit the keys that are found.
    fn may_learn(&self) -> Option<When> {
        Some(When::PolicySays)
    }

    /// A query was learnt.
    fn learnt(&self, _query: &[u8]) {}

    /// A shard is full, and a new seed shall make room ([`WhenFull::Rotate`]).
    fn request_new_seed(&self) {}

    /// There is no room, and a filter may not grow.
    fn full(&self) -> Self::Error;

    /// Something failed that nobody waits for.
    fn warn(&self, what: &'static str, error: &Self::Error);
}

/// The right to change a shard, until it is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    generation: Arc<Generation>,
    index: usize,
    /// Given back only by [`release`](Self::release), or by a drop.
    is_held: bool,
}

impl Turn {
    /// Waits for it.
    pub(crate) fn wait(generation: &Arc<Generation>, index: usize) -> Self {
        generation.shard(index).turn.wait();
        Turn {
            generation: Arc::clone(generation),
            index,
            is_held: true,
        }
    }

    /// Takes it, if nobody has it.
    pub(crate) fn take(generation: &Arc<Generation>, index: usize) -> Option<Self> {
        generation.shard(index).turn.take().then(|| Turn {
            generation: Arc::clone(generation),
            index,
            is_held: true,
        })
    }

    pub(crate) fn shard(&self) -> &Shard {
        self.generation.shard(self.index)
    }

    pub(crate) fn generation(&self) -> &Arc<Generation> {
        &self.generation
    }

    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// Gives the turn back, after all that was left for it and a step of growing.
    pub(crate) fn release<M: Members>(mut self, members: &M) {
        // Not for ever: what is left again and again waits for the next one.
        for _ in 0..MAX_ROUNDS {
            self.drain_pending(members);
            self.grow_if_full(members, 1);
            self.shard().turn.give_back();
            self.is_held = self.shard().has_pending() && self.shard().turn.take();
            if !self.is_held {
                return;
            }
        }
    }

    /// Learns from the false positives that others have left.
    fn drain_pending<M: Members>(&self, members: &M) {
        for query in self.shard().take_pending() {
            if let Err(error) = self.learn_again(members, &query) {
                members.warn("a false positive could not be fixed", &error);
            }
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if self.is_held {
            self.shard().turn.give_back();
        }
    }
}

/// Lessons. `learn` has keys that were read before the turn, at a version of the filter; `learn_unread` was
/// asked before the turn, and has read no keys; `learn_again` has neither. All end in `try_to_learn`.
impl Turn {
    /// Learns from a false positive, given all keys of its minirun as they were read when the
    /// filter was at this version. If it has changed, asks and reads again.
    pub(crate) fn learn<M: Members>(
        &self,
        members: &M,
        query: &HashedKey<'_>,
        version: u64,
        keys: &[Vec<u8>],
    ) -> Result<Lesson, M::Error> {
        match self.try_to_learn(members, query, version, keys) {
            Ok(Lesson::Stale) => self.learn_again(members, query.bytes),
            lesson => self.count(members, query.bytes, lesson),
        }
    }

    /// [`learn`](Self::learn) where the keys have not been read yet.
    pub(crate) fn learn_unread<M: Members>(
        &self,
        members: &M,
        query: &HashedKey<'_>,
        version: u64,
    ) -> Result<Lesson, M::Error> {
        match self.shard().range_at(version, &query.rest) {
            Some(range) => self.learn_among(members, query, version, &range),
            None => self.learn_again(members, query.bytes),
        }
    }

    /// Asks again, and learns from the answer.
    fn learn_again<M: Members>(&self, members: &M, query: &[u8]) -> Result<Lesson, M::Error> {
        let query = self.generation.hash(query);
        match self.shard().ask(&query.rest) {
            // What is on its way is learnt where it arrives.
            Asked::Maybe(maybe) if !maybe.moving => {
                self.learn_among(members, &query, maybe.version, &maybe.range)
            }
            _ => Ok(Lesson::Known),
        }
    }

    /// Learns with the keys in a range of hashes, at the version that the filter has.
    fn learn_among<M: Members>(
        &self,
        members: &M,
        query: &HashedKey<'_>,
        version: u64,
        range: &RangeInclusive<u64>,
    ) -> Result<Lesson, M::Error> {
        let lesson = members
            .keys(self, range)
            .and_then(|keys| self.try_to_learn(members, query, version, &keys));
        self.count(members, query.bytes, lesson)
    }

    fn try_to_learn<M: Members>(
        &self,
        members: &M,
        query: &HashedKey<'_>,
        version: u64,
        keys: &[Vec<u8>],
    ) -> Result<Lesson, M::Error> {
        let Some(when) = members.may_learn() else {
            return Ok(Lesson::Waiting);
        };
        if keys.iter().any(|key| key == query.bytes) {
            return Ok(Lesson::Known); // a member by now
        }
        let keys = self.hashes(keys);
        Ok(self.shard().learn(&query.rest, version, &keys, when)?)
    }

    /// Counts what became of a false positive.
    fn count<M: Members>(
        &self,
        members: &M,
        query: &[u8],
        lesson: Result<Lesson, M::Error>,
    ) -> Result<Lesson, M::Error> {
        match lesson {
            Ok(Lesson::Learnt) => {
                self.shard().counters.adaptation();
                members.learnt(query);
            }
            Ok(Lesson::Full) | Err(_) => self.shard().counters.unlearnt(),
            Ok(Lesson::Waiting | Lesson::Stale | Lesson::Known) => {}
        }
        lesson
    }

    fn hashes<'k>(&self, keys: &'k [Vec<u8>]) -> Vec<Hashed<'k>> {
        keys.iter().map(|key| self.shard().hash(key)).collect()
    }
}

/// Fingerprints of keys that come and go.
impl Turn {
    /// Finds room for so many new keys, or refuses them.
    pub(crate) fn find_room<M: Members>(&self, members: &M, keys: u64) -> Result<(), M::Error> {
        if may_grow(members) {
            return self.make_slots(members, keys);
        }
        match keys > 0 && self.shard().is_full(keys) {
            true => Err(members.full()),
            false => Ok(()),
        }
    }

    /// Where there are not enough slots, lets the filter grow to the end: once fingerprints are
    /// added, the keys that the members have are not all that need one.
    fn make_slots<M: Members>(&self, members: &M, keys: u64) -> Result<(), M::Error> {
        while may_grow(members) && !self.shard().has_slots(keys) {
            self.grow_to_the_end(members)?;
        }
        Ok(())
    }

    /// Adds the fingerprints of keys that are about to be committed: all of them or, if that
    /// fails, none.
    pub(crate) fn add<M: Members>(
        &self,
        members: &M,
        keys: &[&Hashed<'_>],
    ) -> Result<(), M::Error> {
        self.make_slots(members, keys.len() as u64)?;
        let mut added = 0;
        let error = loop {
            let Some(key) = keys.get(added) else {
                return Ok(());
            };
            match self.shard().add(key) {
                Ok(()) => added += 1,
                // Slots are left, but not where one is needed. What was added so far is added
                // again: nobody has those keys yet, so they are not handed over. If one is there
                // all the same, one of its two fingerprints is surplus.
                Err(Error::Full { .. }) if may_grow(members) => {
                    match self.grow_to_the_end(members) {
                        Ok(()) => added = 0,
                        // The frontier may have passed some that were added, which the larger filter
                        // does not have. A plain one would take another key's fingerprint for theirs;
                        // surplus does less harm.
                        Err(error) if !self.is_adaptive() => return Err(error),
                        Err(error) => break error,
                    }
                }
                Err(Error::Full { .. }) => break members.full(),
                Err(error) => break error.into(),
            }
        };
        self.drop_prints(members, keys[..added].to_vec());
        Err(error)
    }

    /// Takes away the fingerprints of keys that were deleted, or never committed. One that can't
    /// be taken away is surplus: the next lesson near it drops it.
    pub(crate) fn drop_prints<M: Members>(&self, members: &M, mut gone: Vec<&Hashed<'_>>) {
        let (shard, is_adaptive) = (self.shard(), self.is_adaptive());
        while let Some(key) = gone.pop() {
            let range = shard.range_of(key);
            let read = match is_adaptive {
                true => members.keys(self, &range),
                false => Ok(Vec::new()), // it needs no keys
            };
            let dropped = read.and_then(|keys| {
                let mut others = self.hashes(&keys);
                // Those that have not lost their fingerprints yet.
                let near = |other: &&&Hashed<'_>| range.contains(&shard.place().whole(other.h0()));
                others.extend(gone.iter().filter(near).map(|other| (*other).clone()));
                Ok(self.drop_print(members, key, others)?)
            });
            if let Err(error) = dropped {
                members.warn("a fingerprint that nobody needs stays", &error);
            }
        }
    }

    /// Takes the fingerprint of a key away, given all others of its minirun that have one. Says
    /// whether it had one: a lesson may have dropped it as surplus.
    pub(crate) fn drop_print<'k, M: Members>(
        &self,
        members: &M,
        key: &Hashed<'k>,
        others: Vec<Hashed<'k>>,
    ) -> Result<bool, Error> {
        let mut keys = others;
        keys.push(key.clone());
        match self.shard().drop_print(key, &keys, members.options().leave) {
            Ok(()) => Ok(true),
            // One key too many.
            Err(Error::Mismatch { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn is_adaptive(&self) -> bool {
        self.generation.measures.choice == FilterChoice::Adaptive
    }
}

/// Growing.
impl Turn {
    /// Takes up to `steps` steps of growing, if the shard is full or growing. What fails is tried
    /// again by the next one.
    pub(crate) fn grow_if_full<M: Members>(&self, members: &M, steps: u64) {
        if members.may_learn().is_none() {
            return;
        }
        if !self.shard().is_growing() {
            if !self.shard().is_full(0) {
                return;
            }
            match members.options().when_full {
                WhenFull::Grow => {}
                WhenFull::Rotate => return members.request_new_seed(),
                WhenFull::Refuse => return,
            }
            if let Err(error) = self.begin_to_grow() {
                return members.warn("the filter can't grow", &error.into());
            }
        }
        for _ in 0..steps {
            match self.grow(members) {
                Ok(false) => {}
                Ok(true) => return,
                Err(error) => return members.warn("growing has to wait", &error),
            }
        }
    }

    fn grow_to_the_end<M: Members>(&self, members: &M) -> Result<(), M::Error> {
        self.begin_to_grow()?;
        while !self.grow(members)? {}
        Ok(())
    }

    fn begin_to_grow(&self) -> Result<(), Error> {
        if self.shard().begin_to_grow()? {
            let shard = self.index;
            tracing::debug!(shard, "a shard of the filter is full and begins to grow");
        }
        Ok(())
    }

    /// Hands a few hundred keys over. Says whether these were the last.
    fn grow<M: Members>(&self, members: &M) -> Result<bool, M::Error> {
        let start = Instant::now();
        let shard = self.shard();
        let Some(stretch) = shard.next_stretch() else {
            return Ok(true);
        };
        let keys = members.keys(self, &stretch)?;
        let done = shard.hand_over(&stretch, &keys)?;
        shard.counters.step_since(start);
        if done {
            shard.counters.grown();
            let (_, slots, bytes) = shard.usage();
            let shard = self.index;
            tracing::info!(shard, slots, bytes, "a shard of the filter has grown");
        }
        Ok(done)
    }
}

/// May the filter grow? With [`WhenFull::Rotate`], too: a write that needs slots now can't wait for a new
/// seed.
fn may_grow(members: &impl Members) -> bool {
    members.options().when_full != WhenFull::Refuse
}
