//! Opening and closing slots: all that moves, moves here.
//!
//! Opening a slot at `at` moves the slots from there to the first empty one up by one;
//! closing it moves them down again, as far as they are displaced:
//!
//! ```text
//! open  at=2     slot  0 1 2 3 4 5      close at=2    slot  0 1 2 3 4 5
//!                      a b c d . f                          a b x c d f      f is at home:
//!                      a b X c d f                          a b c d . f      it stays
//! ```
//!
//! What moves may be in any number of blocks: what leaves one at its end comes to the next one.
//!
//! ```text
//! open_home ─► open_home_beside ─┐
//! open_tail ─────────────────────┴─► open ─┐
//! open_rest (of `insert`) ─────────────────┴─► open_gap ─► open_in, block by block
//! close ─► close_after ──────────────────────► close_gap ─► close_through, block by block, then close_in
//! ```
//!
//! A block's offset counts the slots that runs of earlier blocks take in it, so it grows
//! by one exactly for the blocks after the quotient's own up to that of the slot that was
//! filled, and shrinks by one for those up to that of the slot that was emptied: every
//! slot between is used without a gap, so the last run from before each of those blocks
//! reaches into it and is moved.
//!
//! Offsets that are too long to be stored are found anew when a slot was closed, by counting the
//! runs that there are. So the occupied bit of a run that is no more goes before anything moves.

use super::beside::{Beside, BlockFull};
use super::find::Run;
use super::insert::Put;
use super::lane::Sidecar;
use super::layout::{self, BlockHeader, Slot};
use super::storage::{Table, split};
use crate::bits::{Bytes, Isa, Portable, RawBlock, RawBlockMut};
use crate::error::Error;

// Everywhere here `L` is `S`, or stands for it in a table where nothing is marked.

/// Where a slot comes in, or which one goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gap {
    pub(super) block: u64,
    /// From here on runend bits and marks move: from `at`, or from a slot of the same run before it.
    pub(super) start: u32,
    /// From here on slots move.
    pub(super) at: u32,
}

impl Gap {
    /// All of a slot comes in, or goes.
    #[inline(always)]
    fn new(at: u64) -> Self {
        let (block, at) = split(at);
        Gap {
            block,
            start: at,
            at,
        }
    }
}

impl<S: Sidecar, M: Bytes + AsMut<[u8]>> Table<S, M> {
    /// Adds an unmarked slot with `value` to a run, at slot `at` of `run.start..=run.end`
    /// and not right behind a marked one.
    ///
    /// # Errors
    /// [`Error::Full`] if no slot is free; nothing has changed then.
    #[inline(always)]
    pub(super) fn open_home<I: Isa>(
        &mut self,
        run: &Run,
        at: u64,
        value: u64,
        item: S::Item,
    ) -> Result<(), Error> {
        let opened = self.open_home_beside::<I, ()>(run, at, value, item, ());
        opened.map_err(|_| self.full())
    }

    /// [`open_home`](Self::open_home) after way was made beside the slots. If there is no room,
    /// nothing has changed.
    #[inline(always)]
    pub(super) fn open_home_beside<I: Isa, B: Beside<S>>(
        &mut self,
        run: &Run,
        at: u64,
        value: u64,
        item: S::Item,
        beside: B,
    ) -> Result<(), Put> {
        debug_assert!(run.start <= at && at <= run.end && !S::is_mark(item));
        let is_last = at >= run.end;
        let slot = Slot {
            value,
            runend: is_last,
            item,
        };
        self.open::<I, B>(run, at, slot, beside)?;
        if !run.occupied {
            self.set_occupied(run.quotient, true);
        } else if is_last {
            self.set_runend(run.end - 1, false);
        }
        Ok(())
    }

    /// Adds a slot to the fingerprint of the slot before: `at` is in `run.start + 1..=run.end`. That
    /// one goes on from now on, and gets the mark and the runend bit; the new one ends, or goes on, as
    /// that one did.
    ///
    /// # Errors
    /// [`Error::Full`] if no slot is free; nothing has changed then.
    #[inline(always)]
    pub(super) fn open_tail<I: Isa>(
        &mut self,
        run: &Run,
        at: u64,
        digit: Slot<S::Item>,
    ) -> Result<(), Error> {
        debug_assert!(run.start < at && at <= run.end && S::is_mark(digit.item));
        // In front of the slot before, and with its value, it has that one's place.
        let value = self.slot(at - 1).value;
        let opened = self.open::<I, ()>(run, at - 1, Slot { value, ..digit }, ());
        opened.map_err(|_| self.full())?;
        self.set_value(at, digit.value);
        Ok(())
    }

    #[inline(always)]
    fn open<I: Isa, B: Beside<S>>(
        &mut self,
        run: &Run,
        at: u64,
        slot: Slot<S::Item>,
        beside: B,
    ) -> Result<(), Put> {
        let empty = self.first_empty::<I>(run.end);
        if empty >= self.slots {
            return Err(Put::Full);
        }
        self.move_beside(at, empty, true, beside)
            .map_err(Put::BlockFull)?;
        self.open_gap::<I, S>(run.quotient / 64, Gap::new(at), empty, slot);
        Ok(())
    }

    /// Puts a slot into a run whose quotient is in block `home`. All slots from there up to `to` are
    /// used, and that is empty.
    #[inline(always)]
    pub(super) fn open_gap<I: Isa, L: Sidecar>(
        &mut self,
        home: u64,
        gap: Gap,
        to: u64,
        slot: Slot<L::Item>,
    ) {
        let Gap {
            mut block,
            mut start,
            mut at,
        } = gap;
        for reached in home + 1..=block {
            raise_offset::<S>(&mut self.block_mut(reached));
        }
        let (last, to) = split(to);
        let mut slot = slot;
        while block < last {
            slot = self.open_in::<I, L>(block, (start, at), 64, slot);
            (block, start, at) = (block + 1, 0, 0);
            raise_offset::<S>(&mut self.block_mut(block));
        }
        self.open_in::<I, L>(last, (start, at), to, slot);
        self.used += 1;
    }

    /// Puts a slot into a block, up to an empty slot; or up to 64, and the last one is no more. Gives
    /// what was in that.
    #[inline(always)]
    fn open_in<I: Isa, L: Sidecar>(
        &mut self,
        block: u64,
        (start, at): (u32, u32),
        to: u32,
        slot: Slot<L::Item>,
    ) -> Slot<L::Item> {
        let Some(mut two) = self.blocks.two_mut(block) else {
            return self.open_at_end::<L>(block, (start, at), to, slot);
        };
        let mut bytes = two.near();
        let out = last_slot::<L>(&bytes.as_ref());
        layout::open_bits::<I, L>(&mut bytes, (start, at), to, slot);
        if at == 0 && to == 64 {
            two.open_all::<I>(slot.value);
        } else {
            two.open::<I>(at, to, slot.value);
        }
        out
    }

    /// [`open_in`](Self::open_in) one of the last blocks of the table. So rare that any instructions do.
    #[cold]
    #[inline(never)]
    fn open_at_end<L: Sidecar>(
        &mut self,
        block: u64,
        (start, at): (u32, u32),
        to: u32,
        slot: Slot<L::Item>,
    ) -> Slot<L::Item> {
        let mut bytes = self.block_mut(block);
        let out = last_slot::<L>(&bytes.as_ref());
        layout::open_bits::<Portable, L>(&mut bytes, (start, at), to, slot);
        let _out = bytes.shift_up::<Portable>(at, to.min(63), slot.value);
        out
    }

    /// Takes one slot out of a run: one that continues a fingerprint, or is all of one.
    #[inline(always)]
    pub(super) fn close<I: Isa>(&mut self, run: &Run, at: u64) {
        let closed = self.close_after::<I, ()>(run, at, ());
        debug_assert_eq!(closed, Ok(()), "nothing is beside the slots");
    }

    /// [`close`](Self::close) after way was made beside the slots. If there is no room, nothing has
    /// changed.
    #[inline(always)]
    pub(super) fn close_after<I: Isa, B: Beside<S>>(
        &mut self,
        run: &Run,
        at: u64,
        beside: B,
    ) -> Result<(), BlockFull> {
        debug_assert!(run.occupied && run.start <= at && at < run.end);
        let home = run.quotient / 64;
        let continues = S::MARKS && at > run.start && self.is_marked(at - 1);
        debug_assert!(continues || !self.is_marked(at));
        // Of a slot that continues one, the slot before goes, with its mark, and leaves its value.
        let gone = at - u64::from(continues);
        let last = self.last_moving::<I>(home, gone);
        if !B::IS_NOTHING {
            let end = self.end_of_moving::<I>(gone / 64, last);
            self.move_beside(at, end, false, beside)?;
        }
        if continues {
            self.set_value(at, self.slot(gone).value);
        }
        let at = gone;
        if at + 1 == run.end {
            if at > run.start {
                self.set_runend(at - 1, true);
            } else {
                self.set_occupied(run.quotient, false);
            }
        }
        self.close_gap::<I, S>(home, Gap::new(at), last);
        Ok(())
    }

    /// Takes a slot out of a run whose quotient is in block `home`: those behind it move down by one, as
    /// far as they do, in its own block through slot `last` or to the end. If it is all of the run, its
    /// quotient is not occupied any more.
    #[inline(always)]
    pub(super) fn close_gap<I: Isa, L: Sidecar>(
        &mut self,
        home: u64,
        gap: Gap,
        mut last: Option<u32>,
    ) {
        let Gap {
            mut block,
            mut start,
            mut at,
        } = gap;
        let mut too_long = false;
        for reached in home + 1..=block {
            too_long |= !lower_offset::<S>(&mut self.block_mut(reached));
        }
        while last.is_none() {
            // Looked for before its slots and its offset change.
            let Some(last_of_next) = self.last_moving_of_next::<I, L>(block) else {
                break;
            };
            self.close_through::<I, L>(block, (start, at));
            (block, start, at, last) = (block + 1, 0, 0, last_of_next);
            too_long |= !lower_offset::<S>(&mut self.block_mut(block));
        }
        self.close_in::<I, L>(block, (start, at), last.unwrap_or(63));
        self.used -= 1;
        if too_long {
            self.find_long_offsets(home + 1, block);
        }
    }

    /// Takes a slot out of a block, through `to`, which is left empty.
    #[inline(always)]
    fn close_in<I: Isa, L: Sidecar>(&mut self, block: u64, (start, at): (u32, u32), to: u32) {
        let Some(mut two) = self.blocks.two_mut(block) else {
            return self.close_at_end::<L>(block, (start, at), to, Slot::default());
        };
        layout::close_bits::<I, L>(&mut two.near(), start, at, to);
        let before = two.packed().bit_in_byte(at);
        two.close::<I>(at, before, to);
    }

    /// Takes a slot out of a block, through its last one, which gets what the first one of the next
    /// block has.
    #[inline(always)]
    fn close_through<I: Isa, L: Sidecar>(&mut self, block: u64, (start, at): (u32, u32)) {
        let Some(mut two) = self.blocks.two_mut(block) else {
            let carry = layout::get::<L>(&self.block(block + 1), self.packed(), 0);
            return self.close_at_end::<L>(block, (start, at), 63, carry);
        };
        layout::close_all_bits::<I, L>(&mut two, start, at);
        let before = two.packed().bit_in_byte(at);
        two.close_all::<I>(at, before);
    }

    /// Takes a slot out of one of the last blocks of the table, through `to`, which gets what is in
    /// `carry`. So rare that any instructions do.
    #[cold]
    #[inline(never)]
    fn close_at_end<L: Sidecar>(
        &mut self,
        block: u64,
        (start, at): (u32, u32),
        to: u32,
        carry: Slot<L::Item>,
    ) {
        let mut bytes = self.block_mut(block);
        layout::close_bits::<Portable, L>(&mut bytes, start, at, to);
        layout::put_bits::<L>(&mut bytes, to, carry);
        let _closed = bytes.shift_down::<Portable>(at, to, carry.value);
    }

    /// Finds those offsets of the blocks `first..=last` that are too long to be stored, or were, after a
    /// slot has been closed: the first by walking back and the others by going on from it, so all runs
    /// must be in order again. So rare that any instructions do.
    #[cold]
    #[inline(never)]
    fn find_long_offsets(&mut self, first: u64, last: u64) {
        let mut long_end = None;
        for block in first..=last {
            let header = self.header(block);
            if header.offset < S::MAX_OFFSET {
                long_end = None;
                continue;
            }
            let end = match long_end {
                Some(end) => self.end_of_block::<Portable>(block - 1, end),
                None => block * 64 + self.offset::<Portable>(block, &header),
            };
            long_end = Some(end);
            let offset = (end - block * 64).min(u64::from(S::MAX_OFFSET)) as u16;
            layout::set_offset(&mut self.block_mut(block), offset);
        }
    }
}

/// Adds one to the offset of a block, unless that is too long to be stored.
#[inline(always)]
fn raise_offset<S: Sidecar>(block: &mut RawBlockMut<'_>) {
    let offset = layout::offset(&block.as_ref());
    if offset < S::MAX_OFFSET {
        layout::set_offset(block, offset + 1);
    }
}

/// Takes one off the offset of a block. `false` if it is too long to be stored, and must be found anew.
#[inline(always)]
fn lower_offset<S: Sidecar>(block: &mut RawBlockMut<'_>) -> bool {
    let offset = layout::offset(&block.as_ref());
    let is_stored = offset < S::MAX_OFFSET;
    if is_stored {
        layout::set_offset(block, offset - 1);
    }
    is_stored
}

impl<S: Sidecar, M: Bytes> Table<S, M> {
    /// The first empty slot at or after `from`; [`slots`](Self::slots) if all are used.
    #[inline(always)]
    pub(super) fn first_empty<I: Isa>(&self, from: u64) -> u64 {
        let (block, i) = split(from);
        if block >= self.blocks() {
            return self.slots;
        }
        let header = self.header(block);
        let offset = u32::from(header.offset);
        if offset > 63 {
            return self.first_empty_from::<I>(block);
        }
        match header.next_empty::<I>(i.max(offset)) {
            Some(slot) => block * 64 + u64::from(slot),
            None => self.first_empty_from::<I>(block + 1),
        }
    }

    /// The first empty slot from the start of a block on.
    #[inline(always)]
    pub(super) fn first_empty_from<I: Isa>(&self, mut block: u64) -> u64 {
        while block < self.blocks() {
            let header = self.header(block);
            // Runs of earlier blocks take all of so many blocks, or more if that is too long to be stored.
            let taken = u64::from(header.offset / 64);
            if taken > 0 {
                block += taken;
                continue;
            }
            if let Some(slot) = header.first_empty::<I>(header.offset.into()) {
                return block * 64 + u64::from(slot);
            }
            block += 1;
        }
        self.slots
    }

    /// The last slot of its block that moves when slot `at` is closed, in a run whose quotient is in
    /// block `home`: the first that is empty, or at the home of its run, stays. `None` if all of them
    /// move.
    #[inline(always)]
    pub(super) fn last_moving<I: Isa>(&self, home: u64, at: u64) -> Option<u32> {
        let (block, i) = split(at);
        let header = self.header(block);
        match block == home {
            true => header.last_moving::<I>(i),
            false => header.last_moving_displaced::<I>(),
        }
    }

    /// The same of the next block, where all slots of `block` behind the closed one move. Outer `None`
    /// if none of the next block does.
    #[inline(always)]
    fn last_moving_of_next<I: Isa, L: Sidecar>(&self, block: u64) -> Option<Option<u32>> {
        let next = self.blocks.try_get(block + 1)?;
        let header = BlockHeader::read::<L>(&next);
        (header.offset > 0).then(|| header.last_moving_displaced::<I>())
    }

    /// One past the last slot that moves where in `block` they do through slot `last`, or to the end.
    #[inline(always)]
    fn end_of_moving<I: Isa>(&self, mut block: u64, mut last: Option<u32>) -> u64 {
        while last.is_none() {
            let Some(last_of_next) = self.last_moving_of_next::<I, S>(block) else {
                break;
            };
            (block, last) = (block + 1, last_of_next);
        }
        block * 64 + u64::from(last.unwrap_or(63)) + 1
    }
}

/// What goes to the next block.
#[inline(always)]
fn last_slot<L: Sidecar>(block: &RawBlock<'_>) -> Slot<L::Item> {
    Slot {
        value: block.last_slot(),
        runend: layout::stored_runends(block) >> 63 == 1,
        item: L::get(block.lane(), 63),
    }
}
