//! Many keys at a time; see [`batch`](crate::batch).

use super::alternate::Alternate;
use super::filter::{Core, PartialKeyFilter};
use crate::batch::{ahead, in_pieces};
use crate::bits::Bytes;
use crate::hash::StreamHash;

impl<M: Bytes, A: Alternate> Core<M, A> {
    /// Prefetches both buckets of a hash.
    #[inline(always)]
    fn prefetch(&self, h0: u64) {
        let home = self.table.home(h0);
        self.table.prefetch(home.bucket);
        self.table
            .prefetch(self.other(home.bucket, home.fingerprint));
    }
}

impl<H: StreamHash, M: Bytes, A: Alternate> PartialKeyFilter<H, A, M> {
    #[inline(always)]
    pub(super) fn prefetch_h0(&self, h0: u64) {
        self.core.prefetch(h0);
    }

    #[inline(always)]
    pub(super) fn contains_all_by<K>(
        &self,
        keys: &[K],
        hash: impl Fn(&K) -> u64,
        answers: &mut Vec<bool>,
    ) {
        let core = &self.core;
        answers.clear();
        answers.reserve(keys.len());
        in_pieces(
            keys,
            hash,
            |hashes, found, _| {
                ahead(
                    hashes,
                    found,
                    |h0| core.prefetch(h0),
                    |h0| core.contains(h0),
                );
            },
            |_, h0| core.contains(h0),
            |_, found| answers.extend_from_slice(found),
        );
    }
}
