//! What changes a filter.

use super::{CountingFilter, count_of};
use crate::error::Error;
use crate::hash::{Hashed, Key, StreamHash, first_word};
use crate::outcome::Removed;
use crate::prints::Print;
use crate::table::Found;

impl<H: StreamHash> CountingFilter<H> {
    /// Adds a key once more.
    ///
    /// # Errors
    /// [`Error::Full`] if slots are missing, [`Error::Overflow`] if the count can't grow.
    /// Nothing has changed then.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<(), Error> {
        self.add_h0(first_word::<H, K>(&self.keyed, key), 1)
    }

    /// [`insert`](Self::insert) for a key that is hashed already.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn insert_hashed(&mut self, key: &Hashed<'_>) -> Result<(), Error> {
        self.add_h0(key.h0(), 1)
    }

    /// Adds a key `count` times. None is as good as nothing.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    pub fn insert_count<K: Key + ?Sized>(&mut self, key: &K, count: u64) -> Result<(), Error> {
        self.add_h0(first_word::<H, K>(&self.keyed, key), count)
    }

    /// [`insert_count`](Self::insert_count) for a key that is hashed already.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    pub fn insert_count_hashed(&mut self, key: &Hashed<'_>, count: u64) -> Result<(), Error> {
        self.add_h0(key.h0(), count)
    }

    #[inline(always)]
    pub(super) fn insert_h0(&mut self, h0: u64) -> Result<(), Error> {
        self.add_h0(h0, 1)
    }

    #[inline]
    pub(super) fn add_h0(&mut self, h0: u64, count: u64) -> Result<(), Error> {
        if count == 1 && self.core.contains(h0) == Found::No && self.core.insert_plain(h0) {
            self.total += 1;
            return Ok(());
        }
        self.change_count(h0, |old| old.checked_add(count).ok_or(Error::Overflow))
    }

    /// Removes a key up to `count` times, and gives how often.
    ///
    /// **The caller vouches that the key was inserted that often**: the filter has no keys,
    /// and takes from whichever key has this fingerprint.
    ///
    /// # Errors
    /// None: a smaller count never takes more slots.
    pub fn remove_count<K: Key + ?Sized>(&mut self, key: &K, count: u64) -> Result<u64, Error> {
        self.remove_count_hashed(&self.hash(key), count)
    }

    /// [`remove_count`](Self::remove_count) for a key that is hashed already.
    ///
    /// # Errors
    /// As [`remove_count`](Self::remove_count).
    pub fn remove_count_hashed(&mut self, key: &Hashed<'_>, count: u64) -> Result<u64, Error> {
        let before = self.count_hashed(key);
        let removed = before.min(count);
        if removed > 0 {
            self.change_count(key.h0(), |old| Ok(old - removed))?;
        }
        Ok(removed)
    }

    /// Removes a key once; the caller vouches for it, as for
    /// [`remove_count`](Self::remove_count).
    ///
    /// # Errors
    /// As [`remove_count`](Self::remove_count).
    pub fn remove<K: Key + ?Sized>(&mut self, key: &K) -> Result<Removed, Error> {
        self.remove_hashed(&self.hash(key))
    }

    /// [`remove`](Self::remove) for a key that is hashed already.
    ///
    /// # Errors
    /// As [`remove_count`](Self::remove_count).
    pub fn remove_hashed(&mut self, key: &Hashed<'_>) -> Result<Removed, Error> {
        Ok(match self.remove_count_hashed(key, 1)? {
            0 => Removed::NotFound,
            _ => Removed::One,
        })
    }

    /// Removes a key as often as it is there, and gives how often; the caller vouches for
    /// it, as for [`remove_count`](Self::remove_count).
    ///
    /// # Errors
    /// As [`remove_count`](Self::remove_count).
    pub fn remove_all<K: Key + ?Sized>(&mut self, key: &K) -> Result<u64, Error> {
        self.remove_count(key, u64::MAX)
    }

    fn change_count(
        &mut self,
        h0: u64,
        change: impl FnOnce(u64) -> Result<u64, Error>,
    ) -> Result<(), Error> {
        let minirun = self.core.minirun_of(h0);
        let old = self.core.contents_of(minirun);
        let before = count_of(&old);
        let count = change(before)?;
        let new = if count == 0 {
            vec![]
        } else {
            vec![Print::new(count, 0)]
        };
        if count != before {
            self.core.replace(minirun, &old, new)?;
        }
        self.total = self.total - u128::from(before) + u128::from(count);
        Ok(())
    }

    /// Removes everything and keeps the memory.
    pub fn clear(&mut self) {
        self.core.clear();
        self.total = 0;
    }

    /// A copy, or an error where [`Clone`] would abort for want of memory.
    ///
    /// # Errors
    /// [`Error::Geometry`] if a second table does not fit in memory.
    pub fn try_clone(&self) -> Result<Self, Error> {
        Ok(CountingFilter {
            core: self.core.try_clone()?,
            ..*self
        })
    }
}
