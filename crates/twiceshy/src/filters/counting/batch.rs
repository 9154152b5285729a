//! Many keys at a time.

use super::CountingFilter;
use crate::batch::{Interrupted, insert_in_pieces};
use crate::bits::Bytes;
use crate::hash::{Hashed, Key, StreamHash, first_word};

impl<H: StreamHash, M: Bytes> CountingFilter<H, M> {
    #[inline(always)]
    fn answer_all<K>(&self, keys: &[K], hash: impl Fn(&K) -> u64, answers: &mut Vec<bool>) {
        answers.clear();
        answers.reserve(keys.len());
        self.core.contains_all(
            keys,
            hash,
            // Nothing is extended here: what goes on is a counter.
            |_| true,
            |_, found| answers.extend_from_slice(found),
        );
    }

    pub(super) fn contains_all<K: Key>(&self, keys: &[K], found: &mut Vec<bool>) {
        self.answer_all(keys, |key| first_word::<H, K>(&self.keyed, key), found);
    }

    pub(super) fn contains_all_hashed(&self, keys: &[Hashed<'_>], found: &mut Vec<bool>) {
        self.answer_all(keys, Hashed::h0, found);
    }
}

impl<H: StreamHash> CountingFilter<H> {
    pub(super) fn insert_all<K: Key>(
        &mut self,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<(), Interrupted> {
        insert_in_pieces(
            self,
            keys,
            |filter, key| first_word::<H, K>(&filter.keyed, key),
            |filter, h0| filter.core.prefetch_to_change(h0),
            |filter, _, h0| filter.insert_h0(h0, 1),
        )
    }
}
