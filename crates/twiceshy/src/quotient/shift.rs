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
use crate::bits::Isa;
use crate::error::Error;

impl<S: Sidecar, M: AsRef<[u8]> + AsMut<[u8]>> Table<S, M> {
    /// Adds an unmarked slot with `value` to a run, at slot `at` of `run.start..=run.end`
    /// and not between a slot and the marked ones behind it.
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
        debug_assert!(run.start <= at && at <= run.end && !S::is_mark(item));
        let is_last = at >= run.home_end;
        let slot = Slot {
            value,
            runend: is_last,
            item,
        };
        self.open::<I>(run, at, slot)?;
        if !run.occupied {
            self.set_occupied(run.quotient, true);
        } else if is_last {
            self.set_runend(run.home_end - 1, false);
        }
        Ok(())
    }

    /// Adds a marked slot behind an unmarked or marked one of the run: `at` is in
    /// `run.start + 1..=run.end`.
    ///
    /// # Errors
    /// [`Error::Full`] if no slot is free; nothing has changed then.
    #[inline(always)]
    pub(crate) fn open_marked<I: Isa>(
        &mut self,
        run: &Run,
        at: u64,
        slot: Slot<S::Item>,
    ) -> Result<(), Error> {
        debug_assert!(run.start < at && at <= run.end && S::is_mark(slot.item));
        self.open::<I>(run, at, slot)
    }

    #[inline(always)]
    fn open<I: Isa>(&mut self, run: &Run, at: u64, slot: Slot<S::Item>) -> Result<(), Error> {
        let empty = self.first_empty::<I>(run.end);
        if empty >= self.slots {
            return Err(self.full());
        }
        let (mut block, mut from) = split(at);
        let (last, to) = split(empty);
        let mut carry = slot;
        let packed = self.packed;
        while block < last {
            carry = block::shift_up::<S>(self.block_mut(block), &packed, from, 63, carry);
            block += 1;
            from = 0;
        }
        let _empty = block::shift_up::<S>(self.block_mut(last), &packed, from, to, carry);
        debug_assert_eq!(_empty, Slot::default(), "an empty slot is all zero");
        for block in run.quotient / 64 + 1..=last {
            let offset = self.header(block).offset;
            if offset < S::MAX_OFFSET {
                block::set_offset(self.block_mut(block), offset + 1);
            }
        }
        self.used += 1;
        Ok(())
    }

    /// Takes one slot out of a run. An unmarked slot must have no marked ones behind it.
    #[inline(always)]
    pub(crate) fn close<I: Isa>(&mut self, run: &Run, at: u64) {
        debug_assert!(run.occupied && run.start <= at && at < run.end);
        debug_assert!(at + 1 == self.skip_marked(at + 1) || S::is_mark(self.slot(at).item));
        let was_runend = at + 1 == run.home_end;
        let unmoved = self.first_unmoved::<I>(run.end);
        let (first, from) = split(at);
        let (mut block, mut to) = split(unmoved - 1);
        let mut carry = Slot::default();
        let packed = self.packed;
        while block > first {
            carry = block::shift_down::<S>(self.block_mut(block), &packed, 0, to, carry);
            block -= 1;
            to = 63;
        }
        let _closed = block::shift_down::<S>(self.block_mut(first), &packed, from, to, carry);
        if was_runend {
            match self.home_before(run, at) {
                Some(home) => self.set_runend(home, true),
                None => self.set_occupied(run.quotient, false),
            }
        }
        self.lower_offsets::<I>(run.quotient / 64 + 1, (unmoved - 1) / 64);
        self.used -= 1;
    }

    /// The last unmarked slot of a run before `at`.
    #[inline(always)]
    fn home_before(&self, run: &Run, at: u64) -> Option<u64> {
        (run.start..at)
            .rev()
            .find(|&slot| !S::MARKS || !S::is_mark(self.slot(slot).item))
    }

    /// Takes one off the offsets of the blocks `first..=last`. Those too long to be stored
    /// are found afresh, the first by walking back and the others by going on from it.
    #[inline(always)]
    fn lower_offsets<I: Isa>(&mut self, first: u64, last: u64) {
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
            block::set_offset(self.block_mut(block), offset);
        }
    }
}
