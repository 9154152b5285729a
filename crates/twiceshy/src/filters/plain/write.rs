//! What changes a filter.

use super::QuotientFilter;
use crate::error::Error;
use crate::filters::facade::{InsertCore, TableCore};
use crate::hash::{Hashed, Key, StreamHash};
use crate::outcome::{Inserted, Removed};
use crate::table::{Found, Taken};

impl<H: StreamHash> QuotientFilter<H> {
    /// Adds a key unless its fingerprint is there already, so that the filter keeps one
    /// copy. Don't mix this with [`remove`](Self::remove): two keys that share a
    /// fingerprint share that copy.
    ///
    /// # Errors
    /// [`Error::Full`] if no slot is left; nothing has changed then.
    #[inline]
    pub fn insert_unique<K: Key + ?Sized>(&mut self, key: &K) -> Result<Inserted, Error> {
        self.insert_unique_h0(self.first_word(key))
    }

    /// [`insert_unique`](Self::insert_unique) for a key that is hashed already.
    ///
    /// # Errors
    /// As [`insert_unique`](Self::insert_unique).
    #[inline]
    pub fn insert_unique_hashed(&mut self, key: &Hashed<'_>) -> Result<Inserted, Error> {
        self.insert_unique_h0(key.h0())
    }

    #[inline]
    fn insert_unique_h0(&mut self, h0: u64) -> Result<Inserted, Error> {
        if self.core.contains(h0) == Found::Yes {
            return Ok(Inserted::Present);
        }
        self.core.insert(h0).map(|()| Inserted::New)
    }

    /// Removes one copy of a key.
    ///
    /// **The caller vouches that the key is a member.** The filter has no keys, so it
    /// can't tell a member from a false positive: removing a key that was never inserted,
    /// but whose fingerprint equals a member's, removes that member, and the filter then
    /// wrongly says "no" for it. A key whose fingerprint isn't there is reported as
    /// [`Removed::NotFound`] and changes nothing.
    ///
    /// # Errors
    /// None; the `Result` is that of the trait [`Remove`](crate::Remove).
    #[inline(always)]
    pub fn remove<K: Key + ?Sized>(&mut self, key: &K) -> Result<Removed, Error> {
        Ok(self.remove_h0(self.first_word(key)))
    }

    /// [`remove`](Self::remove) for a key that is hashed already; the caller vouches for
    /// it just the same.
    ///
    /// # Errors
    /// None, as [`remove`](Self::remove).
    #[inline]
    pub fn remove_hashed(&mut self, key: &Hashed<'_>) -> Result<Removed, Error> {
        Ok(self.remove_h0(key.h0()))
    }

    #[inline(always)]
    fn remove_h0(&mut self, h0: u64) -> Removed {
        let table = &mut self.core.table;
        match table.remove_any(table.at(h0)) {
            Taken::One => Removed::One,
            Taken::NotFound | Taken::Unclear => Removed::NotFound,
        }
    }
}
