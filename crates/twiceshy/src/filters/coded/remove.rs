//! Removal, which the published code lacks.

use std::ops::RangeInclusive;

use super::CodedFilter;
use super::keys::{Known, check, given};
use super::symbols::{Placed, Stretch, Symbols};
use crate::error::Error;
use crate::hash::{Hashed, Key, StreamHash};
use crate::outcome::Removed;
use crate::traits::Remove;

impl<S: Symbols, H: StreamHash> CodedFilter<S, H> {
    /// Removes a member without the keys of its place.
    ///
    /// **The caller vouches that the key is a member**, as for a plain filter: removing
    /// another key can take a member's fingerprint away.
    ///
    /// # Errors
    /// [`Error::NeedsHashes`] if several different fingerprints match the key; of a telescoping
    /// filter also if a block has no room for the selectors that move. [`remove`](Self::remove)
    /// does it then. Nothing has changed.
    pub fn remove_known_member<K: Key + ?Sized>(&mut self, key: &K) -> Result<Removed, Error> {
        self.remove_known_member_hashed(&self.hash(key))
    }

    /// [`remove_known_member`](Self::remove_known_member) for a key that is hashed already,
    /// with the same warning.
    ///
    /// # Errors
    /// As [`remove_known_member`](Self::remove_known_member).
    pub fn remove_known_member_hashed(&mut self, key: &Hashed<'_>) -> Result<Removed, Error> {
        let place = Placed::new(&self.core.table.geometry(), key);
        loop {
            let group = self.core.group(&place);
            let mut fitting = group.fitting(&place);
            let Some(first) = fitting.next() else {
                return Ok(Removed::NotFound);
            };
            // A member has a slot that matches: if there is but one, or all are alike, it is that.
            if !fitting.all(|i| group.entries[i] == group.entries[first]) {
                return Err(self.core.stretch(key.h0()).needed());
            }
            match self.core.close(&group.run, group.run.start + first as u64) {
                Ok(()) => return Ok(Removed::One),
                Err(full) => self.core.make_room_alone(full)?,
            }
        }
    }

    /// Removes a member, given all keys of a stretch, the removed one among them: that which
    /// [`lookup`](Self::lookup) gives, or the one that [`Error::NeedsHashes`] named.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the key is not among the keys or these do not fit the
    /// fingerprints, [`Error::NeedsHashes`] if more keys are needed. No answer has changed then.
    pub fn remove(
        &mut self,
        key: &Hashed<'_>,
        at: Stretch,
        keys: &[Hashed<'_>],
    ) -> Result<(), Error> {
        check(S::UNIT, at, keys)?;
        self.remove_by(key, given(at, keys))
    }

    /// Pairs the *other* keys and drops what they leave over.
    pub(crate) fn remove_by<'k, E: From<Error>>(
        &mut self,
        key: &Hashed<'_>,
        source: impl FnMut(RangeInclusive<u64>) -> Result<Vec<Hashed<'k>>, E>,
    ) -> Result<(), E> {
        let geometry = self.core.table.geometry();
        let place = Placed::new(&geometry, key);
        let mut known = Known::new(S::UNIT, geometry, source, None);
        let mut is_first = true;
        loop {
            let group = self.core.group(&place);
            let mut keys = known.of(place.home)?;
            let Some(removed) = keys
                .iter()
                .position(|other| other.key.h0() == key.h0() && other.key.is_same_key(key))
            else {
                return Err(Error::mismatch("the key to remove is not among the keys").into());
            };
            if is_first {
                group.pair(&keys)?;
            }
            keys.remove(removed);
            let key_of = group.pair(&keys)?;
            let Some(left) = key_of.iter().position(Option::is_none) else {
                return Ok(());
            };
            let slot = group.run.start + (group.slots.start + left) as u64;
            match self.core.close(&group.run, slot) {
                Ok(()) => is_first = false,
                Err(full) => {
                    self.core.make_room(full, &mut known)?;
                }
            }
        }
    }
}

impl<S: Symbols, H: StreamHash> Remove for CodedFilter<S, H> {
    fn remove_hashed(&mut self, key: &Hashed<'_>) -> Result<Removed, Error> {
        self.remove_known_member_hashed(key)
    }
}
