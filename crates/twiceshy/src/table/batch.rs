//! Many lookups at once: the cache lines of some are asked for while others are looked at.

use super::Fingerprint;
use super::lane::{Bare, Sidecar};
use super::layout::BlockHeader;
use super::storage::{Table, split};
use crate::batch::{Unclear, ahead};
use crate::bits::{Bytes, Isa};

impl<S: Sidecar, M: Bytes> Table<S, M> {
    /// [`contains`](Self::contains) for many hashes. Notes those that take a longer look, which is
    /// [`contains_slow`](Self::contains_slow): what is found for them means nothing.
    #[inline(always)]
    pub(crate) fn contains_many(&self, hashes: &[u64], found: &mut [bool], unclear: &mut Unclear) {
        if self.is_unmarked() {
            self.contains_many_with::<Bare>(hashes, found, unclear);
        } else {
            self.contains_many_with::<S>(hashes, found, unclear);
        }
    }

    /// The body of [`contains_many`](Self::contains_many). `L` is `S`, or stands for it where nothing is
    /// marked.
    #[inline(always)]
    pub(super) fn contains_many_on<I: Isa, L: Sidecar>(
        &self,
        hashes: &[u64],
        found: &mut [bool],
        unclear: &mut Unclear,
    ) {
        let prefetch = |h0| self.prefetch(self.at(h0));
        ahead(hashes, found, prefetch, |i, h0| {
            self.contains_at_once::<I, L>(self.at(h0), i, unclear)
        });
    }

    /// [`contains`](Self::contains) without any branch.
    #[inline(always)]
    fn contains_at_once<I: Isa, L: Sidecar>(
        &self,
        at: Fingerprint,
        position: usize,
        unclear: &mut Unclear,
    ) -> bool {
        let (block, i) = split(at.quotient);
        let block = self.block(block);
        let header = BlockHeader::read::<L>(&block);
        let run = header.probe::<I>(i);
        let packed = self.packed();
        let pattern = packed.repeat_compared(at.remainder);
        let through = packed.highs_of(run.more.wrapping_add(1));
        let window = block.window(run.start);
        let equal = packed.first_equal(window, pattern) & through & run.occupied;
        let mut longer = (header.offset > 63) | (run.more >= packed.per_window());
        if L::MARKS {
            longer |= equal & !packed.spread::<I>(header.bare(run.start)) != 0;
        }
        unclear.note(position, longer);
        equal != 0
    }

    /// Asks for the cache lines where a fingerprint most likely is.
    #[inline(always)]
    pub(crate) fn prefetch(&self, at: Fingerprint) {
        let (block, i) = split(at.quotient);
        let block = self.block(block);
        block.prefetch_header();
        block.prefetch_slot(i);
    }

    /// [`prefetch`](Self::prefetch) for a change, which may move what lies behind.
    #[inline(always)]
    pub(crate) fn prefetch_to_change(&self, at: Fingerprint) {
        self.prefetch(at);
        self.block(split(at.quotient).0).prefetch_next();
    }
}
