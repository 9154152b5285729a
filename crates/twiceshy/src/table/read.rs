//! Reading a table from front to back: run by run, or slot by slot.
//!
//! [`Runs`] finds each run by itself, by the occupied bits and the run's end. A [`Scan`] goes on from slot to
//! slot and from occupied bit to occupied bit instead, a buffer at a time, with two cursors that only move
//! forward:
//!
//! ```text
//! occupieds    . 1 1 . 1 . . 1        the quotient cursor moves when a run ends …
//! runends      . . 1 1 . 1 . 1
//! slots        . a b c d e . f        … the slot cursor after every slot, over gaps too
//! ```
//!
//! Whether a run ends at a slot is a coin toss, so nothing branches on it.

use super::find::Run;
use super::lane::Sidecar;
use super::storage::{Table, split};
use crate::bits::{Bytes, Cpu, Isa, Portable, mask_below};

impl<S: Sidecar, M: Bytes> Table<S, M> {
    /// All runs in the order of their quotients, which is the order of their slots.
    #[must_use]
    pub fn runs(&self) -> Runs<'_, S, M> {
        Runs {
            table: self,
            block: 0,
            occupieds: self.header(0).occupieds,
            end: 0,
        }
    }

    /// The longest stretch of used slots without a gap.
    #[must_use]
    pub fn longest_cluster(&self) -> u64 {
        let mut longest = 0;
        let (mut start, mut end) = (0, 0);
        for run in self.runs() {
            if run.start > end {
                start = run.start;
            }
            end = run.end;
            longest = longest.max(end - start);
        }
        longest
    }
}

/// Iterator over the runs of a table.
#[derive(Debug)]
pub struct Runs<'t, S: Sidecar, M> {
    table: &'t Table<S, M>,
    block: u64,
    /// Quotients of the block that are still to come.
    occupieds: u64,
    /// One past the last slot of the run before.
    end: u64,
}

impl<S: Sidecar, M: Bytes> Iterator for Runs<'_, S, M> {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        while self.occupieds == 0 {
            self.block += 1;
            if self.block >= self.table.blocks() {
                return None;
            }
            self.occupieds = self.table.header(self.block).occupieds;
        }
        let quotient = self.block * 64 + u64::from(self.occupieds.trailing_zeros());
        self.occupieds &= self.occupieds - 1;
        let start = self.end.max(quotient);
        self.end = self.table.select_from::<Portable>(start, 0) + 1;
        Some(Run {
            quotient,
            occupied: true,
            start,
            end: self.end,
        })
    }
}

/// The home slot of one fingerprint, as a scan finds it. Ordered by minirun id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HomeSlot {
    /// The minirun id (at most 60 bits), and whether the slot is marked: both in one
    /// word, because merging copies these.
    key: u64,
    /// The slot, counted on through all tables that are read together.
    pub(crate) at: u64,
}

impl HomeSlot {
    /// The minirun id: quotient and remainder.
    #[inline(always)]
    pub(crate) fn id(self) -> u64 {
        self.key >> 1
    }

    /// Does it go on in the slot behind it?
    #[inline(always)]
    pub(crate) fn is_continued(self) -> bool {
        self.key & 1 == 1
    }

    /// Does nothing continue it, and is `next` of a later minirun?
    #[inline(always)]
    pub(crate) fn is_bare_before(self, next: Self) -> bool {
        // The flag is the lowest bit.
        !self.is_continued() && self.key | 1 < next.key
    }

    /// Does it come before `other`? Of one minirun, those come first that nothing continues.
    #[inline(always)]
    pub(crate) fn is_before(self, other: Self) -> bool {
        self.key < other.key
    }
}

/// Homes that were read and not used yet.
pub(crate) struct Buffer {
    homes: Box<[HomeSlot; Buffer::LEN]>,
    from: usize,
    to: usize,
}

impl Buffer {
    /// Enough to make refills cheap, few enough to stay in the first-level cache.
    const LEN: usize = 128;

    pub(crate) fn new() -> Self {
        Buffer {
            homes: Box::new([HomeSlot::default(); Self::LEN]),
            from: 0,
            to: 0,
        }
    }

    /// What is there.
    #[inline(always)]
    pub(crate) fn homes(&self) -> &[HomeSlot] {
        &self.homes[self.from..self.to]
    }

    /// Drops the first `count`.
    #[inline(always)]
    pub(crate) fn consume(&mut self, count: usize) {
        self.from += count;
        debug_assert!(self.from <= self.to);
    }

    /// Takes the first `count`.
    #[inline(always)]
    pub(crate) fn take(&mut self, count: usize) -> &[HomeSlot] {
        let from = self.from;
        self.consume(count);
        &self.homes[from..self.from]
    }

    /// Replaces all by what `write` puts to the front and counts.
    #[inline(always)]
    pub(crate) fn refill(&mut self, write: impl FnOnce(&mut [HomeSlot]) -> usize) {
        debug_assert_eq!(self.from, self.to, "nothing may get lost");
        self.from = 0;
        self.to = write(&mut self.homes[..]);
    }
}

/// A pass over all fingerprints of a table, in hash order.
pub(crate) struct Scan<'t, S: Sidecar, M> {
    table: &'t Table<S, M>,
    /// The slots of the tables before this one.
    base: u64,
    /// The block of the quotient being read, and its quotients still to come.
    block: u64,
    occupieds: u64,
    /// The quotient being read; `None` at the end.
    quotient: Option<u64>,
    /// The slot to read next.
    at: u64,
}

impl<S: Sidecar, M: Bytes> Table<S, M> {
    /// A pass over this table, whose slots are counted from `base` on.
    pub(crate) fn scan(&self, base: u64) -> Scan<'_, S, M> {
        let mut scan = Scan {
            table: self,
            base,
            block: 0,
            occupieds: self.header(0).occupieds,
            quotient: None,
            at: 0,
        };
        scan.next_quotient();
        scan.at = scan.quotient.unwrap_or(0);
        scan
    }

    /// The slots of the fingerprint whose home slot is `home`.
    pub(crate) fn slots_of_print(&self, home: u64) -> std::ops::Range<u64> {
        home..self.end_of_print(home)
    }
}

impl<S: Sidecar, M: Bytes> Scan<'_, S, M> {
    /// Moves the quotient cursor.
    #[inline(always)]
    fn next_quotient(&mut self) {
        while self.occupieds == 0 {
            self.block += 1;
            if self.block >= self.table.blocks() {
                self.quotient = None;
                return;
            }
            self.occupieds = self.table.header(self.block).occupieds;
        }
        self.quotient = Some(self.block * 64 + u64::from(self.occupieds.trailing_zeros()));
        self.occupieds &= self.occupieds - 1;
    }

    /// The body of [`read`](Self::read).
    #[inline(always)]
    pub(super) fn read_on<I: Isa>(&mut self, out: &mut [HomeSlot]) -> usize {
        let mut count = 0;
        while count < out.len() && self.quotient.is_some() && self.at < self.table.slots {
            count += self.read_block(&mut out[count..]);
        }
        count
    }

    /// The instructions to use.
    #[inline(always)]
    pub(super) fn cpu(&self) -> Cpu {
        self.table.cpu()
    }

    /// Reads on in the block of the slot cursor: to its end, or to where the quotient cursor
    /// must change blocks.
    #[inline(always)]
    fn read_block(&mut self, out: &mut [HomeSlot]) -> usize {
        let Some(mut quotient) = self.quotient else {
            return 0;
        };
        let table = self.table;
        let packed = table.packed();
        let (number, _) = split(self.at);
        let (block, header) = (table.block(number), table.header(number));
        let (start, end) = (number * 64, number * 64 + 64);
        let (ignored, mask) = (packed.ignored(), mask_below(packed.bits()));
        let remainder_bits = packed.bits() - ignored;
        let first_quotient = self.block * 64;
        let (mut at, mut occupieds) = (self.at, self.occupieds);
        let mut count = 0;
        let mut out = out.iter_mut();
        while at < end {
            let Some(home) = out.next() else { break };
            let i = (at - start) as u32;
            let remainder = (block.window(i) & mask) >> ignored;
            let continued = S::MARKS && header.marked >> i & 1 == 1;
            *home = HomeSlot {
                key: (quotient << remainder_bits | remainder) << 1 | u64::from(continued),
                at: self.base + at,
            };
            count += 1;
            let ends;
            (at, ends) = if continued {
                let end = table.end_of_print(at);
                (end, u64::from(table.is_end(end - 1)))
            } else {
                (at + 1, header.ends >> i & 1)
            };
            if ends & u64::from(occupieds == 0) == 1 {
                self.occupieds = 0;
                self.next_quotient();
                self.at = at.max(self.quotient.unwrap_or(at));
                return count;
            }
            let next = first_quotient + u64::from(occupieds.trailing_zeros());
            quotient ^= (quotient ^ next) & ends.wrapping_neg();
            occupieds &= occupieds.wrapping_sub(ends);
            at = at.max(quotient);
        }
        (self.at, self.occupieds, self.quotient) = (at, occupieds, Some(quotient));
        count
    }
}
