//! Lookups.

use std::sync::Arc;

use crate::engine::Engine;
use crate::error::Error;
use crate::filter::FilterChoice;
use crate::generation::{Asked, Generation, Maybe, Spot};
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
            let spot = generation.spot(key);
            let shard = generation.shard(spot.shard);
            match shard.ask(&spot.key) {
                Asked::No => {
                    shard.counters.negative();
                    return Ok(None);
                }
                Asked::Moved(to) => next = Some(to),
                Asked::Maybe(maybe) => {
                    match self.look(generation, &spot, key, &maybe, &mut found)? {
                        Look::Found | Look::Absent => return Ok(value),
                        Look::Gone => {}
                    }
                }
            }
        }
    }

    /// The filter says "maybe": looks into the engine, and learns if that was wrong.
    fn look(
        &self,
        generation: &Arc<Generation>,
        spot: &Spot<'_>,
        key: &[u8],
        maybe: &Maybe,
        mut found: impl FnMut(&[u8]),
    ) -> Result<Look, Error> {
        let shard = generation.shard(spot.shard);
        let snapshot = self.snapshot()?;
        let learns = self.learns(maybe);
        let target = target(generation, spot, key, learns.then_some(maybe));
        let mut keys = L::find(&snapshot, &target, &mut found)?;
        if let (Some(_), Some(next)) = (&keys, &maybe.moving) {
            let spot = next.spot(key);
            let target = self::target(next, &spot, key, None);
            keys = L::find(&snapshot, &target, &mut found)?;
        }
        drop(snapshot);
        let Some(keys) = keys else {
            shard.counters.hit();
            return Ok(Look::Found);
        };
        if shard.has_left(&spot.key, maybe) {
            return Ok(Look::Gone);
        }
        shard.counters.false_positive(spot.key.word(1));
        if learns {
            self.learn(generation, spot, key, maybe, &keys);
        }
        Ok(Look::Absent)
    }

    /// Can anything be learnt from a false positive here?
    pub(super) fn learns(&self, maybe: &Maybe) -> bool {
        // What is on its way is learnt where it arrives.
        self.options.choice == FilterChoice::Adaptive && maybe.moving.is_none()
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
    spot: &Spot<'_>,
    key: &'k [u8],
    maybe: Option<&Maybe>,
) -> Target<'k> {
    Target {
        table: generation.table,
        h0: spot.h0,
        key,
        minirun: maybe.map(|maybe| maybe.range.clone()),
    }
}
