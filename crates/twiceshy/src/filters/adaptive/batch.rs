//! Many keys at a time.

use super::AdaptiveFilter;
use crate::batch::PIECE;
use crate::bits::Bytes;
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
