//! Many keys at a time.

use super::AdaptiveFilter;
use crate::batch::{Interrupted, PIECE, insert_in_pieces};
use crate::bits::Bytes;
use crate::error::Error;
use crate::hash::{Hashed, Key, StreamHash};
use crate::minirun::Minirun;

impl<H: StreamHash, M: Bytes> AdaptiveFilter<H, M> {
    fn places<'a>(
        &self,
        hashes: &'a [u64],
        found: &'a [bool],
    ) -> impl Iterator<Item = Option<Minirun>> {
        let found = hashes.iter().zip(found);
        found.map(|(&h0, &found)| found.then(|| self.core.minirun_of(h0)))
    }

    /// The miniruns that match each of `keys`, or `None` for those that are certainly no
    /// members; see [`batch`](crate::batch).
    #[must_use]
    pub fn lookup_batch<K: Key>(&self, keys: &[K]) -> Vec<Option<Minirun>> {
        let mut places = Vec::with_capacity(keys.len());
        self.each_key(keys, |hashes, found| {
            places.extend(self.places(hashes, found));
        });
        places
    }

    /// [`lookup_batch`](Self::lookup_batch) for the keys of an iterator, of which it takes a few
    /// hundred at a time; the answers come in order.
    pub fn lookup_each<K: Key>(
        &self,
        keys: impl IntoIterator<Item = K>,
    ) -> impl Iterator<Item = Option<Minirun>> {
        let mut keys = keys.into_iter();
        let mut piece = Vec::new();
        let mut places = Vec::new().into_iter();
        std::iter::from_fn(move || {
            if let Some(place) = places.next() {
                return Some(place);
            }
            piece.clear();
            piece.extend(keys.by_ref().take(PIECE));
            places = self.lookup_batch(&piece).into_iter();
            places.next()
        })
    }

    /// [`lookup_batch`](Self::lookup_batch) for keys that are hashed already.
    #[must_use]
    pub fn lookup_batch_hashed(&self, keys: &[Hashed<'_>]) -> Vec<Option<Minirun>> {
        let mut places = Vec::with_capacity(keys.len());
        self.each_hashed(keys, |hashes, found| {
            places.extend(self.places(hashes, found));
        });
        places
    }
}

impl<H: StreamHash> AdaptiveFilter<H> {
    /// Adds keys that are hashed already, given by the first word of their hash
    /// ([`first_word`](crate::hash::first_word)), in their order, to a filter without ghosts: which
    /// key revives a ghost is said by later words. The same as [`insert`](Self::insert) for each
    /// key, and faster where the filter is larger than the caches; see [`batch`](crate::batch).
    ///
    /// # Errors
    /// [`Interrupted`] at the first that `insert` would refuse; those before it are in. With
    /// [`Error::Mismatch`] at once if there are ghosts.
    pub fn insert_hashes(
        &mut self,
        hashes: impl IntoIterator<Item = u64>,
    ) -> Result<(), Interrupted> {
        if self.ghosts() > 0 {
            return Err(Interrupted {
                inserted: 0,
                error: Error::mismatch(
                    "the first words of hashes don't say which key revives a ghost; insert the \
                     keys themselves",
                ),
            });
        }
        insert_in_pieces(
            self,
            hashes,
            |_, &h0| h0,
            Self::prefetch_h0,
            |filter, _, h0| filter.insert_hashed(&Hashed::from_h0(h0)).map(|_| ()),
        )
    }
}
