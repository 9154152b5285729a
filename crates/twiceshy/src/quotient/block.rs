//! The layout of one block of 64 slots, named once.
//!
//! ```text
//! byte   0        2                 10                18          18+L               18+L+8w
//!        | offset |    occupieds    |     runends     |   lane    |      64 slots      |
//!        |  u16   |       u64       |       u64       |  L bytes  |   w bits each      |
//! ```
//!
//! Bit `i` of `occupieds` says that quotient `64 b + i` has a run; bit `i` of `runends`
//! that slot `64 b + i` holds the last remainder of a run. `offset` is how many slots of
//! this block and later ones the runs of *earlier* blocks take: the first run of this
//! block starts at slot `64 b + offset` or later. An offset of `S::MAX_OFFSET` stands for
//! that many or more.

use super::sidecar::Sidecar;
use crate::bits::{
    Isa, Packed, RawBlock, load_word, mask_through, rank_through, shift_bits_down, shift_bits_up,
    store_word,
};

const OFFSET: usize = 0;
const OCCUPIEDS: usize = 2;
const RUNENDS: usize = 10;
const LANE: usize = RawBlock::HEADER;

/// Where the slots of a block start.
#[inline(always)]
pub(super) const fn slots_at<S: Sidecar>() -> usize {
    LANE + S::BYTES
}

/// Bytes of a block.
#[inline(always)]
pub(super) const fn stride<S: Sidecar>(slot_bits: u32) -> usize {
    slots_at::<S>() + slot_bits as usize * 8
}

/// The metadata of one block, read at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    pub(super) offset: u16,
    pub(super) occupieds: u64,
    /// Ends of runs: the runend bits of slots that are not marked.
    pub(super) ends: u64,
    pub(super) marked: u64,
}

/// A run seen from the block of its quotient. Slots are counted from that block's start.
#[derive(Clone, Copy, Debug)]
pub(super) struct LocalRun {
    pub(super) occupied: bool,
    pub(super) start: u32,
    /// One past the slot with the runend bit. Marked slots may follow.
    pub(super) home_end: u32,
    /// One past the last slot.
    pub(super) end: u32,
}

impl Header {
    /// Reads the header of the block at the start of `block`.
    #[inline(always)]
    pub(super) fn read<S: Sidecar>(block: &[u8]) -> Self {
        let bytes: &[u8; LANE] = block.first_chunk().expect("a block starts with its header");
        let marked = if S::MARKS {
            S::marked(lane::<S>(block))
        } else {
            0
        };
        Header {
            offset: load_word(bytes, OFFSET) as u16,
            occupieds: load_word(bytes, OCCUPIEDS),
            ends: load_word(bytes, RUNENDS) & !marked,
            marked,
        }
    }

    /// The same from a block that is checked already.
    #[inline(always)]
    pub(super) fn read_raw<S: Sidecar>(block: &RawBlock<'_>) -> Self {
        let marked = if S::MARKS {
            S::marked(&block.lane_word().to_le_bytes())
        } else {
            0
        };
        Header {
            offset: block.word::<OFFSET>() as u16,
            occupieds: block.word::<OCCUPIEDS>(),
            ends: block.word::<RUNENDS>() & !marked,
            marked,
        }
    }

    /// The ends of the runs whose quotients lie in this block, as far as they are in this
    /// block: none if the runs of earlier blocks fill it.
    #[inline(always)]
    pub(super) fn own_ends(&self) -> u64 {
        let ends = self.ends & !0 << (self.offset & 63);
        if self.offset > 63 { 0 } else { ends }
    }

    /// How many marked slots stand at `slot` and right after it in this block.
    #[inline(always)]
    pub(super) fn tail<S: Sidecar>(&self, slot: u32) -> u32 {
        if S::MARKS {
            (!(self.marked >> (slot & 63))).trailing_zeros()
        } else {
            0
        }
    }

    /// Is any of the `length` slots from `start` on marked, or the one behind them? The
    /// slot behind the last of the block is not seen, so a run that reaches it counts as
    /// marked.
    #[inline(always)]
    pub(super) fn any_marked(&self, start: u32, length: u32) -> bool {
        let end = start + length;
        length != 0 && (end > 63 || self.marked & mask_through(end & 63) & !0 << (start & 63) != 0)
    }

    /// The rank of quotient `i` (how many runs of this block begin at or before it), the
    /// ends of this block's own runs, and the one of them that is last by that rank: 0 if
    /// it is not in this block. All but the rank mean nothing where the rank is 0.
    #[inline(always)]
    fn rank_select<I: Isa>(&self, i: u32) -> (u32, u64, u64) {
        let rank = rank_through(self.occupieds, i);
        let ends = self.own_ends();
        (rank, ends, I::select_bit(ends, rank.wrapping_sub(1) & 63))
    }

    /// Where the run that ends at `bit` starts: behind the end before it, and neither among
    /// the slots of earlier blocks' runs nor before its home slot `i`.
    #[inline(always)]
    fn start_of_run<S: Sidecar>(&self, ends: u64, bit: u64, i: u32) -> u32 {
        let end_before = 64 - (ends & bit.wrapping_sub(1)).leading_zeros();
        let start = end_before + self.tail::<S>(end_before);
        start.max(u32::from(self.offset)).max(i)
    }

    /// The first slot and the number of slots, up to the runend, of the run of quotient
    /// `i`: zero slots if it has no run, `None` if its runend is not in this block.
    ///
    /// Whether a quotient has a run is a coin toss that no branch predictor wins, so no
    /// branch depends on it: what is computed for nothing is masked out.
    #[inline(always)]
    pub(super) fn probe<I: Isa, S: Sidecar>(&self, i: u32) -> Option<(u32, u32)> {
        let occupied = ((self.occupieds << (63 - i)) as i64 >> 63) as u64;
        let (_, ends, bit) = self.rank_select::<I>(i);
        if bit | !occupied == 0 {
            return None;
        }
        let start = self.start_of_run::<S>(ends, bit, i);
        let length = (64 - bit.leading_zeros()).wrapping_sub(start) & occupied as u32;
        Some((start, length))
    }

    /// The run of quotient `i` of this block; for a quotient without a run, the empty
    /// range where it would start. `None` if that is not wholly inside the block.
    #[inline(always)]
    pub(super) fn run<I: Isa, S: Sidecar>(&self, i: u32) -> Option<LocalRun> {
        let occupied = self.occupieds >> i & 1 == 1;
        let (rank, ends, bit) = self.rank_select::<I>(i);
        let bit = if rank == 0 { 0 } else { bit };
        if self.offset > 63 || (rank != 0 && bit == 0) {
            return None;
        }
        let home_end = 64 - bit.leading_zeros();
        // A marked tail may go on in the next block.
        let end = if S::MARKS && home_end < 64 {
            home_end + self.tail::<S>(home_end)
        } else {
            home_end
        };
        if S::MARKS && end > 63 {
            return None;
        }
        let place = end.max(u32::from(self.offset)).max(i);
        let start = if occupied {
            self.start_of_run::<S>(ends, bit, i)
        } else {
            place
        };
        if start > 63 {
            return None;
        }
        Some(LocalRun {
            occupied,
            start,
            home_end: if occupied { home_end } else { place },
            end: if occupied { end } else { place },
        })
    }
}

#[inline(always)]
pub(super) fn lane<S: Sidecar>(block: &[u8]) -> &[u8] {
    &block[LANE..LANE + S::BYTES]
}

#[inline(always)]
pub(super) fn slots<S: Sidecar>(block: &[u8]) -> &[u8] {
    &block[slots_at::<S>()..]
}

#[inline(always)]
pub(super) fn slots_mut<S: Sidecar>(block: &mut [u8]) -> &mut [u8] {
    &mut block[slots_at::<S>()..]
}

#[inline(always)]
pub(super) fn set_offset(block: &mut [u8], offset: u16) {
    block[OFFSET..OFFSET + 2].copy_from_slice(&offset.to_le_bytes());
}

/// The runend bits as stored: those of marked slots too.
#[inline(always)]
pub(super) fn stored_runends(block: &[u8]) -> u64 {
    load_word(block, RUNENDS)
}

#[inline(always)]
pub(super) fn set_occupied(block: &mut [u8], i: u32, occupied: bool) {
    set_bit(block, OCCUPIEDS, i, occupied);
}

#[inline(always)]
pub(super) fn set_runend(block: &mut [u8], slot: u32, runend: bool) {
    set_bit(block, RUNENDS, slot, runend);
}

#[inline(always)]
fn set_bit(block: &mut [u8], at: usize, bit: u32, value: bool) {
    let word = load_word(block, at) & !(1 << bit) | u64::from(value) << bit;
    store_word(block, at, word);
}

/// All that a slot holds: what travels when it is shifted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slot<T> {
    /// The packed bits: a remainder, an extension, a counter's digit.
    pub value: u64,
    /// The runend bit. On a marked slot its meaning is the filter's.
    pub runend: bool,
    /// The sidecar's data.
    pub item: T,
}

/// Reads one slot.
#[inline(always)]
pub(super) fn get<S: Sidecar>(block: &[u8], packed: &Packed, slot: u32) -> Slot<S::Item> {
    Slot {
        value: packed.get(slots::<S>(block), slot),
        runend: stored_runends(block) >> slot & 1 == 1,
        item: S::get(lane::<S>(block), slot),
    }
}

/// Moves slots `from..to` up by one, puts `carry` into `from`, and gives what was in `to`.
#[inline(always)]
pub(super) fn shift_up<S: Sidecar>(
    block: &mut [u8],
    packed: &Packed,
    from: u32,
    to: u32,
    carry: Slot<S::Item>,
) -> Slot<S::Item> {
    let (runends, runend) = shift_bits_up(stored_runends(block), from, to, carry.runend);
    store_word(block, RUNENDS, runends);
    let item = S::shift_up(&mut block[LANE..LANE + S::BYTES], from, to, carry.item);
    let value = packed.shift_up(slots_mut::<S>(block), from, to, carry.value);
    Slot {
        value,
        runend,
        item,
    }
}

/// Moves slots `from + 1..=to` down by one, puts `carry` into `to`, and gives what was in
/// `from`.
#[inline(always)]
pub(super) fn shift_down<S: Sidecar>(
    block: &mut [u8],
    packed: &Packed,
    from: u32,
    to: u32,
    carry: Slot<S::Item>,
) -> Slot<S::Item> {
    let (runends, runend) = shift_bits_down(stored_runends(block), from, to, carry.runend);
    store_word(block, RUNENDS, runends);
    let item = S::shift_down(&mut block[LANE..LANE + S::BYTES], from, to, carry.item);
    let value = packed.shift_down(slots_mut::<S>(block), from, to, carry.value);
    Slot {
        value,
        runend,
        item,
    }
}
