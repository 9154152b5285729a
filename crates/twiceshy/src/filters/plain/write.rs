//! What changes a filter.

use super::{Core, QuotientFilter};
use crate::error::Error;
use crate::hash::{Hashed, Key, StreamHash, first_word};
use crate::outcome::{Inserted, Removed};
use crate::table::{Put, Taken};

impl<H: StreamHash> QuotientFilter<H> {
    /// Adds a key. A key that is added twice is there twice, and takes two removals.
    ///
    /// # Errors
    /// [`Error::Full`] if no slot is left; nothing has changed then.
    #[inline(always)]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<(), Error> {
        self.insert_h0(first_word::<H, K>(&self.keyed, key))
    }

    /// [`insert`](Self::insert) for a key that is hashed already.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn insert_hashed(&mut self, key: &Hashed<'_>) -> Result<(), Error> {
        self.insert_h0(key.h0())
    }

    #[inline(always)]
    pub(super) fn insert_h0(&mut self, h0: u64) -> Result<(), Error> {
        let table = &mut self.core.table;
        match table.insert(table.at(h0)) {
            Put::Done => Ok(()),
            Put::Full | Put::Counted | Put::BlockFull(_) => Err(table.full()),
        }
    }

    /// Adds a key unless its fingerprint is there already, so that the filter keeps one
    /// copy. Don't mix this with [`remove`](Self::remove): two keys that share a
    /// fingerprint share that copy.
    ///
    /// # Errors
    /// [`Error::Full`] if no slot is left; nothing has changed then.
    #[inline]
    pub fn insert_unique<K: Key + ?Sized>(&mut self, key: &K) -> Result<Inserted, Error> {
        self.insert_unique_h0(first_word::<H, K>(&self.keyed, key))
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
        if self.contains_h0(h0) {
            return Ok(Inserted::Present);
        }
        self.insert_h0(h0).map(|()| Inserted::New)
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
        Ok(self.remove_h0(first_word::<H, K>(&self.keyed, key)))
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

    /// Removes everything and keeps the memory.
    pub fn clear(&mut self) {
        self.core.table.clear();
    }

    /// A copy, or an error where [`Clone`] would abort for want of memory.
    ///
    /// # Errors
    /// [`Error::Geometry`] if a second table does not fit in memory.
    pub fn try_clone(&self) -> Result<Self, Error> {
        Ok(QuotientFilter {
            core: Core {
                table: self.core.table.try_clone()?,
            },
            ..*self
        })
    }
}
