//! The invariants once more, a block at a time: fast enough to check every file.
//!
//! [`check_invariants`](Table::check_invariants) looks at slot after slot and is the oracle
//! of what is here. The same questions, asked of 64 slots at once:
//!
//! ```text
//! occupieds    . 1 1 . 1 . . 1      a run begins its claim
//! ends         . . 1 1 . 1 . 1      a run is over behind this slot
//! balance      0 1 2 1 1 1 0 1      begun so far, less those that were over before
//!              ^           ^        zero: the slot is empty, and must hold nothing
//! ```
//!
//! The balance of all slots is two prefix sums of bytes ([`Isa::all_settled`]), and that
//! neighbours in a run are in order is a subtraction for each window of slots. What is
//! carried from block to block are the numbers of runs that have begun and ended. A block's
//! offset says where the runs that began before it end; that may be blocks ahead, so a
//! second cursor follows behind and looks at each offset once that end is known. Every block
//! is visited once by both: the check is linear, however long the clusters are.
//!
//! What further slots of a fingerprint mean is the filter's business: it is told of each that has
//! some, and everything else about order is checked here.

use super::check::{Violation, require};
use super::lane::Sidecar;
use super::layout::{self, BlockHeader};
use super::storage::Table;
use crate::bits::{Bytes, Isa, SlotScan, mask_below};

/// A fingerprint of more than one slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tailed {
    /// The home slot, which is marked.
    pub(crate) home: u64,
    /// Is it the first of its run? If not, the fingerprint before it is in the same run.
    pub(crate) first: bool,
}

/// How neighbouring fingerprints of a run relate, if both are of one slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// The same value may stand twice.
    Ascending,
    /// Each value stands once.
    Distinct,
}

impl<S: Sidecar, M: Bytes> Table<S, M> {
    /// The body of [`verify`](Self::verify).
    #[inline(always)]
    pub(super) fn verify_on<I: Isa, F: FnMut(Tailed) -> Result<(), Violation>>(
        &self,
        order: Order,
        mut each: F,
    ) -> Result<u64, Violation> {
        let table = self;
        let mut runs = Runs::default();
        let mut offsets = Offsets::default();
        let mut before = Before {
            edge: true,
            ..Before::default()
        };
        let scan = SlotScan::new(table.packed());
        let (mut used, mut marked) = (0, 0);
        for block in 0..table.blocks() {
            let raw = table.block(block);
            let header = BlockHeader::read::<S>(&raw);
            let base = block * 64;
            let valid = match table.quotients().saturating_sub(base) {
                count @ 0..64 => mask_below(count as u32),
                _ => !0,
            };
            require(
                header.occupieds & !valid == 0,
                "a quotient is too high",
                base,
            )?;

            let behind = if S::MARKS && block + 1 < table.blocks() {
                table.header(block + 1).marked
            } else {
                0
            };
            let lasts = header.ends;
            let open = runs.begun - runs.ended;
            let empty = I::all_settled(header.occupieds, lasts, open.min(64) as u32);
            let content = layout::stored_runends(&raw) | header.marked;
            require(content & empty == 0, "an empty slot is not empty", base)?;
            let edges = lasts | empty;
            let firsts = !empty & (edges << 1 | u64::from(before.edge));

            let ended = runs.ended + u64::from(lasts.count_ones());
            offsets.follow::<I, S, M>(table, block, lasts, runs.ended, ended)?;
            runs.begun += u64::from(header.occupieds.count_ones());
            runs.ended = ended;
            used += u64::from((!empty).count_ones());

            // Slots whose right neighbour is in the same run, and neither has a tail.
            let mut ordered = !edges;
            if S::MARKS {
                let next = header.marked >> 1 | behind << 63;
                let last = header.marked << 1 | u64::from(before.marked);
                ordered &= !(header.marked | next | last);
            }
            let scanned = match order {
                Order::Ascending => raw.scan::<I, false>(&scan),
                Order::Distinct => raw.scan::<I, true>(&scan),
            };
            require(
                scanned.filled & empty == 0,
                "an empty slot is not zero",
                base,
            )?;
            let wrong = ordered & !scanned.ascending & mask_below(63);
            require(wrong == 0, "a run is not sorted", base)?;
            let value = |slot| raw.window(slot) & mask_below(table.packed().bits());
            require(value(0) >= before.lowest, "a run is not sorted", base)?;
            let above = u64::from(order == Order::Distinct);
            before.lowest = (value(63) + above) * (ordered >> 63);

            if S::MARKS {
                marked += u64::from(header.marked.count_ones());
                let mut homes = header.marked & !(header.marked << 1 | u64::from(before.marked));
                while homes != 0 {
                    let home = homes.trailing_zeros();
                    homes &= homes - 1;
                    each(Tailed {
                        home: base + u64::from(home),
                        first: firsts >> home & 1 == 1,
                    })?;
                }
                before.marked = header.marked >> 63 == 1;
            }
            before.edge = edges >> 63 == 1;
        }
        require(runs.begun == runs.ended, "a run has no end", runs.begun)?;
        require(
            used == table.used,
            "the number of used slots is wrong",
            used,
        )?;
        table.check_padding()?;
        Ok(marked)
    }
}

/// How many runs have begun and ended in the blocks so far.
#[derive(Default)]
struct Runs {
    begun: u64,
    ended: u64,
}

/// What a block has to know of the last slot of the block before it.
#[derive(Default)]
struct Before {
    /// Is it empty or the last of a run? So is what stands before the table.
    edge: bool,
    /// Is it marked?
    marked: bool,
    /// What the slot behind it must have at least, if they are in one run.
    lowest: u64,
}

/// The cursor that looks at the offsets.
#[derive(Default)]
struct Offsets {
    /// The first block whose offset is not known yet.
    block: u64,
    /// How many runs begin before that block.
    begun: u64,
}

impl Offsets {
    /// Checks the offsets of all blocks up to `block` that runs reach into no further than
    /// to its end. `lasts` are its last slots of runs; `before` runs have ended before it and
    /// `after` up to its end.
    #[inline(always)]
    fn follow<I: Isa, S: Sidecar, M: Bytes>(
        &mut self,
        table: &Table<S, M>,
        block: u64,
        lasts: u64,
        before: u64,
        after: u64,
    ) -> Result<(), Violation> {
        while self.block <= block && self.begun <= after {
            // All runs of earlier blocks end with the one that is last among them. Whether
            // any is left is a coin toss, so no branch depends on it.
            let open = self.begun - before;
            let last = I::select_bit(lasts, open.wrapping_sub(1) as u32 & 63);
            let end = block * 64 + u64::from(last.trailing_zeros()) + 1;
            let offset = (end - self.block * 64) * u64::from(open > 0);
            let stored = offset.min(u64::from(S::MAX_OFFSET));
            let header = table.header(self.block);
            let right = u64::from(header.offset) == stored;
            require(right, "a block's offset is wrong", self.block)?;
            self.begun += u64::from(header.occupieds.count_ones());
            self.block += 1;
        }
        Ok(())
    }
}
