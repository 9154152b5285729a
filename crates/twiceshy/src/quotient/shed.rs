//! The short way to take out a slot that was found, marked or not: when it is in its home block, or
//! the next one.
//!
//! [`short`](super::short) finds its slots itself, and that in runs that are in one block and have no
//! marked slots in front. A fingerprint of more than one slot loses them one by one, the last first,
//! so that what is left is a fingerprint at any time; how far others move is found anew for each,
//! because one may come home by it that then stays.

use super::Fingerprint;
use super::block::{self, Header};
use super::find::Run;
use super::short::Place;
use super::sidecar::Sidecar;
use super::table::{Table, split};
use crate::bits::{Bytes, Isa};

impl<S: Sidecar, M: Bytes + AsMut<[u8]>> Table<S, M> {
    /// The slots of the one fingerprint with this remainder of its run. `None` if there is none, or
    /// there are more, or they are not all in their home block.
    #[inline(always)]
    pub(crate) fn only_print<I: Isa>(&self, fingerprint: Fingerprint) -> Option<(u64, u64)> {
        let (first, homes) = self.homes::<I>(fingerprint)?;
        if !homes.is_power_of_two() {
            return None;
        }
        let (block, home) = split(first + u64::from(homes.trailing_zeros()));
        // Where the tail ends, the block must not.
        let end = home + 1 + self.header(block).tail::<S>(home + 1);
        (home < 63 && end < 64)
            .then_some((block * 64 + u64::from(home), block * 64 + u64::from(end)))
    }

    /// Takes out a marked slot that is in the home block of its run. Has it been done? If not,
    /// nothing has changed.
    #[inline(always)]
    pub(crate) fn close_marked<I: Isa>(&mut self, slot: u64) -> bool {
        let (home, at) = split(slot);
        self.close_from::<I>(home, slot, at)
    }

    /// [`close`](Self::close) where the slot is in the home block or the next one, and not the last
    /// unmarked one of its run, or right behind another. Has it been done? If not, nothing has changed.
    #[inline(always)]
    pub(crate) fn close_near<I: Isa>(&mut self, run: &Run, at: u64) -> bool {
        let home = run.quotient / 64;
        let (block, slot) = split(at);
        if block > home + 1 {
            return false;
        }
        if at + 1 != run.home_end {
            return self.close_from::<I>(home, at, slot);
        }
        // The runend bit comes down to the slot before if that one's is taken out.
        if slot == 0 || at == run.start || (S::MARKS && self.is_marked(at - 1)) {
            return false;
        }
        self.close_from::<I>(home, at, slot - 1)
    }

    /// Takes out slot `at`, and of runend bits and marks those of slot `start` of its block. All that
    /// moves if a slot of that block's runs is closed, moves from there on.
    #[inline(always)]
    fn close_from<I: Isa>(&mut self, home: u64, at: u64, start: u32) -> bool {
        let (block, slot) = split(at);
        let Some(mut two) = self.blocks.two_mut(block) else {
            return false;
        };
        let header = Header::read::<S>(&two.near().as_ref());
        let last_moving = if block == home {
            if header.offset > 63 {
                return false;
            }
            header.last_moving_from::<I, S>(slot)
        } else {
            let last = u32::from(header.offset).wrapping_sub(1);
            if last > 62 {
                return false;
            }
            block::set_offset(&mut two.near(), last as u16);
            header.last_moving_displaced::<I, S>(last)
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
