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
//! A block's offset counts the slots that runs of earlier blocks take in it, so it grows
//! by one exactly for the blocks after the quotient's own up to that of the slot that was
//! filled, and shrinks by one for those up to that of the slot that was emptied: every
//! slot between is used without a gap, so the last run from before each of those blocks
//! reaches into it and is moved.

use super::block::{self, Slot};
use super::find::Run;
use super::sidecar::Sidecar;
use super::table::{Table, split};
use crate::bits::{Bytes, Isa};
use crate::error::Error;

/// Somebody who keeps something of their own in the lanes, and must move it with the slots.
pub(crate) trait Moving<S: Sidecar, M> {
    /// Slots are about to move. Up by one, those from `from` up to, not including, `to`; or
    /// down by one, those behind `from` up to, not including, `to`. If this fails, they stay.
    fn before(self, table: &mut Table<S, M>, from: u64, to: u64) -> Result<(), Error>;

    /// [`before`](Self::before), where slots of one block move up. Has that been done? If not,
    /// nothing has changed, and `before` must be asked.
    #[inline(always)]
    fn within(&self, _table: &mut Table<S, M>, _block: u64, _from: u32, _to: u32) -> bool {
        false
    }

    /// The same, where the slots from `from` of a block up to, not including, `to` of a later one
    /// move up.
    #[inline(always)]
    fn across(&self, _table: &mut Table<S, M>, _block: u64, _from: u32, _to: u64) -> bool {
        false
    }
}

/// Nothing but the slots moves.
pub(crate) struct Still;

impl<S: Sidecar, M> Moving<S, M> for Still {
    #[inline(always)]
    fn before(self, _: &mut Table<S, M>, _: u64, _: u64) -> Result<(), Error> {
        Ok(())
    }

    #[inline(always)]
    fn within(&self, _: &mut Table<S, M>, _: u64, _: u32, _: u32) -> bool {
        true
    }

    #[inline(always)]
    fn across(&self, _: &mut Table<S, M>, _: u64, _: u32, _: u64) -> bool {
        true
    }
}

impl<S: Sidecar, M: Bytes + AsMut<[u8]>> Table<S, M> {
    /// Adds an unmarked slot with `value` to a run, at slot `at` of `run.start..=run.end`
    /// and not right behind a marked one.
    ///
    /// # Errors
    /// [`Error::Full`] if no slot is free; nothing has changed then.
    #[inline(always)]
    pub(crate) fn open_home<I: Isa>(
        &mut self,
        run: &Run,
        at: u64,
        value: u64,
        item: S::Item,
    ) -> Result<(), Error> {
        self.open_home_after::<I>(run, at, value, item, Still)
    }

    /// [`open_home`](Self::open_home), with a last word for `moving`. If that fails, nothing has
    /// changed.
    #[inline(always)]
    pub(crate) fn open_home_after<I: Isa>(
        &mut self,
        run: &Run,
        at: u64,
        value: u64,
        item: S::Item,
        moving: impl Moving<S, M>,
    ) -> Result<(), Error> {
        debug_assert!(run.start <= at && at <= run.end && !S::is_mark(item));
        let is_last = at >= run.end;
        let slot = Slot {
            value,
            runend: is_last,
            item,
        };
        self.open::<I>(run, at, slot, moving)?;
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
    pub(crate) fn open_tail<I: Isa>(
        &mut self,
        run: &Run,
        at: u64,
        digit: Slot<S::Item>,
    ) -> Result<(), Error> {
        debug_assert!(run.start < at && at <= run.end && S::is_mark(digit.item));
        // In front of the slot before, and with its value, it has that one's place.
        let value = self.slot(at - 1).value;
        self.open::<I>(run, at - 1, Slot { value, ..digit }, Still)?;
        self.set_value(at, digit.value);
        Ok(())
    }

    #[inline(always)]
    fn open<I: Isa>(
        &mut self,
        run: &Run,
        at: u64,
        slot: Slot<S::Item>,
        moving: impl Moving<S, M>,
    ) -> Result<(), Error> {
        let empty = self.first_empty::<I>(run.end);
        if empty >= self.slots {
            return Err(self.full());
        }
        moving.before(self, at, empty)?;
        let (block, from) = split(at);
        let (last, to) = split(empty);
        // Blocks between the quotient's and the slot's hold nothing that moves, but the
        // run reaches across their start.
        self.raise_offsets(run.quotient / 64 + 1, block);
        if block == last {
            let _empty = block::shift_up::<I, S>(&mut self.block_mut(block), from, to, slot);
            debug_assert_eq!(_empty, Slot::default(), "an empty slot is all zero");
        } else {
            let carry = block::shift_up::<I, S>(&mut self.block_mut(block), from, 63, slot);
            self.shift_up_from::<I>(block + 1, empty, carry);
        }
        self.used += 1;
        Ok(())
    }

    /// Moves the slots from the start of `block` up to `empty` by one and puts `carry`, the
    /// slot pushed out of the block before, in front. Mends the offsets of these blocks.
    #[inline(always)]
    pub(super) fn shift_up_from<I: Isa>(
        &mut self,
        mut block: u64,
        empty: u64,
        mut carry: Slot<S::Item>,
    ) {
        let (last, to) = split(empty);
        self.raise_offsets(block, last);
        while block < last {
            carry = block::shift_up::<I, S>(&mut self.block_mut(block), 0, 63, carry);
            block += 1;
        }
        let _empty = block::shift_up::<I, S>(&mut self.block_mut(last), 0, to, carry);
        debug_assert_eq!(_empty, Slot::default(), "an empty slot is all zero");
    }

    /// Adds one to the offsets of the blocks `first..=last`.
    #[inline(always)]
    fn raise_offsets(&mut self, first: u64, last: u64) {
        for block in first..=last {
            let offset = self.header(block).offset;
            if offset < S::MAX_OFFSET {
                block::set_offset(&mut self.block_mut(block), offset + 1);
            }
        }
    }

    /// Takes one slot out of a run: one that continues a fingerprint, or is all of one.
    #[inline(always)]
    pub(crate) fn close<I: Isa>(&mut self, run: &Run, at: u64) {
        self.close_after::<I>(run, at, Still)
            .expect("closing a slot does not fail by itself");
    }

    /// [`close`](Self::close), with a last word for `moving`. If that fails, nothing has
    /// changed.
    #[inline(always)]
    pub(crate) fn close_after<I: Isa>(
        &mut self,
        run: &Run,
        at: u64,
        moving: impl Moving<S, M>,
    ) -> Result<(), Error> {
        debug_assert!(run.occupied && run.start <= at && at < run.end);
        let unmoved = self.first_unmoved::<I>(run.end);
        moving.before(self, at, unmoved)?;
        let continues = S::MARKS && at > run.start && self.is_marked(at - 1);
        debug_assert!(continues || !self.is_marked(at));
        let at = if continues {
            // The slot before goes instead, with its mark, and leaves its value.
            self.set_value(at, self.slot(at - 1).value);
            at - 1
        } else {
            at
        };
        let was_runend = at + 1 == run.end;
        let (block, from) = split(at);
        let (last, to) = split(unmoved - 1);
        let home = run.quotient / 64;
        if block == last {
            let mut bytes = self.block_mut(block);
            let _closed = block::shift_down::<I, S>(&mut bytes, from, to, Slot::default());
        } else {
            let carry = self.shift_down_from::<I>(block + 1, unmoved);
            let _closed = block::shift_down::<I, S>(&mut self.block_mut(block), from, 63, carry);
        }
        if was_runend {
            if at > run.start {
                self.set_runend(at - 1, true);
            } else {
                self.set_occupied(run.quotient, false);
            }
        }
        self.lower_offsets::<I>(home + 1, last);
        self.used -= 1;
        Ok(())
    }

    /// Moves the slots from the start of block `first` up to `unmoved`, at least one, down by
    /// one, and gives the slot that goes to the block before.
    #[inline(always)]
    pub(super) fn shift_down_from<I: Isa>(&mut self, first: u64, unmoved: u64) -> Slot<S::Item> {
        let (mut block, mut to) = split(unmoved - 1);
        let mut carry = Slot::default();
        while block > first {
            carry = block::shift_down::<I, S>(&mut self.block_mut(block), 0, to, carry);
            block -= 1;
            to = 63;
        }
        block::shift_down::<I, S>(&mut self.block_mut(first), 0, to, carry)
    }

    /// Takes one off the offsets of the blocks `first..=last`. Those too long to be stored
    /// are found afresh, the first by walking back and the others by going on from it, so
    /// all runs must be in order again.
    #[inline(always)]
    pub(super) fn lower_offsets<I: Isa>(&mut self, first: u64, last: u64) {
        let mut long_end = None;
        for block in first..=last {
            let header = self.header(block);
            let offset = if header.offset < S::MAX_OFFSET {
                long_end = None;
                header.offset - 1
            } else {
                let end = match long_end {
                    Some(end) => self.end_of_block::<I>(block - 1, end),
                    None => block * 64 + self.offset::<I>(block, &header),
                };
                long_end = Some(end);
                (end - block * 64).min(u64::from(S::MAX_OFFSET)) as u16
            };
            block::set_offset(&mut self.block_mut(block), offset);
        }
    }
}
