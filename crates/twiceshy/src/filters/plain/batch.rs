//! Many keys at a time.

use super::QuotientFilter;
use crate::batch::in_pieces;
use crate::bits::Bytes;
use crate::hash::StreamHash;
use crate::table::Found;

impl<H: StreamHash, M: Bytes> QuotientFilter<H, M> {
    #[inline(always)]
    pub(super) fn contains_all_by<K>(
        &self,
        keys: &[K],
        hash: impl Fn(&K) -> u64,
        answers: &mut Vec<bool>,
    ) {
        let table = &self.core.table;
        answers.clear();
        answers.reserve(keys.len());
        in_pieces(
            keys,
            hash,
            |hashes, found, unclear| table.contains_many(hashes, found, unclear),
            |_, h0| table.contains_slow(h0) == Found::Yes,
            |_, found| answers.extend_from_slice(found),
        );
    }

    pub(super) fn prefetch_h0(&self, h0: u64) {
        let table = &self.core.table;
        table.prefetch_to_change(table.at(h0));
    }
}
