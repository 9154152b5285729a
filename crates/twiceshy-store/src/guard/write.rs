//! Telling a guard of changes.

use std::fmt;
use std::sync::Arc;

use twiceshy::ReverseMap;

use super::in_flight::InFlight;
use super::{Guard, GuardError, build};
use crate::generation::{Asked, HashedKey};
use crate::turn::{Members, Turn};

/// A key that is about to be committed. Until this is dropped, the guard counts it among the
/// members whether or not the reverse map lists it.
#[must_use = "drop it, or call `done`, when the commit has happened"]
pub struct Inserting<'g, R: ReverseMap> {
    guard: &'g Guard<R>,
    shard: usize,
    /// None when it has landed.
    key: Option<Arc<[u8]>>,
}

impl<R: ReverseMap> Guard<R> {
    /// Tells the guard of a key **before** it is committed to your database: its fingerprint is
    /// there, and it is listed if the map is the guard's to write. Commit, then drop what this
    /// returns; or call [`rolled_back`](Inserting::rolled_back) if the commit has failed for sure.
    /// A key that is there already is fine: nothing changes.
    ///
    /// # Errors
    /// [`GuardError::Map`], and [`GuardError::Full`] if the filter has no room and may not grow.
    pub fn inserting(
        &self,
        key: impl AsRef<[u8]>,
    ) -> Result<Inserting<'_, R>, GuardError<R::Error>> {
        let key = self.generation.hash(key.as_ref());
        let turn = Turn::wait(&self.generation, key.shard);
        let in_flight = &self.in_flight[key.shard];
        let is_new = !in_flight.has(key.bytes) && !self.is_listed(&turn, &key)?;
        if is_new {
            turn.find_room(self, 1)?;
            turn.add(self, &[&key.rest])?;
        }
        let token = Inserting {
            guard: self,
            shard: key.shard,
            key: Some(in_flight.add(key.h0, key.bytes, is_new)),
        };
        if is_new {
            // The fingerprint first: a key that is listed without one could cost another its own.
            let listed = self.map.lock().insert(key.h0, key.bytes);
            if let Err(error) = listed {
                drop(token);
                self.find_out(&turn, &key);
                return Err(GuardError::Map(error));
            }
            turn.shard().counters.add_records(1);
        }
        turn.release(self);
        Ok(token)
    }

    /// Is this key one of those that the map lists? Asks the filter first.
    fn is_listed(&self, turn: &Turn, key: &HashedKey<'_>) -> Result<bool, GuardError<R::Error>> {
        let counters = &turn.shard().counters;
        let Asked::Maybe(maybe) = turn.shard().ask(&key.rest) else {
            counters.negative();
            return Ok(false);
        };
        let keys = self.keys(turn, &maybe.range)?;
        let is_listed = keys.iter().any(|listed| listed == key.bytes);
        match is_listed {
            true => counters.hit(),
            false => counters.false_positive(key.rest.word(1)),
        }
        Ok(is_listed)
    }

    /// The map has failed to list a key, and may list it all the same. Looks whether it does: then it
    /// is one that the guard knows of. Otherwise its fingerprint goes, if the map can be read.
    fn find_out(&self, turn: &Turn, key: &HashedKey<'_>) {
        match self.keys(turn, &(key.h0..=key.h0)) {
            Ok(keys) if keys.iter().any(|listed| listed == key.bytes) => {
                turn.shard().counters.add_records(1);
            }
            Ok(_) => turn.drop_prints(self, vec![&key.rest]),
            Err(error) => self.warn("nobody knows whether a key is listed", &error),
        }
    }

    /// [`inserting`](Self::inserting) where nothing can go wrong with the commit, or the reverse
    /// map is the guard's to write, so that the key is listed already.
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
    /// [`GuardError::Map`], and [`GuardError::StillThere`] if the map goes on listing it. Try again
    /// then.
    pub fn deleted(&self, key: impl AsRef<[u8]>) -> Result<bool, GuardError<R::Error>> {
        let key = self.generation.hash(key.as_ref());
        let turn = Turn::wait(&self.generation, key.shard);
        if self.in_flight[key.shard].has(key.bytes) {
            return Err(GuardError::StillThere);
        }
        let had_one = self.drop_key(&turn, &key);
        turn.release(self);
        had_one
    }

    /// Takes a key off the list, and its fingerprint away. The caller has the turn.
    fn drop_key(&self, turn: &Turn, key: &HashedKey<'_>) -> Result<bool, GuardError<R::Error>> {
        let removed = self.map.lock().remove(key.h0, key.bytes);
        // If the map has failed, the key may be off its list all the same.
        let dropped = self.drop_print(turn, key);
        removed.map_err(GuardError::Map)?;
        dropped
    }

    /// Takes the fingerprint of a key away that is no longer listed.
    fn drop_print(&self, turn: &Turn, key: &HashedKey<'_>) -> Result<bool, GuardError<R::Error>> {
        let shard = turn.shard();
        let Asked::Maybe(maybe) = shard.ask(&key.rest) else {
            return Ok(false);
        };
        let keys = self.keys(turn, &maybe.range)?;
        if keys.iter().any(|listed| listed == key.bytes) {
            return Err(GuardError::StillThere);
        }
        let others = keys.iter().map(|key| shard.hash(key)).collect();
        let had_one = turn.drop_print(self, &key.rest, others)?;
        if had_one {
            shard.counters.remove_records(1);
        }
        Ok(had_one)
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
        for key in self.in_flight.iter().flat_map(InFlight::all) {
            let key = new.hash(&key);
            // Surplus, if it is listed already.
            new.shard(key.shard).add(&key.rest)?;
        }
        // In place of the old shards' filters, so that whoever waits for a turn finds them.
        for (old, new) in old.shards().iter().zip(new.shards()) {
            old.take_filter_of(new);
        }
        Ok(())
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
    pub fn rolled_back(mut self) -> Result<(), GuardError<R::Error>> {
        let Some(key) = self.key.take() else {
            return Ok(());
        };
        let guard = self.guard;
        // Nobody takes the key up again between its landing and its end.
        let turn = Turn::wait(&guard.generation, self.shard);
        if guard.in_flight[self.shard].land(&key, false) {
            guard.drop_key(&turn, &guard.generation.hash(&key))?;
        }
        Ok(())
    }
}

impl<R: ReverseMap> Drop for Inserting<'_, R> {
    fn drop(&mut self) {
        if let Some(key) = &self.key {
            self.guard.in_flight[self.shard].land(key, true);
        }
    }
}

impl<R: ReverseMap> fmt::Debug for Inserting<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inserting").finish_non_exhaustive()
    }
}
