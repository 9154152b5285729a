//! The short way to take a slot from a run: when the run is inside its block.
//!
//! [`find`](super::find) and [`shift`](super::shift) can do everything; this does the
//! common case with one block in registers, one comparison for the whole run, and hardly a
//! branch that depends on the data. What has to move may well lie in later blocks. Where
//! the case is not the common one, this has changed nothing and says so.

use std::marker::PhantomData;

use super::Fingerprint;
use super::block::{self, Header, Slot};
use super::sidecar::Sidecar;
use super::table::{Table, split};
use crate::bits::{Bytes, Isa, Operation, TwoBlocks};
use crate::traits::Removed;

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
}

/// A slot to be closed in its home block, all slots behind it being such that move. One word, so
/// that it travels in a register: the first slot of its run, and the bit of the window there
/// where the slot starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gap(u64);

impl Gap {
    #[inline(always)]
    fn new(home: u64, start: u32, bit: u32) -> Self {
        debug_assert!(start < 64 && bit < 64);
        // A table of 2^58 slots would not fit into any address space.
        Gap((home << 6 | u64::from(start)) << 6 | u64::from(bit))
    }

    /// The block, the first slot of the run, and the bit of its window.
    #[inline(always)]
    fn parts(self) -> (u64, u32, u32) {
        let (slot, bit) = split(self.0);
        let (home, start) = split(slot);
        (home, start, bit)
    }
}

/// A slot of a run that is to be taken out.
#[derive(Clone, Copy)]
struct Place {
    /// The first slot of the run.
    start: u32,
    /// Where the slot starts, as a bit of the window at `start`.
    bit: u32,
    /// The slot.
    at: u32,
    /// Is it all there is of the run?
    alone: bool,
}

impl Place {
    /// The slot with this remainder in a run from one slot to another of the first of two blocks.
    /// If there is none, or it is not a simple case, nothing has changed.
    #[inline(always)]
    fn find<I: Isa, L: Sidecar, const ALONE: bool>(
        two: &mut TwoBlocks<'_>,
        header: &Header,
        (start, last): (u32, u32),
        remainder: u64,
    ) -> Result<Self, Taken> {
        let packed = two.packed();
        // Very many if the run does not end in this block.
        let more = last.wrapping_sub(start);
        if more >= packed.per_window() {
            return Err(Taken::NotHere);
        }
        let window = two.near().as_ref().window(start);
        let equal = packed.equal_through(window, packed.repeat_compared(remainder), more);
        if equal == 0 {
            return Err(Taken::Done(Removed::NotFound));
        }
        if ALONE && equal & (equal - 1) != 0 {
            return Err(Taken::NotHere);
        }
        // Equal slots are equal: the last of them has the fewest to move.
        let index = packed.index_of(equal);
        // It must not be marked itself, nor go on in a marked slot; and if one is in front of it,
        // the run's first runend bit is not the one to take out.
        if L::MARKS && header.any_marked_of::<I>(start, index + 2) {
            return Err(Taken::NotHere);
        }
        Ok(Place {
            start,
            bit: packed.bit_of(equal),
            at: start + index,
            alone: more == 0,
        })
    }

    /// Closes the slot, if all that moves is in its block. All slots up to `last`, an end of a run,
    /// do.
    #[inline(always)]
    fn close<I: Isa, L: Sidecar>(
        self,
        two: &mut TwoBlocks<'_>,
        header: &Header,
        last: u32,
    ) -> bool {
        let Some(to) = header.last_moving::<I, L>(last) else {
            return false;
        };
        let mut block = two.near();
        block::close_runends::<I>(&mut block, self.start, to, 0);
        let _home = L::shift_down(block.lane(), self.at, to, L::Item::default());
        two.close::<I>(self.start, self.bit, to);
        true
    }
}

impl<S: Sidecar, M: Bytes + AsMut<[u8]>> Table<S, M> {
    /// Takes a slot with this fingerprint's remainder out of its run. If `ALONE`, only one
    /// that no other slot of the run equals.
    #[inline(always)]
    pub(crate) fn remove_short<I: Isa, L: Sidecar, const ALONE: bool>(
        &mut self,
        fingerprint: Fingerprint,
    ) -> Taken {
        let (home, i) = split(fingerprint.quotient);
        let Some(mut two) = self.blocks.two_mut(home) else {
            return Taken::NotHere;
        };
        let block = two.near();
        block.as_ref().prefetch_slot(i);
        block.as_ref().prefetch_next();
        let header = Header::read::<L>(&block.as_ref());
        if header.offset > 63 {
            return Taken::NotHere;
        }
        // A key that is removed was there, so this branch is easily predicted.
        let Some(rank) = header.rank_of_run(i) else {
            return Taken::Done(Removed::NotFound);
        };
        let run = header.member_run::<I, L>(u32::from(header.offset), rank, i);
        let place = match Place::find::<I, L, ALONE>(&mut two, &header, run, fingerprint.remainder)
        {
            Ok(place) => place,
            Err(taken) => return taken,
        };
        block::clear_occupied(&mut two.near(), u64::from(place.alone) << i);
        self.used -= 1;
        match place.close::<I, L>(&mut two, &header, run.1) {
            true => Taken::Done(Removed::One),
            false => Taken::Across(Gap::new(home, place.start, place.bit)),
        }
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
        let run = header.member_run::<I, L>(0, rank - here, 0);
        let place = match Place::find::<I, L, ALONE>(&mut two, &header, run, fingerprint.remainder)
        {
            Ok(place) => place,
            Err(taken) => return taken,
        };
        block::set_offset(&mut two.near(), last_displaced as u16);
        let closed = place.close::<I, L>(&mut two, &header, last_displaced);
        block::clear_occupied(&mut self.block_mut(home), u64::from(place.alone) << i);
        self.used -= 1;
        match closed {
            true => Taken::Done(Removed::One),
            false => Taken::Across(Gap::new(home + 1, place.start, place.bit)),
        }
    }

    /// Finishes a removal: closes the gap, and moves the slots of the next blocks, up to the first
    /// that is settled. Lowers the offsets of those.
    #[inline(always)]
    pub(crate) fn close_gap<I: Isa, L: Sidecar>(&mut self, gap: Gap) {
        let (mut near, mut start, mut bit) = gap.parts();
        while let Some(mut two) = self.blocks.two_mut(near) {
            let header = Header::read::<L>(&two.next().as_ref());
            // Runs of earlier blocks reach into the next one; but not through it.
            let last = u32::from(header.offset).wrapping_sub(1);
            if last > 62 {
                break;
            }
            let next_moving = header.last_moving::<I, L>(last);
            let mut next = two.next();
            let runends = block::stored_runends(&next.as_ref());
            block::set_offset(&mut next, last as u16);
            let item = L::get(next.lane(), 0);
            if let Some(to) = next_moving {
                block::close_runends::<I>(&mut next, 0, to, 0);
                let _first = L::shift_down(next.lane(), 0, to, L::Item::default());
            }
            let mut block = two.near();
            block::close_runends::<I>(&mut block, start, 63, runends & 1);
            let at = start + block.packed().index_of_bit(bit);
            let _home = L::shift_down(block.lane(), at, 63, item);
            two.close_all::<I>(start, bit);
            if let Some(to) = next_moving {
                two.close_next::<I>(to);
                return;
            }
            (near, start, bit) = (near + 1, 0, 0);
        }
        I::apart(CloseFar {
            table: self,
            gap: Gap::new(near, start, bit),
            lane: PhantomData::<L>,
        });
    }

    /// [`close_gap`](Self::close_gap) for any gap.
    #[inline(always)]
    fn close_far<I: Isa, L: Sidecar>(&mut self, gap: Gap) {
        let (first, mut start, bit) = gap.parts();
        let mut at = start + self.packed().index_of_bit(bit);
        let (mut block, mut moving) = (first, 64);
        while moving > 63 {
            // The first slot of the next block comes down, if that one moves.
            let (mut next_moving, mut carry) = (0, Slot::default());
            if block + 1 < self.blocks() {
                let next = self.block(block + 1);
                next_moving = Header::read::<L>(&next).moving::<I, L>();
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
