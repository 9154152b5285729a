//! The methods and traits that filters share, written once.
//!
//! ```text
//! facade! {
//!     [H: StreamHash, M: Bytes] QuotientFilter<H, M>: Hash, Words, Filter;
//!     [H: StreamHash] QuotientFilter<H>: Insert, Remove, Clone;
//! }
//! ```
//!
//! | word | gives | takes |
//! | --- | --- | --- |
//! | `Hash` | `hash`, `seed`, `is_empty` | the field `seed`; `len` |
//! | `Words` | `contains`, `contains_hashed` and batches, by the first word of a hash alone | the field `hasher`; `contains_h0`, `contains_hashes` |
//! | `Filter` | the trait | `hash`, `contains`, `contains_hashed`, `contains_all`, `contains_all_hashed`, `len`, `stats` |
//! | `Insert` | the trait | the field `hasher`; `insert_h0`, `prefetch_h0` |
//! | `Hashes` | `insert_hashes` | `insert_h0`, `prefetch_h0` |
//! | `Remove` | the trait | `remove`, `remove_hashed` |
//! | `Clone` | the trait | `try_clone` |
//!
//! What else a filter can do stands in its own file.

macro_rules! facade {
    ($($params:tt $filter:ty: $($part:ident),+;)+) => {
        $($($crate::facade::facade!(@$part $params $filter);)+)+
    };
    (@Hash [$($params:tt)*] $filter:ty) => {
        impl<$($params)*> $filter {
            /// Hashes a key the way this filter does, for the methods that take a
            /// [`Hashed`](crate::hash::Hashed) key: of this filter, or of another one with the same hash and
            /// seed.
            #[inline]
            #[must_use]
            pub fn hash<'k, K: $crate::hash::Key + ?Sized>(
                &self,
                key: &'k K,
            ) -> $crate::hash::Hashed<'k> {
                $crate::hash::Hashed::new::<H, K>(&self.seed, key)
            }

            /// The seed of the hash. Keep it from those who may choose keys.
            #[must_use]
            pub fn seed(&self) -> $crate::hash::Seed {
                self.seed
            }

            /// Is it empty?
            #[must_use]
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }
        }
    };
    (@Words [$($params:tt)*] $filter:ty) => {
        impl<$($params)*> $filter {
            /// May `key` be a member? `false` is certain; `true` is wrong for a key that was never
            /// inserted at the false-positive rate.
            #[inline]
            #[must_use]
            pub fn contains<K: $crate::hash::Key + ?Sized>(&self, key: &K) -> bool {
                self.contains_h0($crate::hash::first_word::<H, K>(&self.hasher, key))
            }

            /// [`contains`](Self::contains) for a key that is hashed already, with this filter's hash
            /// and seed. (Under others it is another key, which nothing here can notice.)
            #[inline]
            #[must_use]
            pub fn contains_hashed(&self, key: &$crate::hash::Hashed<'_>) -> bool {
                self.contains_h0(key.h0())
            }

            fn contains_all<K: $crate::hash::Key>(&self, keys: &[K], found: &mut Vec<bool>) {
                let hash = |key: &K| $crate::hash::first_word::<H, K>(&self.hasher, key);
                let look = |hashes: &[u64], found: &mut [bool]| self.contains_hashes(hashes, found);
                $crate::batch::by_first_words(keys, hash, look, found);
            }

            fn contains_all_hashed(&self, keys: &[$crate::hash::Hashed<'_>], found: &mut Vec<bool>) {
                let look = |hashes: &[u64], found: &mut [bool]| self.contains_hashes(hashes, found);
                $crate::batch::by_first_words(keys, $crate::hash::Hashed::h0, look, found);
            }
        }
    };
    (@Filter [$($params:tt)*] $filter:ty) => {
        impl<$($params)*> $crate::traits::Filter for $filter {
            #[inline]
            fn hash<'k, K: $crate::hash::Key + ?Sized>(
                &self,
                key: &'k K,
            ) -> $crate::hash::Hashed<'k> {
                self.hash(key)
            }

            #[inline]
            fn contains_hashed(&self, key: &$crate::hash::Hashed<'_>) -> bool {
                self.contains_hashed(key)
            }

            #[inline]
            fn contains<K: $crate::hash::Key + ?Sized>(&self, key: &K) -> bool {
                self.contains(key)
            }

            fn contains_batch_into<K: $crate::hash::Key>(&self, keys: &[K], found: &mut Vec<bool>) {
                self.contains_all(keys, found);
            }

            fn contains_batch_hashed_into(
                &self,
                keys: &[$crate::hash::Hashed<'_>],
                found: &mut Vec<bool>,
            ) {
                self.contains_all_hashed(keys, found);
            }

            fn len(&self) -> u64 {
                self.len()
            }

            fn stats(&self) -> $crate::stats::Stats {
                self.stats()
            }
        }
    };
    (@Insert [$($params:tt)*] $filter:ty) => {
        impl<$($params)*> $crate::traits::Insert for $filter {
            #[inline]
            fn insert_hashed(
                &mut self,
                key: &$crate::hash::Hashed<'_>,
            ) -> Result<(), $crate::error::Error> {
                self.insert_h0(key.h0())
            }

            #[inline]
            fn insert<K: $crate::hash::Key + ?Sized>(
                &mut self,
                key: &K,
            ) -> Result<(), $crate::error::Error> {
                self.insert_h0($crate::hash::first_word::<H, K>(&self.hasher, key))
            }

            fn insert_batch<K: $crate::hash::Key>(
                &mut self,
                keys: impl IntoIterator<Item = K>,
            ) -> Result<(), $crate::batch::Interrupted> {
                $crate::batch::insert_in_pieces(
                    self,
                    keys,
                    |filter, key| $crate::hash::first_word::<H, K>(&filter.hasher, key),
                    |filter, h0| filter.prefetch_h0(h0),
                    |filter, _, h0| filter.insert_h0(h0),
                )
            }
        }
    };
    (@Hashes [$($params:tt)*] $filter:ty) => {
        impl<$($params)*> $filter {
            /// Adds keys that are hashed already, given by the first word of their hash
            /// ([`first_word`](crate::hash::first_word)), in their order: the same as
            /// [`insert`](Self::insert) for each key, and faster where the filter is larger than the
            /// caches; see [`batch`](crate::batch).
            ///
            /// # Errors
            /// [`Interrupted`](crate::batch::Interrupted) at the first that is refused; those before
            /// it are in.
            pub fn insert_hashes(
                &mut self,
                hashes: impl IntoIterator<Item = u64>,
            ) -> Result<(), $crate::batch::Interrupted> {
                $crate::batch::insert_in_pieces(
                    self,
                    hashes,
                    |_, &h0| h0,
                    |filter, h0| filter.prefetch_h0(h0),
                    |filter, _, h0| filter.insert_h0(h0),
                )
            }
        }
    };
    (@Remove [$($params:tt)*] $filter:ty) => {
        impl<$($params)*> $crate::traits::Remove for $filter {
            #[inline]
            fn remove_hashed(
                &mut self,
                key: &$crate::hash::Hashed<'_>,
            ) -> Result<$crate::outcome::Removed, $crate::error::Error> {
                self.remove_hashed(key)
            }

            #[inline]
            fn remove<K: $crate::hash::Key + ?Sized>(
                &mut self,
                key: &K,
            ) -> Result<$crate::outcome::Removed, $crate::error::Error> {
                self.remove(key)
            }
        }
    };
    (@Clone [$($params:tt)*] $filter:ty) => {
        impl<$($params)*> Clone for $filter {
            fn clone(&self) -> Self {
                match self.try_clone() {
                    Ok(copy) => copy,
                    // As `Vec` does; `try_clone` is there for those who would rather know.
                    Err(error) => panic!("{error}"),
                }
            }
        }
    };
}

pub(crate) use facade;
