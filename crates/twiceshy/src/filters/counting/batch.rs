//! Many keys at a time.

use super::CountingFilter;
use crate::bits::Bytes;
use crate::hash::StreamHash;

impl<H: StreamHash, M: Bytes> CountingFilter<H, M> {
    #[inline(always)]
    pub(super) fn contains_all_by<K>(
        &self,
        keys: &[K],
        hash: impl Fn(&K) -> u64,
        answers: &mut Vec<bool>,
    ) {
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

    pub(super) fn prefetch_h0(&self, h0: u64) {
        self.core.prefetch_to_change(h0);
    }
}
