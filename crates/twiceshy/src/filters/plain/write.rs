//! Adding a key once.

use super::QuotientFilter;
use crate::error::Error;
use crate::hash::{Hashed, Key, StreamHash};
use crate::outcome::Inserted;

impl<H: StreamHash> QuotientFilter<H> {
    /// Adds a key unless its fingerprint is there already, so that the filter keeps one
    /// copy. Don't mix this with [`remove`](Self::remove): two keys that share a
    /// fingerprint share that copy.
    ///
    /// # Errors
    /// [`Error::Full`] if no slot is left; nothing has changed then.
    #[inline]
    pub fn insert_unique<K: Key + ?Sized>(&mut self, key: &K) -> Result<Inserted, Error> {
        let h0 = self.first_word(key);
        if self.contains_with(h0, key) {
            return Ok(Inserted::Present);
        }
        self.insert_with_word(h0, key).map(|()| Inserted::New)
    }

    /// [`insert_unique`](Self::insert_unique) for a key that is hashed already.
    ///
    /// # Errors
    /// As [`insert_unique`](Self::insert_unique).
    #[inline]
    pub fn insert_unique_hashed(&mut self, key: &Hashed<'_>) -> Result<Inserted, Error> {
        if self.contains_hashed(key) {
            return Ok(Inserted::Present);
        }
        self.insert_hashed(key).map(|()| Inserted::New)
    }
}
