//! Many keys at a time.

use super::AdaptiveFilter;
use crate::batch::{Interrupted, PIECE, in_pieces, insert_in_pieces};
use crate::bits::Bytes;
use crate::filters::core::Core;
use crate::hash::{Hashed, Key, StreamHash, first_word};
use crate::minirun::Minirun;

impl<M: Bytes> Core<M> {
    /// [`contains`](Self::contains) for many keys; `words` decides where the first word of the
    /// hash does not.
    #[inline(always)]
    pub(crate) fn contains_all<K>(
        &self,
        keys: &[K],
        hash: impl Fn(&K) -> u64,
        words: impl Fn(&K) -> bool,
        each: impl FnMut(&[u64], &[bool]),
    ) {
        let table = &self.table;
        in_pieces(
            keys,
            hash,
            |hashes, found, unclear| table.contains_many(hashes, found, unclear),
            |key, h0| table.contains_slow(h0).or_ask(|| words(key)),
            each,
        );
    }

    /// Asks for the cache lines that an insertion will touch.
    #[inline(always)]
    pub(crate) fn prefetch_to_change(&self, h0: u64) {
        self.table.prefetch_to_change(self.table.at(h0));
    }
}

impl<H: StreamHash, M: Bytes> AdaptiveFilter<H, M> {
    #[inline(always)]
    fn each_key<K: Key>(&self, keys: &[K], each: impl FnMut(&[u64], &[bool])) {
        let hash = |key: &K| first_word::<H, K>(&self.keyed, key);
        let words = |key: &K| self.contains_by_words(key);
        self.core.contains_all(keys, hash, words, each);
    }

    #[inline(always)]
    fn each_hashed(&self, keys: &[Hashed<'_>], each: impl FnMut(&[u64], &[bool])) {
        let words = |key: &Hashed<'_>| self.core.matches(key);
        self.core.contains_all(keys, Hashed::h0, words, each);
    }

    pub(super) fn contains_all<K: Key>(&self, keys: &[K], answers: &mut Vec<bool>) {
        answers.clear();
        answers.reserve(keys.len());
        self.each_key(keys, |_, found| answers.extend_from_slice(found));
    }

    pub(super) fn contains_all_hashed(&self, keys: &[Hashed<'_>], answers: &mut Vec<bool>) {
        answers.clear();
        answers.reserve(keys.len());
        self.each_hashed(keys, |_, found| answers.extend_from_slice(found));
    }

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
    pub(super) fn insert_all<K: Key>(
        &mut self,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<(), Interrupted> {
        insert_in_pieces(
            self,
            keys,
            |filter, key| first_word::<H, K>(&filter.keyed, key),
            |filter, h0| filter.core.prefetch_to_change(h0),
            |filter, key, h0| filter.insert_word(h0, key).map(|_| ()),
        )
    }
}
