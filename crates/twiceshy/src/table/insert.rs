//! Adding a fingerprint, or a digit to one.
//!
//! Nearly always the run is in its home block, and so is what moves, or most of it. Then the run is one
//! comparison of a whole window, and hardly a branch depends on the data:
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
//!
//! All else is `insert_slow`: find the run, find the place in it, open a slot there.

use super::Fingerprint;
use super::beside::{Beside, BlockFull};
use super::find::Run;
use super::lane::{Bare, Sidecar};
use super::layout::{self, BlockHeader, Place, Probe, Slot};
use super::shift::Gap;
use super::storage::{Table, split};
use crate::bits::{Bytes, Isa, TwoBlocks};

// Everywhere here `L` is `S`, or stands for it in a table where nothing is marked.

/// What came of an insertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Put {
    /// It is there.
    Done,
    /// No slot is free; nothing has changed.
    Full,
    /// There are counters or ghosts in its minirun; nothing has changed.
    Counted,
    /// What stands beside slots has no room in a block; nothing has changed.
    BlockFull(BlockFull),
}

/// What came of an addition in the home block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Added<T> {
    /// All is done.
    Done,
    /// Slots of further blocks move: [`Table::open_rest`] must do it. Nothing has changed.
    Across(Opening<T>),
    /// The run is not in its home block, or too long, or its place is among marked slots: the general way
    /// must do it. Nothing has changed.
    Elsewhere,
    /// As for [`Put`].
    BlockFull(BlockFull),
}

/// A slot to be put between others of its home block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opening<T> {
    /// The quotient, which has a run from now on.
    quotient: u64,
    gap: Gap,
    slot: Slot<T>,
}

impl<S: Sidecar, M: Bytes + AsMut<[u8]>> Table<S, M> {
    /// Adds an unmarked slot for a fingerprint to its run, which is sorted.
    #[inline(always)]
    pub(crate) fn insert(&mut self, at: Fingerprint) -> Put {
        if self.is_unmarked() {
            self.insert_beside_with::<Bare, ()>(at, ())
        } else {
            self.insert_beside_with::<S, ()>(at, ())
        }
    }

    /// [`insert`](Self::insert), where something may stand beside slots: then behind all of its run that
    /// are not above it.
    #[inline(always)]
    pub(crate) fn insert_beside<B: Beside<S>>(&mut self, at: Fingerprint, beside: B) -> Put {
        self.insert_beside_with::<S, B>(at, beside)
    }

    /// The body of [`insert_beside_with`](Self::insert_beside_with).
    #[inline(always)]
    pub(super) fn insert_on<I: Isa, L: Sidecar, B: Beside<S>>(
        &mut self,
        at: Fingerprint,
        beside: B,
    ) -> Put {
        let Fingerprint {
            quotient,
            remainder,
        } = at;
        // A slot is its remainder. Filters with values beside theirs must know them: they replace miniruns.
        debug_assert_eq!(self.ignored_bits(), 0);
        match self.insert_home::<I, L, B>(quotient, remainder, beside) {
            Added::Done => Put::Done,
            Added::Across(opening) => self.open_rest::<L, B>(opening, beside),
            Added::Elsewhere => self.insert_slow::<B>(quotient, remainder, beside),
            Added::BlockFull(full) => Put::BlockFull(full),
        }
    }

    /// Adds an unmarked slot with `value` to the run of `quotient`, if that is in its home block. Here it goes
    /// behind all that are not above it; [`insert_slow`](Self::insert_slow) may go in front of equal ones.
    #[inline(always)]
    fn insert_home<I: Isa, L: Sidecar, B: Beside<S>>(
        &mut self,
        quotient: u64,
        value: u64,
        beside: B,
    ) -> Added<L::Item> {
        let (home, i) = split(quotient);
        let Some(mut two) = self.blocks.two_mut(home) else {
            return Added::Elsewhere;
        };
        let header = read_home::<L>(&mut two, i);
        if header.offset > 63 {
            return Added::Elsewhere;
        }
        let place = header.place::<I, L>(i);
        // It is the last one if it is the only one.
        let slot = Slot {
            value,
            runend: place.occupied == 0,
            item: L::Item::default(),
        };
        if place.occupied == 0 && place.start == i {
            // The home slot is empty, as most are at low loads: nothing to compare or to move.
            let mut block = two.near();
            layout::put::<L>(&mut block, i, slot);
            layout::add_occupied(&mut block, 1 << i);
            self.used += 1;
            return Added::Done;
        }
        let Some(at) = upper_bound::<L>(&mut two, &header, &place, value) else {
            return Added::Elsewhere;
        };
        // No slot of the run is empty, so it may be looked for from its start on, which is known before
        // the place: whether there is one in this block is a branch that is often lost.
        let to = header.first_empty::<I>(place.start);
        let gap = Gap {
            block: home,
            start: place.start,
            at,
        };
        let Some(to) = to else {
            return Added::Across(Opening {
                quotient,
                gap,
                slot,
            });
        };
        if to != at {
            if let Err(full) = self.raise_beside(home, at, to, beside) {
                return Added::BlockFull(full);
            }
        }
        // The same two blocks, let go of in between. They were there above, so the `else` is never taken; it
        // would be wrong, as what stands beside slots has moved by now.
        let Some(mut two) = self.blocks.two_mut(home) else {
            return Added::Elsewhere;
        };
        layout::add_occupied(&mut two.near(), 1 << i);
        open::<I, L>(&mut two, gap, to, slot);
        self.used += 1;
        Added::Done
    }

    /// The body of [`open_rest`](Self::open_rest).
    #[inline(always)]
    pub(super) fn open_rest_on<I: Isa, L: Sidecar, B: Beside<S>>(
        &mut self,
        opening: Opening<L::Item>,
        beside: B,
    ) -> Put {
        let Opening {
            quotient,
            gap,
            slot,
        } = opening;
        let to = self.first_empty_from::<I>(gap.block + 1);
        if to >= self.slots {
            return Put::Full;
        }
        let from = gap.block * 64 + u64::from(gap.at);
        if let Err(full) = self.move_beside(from, to, true, beside) {
            return Put::BlockFull(full);
        }
        layout::add_occupied(&mut self.block_mut(gap.block), 1 << (quotient & 63));
        self.open_gap::<I, L>(gap.block, gap, to, slot);
        Put::Done
    }

    /// The body of [`insert_slow`](Self::insert_slow).
    #[inline(always)]
    pub(super) fn insert_slow_on<I: Isa, B: Beside<S>>(
        &mut self,
        quotient: u64,
        remainder: u64,
        beside: B,
    ) -> Put {
        let run = self.run_slow_on::<I>(quotient);
        // Nothing beside: bare slots of one remainder are alike, so go in front of them, where `is_counted`
        // starts and no fingerprint is parted. Else behind them, so that symbols stay with their slots.
        let at = match B::IS_NOTHING {
            true => self.lower_bound(&run, remainder),
            false => self.upper_bound(&run, remainder),
        };
        if self.is_counted(&run, at, remainder) {
            return Put::Counted;
        }
        let opened = self.open_home_beside::<I, B>(&run, at, remainder, S::Item::default(), beside);
        opened.err().unwrap_or(Put::Done)
    }

    /// Has any marked slot of the minirun that starts at slot `at` of a run a runend bit?
    #[inline(always)]
    fn is_counted(&self, run: &Run, mut at: u64, remainder: u64) -> bool {
        if !S::MARKS || !self.has_marks(run) {
            return false;
        }
        while at < run.end && self.remainder(at) == remainder {
            let end = self.end_of_print(at);
            if (at..end - 1).any(|slot| self.slot(slot).runend) {
                return true;
            }
            at = end;
        }
        false
    }

    /// The body of [`extend`](Self::extend).
    #[inline(always)]
    pub(super) fn extend_on<I: Isa>(&mut self, at: Fingerprint, digit: Slot<S::Item>) -> bool {
        debug_assert!(S::is_mark(digit.item));
        let extended = match self.extend_home::<I>(at, digit) {
            Added::Done => true,
            Added::Across(opening) => self.open_rest::<S, ()>(opening, ()) == Put::Done,
            Added::Elsewhere => self.extend_slow(at, digit),
            Added::BlockFull(_) => false,
        };
        self.marked += u64::from(extended);
        extended
    }

    /// [`extend`](Self::extend) of a fingerprint in its home block.
    #[inline(always)]
    fn extend_home<I: Isa>(&mut self, at: Fingerprint, digit: Slot<S::Item>) -> Added<S::Item> {
        let Fingerprint {
            quotient,
            remainder,
        } = at;
        let pattern = self.packed().repeat_compared(remainder);
        let (home, i) = split(quotient);
        let Some(mut two) = self.blocks.two_mut(home) else {
            return Added::Elsewhere;
        };
        let header = read_home::<S>(&mut two, i);
        if header.offset > 63 {
            return Added::Elsewhere;
        }
        let run = header.probe::<I>(i);
        let Some(at) = behind_only::<I>(&mut two, &header, run, pattern) else {
            return Added::Elsewhere;
        };
        let gap = Gap {
            block: home,
            start: at - 1,
            at,
        };
        // From the start of the run on, as for an insertion.
        let Some(to) = header.first_empty::<I>(run.start) else {
            return Added::Across(Opening {
                quotient,
                gap,
                slot: digit,
            });
        };
        open::<I, S>(&mut two, gap, to, digit);
        self.used += 1;
        Added::Done
    }

    /// The body of [`extend_slow`](Self::extend_slow).
    #[inline(always)]
    pub(super) fn extend_slow_on<I: Isa>(&mut self, at: Fingerprint, digit: Slot<S::Item>) -> bool {
        let run = self.run_slow_on::<I>(at.quotient);
        let it = self.lower_bound(&run, at.remainder);
        let has_remainder = |slot| slot < run.end && self.remainder(slot) == at.remainder;
        let is_only = has_remainder(it) && !self.is_marked(it) && !has_remainder(it + 1);
        is_only && self.open_tail::<I>(&run, it + 1, digit).is_ok()
    }
}

/// Puts a slot into the first of two blocks, up to an empty one.
#[inline(always)]
fn open<I: Isa, L: Sidecar>(two: &mut TwoBlocks<'_>, gap: Gap, to: u32, slot: Slot<L::Item>) {
    layout::open_bits::<I, L>(&mut two.near(), (gap.start, gap.at), to, slot);
    two.open::<I>(gap.at, to, slot.value);
}

/// The header of the home block of quotient `i`. What has to move may lie behind it, so those
/// lines are asked for as well.
#[inline(always)]
fn read_home<L: Sidecar>(two: &mut TwoBlocks<'_>, i: u32) -> BlockHeader {
    two.near().as_ref().prefetch_slot(i);
    two.prefetch_next();
    BlockHeader::read::<L>(&two.near().as_ref())
}

/// The slot behind those of a run in the first of two blocks that are not above `value`. `None` if
/// it is not in this block, there are too many, or it would part a fingerprint.
#[inline(always)]
fn upper_bound<L: Sidecar>(
    two: &mut TwoBlocks<'_>,
    header: &BlockHeader,
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
    header: &BlockHeader,
    run: Probe,
    pattern: u64,
) -> Option<u32> {
    let packed = two.packed();
    let through = packed.highs_through(run.more.into())?;
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
