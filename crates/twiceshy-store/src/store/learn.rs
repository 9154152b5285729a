//! Learning from false positives, and growing.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use twiceshy::hash::Hashed;

use super::Store;
use crate::builder::WhenFull;
use crate::engine::Engine;
use crate::error::Error;
use crate::generation::{Asked, Generation, Lesson, Maybe, Spot, Turn, When};
use crate::hash_order;
use crate::journal;
use crate::layout::Layout;
use crate::store::read::target;

/// How often somebody who gives a turn back looks after what others have left.
const MAX_ROUNDS: u32 = 4;

impl<E: Engine, L: Layout> Store<E, L> {
    /// Learns from a false positive, given all keys of its minirun as they were when the filter
    /// was asked. Waits for nobody: if another has the turn, that one will learn it.
    pub(super) fn learn(
        &self,
        generation: &Arc<Generation>,
        spot: &Spot<'_>,
        query: &[u8],
        maybe: &Maybe,
        keys: &[Vec<u8>],
    ) {
        let shard = generation.shard(spot.shard);
        if let Some(turn) = Turn::take(generation, spot.shard) {
            if self.rotation.is_in_doubt() {
                return; // the keys may not be all that have fingerprints here
            }
            let keys: Vec<Hashed<'_>> = keys.iter().map(|key| shard.hash(key)).collect();
            match shard.learn(&spot.key, maybe.version, &keys, self.when()) {
                Ok(Lesson::Stale) => self.learn_again(&turn, query),
                lesson => self.note(&turn, query, lesson),
            }
            self.settle(turn);
        } else {
            shard.leave(query);
            // The one who had the turn may have looked just before.
            if let Some(turn) = Turn::take(generation, spot.shard) {
                self.settle(turn);
            }
        }
    }

    /// What was learnt before is learnt again whatever the policy says.
    fn when(&self) -> When {
        match self.recalling.load(Relaxed) {
            true => When::AtOnce,
            false => When::PolicySays,
        }
    }

    /// Gives a turn back, after all that was left for it and a step of whatever grows.
    pub(super) fn settle(&self, mut turn: Turn) {
        // Not for ever: what is left again and again waits for the next one.
        for _ in 0..MAX_ROUNDS {
            for query in turn.shard().take_pending() {
                self.learn_again(&turn, &query);
            }
            self.tend(&turn, 1);
            let (generation, index) = (Arc::clone(turn.generation()), turn.index());
            drop(turn);
            if !generation.shard(index).has_pending() {
                return;
            }
            match Turn::take(&generation, index) {
                Some(again) => turn = again,
                None => return,
            }
        }
    }

    /// Asks again and learns from the answer, with the turn in hand.
    fn learn_again(&self, turn: &Turn, query: &[u8]) {
        let generation = turn.generation();
        let spot = generation.spot(query);
        let shard = turn.shard();
        let Asked::Maybe(maybe) = shard.ask(&spot.key) else {
            return;
        };
        if !self.learns(&maybe) || self.rotation.is_in_doubt() {
            return;
        }
        let lesson = || -> Result<Lesson, Error> {
            let target = target(generation, &spot, query, Some(&maybe));
            let Some(keys) = L::find(&self.snapshot()?, &target, |_| ())? else {
                return Ok(Lesson::Known); // a member by now
            };
            let keys: Vec<Hashed<'_>> = keys.iter().map(|key| shard.hash(key)).collect();
            Ok(shard.learn(&spot.key, maybe.version, &keys, self.when())?)
        };
        self.note(turn, query, lesson());
    }

    /// Writes down what became of a false positive. A lesson that fails is no reason for the
    /// lookup to fail, which has its answer.
    fn note<Cause: Into<Error>>(&self, turn: &Turn, query: &[u8], lesson: Result<Lesson, Cause>) {
        let counters = &turn.shard().counters;
        match lesson {
            Ok(Lesson::Learnt) => {
                counters.adaptation();
                match self.journal.append(&*self.files, query) {
                    Ok(bytes) if bytes > journal::LONG => self.wants_image.store(true, Relaxed),
                    Ok(_) => {}
                    Err(error) => tracing::warn!(%error, "a lesson was learnt but not saved"),
                }
            }
            Ok(Lesson::Full) => counters.unlearnt(),
            Ok(Lesson::Waiting | Lesson::Stale | Lesson::Known) => {}
            Err(error) => {
                counters.unlearnt();
                tracing::warn!(error = %error.into(), "a false positive could not be fixed");
            }
        }
    }

    /// Takes up to `steps` steps of growing, if the shard is full or growing.
    pub(super) fn tend(&self, turn: &Turn, steps: u64) {
        let shard = turn.shard();
        if self.rotation.is_in_doubt() {
            return;
        }
        if !shard.is_growing() {
            if !shard.is_full(0) {
                return;
            }
            match self.options.when_full {
                WhenFull::Grow => {}
                WhenFull::Rotate => return self.rotation.request(),
                WhenFull::Refuse => return,
            }
            if let Err(error) = self.begin_to_grow(turn) {
                tracing::warn!(%error, "the filter can't grow");
                return;
            }
        }
        for _ in 0..steps {
            match self.grow(turn) {
                Ok(false) => {}
                Ok(true) => return,
                Err(error) => {
                    tracing::warn!(%error, "growing has to wait");
                    return;
                }
            }
        }
    }

    pub(super) fn begin_to_grow(&self, turn: &Turn) -> Result<(), Error> {
        if turn.shard().begin_to_grow()? {
            let shard = turn.index();
            tracing::debug!(shard, "a shard of the filter is full and begins to grow");
        }
        Ok(())
    }

    /// One step of growing: hands a few hundred keys over. Says whether it was the last.
    pub(super) fn grow(&self, turn: &Turn) -> Result<bool, Error> {
        let start = Instant::now();
        let shard = turn.shard();
        let Some(stretch) = shard.next_stretch() else {
            return Ok(true);
        };
        let keys = hash_order::keys(&self.snapshot()?, turn.generation().table, &stretch)?;
        let done = shard.hand_over(&stretch, &keys)?;
        self.longest_step.note_since(start);
        if done {
            self.grows.fetch_add(1, Relaxed);
            let (_, slots, bytes) = shard.usage();
            let shard = turn.index();
            tracing::info!(shard, slots, bytes, "a shard of the filter has grown");
        }
        Ok(done)
    }

    /// What nobody in particular has to do: a step of a rotation, an image of the filter.
    /// Writers do it; the caller has no turn and is not in the gate.
    pub(super) fn maintain(&self) {
        if !self.rotation.is_stuck()
            && let Err(error) = self.rotate_a_little()
        {
            self.rotation.set_stuck(true);
            tracing::warn!(%error, "the change of seed has to wait");
        }
        self.save_if_long();
    }

    /// Makes an image of the filter if the journal has become long, once in some hundred thousand
    /// lessons.
    fn save_if_long(&self) {
        if !self.wants_image.load(Relaxed) {
            return;
        }
        let saved = self.saving.unless_busy(|| {
            let start = Instant::now();
            self.wants_image.store(false, Relaxed);
            let saved = self.save_learnt();
            self.longest_save.note_since(start);
            saved
        });
        if let Some(Err(error)) = saved {
            tracing::warn!(%error, "what was learnt could not be saved");
        }
    }
}
