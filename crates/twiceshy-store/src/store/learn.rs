//! What a store answers a [`Turn`] ([`Members`]), a lookup's lesson, and what writers do beside their work.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use super::Store;
use crate::engine::Engine;
use crate::error::Error;
use crate::generation::{Generation, HashedKey, Maybe, When};
use crate::hash_order;
use crate::journal;
use crate::layout::Layout;
use crate::options::Options;
use crate::turn::{Members, Turn};

impl<E: Engine, L: Layout> Members for Store<E, L> {
    type Error = Error;

    fn options(&self) -> &Options {
        &self.options
    }

    fn keys(&self, turn: &Turn, hashes: &RangeInclusive<u64>) -> Result<Vec<Vec<u8>>, Error> {
        let table = turn.generation().table;
        Ok(hash_order::keys(&self.snapshot()?, table, hashes)?)
    }

    /// What was learnt before is learnt again whatever the policy says.
    fn may_learn(&self) -> Option<When> {
        if self.rotation.is_in_doubt() {
            return None;
        }
        Some(match self.recalling.load(Relaxed) {
            true => When::AtOnce,
            false => When::PolicySays,
        })
    }

    fn learnt(&self, query: &[u8]) {
        match self.journal.append(&*self.files, query) {
            Ok(bytes) if bytes > journal::LONG => self.wants_image.store(true, Relaxed),
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "a lesson was learnt but not saved"),
        }
    }

    fn request_new_seed(&self) {
        self.rotation.request();
    }

    fn full(&self) -> Error {
        let records = self.len();
        Error::Full { records }
    }

    fn warn(&self, what: &'static str, error: &Error) {
        tracing::warn!(%error, "{what}");
    }
}

impl<E: Engine, L: Layout> Store<E, L> {
    /// Learns from a false positive, given all keys of its minirun as they were when the filter
    /// was asked. Waits for nobody: if another has the turn, that one will learn it. A lesson that
    /// fails is no reason for the lookup to fail, which has its answer.
    pub(super) fn learn(
        &self,
        generation: &Arc<Generation>,
        query: &HashedKey<'_>,
        maybe: &Maybe,
        keys: &[Vec<u8>],
    ) {
        if let Some(turn) = Turn::take(generation, query.shard) {
            if let Err(error) = turn.learn(self, query, maybe.version, keys) {
                self.warn("a false positive could not be fixed", &error);
            }
            turn.release(self);
        } else {
            generation.shard(query.shard).push_pending(query.bytes);
            // The one who had the turn may have looked just before.
            if let Some(turn) = Turn::take(generation, query.shard) {
                turn.release(self);
            }
        }
    }

    /// What writers do beside their work: a step of a rotation, an image of the filter. The
    /// caller has no turn and is not in the gate.
    pub(super) fn do_what_is_due(&self) {
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
