//! The layout of one block of 64 slots, named once.
//!
//! ```text
//! byte   0        2                 10                18          18+L               18+L+8w
//!        | offset |    occupieds    |     runends     |   lane    |      64 slots      |
//!        |  u16   |       u64       |       u64       |  L bytes  |   w bits each      |
//! ```
//!
//! Bit `i` of `occupieds` says that quotient `64 b + i` has a run; bit `i` of `runends`
//! that slot `64 b + i` is the last of a run. `offset` is how many slots of
//! this block and later ones the runs of *earlier* blocks take: the first run of this
//! block starts at slot `64 b + offset` or later. An offset of `S::MAX_OFFSET` stands for
//! that many or more.
//!
//! What is known of a run, as each verb needs it:
//!
//! | type | made by | what it knows |
//! | --- | --- | --- |
//! | `Run` (`find`) | [`Table::run`](super::Table::run) | the slots of a run wherever it is, counted from the table's start |
//! | `LocalRun` | [`BlockHeader::run`] | the same inside one block, or nothing |
//! | `Probe` | [`BlockHeader::probe`] | start and length, for a lookup, without a branch |
//! | `RunView` (`find`) | `Table::view` | a `Probe` with the window of slots there, compared with a remainder |
//! | `Place` | [`BlockHeader::place`] | where a slot can be added, up to the first marked one |

use super::lane::Sidecar;
use crate::bits::{
    Isa, Packed, RawBlock, RawBlockMut, TwoBlocks, in_register, mask_below, mask_through, open_bit,
    rank_through,
};

const OFFSET: usize = 0;
const OCCUPIEDS: usize = 2;
pub(super) const RUNENDS: usize = 10;

/// The metadata of one block, read at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockHeader {
    pub(super) offset: u16,
    pub(super) occupieds: u64,
    /// The last slots of runs: the runend bits of slots that are not marked.
    pub(super) ends: u64,
    /// Slots that go on in the one behind them.
    pub(super) marked: u64,
}

/// A run seen from the block of its quotient. Slots are counted from that block's start.
#[derive(Clone, Copy, Debug)]
pub(super) struct LocalRun {
    pub(super) occupied: bool,
    pub(super) start: u32,
    /// One past the last slot, the one with the runend bit.
    pub(super) end: u32,
}

/// What a lookup needs to know of a run. Slots are counted from the block's start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe {
    /// All ones if the quotient has a run, all zeros if not.
    pub(super) occupied: u64,
    /// The first slot; arbitrary without a run.
    pub(super) start: u32,
    /// Slots of the run behind its first; very many if the run does not end in this block; 0 without a
    /// run, too: see `occupied`.
    pub(super) more: u32,
}

/// The slots of a run that one more can be added to, as far as they are in a block. Slots are
/// counted from the block's start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// All ones if the quotient has a run, all zeros if not.
    pub(super) occupied: u64,
    /// The first slot of the run, or where it would start; beyond the block if that is not here.
    pub(super) start: u32,
    /// How many there are; none without a run. Those behind the first marked slot do not count.
    pub(super) length: u32,
}

impl BlockHeader {
    /// Reads the header of a block.
    #[inline(always)]
    pub(super) fn read<S: Sidecar>(block: &RawBlock<'_>) -> Self {
        let marked = if S::MARKS { S::marked(block.lane()) } else { 0 };
        let runends = block.word::<RUNENDS>();
        BlockHeader {
            offset: block.half_word::<OFFSET>(),
            occupieds: block.word::<OCCUPIEDS>(),
            ends: if S::MARKS { runends & !marked } else { runends },
            marked,
        }
    }

    /// The ends of the runs whose quotients lie in this block, as far as they are in this
    /// block. The offset must be below 64.
    #[inline(always)]
    pub(super) fn own_ends(&self) -> u64 {
        self.ends & !0 << (self.offset & 63)
    }

    /// How many slots behind `slot` continue it in this block. If they reach its end, there may be
    /// more.
    #[inline(always)]
    pub(super) fn tail<S: Sidecar>(&self, slot: u32) -> u32 {
        if S::MARKS {
            (!(self.marked >> (slot & 63))).trailing_zeros()
        } else {
            0
        }
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

    /// Where the run that ends at `bit` starts: behind the end before
    /// it, and neither among the slots of earlier blocks' runs nor before its home slot `i`.
    /// Counted from the end of the block, as `lzcnt` finds it.
    #[inline(always)]
    fn start_from_end(&self, ends: u64, bit: u64, i: u32) -> u32 {
        let end_before = (ends & bit.wrapping_sub(1)).leading_zeros();
        let lowest = 64 - u32::from(self.offset).max(i);
        end_before.min(lowest)
    }

    /// Where the run of quotient `i` is, as far as this block tells; see [`Probe`]. The offset
    /// must be below 64.
    ///
    /// ```text
    /// slot          offset                                    counted from the offset on:
    /// own ends       .  .  1  .  .  1  1  .
    /// bounds         1  .  .  1  .  .  1  1     where a run can start, where one has ended
    /// ```
    ///
    /// The run with `k` runs before it starts at bound `k`, or at its home if that is later,
    /// and has ended at bound `k + 1`: one `pdep` finds both. Whether a quotient has a run is
    /// a coin toss that no branch predictor wins, so no branch depends on it: what is
    /// computed for nothing is masked out.
    #[inline(always)]
    pub(super) fn probe<I: Isa>(&self, i: u32) -> Probe {
        let offset = u32::from(self.offset) & 63;
        let below = self.occupieds << (!i & 63);
        let occupied = (below as i64 >> 63) as u64;
        let rank = below.count_ones();
        // An end in slot 63 is lost if the offset is 0: then the run seems not to end here.
        let bounds = self.ends >> offset << 1 | 1;
        let both = I::select_pair(bounds, rank);
        let start = (both.trailing_zeros() as i32).max(i as i32 - offset as i32);
        // The run ends at bit `63 - leading_zeros`, so this is the complement of how many slots
        // there are behind its first. If there is no such bit, it comes out as too long for any
        // window. Compilers would rather subtract than complement, and take an instruction and a
        // register more for it.
        let complement = start + both.leading_zeros() as i32 - 63;
        Probe {
            occupied,
            start: (start + offset as i32) as u32,
            more: !in_register(u64::from(complement as u32)) as u32 & occupied as u32,
        }
    }

    /// Which of the slots from `start` on are marked.
    #[inline(always)]
    pub(super) fn marked_from(&self, start: u32) -> u64 {
        self.marked >> (start & 63)
    }

    /// Which of the slots from `start` on, where a fingerprint starts, are all of a fingerprint.
    #[inline(always)]
    pub(super) fn bare(&self, start: u32) -> u64 {
        let marked = self.marked_from(start);
        !(marked | marked << 1)
    }

    /// The first empty slot at or after `from`, where that is in a run, or the end of one, or the
    /// end of all runs of earlier blocks; `None` if there is none in this block. Where the runs up to
    /// one have ended, a slot is empty if the home of the next one is behind it. The offset and
    /// `from` must be below 64.
    #[inline(always)]
    pub(super) fn first_empty<I: Isa>(&self, from: u32) -> Option<u32> {
        let empty = I::with_room(self.bounds(), self.occupieds) >> (from & 63) << (from & 63);
        (empty != 0).then(|| empty.trailing_zeros())
    }

    /// The first empty slot at or after any slot `from` that is not before the offset; `None` if there is
    /// none in this block. Both must be below 64.
    #[inline(always)]
    pub(super) fn next_empty<I: Isa>(&self, from: u32) -> Option<u32> {
        let gaps = I::with_room(self.bounds(), self.occupieds);
        // From the start of a gap on slots are empty up to the next home.
        let before = gaps & mask_through(from);
        let start = before.checked_ilog2();
        if start.is_some_and(|start| self.occupieds & mask_through(from) >> start << start == 0) {
            return Some(from);
        }
        first_of(gaps ^ before)
    }

    /// The last slot that moves when one is closed in a run of this block that ends at slot `from` or
    /// behind it; `None` if slots of the next block may move, too. Slots move until there is room
    /// between the end of a run and the home of the next one.
    #[inline(always)]
    pub(super) fn last_moving<I: Isa>(&self, from: u32) -> Option<u32> {
        let next_homes = self.occupieds & self.occupieds.wrapping_sub(1);
        let settled = I::with_room(self.own_ends(), next_homes);
        first_of(I::bits_from(settled, from))
    }

    /// [`last_moving`](Self::last_moving) for a run of an earlier block that reaches into this one. All of
    /// those end before the offset, and that slot moves.
    #[inline(always)]
    pub(super) fn last_moving_displaced<I: Isa>(&self) -> Option<u32> {
        let last = u32::from(self.offset).wrapping_sub(1);
        if last > 62 {
            return None;
        }
        let last_slots = self.own_ends() | 1 << last;
        first_of(I::with_room(last_slots, self.occupieds))
    }

    /// How many runs there are up to that of quotient `i`; `None` if it has none.
    #[inline(always)]
    pub(super) fn rank_of_run(&self, i: u32) -> Option<u32> {
        let below = self.occupieds << (!i & 63);
        ((below as i64) < 0).then(|| below.count_ones())
    }

    /// The first slot of the run of quotient `i` and how many there are behind it, as
    /// [`probe`](Self::probe) finds them, where it is the `rank`th of this block, from 1 on. Very many if
    /// it does not end here.
    #[inline(always)]
    pub(super) fn member_run<I: Isa>(&self, rank: u32, i: u32) -> (u32, u32) {
        let from = u32::from(self.offset);
        let bounds = self.ends >> (from & 63) << 1 | 1;
        let both = I::select_pair(bounds, rank);
        let start = (both.trailing_zeros() as i32).max(i as i32 - from as i32);
        // The run ends at bit `63 - leading_zeros`; with a start, but without an end, that is not
        // behind the start.
        let more = 62 - (start + both.leading_zeros() as i32);
        ((start + from as i32) as u32, more as u32)
    }

    /// Where a slot can be added to the run of quotient `i`, found as in [`probe`](Self::probe).
    /// The offset must be below 64.
    #[inline(always)]
    pub(super) fn place<I: Isa, S: Sidecar>(&self, i: u32) -> Place {
        let below = self.occupieds << (!i & 63);
        let before = (below << 1).count_ones();
        let occupied = (below as i64 >> 63) as u64;
        // With `k` runs before it, a run starts at bound `k` and has ended at bound `k + 1`. If that is
        // not in this block, the run takes all slots up to the block's end.
        let bounds = self.bounds();
        // Where there is no run, what is found as its end does not count.
        let both = I::select_pair(bounds, before + 1);
        // As signed numbers: processors compare those with an instruction less.
        let start = (both.trailing_zeros() as i32).max(i as i32) as u32;
        let end = both & both.wrapping_sub(1);
        let length = if S::MARKS {
            (!(!(end | self.marked << 1) >> (start & 63))).trailing_zeros()
        } else {
            end.trailing_zeros().wrapping_sub(start)
        };
        Place {
            occupied,
            start,
            length: length & occupied as u32,
        }
    }

    /// Where runs of this block can start and where they have ended: the slot of the offset, which
    /// must be below 64, and those behind own runs, as far as they are in this block.
    #[inline(always)]
    pub(super) fn bounds(&self) -> u64 {
        let offset = self.offset & 63;
        (self.ends >> offset << 1 | 1) << offset
    }

    /// The run of quotient `i` of this block; for a quotient without a run, the empty
    /// range where it would start. `None` if that is not wholly inside the block.
    #[inline(always)]
    pub(super) fn run<I: Isa>(&self, i: u32) -> Option<LocalRun> {
        if self.offset > 63 {
            return None;
        }
        let occupied = ((self.occupieds << (!i & 63)) as i64 >> 63) as u32;
        let (rank, ends, bit) = self.rank_select::<I>(i);
        // Without a run up to here (rank 0) there is no end either: at most 63 runs begin
        // behind `i`, so `rank_select` found none of that number.
        if bit | u64::from(rank == 0) == 0 {
            return None;
        }
        // The end of an occupied quotient's run is behind its home and the offset anyway.
        let end = (64 - bit.leading_zeros())
            .max(u32::from(self.offset))
            .max(i);
        let start = 64 - self.start_from_end(ends, bit, i);
        let start = end ^ (end ^ start) & occupied;
        if start > 63 {
            return None;
        }
        Some(LocalRun {
            occupied: occupied != 0,
            start,
            end,
        })
    }
}

/// The first bit of `word`.
#[inline(always)]
fn first_of(word: u64) -> Option<u32> {
    (word != 0).then(|| word.trailing_zeros())
}

/// Moves what is beside the slots up by one, where `to` is an empty slot or the end of the block: runend
/// bits and marks from slot `start` on, which gets those of `new`, or items from slot `at` on.
#[inline(always)]
pub(super) fn open_bits<I: Isa, S: Sidecar>(
    block: &mut RawBlockMut<'_>,
    (start, at): (u32, u32),
    to: u32,
    new: Slot<S::Item>,
) {
    let runend = u64::from(new.runend);
    if S::MARKS {
        let bits = [runend, u64::from(S::is_mark(new.item))];
        return block.open_bit_of_two::<I, RUNENDS>(start, to, bits);
    }
    let word = open_bit::<I>(stored_runends(&block.as_ref()), start, to, runend);
    block.set_word::<RUNENDS>(word);
    let _empty = S::shift_up(block.lane(), at, to.min(63), new.item);
}

/// Sets the occupied bits that are set in `quotients`.
#[inline(always)]
pub(super) fn add_occupied(block: &mut RawBlockMut<'_>, quotients: u64) {
    let word = block.as_ref().word::<OCCUPIEDS>();
    block.set_word::<OCCUPIEDS>(word | quotients);
}

/// Sets the runend bits that are set in `ends`.
#[inline(always)]
pub(super) fn add_runends(block: &mut RawBlockMut<'_>, ends: u64) {
    let word = stored_runends(&block.as_ref());
    block.set_word::<RUNENDS>(word | ends);
}

/// Clears the occupied bits that are set in `quotients`, which all have runs.
#[inline(always)]
pub(super) fn clear_occupied(block: &mut RawBlockMut<'_>, quotients: u64) {
    let word = block.as_ref().word::<OCCUPIEDS>();
    block.set_word::<OCCUPIEDS>(word ^ quotients);
}

/// All that a slot holds: what travels when it is shifted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slot<T> {
    /// The packed bits: a remainder, an extension, a counter's digit.
    pub value: u64,
    /// The runend bit. On a marked slot its meaning is the filter's.
    pub runend: bool,
    /// What rides along with it.
    pub item: T,
}

/// Reads one slot.
#[inline(always)]
pub(super) fn get<S: Sidecar>(block: &RawBlock<'_>, packed: &Packed, slot: u32) -> Slot<S::Item> {
    Slot {
        value: block.window(slot) & mask_below(packed.bits()),
        runend: stored_runends(block) >> slot & 1 == 1,
        item: S::get(block.lane(), slot),
    }
}

/// The runend bits as stored: those of marked slots too.
#[inline(always)]
pub(super) fn stored_runends(block: &RawBlock<'_>) -> u64 {
    block.word::<RUNENDS>()
}

#[inline(always)]
pub(super) fn offset(block: &RawBlock<'_>) -> u16 {
    block.half_word::<OFFSET>()
}

#[inline(always)]
pub(super) fn set_offset(block: &mut RawBlockMut<'_>, offset: u16) {
    block.set_half_word::<OFFSET>(offset);
}

#[inline(always)]
pub(super) fn set_occupied(block: &mut RawBlockMut<'_>, i: u32, occupied: bool) {
    let word = block.as_ref().word::<OCCUPIEDS>();
    block.set_word::<OCCUPIEDS>(word & !(1 << i) | u64::from(occupied) << i);
}

#[inline(always)]
pub(super) fn set_runend(block: &mut RawBlockMut<'_>, slot: u32, runend: bool) {
    let word = stored_runends(&block.as_ref());
    block.set_word::<RUNENDS>(word & !(1 << slot) | u64::from(runend) << slot);
}

/// Fills an empty slot.
#[inline(always)]
pub(super) fn put<S: Sidecar>(block: &mut RawBlockMut<'_>, slot: u32, content: Slot<S::Item>) {
    put_bits::<S>(block, slot, content);
    block.fill_slot(slot, content.value);
}

/// Fills what is beside an empty slot.
#[inline(always)]
pub(super) fn put_bits<S: Sidecar>(block: &mut RawBlockMut<'_>, slot: u32, content: Slot<S::Item>) {
    add_runends(block, u64::from(content.runend) << slot);
    S::fill(block.lane(), slot, content.item);
}

/// Overwrites a slot.
#[inline(always)]
pub(super) fn overwrite<S: Sidecar>(
    block: &mut RawBlockMut<'_>,
    slot: u32,
    content: Slot<S::Item>,
) {
    set_runend(block, slot, content.runend);
    let _old = S::shift_up(block.lane(), slot, slot, content.item);
    block.set_slot(slot, content.value);
}

/// Moves what is beside the slots down by one, where slot `to` is left empty: runend bits and marks behind
/// slot `start`, whose own go, or items behind slot `at`.
#[inline(always)]
pub(super) fn close_bits<I: Isa, S: Sidecar>(
    block: &mut RawBlockMut<'_>,
    start: u32,
    at: u32,
    to: u32,
) {
    if S::MARKS {
        return block.close_bit_of_two::<I, RUNENDS>(start, to);
    }
    let runends = stored_runends(&block.as_ref());
    block.set_word::<RUNENDS>(I::close_bit(runends, start, to));
    let _closed = S::shift_down(block.lane(), at, to, S::Item::default());
}

/// The same through the last slot of the block, which gets what the first one of the next has.
#[inline(always)]
pub(super) fn close_all_bits<I: Isa, S: Sidecar>(two: &mut TwoBlocks<'_>, start: u32, at: u32) {
    if S::MARKS {
        return two.close_all_of_two::<I, RUNENDS>(start);
    }
    let mut next = two.next();
    let carry = stored_runends(&next.as_ref());
    let item = S::get(next.lane(), 0);
    let mut block = two.near();
    let runends = stored_runends(&block.as_ref());
    block.set_word::<RUNENDS>(I::without_bit(runends, start) | carry << 63);
    let _closed = S::shift_down(block.lane(), at, 63, item);
}

/// Writes all occupied bits at once.
#[inline(always)]
pub(super) fn set_occupieds(block: &mut RawBlockMut<'_>, occupieds: u64) {
    block.set_word::<OCCUPIEDS>(occupieds);
}
