//! Many keys at a time; see [`batch`](crate::batch).

use super::alternate::Alternate;
use super::filter::{Core, PartialKeyFilter};
use super::shape::Home;
use crate::batch::{Interrupted, in_pieces, insert_in_pieces};
use crate::bits::Bytes;
use crate::hash::{Hashed, Key, StreamHash, first_word};

/// How many lookups ahead lines are asked for.
const AHEAD: usize = 16;

impl<M: Bytes, A: Alternate> Core<M, A> {
    /// Asks for both buckets of a hash.
    #[inline(always)]
    fn prefetch(&self, h0: u64) {
        let Home {
            bucket,
            fingerprint,
        } = self.table.home(h0);
        self.table.prefetch(bucket);
        self.table.prefetch(self.other(bucket, fingerprint));
    }

    #[inline(always)]
    fn contains_all<K>(&self, keys: &[K], hash: impl Fn(&K) -> u64, answers: &mut Vec<bool>) {
        answers.clear();
        answers.reserve(keys.len());
        in_pieces(
            keys,
            hash,
            |hashes, found, _| {
                for &h0 in hashes.iter().take(AHEAD) {
                    self.prefetch(h0);
                }
                for (i, (&h0, found)) in hashes.iter().zip(found).enumerate() {
                    if let Some(&ahead) = hashes.get(i + AHEAD) {
                        self.prefetch(ahead);
                    }
                    *found = self.contains(h0);
                }
            },
            |_, h0| self.contains(h0),
            |_, found| answers.extend_from_slice(found),
        );
    }
}

impl<H: StreamHash, M: Bytes, A: Alternate> PartialKeyFilter<H, A, M> {
    pub(super) fn contains_all<K: Key>(&self, keys: &[K], found: &mut Vec<bool>) {
        let hash = |key: &K| first_word::<H, K>(&self.keyed, key);
        self.core.contains_all(keys, hash, found);
    }

    pub(super) fn contains_all_hashed(&self, keys: &[Hashed<'_>], found: &mut Vec<bool>) {
        self.core.contains_all(keys, Hashed::h0, found);
    }
}

impl<H: StreamHash, A: Alternate> PartialKeyFilter<H, A> {
    pub(super) fn insert_all<K: Key>(
        &mut self,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<(), Interrupted> {
        insert_in_pieces(
            self,
            keys,
            |filter, key| first_word::<H, K>(&filter.keyed, key),
            |filter, h0| filter.core.prefetch(h0),
            |filter, _, h0| filter.core.insert(h0),
        )
    }
}
