//! Many lookups at once: the cache lines of some are asked for while others are looked at.

use super::block::Header;
use super::sidecar::Sidecar;
use super::table::{Table, split};
use super::{Fingerprint, Geometry};
use crate::batch::Unclear;
use crate::bits::{Bytes, Isa};

/// How many lookups ahead lines are asked for: as many as the memory delivers during the
/// latency of one.
const AHEAD: usize = 16;

impl<S: Sidecar, M: Bytes> Table<S, M> {
    /// [`probe`](Self::probe) for many hashes. `L` is `S`, or stands for it where nothing is
    /// marked.
    #[inline(always)]
    pub(crate) fn probe_all<I: Isa, L: Sidecar>(
        &self,
        geometry: &Geometry,
        hashes: &[u64],
        found: &mut [bool],
        unclear: &mut Unclear,
    ) {
        for &h0 in hashes.iter().take(AHEAD) {
            self.prefetch(geometry.fingerprint(h0).quotient);
        }
        for (i, (&h0, found)) in hashes.iter().zip(found).enumerate() {
            if let Some(&ahead) = hashes.get(i + AHEAD) {
                self.prefetch(geometry.fingerprint(ahead).quotient);
            }
            *found = self.probe_here::<I, L>(geometry.fingerprint(h0), i, unclear);
        }
    }

    /// [`probe`](Self::probe) without any branch.
    #[inline(always)]
    fn probe_here<I: Isa, L: Sidecar>(
        &self,
        fingerprint: Fingerprint,
        position: usize,
        unclear: &mut Unclear,
    ) -> bool {
        let (block, i) = split(fingerprint.quotient);
        let block = self.block(block);
        let header = Header::read::<L>(&block);
        let run = header.probe::<I>(i);
        let packed = self.packed();
        let pattern = packed.repeat_compared(fingerprint.remainder);
        let through = packed.highs_of(run.last.wrapping_add(1));
        let window = block.window(run.start);
        let equal = packed.first_equal(window, pattern) & through & run.occupied;
        let mut longer = (header.offset > 63) | (run.last >= packed.per_window());
        if L::MARKS {
            longer |= equal & !packed.spread::<I>(header.bare(run.start)) != 0;
        }
        unclear.note(position, longer);
        equal != 0
    }

    /// Asks for the cache lines where the run of a quotient most likely is.
    #[inline(always)]
    pub(crate) fn prefetch(&self, quotient: u64) {
        let (block, i) = split(quotient);
        let block = self.block(block);
        block.prefetch_header();
        block.prefetch_slot(i);
    }

    /// [`prefetch`](Self::prefetch) for a change, which may move what lies behind.
    #[inline(always)]
    pub(crate) fn prefetch_to_change(&self, quotient: u64) {
        self.prefetch(quotient);
        self.block(split(quotient).0).prefetch_next();
    }
}
