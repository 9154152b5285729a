//! Many keys at a time.

use super::{Core, QuotientFilter};
use crate::batch::{Interrupted, in_pieces, insert_in_pieces};
use crate::bits::Bytes;
use crate::hash::{Hashed, Key, StreamHash, first_word};
use crate::table::Found;

impl<M: Bytes> Core<M> {
    #[inline(always)]
    fn contains_all<K>(&self, keys: &[K], hash: impl Fn(&K) -> u64, answers: &mut Vec<bool>) {
        answers.clear();
        answers.reserve(keys.len());
        in_pieces(
            keys,
            hash,
            |hashes, found, unclear| self.table.contains_many(hashes, found, unclear),
            |_, h0| self.table.contains_slow(self.table.at(h0)) == Found::Yes,
            |_, found| answers.extend_from_slice(found),
        );
    }
}

impl<H: StreamHash, M: Bytes> QuotientFilter<H, M> {
    pub(super) fn contains_all<K: Key>(&self, keys: &[K], found: &mut Vec<bool>) {
        let hash = |key: &K| first_word::<H, K>(&self.keyed, key);
        self.core.contains_all(keys, hash, found);
    }

    pub(super) fn contains_all_hashed(&self, keys: &[Hashed<'_>], found: &mut Vec<bool>) {
        self.core.contains_all(keys, Hashed::h0, found);
    }
}

impl<H: StreamHash> QuotientFilter<H> {
    pub(super) fn insert_all<K: Key>(
        &mut self,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<(), Interrupted> {
        insert_in_pieces(
            self,
            keys,
            |filter, key| first_word::<H, K>(&filter.keyed, key),
            |Self { core, .. }, h0| {
                core.table.prefetch_to_change(core.table.at(h0));
            },
            |filter, _, h0| filter.insert_h0(h0),
        )
    }
}
