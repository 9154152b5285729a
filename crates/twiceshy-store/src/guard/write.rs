//! Telling a guard of changes.

use std::fmt;

use twiceshy::ReverseMap;

use super::{Guard, GuardError, Pending, build};
use crate::builder::WhenFull;
use crate::generation::{Asked, Spot, Turn};

/// A key that is about to be committed. Until this is dropped, the guard counts it among the
/// members whether or not the reverse map lists it.
#[must_use = "drop it, or call `done`, when the commit has happened"]
pub struct Inserting<'g, R: ReverseMap> {
    guard: &'g Guard<R>,
    shard: usize,
    key: Box<[u8]>,
}

impl<R: ReverseMap> Guard<R> {
    /// Tells the guard of a key **before** it is committed to your database: its fingerprint is
    /// there, and it is listed if the map is the guard's to write. Commit, then drop what this
    /// returns; or call [`rolled_back`](Inserting::rolled_back) if the commit has failed for sure. A key that is there already is fine:
    /// nothing changes.
    ///
    /// # Errors
    /// [`GuardError::Map`], and [`GuardError::Full`] if the filter has no room and may not grow.
    pub fn inserting(
        &self,
        key: impl AsRef<[u8]>,
    ) -> Result<Inserting<'_, R>, GuardError<R::Error>> {
        let key = key.as_ref();
        let generation = &self.generation;
        let spot = generation.spot(key);
        let turn = Turn::wait(generation, spot.shard);
        let token = || Inserting {
            guard: self,
            shard: spot.shard,
            key: key.into(),
        };
        if self.take_off(spot.shard, key, None) {
            return Ok(token());
        }
        if let Asked::Maybe(maybe) = turn.shard().ask(&spot.key) {
            let keys = self.keys(spot.shard, &maybe.range)?;
            if keys.iter().any(|listed| **listed == *key) {
                self.take_off(spot.shard, key, Some(false));
                return Ok(token());
            }
        }
        self.make_room(&turn)?;
        turn.shard().add(&spot.key).map_err(|error| match error {
            twiceshy::Error::Full { .. } => GuardError::Full,
            error => GuardError::Filter(error),
        })?;
        self.take_off(spot.shard, key, Some(true));
        let token = token();
        // The fingerprint first: a key that is listed without one could cost another its own.
        (self.map.lock().insert(spot.h0, key)).map_err(GuardError::Map)?;
        turn.shard().counters.add_records(1);
        self.tend(&turn);
        Ok(token)
    }

    /// [`inserting`](Self::inserting) where nothing can go wrong with the commit, or the reverse map is the guard's
    /// to write, so that the key is listed already.
    ///
    /// # Errors
    /// As [`inserting`](Self::inserting).
    pub fn inserted(&self, key: impl AsRef<[u8]>) -> Result<(), GuardError<R::Error>> {
        self.inserting(key).map(Inserting::done)
    }

    /// Tells the guard of a key that **has been** deleted from your database. Says whether it
    /// had a fingerprint.
    ///
    /// # Errors
    /// [`GuardError::Map`], and [`GuardError::StillThere`] if the map goes on listing it.
    pub fn deleted(&self, key: impl AsRef<[u8]>) -> Result<bool, GuardError<R::Error>> {
        let key = key.as_ref();
        let generation = &self.generation;
        let spot = generation.spot(key);
        let turn = Turn::wait(generation, spot.shard);
        if self.is_in_flight(spot.shard, key) {
            return Err(GuardError::StillThere);
        }
        self.drop_key(&turn, &spot, key)
    }

    /// Takes a key off the list, and its fingerprint away. The caller has the turn.
    fn drop_key(
        &self,
        turn: &Turn,
        spot: &Spot<'_>,
        key: &[u8],
    ) -> Result<bool, GuardError<R::Error>> {
        let shard = turn.shard();
        (self.map.lock().remove(spot.h0, key)).map_err(GuardError::Map)?;
        if !matches!(shard.ask(&spot.key), Asked::Maybe(_)) {
            return Ok(false);
        }
        let range = shard.range_of(&spot.key);
        let mut keys = self.keys(spot.shard, &range)?;
        if keys.iter().any(|listed| **listed == *key) {
            return Err(GuardError::StillThere);
        }
        keys.push(key.to_vec());
        let hashed: Vec<_> = keys.iter().map(|key| shard.hash(key)).collect();
        match shard.drop_print(&spot.key, &hashed, self.options.leave) {
            Ok(()) => {
                shard.counters.remove_records(1);
                Ok(true)
            }
            // One key too many: an adaptation has dropped it as surplus, or it never was there.
            Err(twiceshy::Error::Mismatch { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Lists all these keys and builds the filter anew, of everything that the map lists. For
    /// the first time, and after writes that the guard was not told of. What was learnt is
    /// forgotten. Whoever asks meanwhile gets the old answers; whoever writes waits.
    ///
    /// # Errors
    /// As [`StoreBuilder::guard`](crate::StoreBuilder::guard). The filter is as it was then, but
    /// the map may list keys already that it does not know: try again.
    pub fn rebuild<K: AsRef<[u8]>>(
        &self,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<(), GuardError<R::Error>> {
        let old = &self.generation;
        let shards = old.shards().len();
        let _turns: Vec<Turn> = (0..shards).map(|shard| Turn::wait(old, shard)).collect();
        let keys = keys.into_iter().map(|key| (self.hash_of(&key), key));
        (self.map.lock().insert_all(keys)).map_err(GuardError::Map)?;
        let new = build(&*self.map.lock(), &self.options, *old.seed())?;
        for (shard, keys) in self.in_flight.iter().enumerate() {
            for pending in &*keys.lock() {
                // Surplus, if it is listed already.
                new.shard(shard).add(&new.spot(&pending.key).key)?;
            }
        }
        // In place of the old shards' filters, so that whoever waits for a turn finds them.
        for (old, new) in old.shards().iter().zip(new.shards()) {
            old.take_filter_of(new);
        }
        Ok(())
    }

    /// Grows to the end if there is no slot left.
    fn make_room(&self, turn: &Turn) -> Result<(), GuardError<R::Error>> {
        if turn.shard().has_slots(1) {
            return Ok(());
        }
        if self.options.when_full == WhenFull::Refuse {
            return Err(GuardError::Full);
        }
        turn.shard().begin_to_grow()?;
        while !self.grow(turn)? {}
        Ok(())
    }

    /// A step of growing, if the shard is full or growing. What fails is tried again.
    pub(super) fn tend(&self, turn: &Turn) {
        let shard = turn.shard();
        if !shard.is_growing() {
            if self.options.when_full == WhenFull::Refuse || !shard.is_full(0) {
                return;
            }
            if let Err(error) = shard.begin_to_grow() {
                tracing::warn!(%error, "the filter can't grow");
                return;
            }
        }
        if self.grow(turn).is_err() {
            tracing::warn!("growing has to wait: the reverse map failed");
        }
    }

    fn grow(&self, turn: &Turn) -> Result<bool, GuardError<R::Error>> {
        let Some(stretch) = turn.shard().next_stretch() else {
            return Ok(true);
        };
        let keys = self.keys(turn.index(), &stretch)?;
        Ok(turn.shard().hand_over(&stretch, &keys)?)
    }

    /// One more is about to commit a key: one that is under way already, or else, if `is_new` says,
    /// a new one. Says whether it is under way now. The caller has the turn.
    fn take_off(&self, shard: usize, key: &[u8], is_new: Option<bool>) -> bool {
        let mut in_flight = self.in_flight[shard].lock();
        if let Some(pending) = in_flight.iter_mut().find(|pending| *pending.key == *key) {
            pending.tokens += 1;
            return true;
        }
        if let Some(is_new) = is_new {
            in_flight.push(Pending {
                key: key.into(),
                tokens: 1,
                is_new,
            });
        }
        is_new.is_some()
    }

    fn is_in_flight(&self, shard: usize, key: &[u8]) -> bool {
        let in_flight = self.in_flight[shard].lock();
        in_flight.iter().any(|pending| *pending.key == *key)
    }

    /// One of those has committed it, or not. Says whether nobody has it now.
    fn land(&self, shard: usize, key: &[u8], committed: bool) -> bool {
        let mut in_flight = self.in_flight[shard].lock();
        let Some(at) = in_flight.iter().position(|pending| *pending.key == *key) else {
            return false;
        };
        let pending = &mut in_flight[at];
        pending.tokens -= 1;
        pending.is_new &= !committed;
        if pending.tokens > 0 {
            return false;
        }
        in_flight.swap_remove(at).is_new
    }
}

impl<R: ReverseMap> Inserting<'_, R> {
    /// The commit has happened. (The same as dropping it.)
    pub fn done(self) {}

    /// The commit has not happened and never will: takes the fingerprint back, unless another has
    /// committed the key meanwhile or is about to. Not for commits whose end is unknown.
    ///
    /// # Errors
    /// [`GuardError::Map`].
    pub fn rolled_back(self) -> Result<(), GuardError<R::Error>> {
        let guard = self.guard;
        let generation = &guard.generation;
        let key = self.key.clone();
        let spot = generation.spot(&key);
        // Nobody takes the key up again between its landing and its end.
        let turn = Turn::wait(generation, spot.shard);
        let nobody_has_it = guard.land(self.shard, &self.key, false);
        std::mem::forget(self);
        if nobody_has_it {
            guard.drop_key(&turn, &spot, &key)?;
        }
        Ok(())
    }
}

impl<R: ReverseMap> Drop for Inserting<'_, R> {
    fn drop(&mut self) {
        self.guard.land(self.shard, &self.key, true);
    }
}

impl<R: ReverseMap> fmt::Debug for Inserting<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inserting").finish_non_exhaustive()
    }
}
