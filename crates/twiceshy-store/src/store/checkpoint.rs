//! Saving the filter.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use twiceshy::hash::Seed;

use super::Store;
use crate::counters::Longest;
use crate::engine::{Changes, Durability, Engine};
use crate::error::Error;
use crate::generation::{Generation, Shard};
use crate::layout::Layout;
use crate::sync::RwLockWriteGuard;
use crate::{hash_order, image, meta};

/// The name of the filter's file.
pub(super) const FILTER: &str = "filter";

/// The epoch of an image that is of no state of the engine in particular.
pub(super) const NO_EPOCH: u64 = 0;

impl<E: Engine, L: Layout> Store<E, L> {
    /// Saves the filter with all that it has learnt, so that opening the store takes no scan of
    /// the engine. Everything written so far is safe afterwards, whatever its durability.
    /// Writers wait meanwhile, lookups don't. The next write makes the saved filter stale;
    /// what it has learnt is used nevertheless.
    ///
    /// # Errors
    /// [`Error::Files`] and [`Error::Engine`]. The records are as they were.
    pub fn checkpoint(&self) -> Result<(), Error> {
        let _gate = self.wait_for_writers()?;
        // Random, so that no old copy of a file is ever taken for the right one.
        let random = u128::from_le_bytes(Seed::random()?.to_bytes());
        let epoch = random as u64 | 1;
        let saved = self.save(epoch)?;
        let mut changes = Changes::new();
        meta::set_checkpoint(&mut changes, epoch);
        // Even if it fails: it may have been made all the same, and then the next commit must
        // say that the file is stale.
        self.clean.store(true, Ordering::Release);
        self.engine.write(&changes, Durability::Sync)?;
        self.forget_journal(saved);
        Ok(())
    }

    /// Saves the filter and ends. A store that is dropped without this loses nothing but what
    /// it learnt in the last moments, and takes a scan to be opened again.
    ///
    /// # Errors
    /// As [`checkpoint`](Self::checkpoint).
    pub fn close(self) -> Result<(), Error> {
        self.checkpoint()
    }

    /// Keeps writers out until what is returned is dropped, with nothing in doubt.
    pub(super) fn wait_for_writers(&self) -> Result<Shut<'_>, Error> {
        let gate = loop {
            let gate = Shut {
                since: Instant::now(),
                longest: &self.longest_save,
                _gate: self.gate.write(),
            };
            if !self.rotation.is_in_doubt() {
                break gate;
            }
            drop(gate);
            self.resolve_doubt()?;
        };
        for generation in self.generations() {
            for shard in generation.shards() {
                if shard.counters.is_unsure() {
                    let (snapshot, all) = (self.snapshot()?, shard.place().all());
                    let keys = hash_order::keys(&snapshot, generation.table, &all)?;
                    shard.counters.set_records(keys.len() as u64);
                }
            }
        }
        Ok(gate)
    }

    /// Saves what was learnt, if not for a state of the engine: the journal has become long.
    pub(super) fn save_learnt(&self) -> Result<(), Error> {
        let gate = self.gate.read();
        if self.clean.load(Ordering::Acquire) {
            // The file is worth more than that.
            drop(gate);
            return self.checkpoint();
        }
        let saved = self.save(NO_EPOCH)?;
        self.forget_journal(saved);
        Ok(())
    }

    /// Writes the filter's file. The caller is in the gate, and no other saves.
    fn save(&self, epoch: u64) -> Result<Saved, Error> {
        self.journal.turn_over();
        let generations = self.generations();
        // Asked before the image is made: what stops growing in between is in it whole.
        let mut shards = generations.iter().flat_map(|one| one.shards());
        let grows = shards.any(Shard::is_growing);
        let generations = generations.iter().map(|generation| &**generation);
        let image = image::encode(&self.id, epoch, generations);
        let saved = self.files.replace(FILTER, &image);
        saved.map_err(|source| Error::Files {
            doing: "saving the filter",
            source,
        })?;
        tracing::debug!(bytes = image.len(), "the filter is saved");
        Ok(match grows {
            true => Saved::InPart,
            false => Saved::Whole,
        })
    }

    fn forget_journal(&self, saved: Saved) {
        if saved == Saved::InPart {
            return;
        }
        if let Err(error) = self.journal.forget_old(&*self.files) {
            // It will be read once more and say what is known.
            tracing::debug!(%error, "an old journal stays");
        }
    }

    /// The generation that holds records, and the one that they move to.
    pub(super) fn generations(&self) -> Vec<Arc<Generation>> {
        // The next one first: if it has become the current one in between, there is no other.
        let next = self.rotation.next();
        let current = self.current.load_full();
        let next = next.filter(|next| !Arc::ptr_eq(next, &current));
        [current].into_iter().chain(next).collect()
    }
}

/// The gate, shut: whoever writes waits.
pub(super) struct Shut<'s> {
    /// Who comes from now on waits behind the one who waits for it.
    since: Instant,
    longest: &'s Longest,
    _gate: RwLockWriteGuard<'s, ()>,
}

impl Drop for Shut<'_> {
    fn drop(&mut self) {
        self.longest.note_since(self.since);
    }
}

/// What an image is worth.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Saved {
    /// It has all that was learnt.
    Whole,
    /// A shard was growing. After a crash, what the larger half of its filter has learnt can't
    /// be used: the journal must stay.
    InPart,
}
