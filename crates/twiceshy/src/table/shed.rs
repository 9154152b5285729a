//! The short way to take out slots that were found, beside marked ones: when they are in their home block,
//! or the next one.
//!
//! [`short`](super::short) finds its slot itself, and that is all of a fingerprint. One
//! of more than one slot loses them one by one, the last first, so that what is left is a fingerprint
//! at any time; how far others move is found anew for each, because one may come home by it that then
//! stays. Of two slots, as nearly all have that have adapted, both go in one pass where all that moves is in
//! their block.

use std::num::NonZero;

use super::Fingerprint;
use super::block::{self, Header};
use super::find::{Look, Run};
use super::short::Place;
use super::sidecar::Sidecar;
use super::table::{Table, split};
use crate::bits::{Bytes, Isa, mask_below};

/// A fingerprint that is in its home block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nearby {
    /// Its first slot.
    pub(crate) home: u64,
    /// One past its last.
    pub(crate) end: u64,
    /// Is it the first of its run?
    first: bool,
    /// Is it the last?
    last: bool,
}

/// A fingerprint of two slots, the second a digit of the hash, that is the only one of its minirun and in
/// its home block, until the table changes. One word, so that it travels in a register:
///
/// ```text
/// | quotient | slot, 6 bits | first? | last? | 1 |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TwoSlots(pub(super) NonZero<u64>);

impl TwoSlots {
    /// The fingerprint of `quotient` whose first slot is this one of the block, and so many behind the
    /// first one of its run, which has `more` behind that.
    #[inline(always)]
    pub(super) fn new(quotient: u64, slot: u32, behind: u32, more: u32) -> Self {
        debug_assert!(slot < 63 && behind < more);
        let (first, last) = (u64::from(behind == 0), u64::from(behind + 1 == more));
        // A table of 2^55 slots would not fit into any memory.
        let word = quotient << 9 | u64::from(slot) << 3 | first << 2 | last << 1;
        TwoSlots(NonZero::<u64>::MIN | word)
    }

    /// The quotient, and the first slot of the two in its block.
    #[inline(always)]
    fn place(self) -> (u64, u32) {
        let word = self.0.get();
        (word >> 9, (word >> 3) as u32 & 63)
    }

    /// Is it the first of its run? Is it the last?
    #[inline(always)]
    fn first_and_last(self) -> (bool, bool) {
        let word = self.0.get();
        (word & 4 != 0, word & 2 != 0)
    }
}

impl<S: Sidecar, M: Bytes + AsMut<[u8]>> Table<S, M> {
    /// Takes out a fingerprint of two slots if the second has this digit. Has it been done? If not, nothing
    /// has changed.
    ///
    /// Both slots go as [`close_tail`](Self::close_tail) and [`close_bare`](Self::close_bare) take them
    /// out, but how far others move is found for both at once, if that is in the block.
    #[inline(always)]
    pub(crate) fn remove_two<I: Isa, L: Sidecar>(&mut self, print: TwoSlots, digit: u64) -> bool {
        let (quotient, slot) = print.place();
        let (first, last) = print.first_and_last();
        let Some(mut blocks) = self.blocks.two_mut(quotient / 64) else {
            return false;
        };
        let packed = blocks.packed();
        let mut near = blocks.near();
        if near.as_ref().window(slot + 1) & mask_below(packed.bits()) != digit {
            return false;
        }
        let header = Header::read::<L>(&near.as_ref());
        if let Some((to, then_to)) = header.last_moving_of_two::<I>(slot + 1) {
            // Is it all there is of the run?
            let gone = u64::from(first && last) << (quotient & 63);
            // If the run ends here, it shall end at the slot before.
            let start = slot - u32::from(last && !first);
            block::clear_occupied(&mut near, gone);
            block::close_beside::<I, L>(&mut near, slot, slot + 1, to);
            block::close_beside::<I, L>(&mut near, start, slot, then_to);
            blocks.close_twice::<I>(slot, to, then_to);
            self.used -= 2;
            return true;
        }
        let home = (quotient & !63) + u64::from(slot);
        let end = home + 2;
        #[rustfmt::skip]
        let print = Nearby { home, end, first, last };
        let done = self.close_tail::<I>(home + 1) && self.close_bare::<I>(quotient, print);
        debug_assert!(done, "the block is there, and its offset is what it was");
        true
    }

    /// The one fingerprint with this remainder of its run. `None` if there is none, or there are
    /// more, or the run is not in its home block.
    #[inline(always)]
    pub(crate) fn only_print<I: Isa>(&self, fingerprint: Fingerprint) -> Option<Nearby> {
        let look = self.look::<I, S>(fingerprint)?;
        let homes = self.homes_of::<I>(&look, look.header.marked_from(look.start));
        homes
            .is_power_of_two()
            .then(|| Nearby::new::<S>(&look, fingerprint.quotient, homes))
    }

    /// Takes out a fingerprint of which the home slot is left. Has it been done? If not, nothing has
    /// changed.
    #[inline(always)]
    pub(crate) fn close_bare<I: Isa>(&mut self, quotient: u64, print: Nearby) -> bool {
        let (block, slot) = split(print.home);
        // If the run ends here, it shall end at the slot before.
        let start = slot - u32::from(print.last && !print.first);
        let gone = u64::from(print.first && print.last) << (quotient & 63);
        self.close_from::<I>(block, print.home, start, gone)
    }

    /// Takes out a slot that continues the one before it, both in the home block of their run. Has it
    /// been done? If not, nothing has changed.
    #[inline(always)]
    pub(crate) fn close_tail<I: Isa>(&mut self, slot: u64) -> bool {
        let (home, at) = split(slot);
        debug_assert!(at > 0 && self.is_marked(slot - 1));
        self.close_from::<I>(home, slot, at - 1, 0)
    }

    /// [`close`](Self::close) where the slot is in the home block or the next one. Has it been done?
    /// If not, nothing has changed.
    #[inline(always)]
    pub(crate) fn close_near<I: Isa>(&mut self, run: &Run, at: u64) -> bool {
        let home = run.quotient / 64;
        let (block, slot) = split(at);
        let (first, last) = (at == run.start, at + 1 == run.end);
        if block > home + 1 || first && last {
            return false;
        }
        // If the run or the fingerprint ends here, it shall end at the slot before.
        if last || !first && S::MARKS && self.is_marked(at - 1) {
            return slot > 0 && self.close_from::<I>(home, at, slot - 1, 0);
        }
        self.close_from::<I>(home, at, slot, 0)
    }

    /// Takes out slot `at`, and of runend bits and marks those of slot `start` of its block. All that
    /// moves if a slot of that block's runs is closed, moves from there on. If it is all there is of its
    /// run, it is in the home block, and `gone` is the occupied bit to clear, else 0.
    ///
    /// That bit goes before anything moves beyond the block: offsets that are too long to be stored are
    /// found anew there, by counting the runs that there are.
    #[inline(always)]
    fn close_from<I: Isa>(&mut self, home: u64, at: u64, start: u32, gone: u64) -> bool {
        let (block, slot) = split(at);
        let Some(mut two) = self.blocks.two_mut(block) else {
            return false;
        };
        let header = Header::read::<S>(&two.near().as_ref());
        let last_moving = if block == home {
            if header.offset > 63 {
                return false;
            }
            block::clear_occupied(&mut two.near(), gone);
            header.last_moving::<I>(slot)
        } else {
            debug_assert_eq!(gone, 0);
            let last = u32::from(header.offset).wrapping_sub(1);
            if last > 62 {
                return false;
            }
            block::set_offset(&mut two.near(), last as u16);
            header.last_moving_displaced::<I>(last)
        };
        let place = Place::new(two.packed(), start, slot);
        self.used -= 1;
        match last_moving {
            Some(to) => place.close::<I, S>(&mut two, to),
            None => self.close_gap::<I, S>(place.gap(at)),
        }
        true
    }
}

impl Nearby {
    /// The first of these home slots of the run of `quotient`, a bit each from the run's first slot on.
    #[inline(always)]
    fn new<S: Sidecar>(look: &Look<'_>, quotient: u64, homes: u64) -> Self {
        let start = (quotient & !63) + u64::from(look.start);
        let slot = homes.trailing_zeros();
        let tail = look.header.tail::<S>(look.start + slot);
        Nearby {
            home: start + u64::from(slot),
            end: start + u64::from(slot + tail) + 1,
            first: slot == 0,
            last: slot + tail == look.last,
        }
    }
}
