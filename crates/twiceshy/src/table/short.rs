//! The short way to take a slot from a run: when the run is inside its block.
//!
//! [`find`](super::find) and [`shift`](super::shift) can do everything; this does the
//! common case with one block in registers, one comparison for the whole run, and hardly a
//! branch that depends on the data. What has to move may well lie in later blocks. Where
//! the case is not the common one, this has changed nothing and says so.

use std::marker::PhantomData;
use std::num::NonZero;

use super::Fingerprint;
use super::block::{self, Header, Slot};
use super::shed::TwoSlots;
use super::sidecar::Sidecar;
use super::table::{Table, split};
use crate::bits::{Bytes, Isa, Operation, Packed, TwoBlocks, in_register};
use crate::outcome::Removed;

// Everywhere here `L` is `S`, or stands for it in a table where nothing is marked.

/// Did the short way do?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Short<T> {
    /// Yes.
    Done(T),
    /// No; nothing has changed, the long way must do it.
    NotHere,
}

/// What came of a removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// All is done.
    Done(Removed),
    /// Slots of further blocks move: [`Table::close_gap`] must finish it.
    Across(Gap),
    /// Nothing has changed, the long way must do it.
    NotHere,
    /// Nothing has changed, because there are marked slots in the run, which is here:
    /// [`Table::remove_beside_marks`] must look closer.
    BesideMarks(ShortRun),
}

/// A run that is inside its block and no longer than a window. One word, so that it travels in a register:
/// its first slot, and how many there are behind that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShortRun(u64);

impl ShortRun {
    #[inline(always)]
    fn new(start: u32, more: u64) -> Self {
        ShortRun(more << 6 | u64::from(start))
    }

    #[inline(always)]
    fn parts(self) -> (u32, u32) {
        let (more, start) = split(self.0);
        (start, more as u32)
    }
}

/// Why a removal has changed nothing. One word that is not 0, so that a result with nothing else in it is
/// one register, and its test one instruction of every removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Undone(NonZero<u64>);

impl Undone {
    /// There is nothing to remove, or a longer way must do it. Even, which no [`TwoSlots`] is.
    pub(crate) const UNCLEAR: Self = Undone(NonZero::<u64>::MIN.checked_add(1).expect("2 > 0"));

    /// The one fingerprint with the remainder, if it is of two slots: [`Table::remove_two`] must compare
    /// the second.
    #[inline(always)]
    pub(crate) fn two_slots(self) -> Option<TwoSlots> {
        (self != Self::UNCLEAR).then_some(TwoSlots(self.0))
    }
}

impl From<TwoSlots> for Undone {
    #[inline(always)]
    fn from(print: TwoSlots) -> Self {
        Undone(print.0)
    }
}

/// A slot to be closed in its home block, all slots behind it being such that move. One word, so
/// that it travels in a register: the first slot of its run, and how many [bits are
/// before](crate::bits::Packed::bits_before) the slot in the window there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gap(u64);

impl Gap {
    /// The gap in the block of `quotient`.
    #[inline(always)]
    fn new(quotient: u64, start: u32, before: u32) -> Self {
        debug_assert!(start < 64 && before < 64);
        // A table of 2^58 slots would not fit into any address space.
        Gap((quotient & !63 | u64::from(start)) << 6 | u64::from(before))
    }

    /// The block, the first slot of the run, and the bits before the slot.
    #[inline(always)]
    fn parts(self) -> (u64, u32, u32) {
        let (slot, before) = split(self.0);
        let (home, start) = split(slot);
        (home, start, before)
    }
}

/// A slot of a run that is to be taken out.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// The slot whose runend bit and mark go: the first of the run, or one that [`new`](Place::new) was
    /// given.
    start: u32,
    /// How many bits are before the slot in the window at `start`; see [`Packed::bits_before`].
    ///
    /// [`Packed::bits_before`]: crate::bits::Packed::bits_before
    before: u32,
}

impl Place {
    /// A slot of a run, and the one whose runend bit and mark go: the same, or the one before it.
    #[inline(always)]
    pub(super) fn new(packed: &Packed, start: u32, slot: u32) -> Self {
        debug_assert!(slot - start < 2);
        Place {
            start,
            before: packed.bit_in_byte(start) + (slot - start) * packed.bits(),
        }
    }

    /// The slot with the remainder of this pattern in a run of the first of two blocks that starts at
    /// a slot and has some more. If there is none, or it is not a simple case, nothing has changed. If
    /// `ALONE`, it is none where two have the remainder.
    #[inline(always)]
    fn find<I: Isa, L: Sidecar, const ALONE: bool>(
        two: &mut TwoBlocks<'_>,
        (start, more): (u32, u32),
        pattern: u64,
    ) -> Result<Self, Taken> {
        let packed = two.packed();
        // As wide as an index from the start, so that one register is enough.
        let more = in_register(more.into());
        let (highs, slots) = (packed.highs_through(more), packed.slots_through(more));
        let (Some(highs), Some(slots)) = (highs, slots) else {
            return Err(Taken::NotHere);
        };
        // Now it is one of the block's, which the compiler does not see.
        let start = start & 63;
        // With marks, not all that are equal need be alike. Asked before the slots are: that branch is
        // known sooner, and what only the other ways need goes before there is much else to keep.
        if L::MARKS && slots & L::marked(two.near().as_ref().lane()) >> start != 0 {
            return Err(Taken::BesideMarks(ShortRun::new(start, more)));
        }
        let window = two.near().as_ref().window(start);
        // All that are equal, if that is asked, or the first; it does not matter which one goes.
        let equal = if ALONE {
            highs & !packed.differ(window, pattern)
        } else {
            highs & packed.first_equal(window, pattern)
        };
        if equal == 0 {
            return Err(Taken::Done(Removed::NotFound));
        }
        if ALONE && equal & (equal - 1) != 0 {
            return Err(Taken::NotHere);
        }
        Ok(Place {
            start,
            before: packed.bits_before(start, equal),
        })
    }

    /// [`find`](Self::find) in a run of this quotient, in its home block, with marked slots.
    #[inline(always)]
    fn find_beside_marks<I: Isa, L: Sidecar, const ALONE: bool>(
        two: &mut TwoBlocks<'_>,
        quotient: u64,
        run: ShortRun,
        pattern: u64,
    ) -> Result<Self, Undone> {
        let ((start, more), packed) = (run.parts(), two.packed());
        let block = two.near();
        let (block, marked) = (block.as_ref(), L::marked(block.as_ref().lane()) >> start);
        let equal = packed.equal(block.window(start), pattern, more + 1);
        // A slot behind a marked one continues it.
        let homes = packed.slots_of::<I>(equal) & !(marked << 1);
        let slot = homes.trailing_zeros();
        let others = homes & homes.wrapping_sub(1);
        if homes & marked != 0 {
            // No runend bit of a marked slot: what follows is a digit of the hash, not of a count.
            let is_of_two = marked >> (slot + 1) & 1 == 0 && !L::MARKED_RUNENDS;
            return Err(if others == 0 && is_of_two {
                TwoSlots::new(quotient, start + slot, slot, more).into()
            } else {
                Undone::UNCLEAR
            });
        }
        if homes == 0 || ALONE && others != 0 {
            return Err(Undone::UNCLEAR);
        }
        // It takes its own runend bit and mark with it. If the run ends here, it shall end at the slot
        // before: there is one, as some are marked and the last is not.
        let first = start + slot - u32::from(slot == more);
        Ok(Place::new(packed, first, start + slot))
    }

    /// Closes the slot, where all that moves is in its block: the slots through `to`.
    #[inline(always)]
    pub(super) fn close<I: Isa, L: Sidecar>(self, two: &mut TwoBlocks<'_>, to: u32) {
        let Place { start, before } = self;
        let mut block = two.near();
        let at = start + block.packed().index_behind(start, before);
        block::close_beside::<I, L>(&mut block, start, at, to);
        two.close::<I>(start, before, to);
    }

    /// What is left to do where slots of the next block move, too.
    #[inline(always)]
    pub(super) fn gap(self, quotient: u64) -> Gap {
        Gap::new(quotient, self.start, self.before)
    }
}

impl<S: Sidecar, M: Bytes + AsMut<[u8]>> Table<S, M> {
    /// Takes a slot with this fingerprint's remainder out of its run, if no slot of that is marked. If
    /// `ALONE`, only one that no other slot of the run equals.
    #[inline(always)]
    pub(crate) fn remove_short<I: Isa, L: Sidecar, const ALONE: bool>(
        &mut self,
        fingerprint: Fingerprint,
    ) -> Taken {
        // Made before the rest, so that what it is made of need not be kept.
        let pattern = self.packed().repeat_compared(fingerprint.remainder);
        let pattern = in_register(pattern);
        let home = fingerprint.quotient / 64;
        // Once, and not once for every use.
        let i = in_register(fingerprint.quotient & 63) as u32;
        // Made before there is anything to wait for, and chosen later, not made then.
        let occupied = in_register(1 << (i & 63));
        let Some(two) = self.blocks.two_mut(home) else {
            return Taken::NotHere;
        };
        let mut two = two.in_register();
        two.near().as_ref().prefetch_slots(i);
        let header = Header::read::<L>(&two.near().as_ref());
        if header.offset > 63 {
            return Taken::NotHere;
        }
        // A key that is removed was there, so this branch is easily predicted.
        let Some(rank) = header.rank_of_run(i) else {
            return Taken::Done(Removed::NotFound);
        };
        let run = header.member_run::<I>(u32::from(header.offset), rank, i);
        let place = match Place::find::<I, L, ALONE>(&mut two, run, pattern) {
            Ok(place) => place,
            Err(taken) => return taken,
        };
        // Read again, where it is needed again: there is no register for each of it.
        let mut two = two.in_register();
        let header = Header::read::<L>(&two.near().as_ref());
        let last = header.last_moving::<I>(place.start);
        let mut two = two.in_register();
        // Is it all there is of the run?
        let gone = if run.1 == 0 { occupied } else { 0 };
        block::clear_occupied(&mut two.near(), gone);
        self.used -= 1;
        let Some(last) = last else {
            return Taken::Across(place.gap(fingerprint.quotient));
        };
        place.close::<I, L>(&mut two, last);
        Taken::Done(Removed::One)
    }

    /// [`remove_short`](Self::remove_short) where that has found marked slots in the run: if all that have
    /// the remainder are of one slot.
    ///
    /// What comes of a closer look no predictor knows, so it should be known soon: where the run is, is
    /// handed over, not found again.
    #[inline(always)]
    pub(crate) fn remove_beside_marks<I: Isa, L: Sidecar, const ALONE: bool>(
        &mut self,
        fingerprint: Fingerprint,
        run: ShortRun,
    ) -> Result<(), Undone> {
        let Fingerprint {
            quotient,
            remainder,
        } = fingerprint;
        let pattern = self.packed().repeat_compared(remainder);
        let Some(mut two) = self.blocks.two_mut(quotient / 64) else {
            return Err(Undone::UNCLEAR);
        };
        let place = Place::find_beside_marks::<I, L, ALONE>(&mut two, quotient, run, pattern)?;
        // The run keeps others, so its quotient stays occupied.
        let header = Header::read::<L>(&two.near().as_ref());
        self.used -= 1;
        match header.last_moving::<I>(place.start) {
            Some(last) => place.close::<I, L>(&mut two, last),
            None => self.close_gap::<I, L>(place.gap(quotient)),
        }
        Ok(())
    }

    /// [`remove_short`](Self::remove_short) for a run that is in the next block, not in its own.
    #[inline(always)]
    pub(crate) fn remove_displaced<I: Isa, L: Sidecar, const ALONE: bool>(
        &mut self,
        fingerprint: Fingerprint,
    ) -> Taken {
        let (home, i) = split(fingerprint.quotient);
        let header = Header::read::<L>(&self.block(home));
        if header.offset > 63 {
            return Taken::NotHere;
        }
        let Some(rank) = header.rank_of_run(i) else {
            return Taken::Done(Removed::NotFound);
        };
        let here = header.own_ends().count_ones();
        // The first run that ends in the next block begins there only if one ends right before it.
        if rank < here + 2 - (header.ends >> 63) as u32 {
            return Taken::NotHere;
        }
        let Some(mut two) = self.blocks.two_mut(home + 1) else {
            return Taken::NotHere;
        };
        let header = Header::read::<L>(&two.near().as_ref());
        // It has this run, so it is not 0; but what it has may reach through the block.
        let last_displaced = u32::from(header.offset).wrapping_sub(1);
        if last_displaced > 62 {
            return Taken::NotHere;
        }
        let pattern = two.packed().repeat_compared(fingerprint.remainder);
        let run = header.member_run::<I>(0, rank - here, 0);
        let place = match Place::find::<I, L, ALONE>(&mut two, run, pattern) {
            Ok(place) => place,
            Err(taken) => return taken,
        };
        block::set_offset(&mut two.near(), last_displaced as u16);
        let last = header.last_moving_displaced::<I>(last_displaced);
        if let Some(last) = last {
            place.close::<I, L>(&mut two, last);
        }
        let alone = u64::from(run.1 == 0);
        block::clear_occupied(&mut self.block_mut(home), alone << i);
        self.used -= 1;
        match last {
            Some(_) => Taken::Done(Removed::One),
            None => Taken::Across(place.gap(fingerprint.quotient + 64)),
        }
    }

    /// Finishes a removal: closes the gap, and moves the slots of the next blocks, up to the first
    /// that is settled. Lowers the offsets of those.
    #[inline(always)]
    pub(crate) fn close_gap<I: Isa, L: Sidecar>(&mut self, gap: Gap) {
        let (mut near, mut start, mut before) = gap.parts();
        while let Some(mut two) = self.blocks.two_mut(near) {
            let header = Header::read::<L>(&two.next().as_ref());
            // Runs of earlier blocks reach into the next one; but not through it.
            let last = u32::from(header.offset).wrapping_sub(1);
            if last > 62 {
                break;
            }
            let last_moving = header.last_moving_displaced::<I>(last);
            block::set_offset(&mut two.next(), last as u16);
            let at = start + two.packed().index_behind(start, before);
            block::close_all_beside::<I, L>(&mut two, start, at);
            two.close_all::<I>(start, before);
            if let Some(to) = last_moving {
                block::close_beside::<I, L>(&mut two.next(), 0, 0, to);
                two.close_next::<I>(to);
                return;
            }
            (near, start, before) = (near + 1, 0, 0);
        }
        I::apart(CloseFar {
            table: self,
            gap: Gap::new(near * 64, start, before),
            lane: PhantomData::<L>,
        });
    }

    /// [`close_gap`](Self::close_gap) for any gap.
    #[inline(always)]
    fn close_far<I: Isa, L: Sidecar>(&mut self, gap: Gap) {
        let (first, mut start, before) = gap.parts();
        let mut at = start + self.packed().index_behind(start, before);
        let (mut block, mut moving) = (first, 64);
        while moving > 63 {
            // The first slot of the next block comes down, if that one moves.
            let (mut next_moving, mut carry) = (0, Slot::default());
            if block + 1 < self.blocks() {
                let next = self.block(block + 1);
                next_moving = Header::read::<L>(&next).moving::<I>();
                if next_moving > 0 {
                    carry = block::get::<L>(&next, self.packed(), 0);
                }
            }
            block::close::<I, L>(&mut self.block_mut(block), start, at, 63, carry);
            block += 1;
            (start, at, moving) = (0, 0, next_moving);
        }
        if moving > 0 {
            let mut block = self.block_mut(block);
            block::close::<I, L>(&mut block, start, at, moving - 1, Slot::default());
        } else {
            block -= 1;
        }
        self.lower_offsets::<I>(first + 1, block);
    }
}

/// [`Table::close_far`], kept out of the way that most gaps are closed.
struct CloseFar<'t, S: Sidecar, M, L> {
    table: &'t mut Table<S, M>,
    gap: Gap,
    lane: PhantomData<L>,
}

impl<S: Sidecar, M: Bytes + AsMut<[u8]>, L: Sidecar> Operation for CloseFar<'_, S, M, L> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self) {
        self.table.close_far::<I, L>(self.gap);
    }
}
