//! Removal, which the published code lacks.

use std::ops::RangeInclusive;

use super::adapt::{Known, given, pair};
use super::{SelectorCoding, Stretch, TelescopingFilter, remainder};
use crate::error::Error;
use crate::filters::lettered::{distinct, is_same};
use crate::hash::{Hashed, Key, StreamHash};
use crate::outcome::Removed;
use crate::traits::Remove;

impl<H: StreamHash, C: SelectorCoding> TelescopingFilter<H, C> {
    /// Removes a member without the keys of its run.
    ///
    /// **The caller vouches that the key is a member**, as for a plain filter: removing
    /// another key can take a member's fingerprint away.
    ///
    /// # Errors
    /// [`Error::NeedsHashes`] if several different fingerprints match the key, or a block has no
    /// room for the selectors that move: [`remove`](Self::remove) does it then. Nothing has
    /// changed.
    pub fn remove_known_member<K: Key + ?Sized>(&mut self, key: &K) -> Result<Removed, Error> {
        let hashed = Hashed::new::<H, K>(&self.seed, key);
        self.remove_known_member_hashed(&hashed)
    }

    /// [`remove_known_member`](Self::remove_known_member) for a key that is hashed already,
    /// with the same warning.
    ///
    /// # Errors
    /// As [`remove_known_member`](Self::remove_known_member).
    pub fn remove_known_member_hashed(&mut self, key: &Hashed<'_>) -> Result<Removed, Error> {
        let geometry = self.core.geometry;
        let quotient = self.quotient(key);
        let run = self.core.run(quotient);
        let entries = self.core.entries(&run);
        let mut matching = (0..entries.len())
            .filter(|&i| entries[i].value == remainder(&geometry, key, entries[i].letter));
        let Some(first) = matching.next() else {
            return Ok(Removed::NotFound);
        };
        // A member has a slot that matches: if there is but one, or all are alike, it is that.
        if !matching.all(|i| entries[i] == entries[first]) {
            let Stretch { first, last } = self.stretch(quotient);
            return Err(Error::NeedsHashes { first, last });
        }
        match self.close(&run, run.start + first as u64) {
            Ok(()) => Ok(Removed::One),
            Err(block) => Err(self.needs(block)),
        }
    }

    /// Removes a member, given all keys of a stretch, the removed one among them: that of its
    /// run, or the one that [`Error::NeedsHashes`] named.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the key is not among the keys or these do not fit the
    /// fingerprints, [`Error::NeedsHashes`] if more keys are needed. Nothing has changed then.
    pub fn remove(
        &mut self,
        key: &Hashed<'_>,
        at: Stretch,
        keys: &[Hashed<'_>],
    ) -> Result<(), Error> {
        self.remove_by(key, given(at, keys))
    }

    /// Pairs the *other* keys and drops what they leave over.
    pub(super) fn remove_by<'k, E: From<Error>>(
        &mut self,
        key: &Hashed<'_>,
        source: impl FnMut(RangeInclusive<u64>) -> Result<Vec<Hashed<'k>>, E>,
    ) -> Result<(), E> {
        let geometry = self.core.geometry;
        let quotient = self.quotient(key);
        let mut known = Known::new(source, None);
        let mut is_first = true;
        loop {
            let run = self.core.run(quotient);
            let entries = self.core.entries(&run);
            let mut keys = distinct(known.of(&geometry, quotient)?);
            let Some(removed) = keys.iter().position(|other| is_same(other, key)) else {
                return Err(Error::mismatch("the key to remove is not among the keys").into());
            };
            if is_first {
                pair(&geometry, &entries, &keys)?;
            }
            keys.remove(removed);
            let key_of = pair(&geometry, &entries, &keys)?;
            let Some(left) = key_of.iter().position(Option::is_none) else {
                return Ok(());
            };
            match self.close(&run, run.start + left as u64) {
                Ok(()) => is_first = false,
                Err(block) => {
                    self.make_room(block, &mut known)?;
                }
            }
        }
    }
}

impl<H: StreamHash, C: SelectorCoding> Remove for TelescopingFilter<H, C> {
    fn remove_hashed(&mut self, key: &Hashed<'_>) -> Result<Removed, Error> {
        self.remove_known_member_hashed(key)
    }
}
