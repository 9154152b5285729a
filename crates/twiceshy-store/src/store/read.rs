//! Lookups.

use std::sync::Arc;

use crate::engine::Engine;
use crate::error::Error;
use crate::filter::FilterChoice;
use crate::generation::{Asked, Generation, HashedKey, Maybe};
use crate::layout::{Layout, Target};
use crate::store::Store;

impl<E: Engine, L: Layout> Store<E, L> {
    /// The value under a key. A key that is not there costs no read of the engine, but for one
    /// in a few hundred, and that one the first time only.
    ///
    /// # Errors
    /// [`Error::Engine`].
    pub fn get(&self, key: impl AsRef<[u8]>) -> Result<Option<Vec<u8>>, Error> {
        self.get_with(key, <[u8]>::to_vec)
    }

    /// Is there a record under this key?
    ///
    /// # Errors
    /// [`Error::Engine`].
    pub fn contains(&self, key: impl AsRef<[u8]>) -> Result<bool, Error> {
        Ok(self.get_with(key, |_| ())?.is_some())
    }

    /// What `read` makes of the value under a key, without a copy of it.
    ///
    /// # Errors
    /// [`Error::Engine`].
    #[inline]
    pub fn get_with<T>(
        &self,
        key: impl AsRef<[u8]>,
        read: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, Error> {
        let key = key.as_ref();
        if key.len() > self.max_key_len() {
            return Ok(None); // nothing so long was ever put, and nothing is to be learnt from it
        }
        let current = self.current.load();
        if current.denies(key) {
            return Ok(None);
        }
        let mut read = Some(read);
        let mut value = None;
        let mut found = |bytes: &[u8]| value = read.take().map(|read| read(bytes));
        let mut next: Option<Arc<Generation>> = None;
        loop {
            let generation = next.as_ref().unwrap_or(&current);
            let hashed = generation.hash(key);
            let shard = generation.shard(hashed.shard);
            match shard.ask(&hashed.rest) {
                Asked::No => {
                    shard.counters.negative();
                    return Ok(None);
                }
                Asked::Moved => next = generation.next(),
                Asked::Maybe(maybe) => match self.look(generation, &hashed, &maybe, &mut found)? {
                    Look::Found | Look::Absent => return Ok(value),
                    Look::Gone => {}
                },
            }
        }
    }

    /// The filter says "maybe": looks into the engine, and learns if that was wrong.
    fn look(
        &self,
        generation: &Arc<Generation>,
        key: &HashedKey<'_>,
        maybe: &Maybe,
        mut found: impl FnMut(&[u8]),
    ) -> Result<Look, Error> {
        let shard = generation.shard(key.shard);
        let snapshot = self.snapshot()?;
        // What is on its way is learnt where it arrives.
        let learns = self.options.choice == FilterChoice::Adaptive && !maybe.moving;
        let target = target(generation, key, learns.then_some(maybe));
        let mut keys = L::find(&snapshot, &target, &mut found)?;
        if let (Some(_), true, Some(next)) = (&keys, maybe.moving, generation.next()) {
            let target = self::target(&next, &next.hash(key.bytes), None);
            keys = L::find(&snapshot, &target, &mut found)?;
        }
        drop(snapshot);
        let Some(keys) = keys else {
            shard.counters.hit();
            return Ok(Look::Found);
        };
        if shard.has_left(&key.rest, maybe) {
            return Ok(Look::Gone);
        }
        shard.counters.false_positive(key.rest.word(1));
        if learns {
            self.learn(generation, key, maybe, &keys);
        }
        Ok(Look::Absent)
    }
}

/// What the engine says.
enum Look {
    Found,
    Absent,
    /// Not there, but it may have moved on between the filter's answer and the engine's.
    Gone,
}

/// Where to look for a record, and what for if it is not there.
pub(super) fn target<'k>(
    generation: &Generation,
    key: &HashedKey<'k>,
    maybe: Option<&Maybe>,
) -> Target<'k> {
    Target {
        table: generation.table,
        h0: key.h0,
        key: key.bytes,
        minirun: maybe.map(|maybe| maybe.range.clone()),
    }
}
