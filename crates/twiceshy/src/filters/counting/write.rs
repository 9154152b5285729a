//! What changes a filter.

use super::CountingFilter;
use crate::error::Error;
use crate::hash::{Hashed, Key, StreamHash};

impl<H: StreamHash> CountingFilter<H> {
    /// Adds a key `count` times. None is as good as nothing.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    pub fn insert_count<K: Key + ?Sized>(&mut self, key: &K, count: u64) -> Result<(), Error> {
        self.core.add(self.first_word(key), count)
    }

    /// [`insert_count`](Self::insert_count) for a key that is hashed already.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    pub fn insert_count_hashed(&mut self, key: &Hashed<'_>, count: u64) -> Result<(), Error> {
        self.core.add(key.h0(), count)
    }

    /// Removes a key up to `count` times, and gives how often.
    ///
    /// **The caller vouches that the key was inserted that often**: the filter has no keys,
    /// and takes from whichever key has this fingerprint.
    ///
    /// # Errors
    /// None: a smaller count never takes more slots.
    pub fn remove_count<K: Key + ?Sized>(&mut self, key: &K, count: u64) -> Result<u64, Error> {
        self.core.subtract(self.first_word(key), count)
    }

    /// [`remove_count`](Self::remove_count) for a key that is hashed already.
    ///
    /// # Errors
    /// As [`remove_count`](Self::remove_count).
    pub fn remove_count_hashed(&mut self, key: &Hashed<'_>, count: u64) -> Result<u64, Error> {
        self.core.subtract(key.h0(), count)
    }

    /// Removes a key as often as it is there, and gives how often; the caller vouches for
    /// it, as for [`remove_count`](Self::remove_count).
    ///
    /// # Errors
    /// As [`remove_count`](Self::remove_count).
    pub fn remove_all<K: Key + ?Sized>(&mut self, key: &K) -> Result<u64, Error> {
        self.remove_count(key, u64::MAX)
    }
}
