//! Many keys at a time; see [`batch`](crate::batch).

use super::alternate::Alternate;
use super::filter::{Core, PartialKeyFilter};
use crate::batch::ahead;
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
    pub(super) fn contains_hashes(&self, hashes: &[u64], found: &mut [bool]) {
        let prefetch = |h0| self.core.prefetch(h0);
        ahead(hashes, found, prefetch, |_, h0| self.core.contains(h0));
    }
}
