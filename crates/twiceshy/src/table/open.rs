//! The short way to add a slot to a run: when it comes into the home block, or the next one.
//!
//! What [`short`](super::short) is for removals. The empty slot where the moving stops is all
//! zero, so a word of which some bits move up by one is the word and those bits added, and nobody
//! asks whether there is anything to move, unless the home slot itself is empty:
//!
//! ```text
//! add x to the run of b and e   slot      at          empty
//!                                b   e   f   g   h     .
//!                                b   x   e   f   g     h
//! ```
//!
//! Only the last slot of a run has a runend bit. So the run is told to end one slot later by a
//! bit that comes in at its first slot, wherever the new one is: 0, or 1 if that is all of the run.
//! The mark comes in there as well: no slot before the new one is marked. Where a digit is added to
//! a fingerprint of one slot, both come in at that slot, which goes on from now on.

use super::Fingerprint;
use super::block::{self, Header, Place, Probe, Slot};
use super::shift::{Moving, Still};
use super::sidecar::Sidecar;
use super::table::{Table, split};
use crate::bits::{Bytes, Isa, RawBlock, TwoBlocks, in_register};

// Everywhere here `L` is `S`, or stands for it in a table where nothing is marked.

/// What came of an addition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Added<T> {
    /// All is done.
    Done,
    /// Slots of further blocks move: [`Table::open_across`] must do it. Nothing has changed.
    Across(Opening<T>),
    /// Nothing has changed, the long way must do it.
    NotHere,
}

/// A slot to be put between others of its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opening<T> {
    /// Where: see [`parts`](Self::parts). One word, so that it is read as it was written when it
    /// travels to another function.
    place: u64,
    /// The quotient of the block that has a run from now on, as a bit.
    occupied: u64,
    value: u64,
    item: T,
}

impl<T: Copy> Opening<T> {
    /// A slot that comes to slot `at` of a block. Runend bits and marks move from `start` on, where
    /// new ones are put.
    #[inline(always)]
    fn new(block: u64, start: u32, at: u32, slot: Slot<T>) -> Self {
        debug_assert!(start <= at && at < 64);
        // A table of 2^51 blocks would not fit into any address space.
        let place = (block << 6 | u64::from(start)) << 6 | u64::from(at);
        Opening {
            place: place << 1 | u64::from(slot.runend),
            occupied: 0,
            value: slot.value,
            item: slot.item,
        }
    }

    /// The block, from where on runend bits and marks move, and where the slot goes.
    #[inline(always)]
    fn parts(&self) -> (u64, u32, u32) {
        let (start, at) = split(self.place >> 1);
        let (block, start) = split(start);
        (block, start, at)
    }

    /// Puts the slot in, where all slots from there up to `to` are used, and that is empty; or it
    /// is 64, and the last slot is no more.
    #[inline(always)]
    fn open<I: Isa, L: Sidecar<Item = T>>(&self, two: &mut TwoBlocks<'_>, to: u32) {
        let (_, start, at) = self.parts();
        let slot = Slot {
            value: self.value,
            runend: self.place & 1 == 1,
            item: self.item,
        };
        block::add_occupied(&mut two.near(), self.occupied);
        open::<I, L>(two, (start, at), to, slot);
    }
}

/// [`Opening::open`] where nothing had to travel: runend bits and marks move from `start` on, slots
/// from `at`.
#[inline(always)]
fn open<I: Isa, L: Sidecar>(
    two: &mut TwoBlocks<'_>,
    (start, at): (u32, u32),
    to: u32,
    slot: Slot<L::Item>,
) {
    block::open_beside::<I, L>(&mut two.near(), (start, at), to, slot);
    two.open::<I>(at, to, slot.value);
}

impl<S: Sidecar, M: Bytes + AsMut<[u8]>> Table<S, M> {
    /// Adds an unmarked slot with `value` to the run of `quotient`, behind all that are not
    /// above it.
    #[inline(always)]
    pub(crate) fn insert_short<I: Isa, L: Sidecar>(
        &mut self,
        quotient: u64,
        value: u64,
        item: L::Item,
    ) -> Added<L::Item> {
        self.insert_short_after::<I, L>(quotient, value, item, Still)
    }

    /// [`insert_short`](Self::insert_short), with a last word for `moving`.
    #[inline(always)]
    pub(crate) fn insert_short_after<I: Isa, L: Sidecar>(
        &mut self,
        quotient: u64,
        value: u64,
        item: L::Item,
        moving: impl Moving<S, M>,
    ) -> Added<L::Item> {
        let (home, i) = split(quotient);
        let Some(mut two) = self.blocks.two_mut(home) else {
            return Added::NotHere;
        };
        let header = read_home::<L>(&mut two, i);
        if header.offset > 63 {
            return Added::NotHere;
        }
        let place = header.place::<I, L>(i);
        if place.occupied == 0 && place.start == i {
            // The home slot is empty, as most are at low loads: nothing to compare or to move.
            let mut block = two.near();
            block::put::<L>(&mut block, i, new_slot(&place, value, item));
            block::add_occupied(&mut block, 1 << i);
            self.used += 1;
            return Added::Done;
        }
        let Some(at) = upper_bound::<L>(&mut two, &header, &place, value) else {
            return Added::NotHere;
        };
        // No slot of the run is empty, so it may be looked for from its start on, which is known before
        // the place: whether there is one in this block is a branch that is often lost.
        let to = header.first_empty::<I>(place.start);
        let opening = Opening {
            occupied: 1 << i,
            ..Opening::new(home, place.start, at, new_slot(&place, value, item))
        };
        let Some(to) = to else {
            return Added::Across(opening);
        };
        if to != at && !moving.within(self, home, at, to) {
            return Added::NotHere;
        }
        let Some(mut two) = self.blocks.two_mut(home) else {
            return Added::NotHere;
        };
        opening.open::<I, L>(&mut two, to);
        self.used += 1;
        Added::Done
    }

    /// [`insert_short`](Self::insert_short) for a run that is in the next block, not in its own.
    /// Has it been done? If not, nothing has changed.
    #[inline(always)]
    pub(crate) fn insert_displaced<I: Isa, L: Sidecar>(
        &mut self,
        quotient: u64,
        value: u64,
        item: L::Item,
    ) -> bool {
        let (home, i) = split(quotient);
        let Some((displaced, header)) = self.next_header::<L>(home, i) else {
            return false;
        };
        let Some(mut two) = self.blocks.two_mut(home + 1) else {
            return false;
        };
        let place = header.place_displaced::<I, L>(displaced);
        let Some(at) = upper_bound::<L>(&mut two, &header, &place, value) else {
            return false;
        };
        let slot = new_slot(&place, value, item);
        let opening = Opening::new(home + 1, place.start, at, slot);
        if !self.open_displaced::<I, L>(&header, &opening) {
            return false;
        }
        block::add_occupied(&mut self.block_mut(home), 1 << i);
        true
    }

    /// For quotient `i` of a block: what [`Header::displaced`] says, and the header of the next
    /// block. `None` if it is not a common case.
    #[inline(always)]
    fn next_header<L: Sidecar>(&mut self, home: u64, i: u32) -> Option<((u64, u32), Header)> {
        let mut two = self.blocks.two_mut(home)?;
        let header = Header::read::<L>(&two.near().as_ref());
        if header.offset > 63 {
            return None;
        }
        let displaced = header.displaced(i)?;
        let next = Header::read::<L>(&two.next().as_ref());
        (next.offset < 64).then_some((displaced, next))
    }

    /// Puts a slot into the block with this header, among the slots of the runs of the block before.
    /// If that can't be done, nothing has changed.
    #[inline(always)]
    fn open_displaced<I: Isa, L: Sidecar>(
        &mut self,
        header: &Header,
        opening: &Opening<L::Item>,
    ) -> bool {
        let (block, ..) = opening.parts();
        let Some(to) = header.first_empty::<I>(u32::from(header.offset)) else {
            let done = self.open_across::<I, L>(opening, Still);
            if done {
                block::raise_offset(&mut self.block_mut(block));
            }
            return done;
        };
        let Some(mut two) = self.blocks.two_mut(block) else {
            return false;
        };
        opening.open::<I, L>(&mut two, to);
        block::raise_offset(&mut two.near());
        self.used += 1;
        true
    }

    /// Puts a slot behind the one of its run that has this fingerprint's remainder, and marks that, if
    /// it goes on in none yet.
    #[inline(always)]
    pub(crate) fn extend_short<I: Isa, L: Sidecar>(
        &mut self,
        fingerprint: Fingerprint,
        digit: Slot<S::Item>,
    ) -> Added<S::Item> {
        debug_assert!(S::is_mark(digit.item));
        let pattern = self.packed().repeat_compared(fingerprint.remainder);
        let (home, i) = split(fingerprint.quotient);
        let Some(mut two) = self.blocks.two_mut(home) else {
            return Added::NotHere;
        };
        let header = read_home::<L>(&mut two, i);
        if header.offset > 63 {
            return Added::NotHere;
        }
        let run = header.probe::<I>(i);
        let Some(at) = behind_only::<I>(&mut two, &header, run, pattern) else {
            return Added::NotHere;
        };
        // From the start of the run on, as for an insertion.
        let Some(to) = header.first_empty::<I>(run.start) else {
            return Added::Across(Opening::new(home, at - 1, at, digit));
        };
        open::<I, S>(&mut two, (at - 1, at), to, digit);
        self.used += 1;
        Added::Done
    }

    /// [`extend_short`](Self::extend_short) for a run that is in the next block, not in its own. Has
    /// it been done? If not, nothing has changed.
    #[inline(always)]
    pub(crate) fn extend_displaced<I: Isa>(
        &mut self,
        fingerprint: Fingerprint,
        digit: Slot<S::Item>,
    ) -> bool {
        let pattern = self.packed().repeat_compared(fingerprint.remainder);
        let (home, i) = split(fingerprint.quotient);
        let Some((displaced, header)) = self.next_header::<S>(home, i) else {
            return false;
        };
        let Some(mut two) = self.blocks.two_mut(home + 1) else {
            return false;
        };
        let run = header.probe_displaced::<I>(displaced);
        let Some(at) = behind_only::<I>(&mut two, &header, run, pattern) else {
            return false;
        };
        self.open_displaced::<I, S>(&header, &Opening::new(home + 1, at - 1, at, digit))
    }

    /// Puts a slot into a block that is full from there on, so that its last slot goes to the
    /// blocks behind it. If that can't be done, nothing has changed; the long way says why.
    #[inline(always)]
    pub(crate) fn open_across<I: Isa, L: Sidecar>(
        &mut self,
        opening: &Opening<L::Item>,
        moving: impl Moving<S, M>,
    ) -> bool {
        let (mut near, _, at) = opening.parts();
        // Find room before anything changes.
        let Some((last, to)) = self.room_behind::<I, L>(near) else {
            return false;
        };
        if !moving.across(self, near, at, last * 64 + u64::from(to)) {
            return false;
        }
        let Some(mut two) = self.blocks.two_mut(near) else {
            return false;
        };
        let mut carry = last_slot::<L>(&two.near().as_ref());
        opening.open::<I, L>(&mut two, 64);
        while near + 1 < last {
            let out = last_slot::<L>(&two.next().as_ref());
            open_next::<I, L>(&mut two, 64, carry);
            carry = out;
            near += 1;
            two = self
                .blocks
                .two_mut(near)
                .expect("all blocks before one that has been seen have a next one");
        }
        open_next::<I, L>(&mut two, to, carry);
        self.used += 1;
        true
    }

    /// The block of the first empty slot behind a block, and the slot. `None` if there is none, or
    /// it is not a common case.
    #[inline(always)]
    fn room_behind<I: Isa, L: Sidecar>(&mut self, mut near: u64) -> Option<(u64, u32)> {
        // Most find it in the next block: what is before the loop, need not be ready for another.
        let mut room = self.room_in_next::<I, L>(near)?;
        while room.is_none() {
            near += 1;
            room = self.room_in_next::<I, L>(near)?;
        }
        Some((near + 1, room?))
    }

    /// The first empty slot of the block behind one, if it has one. `None` if it is not a common
    /// case.
    #[inline(always)]
    fn room_in_next<I: Isa, L: Sidecar>(&mut self, near: u64) -> Option<Option<u32>> {
        let mut two = self.blocks.two_mut(near)?;
        let header = Header::read::<L>(&two.next().as_ref());
        if header.offset > 63 {
            return None;
        }
        Some(header.first_empty::<I>(u32::from(header.offset)))
    }
}

/// The header of the home block of quotient `i`. What has to move may lie behind it, so those
/// lines are asked for as well.
#[inline(always)]
fn read_home<L: Sidecar>(two: &mut TwoBlocks<'_>, i: u32) -> Header {
    two.near().as_ref().prefetch_slot(i);
    two.prefetch_next();
    Header::read::<L>(&two.near().as_ref())
}

/// The slot behind those of a run in the first of two blocks that are not above `value`. `None` if
/// it is not in this block, there are too many, or it would part a fingerprint.
#[inline(always)]
fn upper_bound<L: Sidecar>(
    two: &mut TwoBlocks<'_>,
    header: &Header,
    place: &Place,
    value: u64,
) -> Option<u32> {
    let packed = two.packed();
    if place.length > packed.per_window() {
        return None;
    }
    let window = two.near().as_ref().window(place.start);
    let at = place.start + packed.count_at_most(window, packed.repeat(value), place.length);
    if at > 63 || (L::MARKS && header.marked << 1 >> at & 1 == 1) {
        return None;
    }
    Some(at)
}

/// The slot behind the only one of a run in the first of two blocks that equals `pattern`, if that
/// is all of a fingerprint.
#[inline(always)]
fn behind_only<I: Isa>(
    two: &mut TwoBlocks<'_>,
    header: &Header,
    run: Probe,
    pattern: u64,
) -> Option<u32> {
    let packed = two.packed();
    let through = packed.highs_through(in_register(run.last.into()))?;
    let window = two.near().as_ref().window(run.start);
    let equal = through & !packed.differ(window, pattern) & run.occupied;
    if equal.count_ones() != 1 {
        return None;
    }
    // Marked slots of others in this run do not matter.
    let it = packed.slots_of::<I>(equal);
    let at = run.start + it.trailing_zeros() + 1;
    (at < 64 && header.bare(run.start) & it != 0).then_some(at)
}

/// A slot for a place in a run, where it is the last one if it is the only one; see
/// [`Opening::new`].
#[inline(always)]
fn new_slot<T>(place: &Place, value: u64, item: T) -> Slot<T> {
    Slot {
        value,
        runend: place.occupied == 0,
        item,
    }
}

/// What goes to the next block.
#[inline(always)]
fn last_slot<L: Sidecar>(block: &RawBlock<'_>) -> Slot<L::Item> {
    Slot {
        value: block.last_slot(),
        runend: block::stored_runends(block) >> 63 == 1,
        item: L::get(block.lane(), 63),
    }
}

/// Puts `carry` in front of the slots of the next block, of which those up to `to` move; see
/// [`Opening::open`].
#[inline(always)]
fn open_next<I: Isa, L: Sidecar>(two: &mut TwoBlocks<'_>, to: u32, carry: Slot<L::Item>) {
    let mut next = two.next();
    block::raise_offset(&mut next);
    block::open_beside::<I, L>(&mut next, (0, 0), to, carry);
    two.open_next::<I>(to, carry.value);
}
