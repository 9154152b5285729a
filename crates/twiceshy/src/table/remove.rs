//! Taking a fingerprint of one slot out of its run.
//!
//! Nearly always the run is in its home block and has no marked slots. Then it is one comparison of a
//! whole window, and hardly a branch depends on the data. Only the last slot of a run has a runend bit,
//! so the run is told to end one slot earlier, or to be no more, by taking out its first bit, whichever
//! of its slots goes.
//!
//! All else is `remove_slow`: find the run, find the slot in it, close that.

use super::Fingerprint;
use super::lane::{Bare, Sidecar};
use super::layout::{self, BlockHeader};
use super::shift::Gap;
use super::storage::{Table, split};
use crate::bits::{Bytes, Isa, TwoBlocks};

/// How many fingerprints of one slot a minirun must have for one of them to be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    /// One or more.
    Any,
    /// So many.
    Exactly(u32),
}

/// What came of a removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// It is gone.
    One,
    /// There is no such fingerprint.
    NotFound,
    /// There are more or fewer than asked, or some of more than one slot; nothing has changed.
    Unclear,
}

/// What came of a removal from a home block.
enum InHomeBlock {
    /// All is done.
    Done(Taken),
    /// Slots of further blocks move: [`Table::close_across`] must do it.
    Across(Gap),
    /// The run is not in its home block, is too long or has marked slots: [`Table::remove_slow`] must do it.
    /// Nothing has changed.
    Elsewhere,
}

/// A slot of a run that is to be taken out. Two numbers that are at hand where it is found and needed where
/// it is closed: which slot it is, most tables need not know.
struct Target {
    /// The first slot of the run, whose runend bit and mark go.
    start: u32,
    /// How many bits are before the slot in the window there; see [`Packed::bits_before`].
    ///
    /// [`Packed::bits_before`]: crate::bits::Packed::bits_before
    before: u32,
}

impl Target {
    /// The slot with the remainder of this pattern in a run of the first of two blocks that starts at
    /// a slot and has some more. If there is none, or it is not a simple case, nothing has changed.
    #[inline(always)]
    fn find<S: Sidecar>(
        two: &mut TwoBlocks<'_>,
        (start, more): (u32, u32),
        pattern: u64,
        of: Of,
    ) -> Result<Self, InHomeBlock> {
        let packed = two.packed();
        let more = u64::from(more);
        let (highs, slots) = (packed.highs_through(more), packed.slots_through(more));
        let (Some(highs), Some(slots)) = (highs, slots) else {
            return Err(InHomeBlock::Elsewhere);
        };
        // Now it is one of the block's, which the compiler does not see.
        let start = start & 63;
        // With marks, not all that are equal need be alike. Asked before the slots are: that branch is
        // known sooner, and what only the other ways need goes before there is much else to keep.
        if S::MARKS && slots & S::marked(two.near().as_ref().lane()) >> start != 0 {
            return Err(InHomeBlock::Elsewhere);
        }
        let window = two.near().as_ref().window(start);
        // All that are equal, if that is asked, or the first; it does not matter which one goes.
        let equal = match of {
            Of::Any => highs & packed.first_equal(window, pattern),
            Of::Exactly(_) => highs & !packed.differ(window, pattern),
        };
        if equal == 0 {
            return Err(InHomeBlock::Done(Taken::NotFound));
        }
        if let Of::Exactly(count) = of {
            if equal.count_ones() != count {
                return Err(InHomeBlock::Done(Taken::Unclear));
            }
        }
        Ok(Target {
            start,
            before: packed.bits_before(start, equal),
        })
    }

    /// The slot.
    #[inline(always)]
    fn slot(&self, two: &TwoBlocks<'_>) -> u32 {
        self.start + two.packed().index_behind(self.start, self.before)
    }
}

impl<S: Sidecar, M: Bytes + AsMut<[u8]>> Table<S, M> {
    /// Takes a fingerprint out of its minirun, if all there are of one slot.
    #[inline(always)]
    pub(crate) fn remove_any(&mut self, at: Fingerprint) -> Taken {
        if self.is_unmarked() {
            self.remove_any_with::<Bare>(at)
        } else {
            self.remove_any_with::<S>(at)
        }
    }

    /// The same if there are so many.
    #[inline(always)]
    pub(crate) fn remove_one_of(&mut self, at: Fingerprint, count: u32) -> Taken {
        if self.is_unmarked() {
            self.remove_one_of_with::<Bare>(at, count)
        } else {
            self.remove_one_of_with::<S>(at, count)
        }
    }

    /// The body of [`remove_any`](Self::remove_any). `L` is `S`, or stands for it where nothing is marked.
    #[inline(always)]
    pub(super) fn remove_any_on<I: Isa, L: Sidecar>(&mut self, at: Fingerprint) -> Taken {
        self.remove::<I, L>(at.quotient, at.remainder, Of::Any)
    }

    /// The body of [`remove_one_of`](Self::remove_one_of), with `L` as there.
    #[inline(always)]
    pub(super) fn remove_one_of_on<I: Isa, L: Sidecar>(
        &mut self,
        at: Fingerprint,
        count: u32,
    ) -> Taken {
        self.remove::<I, L>(at.quotient, at.remainder, Of::Exactly(count))
    }

    #[inline(always)]
    fn remove<I: Isa, L: Sidecar>(&mut self, quotient: u64, remainder: u64, of: Of) -> Taken {
        match self.remove_home::<I, L>(quotient, remainder, of) {
            InHomeBlock::Done(taken) => taken,
            InHomeBlock::Across(gap) => {
                self.close_across::<L>(gap);
                Taken::One
            }
            InHomeBlock::Elsewhere => self.remove_slow(quotient, remainder, of),
        }
    }

    /// [`remove`](Self::remove) from a run that is in its home block and has no marked slots.
    #[inline(always)]
    fn remove_home<I: Isa, L: Sidecar>(
        &mut self,
        quotient: u64,
        remainder: u64,
        of: Of,
    ) -> InHomeBlock {
        let pattern = self.packed().repeat_compared(remainder);
        let (home, i) = split(quotient);
        let Some(mut two) = self.blocks.two_mut(home) else {
            return InHomeBlock::Elsewhere;
        };
        two.near().as_ref().prefetch_slots(i);
        let header = BlockHeader::read::<L>(&two.near().as_ref());
        if header.offset > 63 {
            return InHomeBlock::Elsewhere;
        }
        // A key that is removed was there, so this branch is easily predicted.
        let Some(rank) = header.rank_of_run(i) else {
            return InHomeBlock::Done(Taken::NotFound);
        };
        let run = header.member_run::<I>(rank, i);
        let target = match Target::find::<L>(&mut two, run, pattern, of) {
            Ok(target) => target,
            Err(outcome) => return outcome,
        };
        // Read again, where it is needed again: there is no register for each of it.
        let mut two = two.in_register();
        let header = BlockHeader::read::<L>(&two.near().as_ref());
        let last = header.last_moving::<I>(target.start);
        let mut two = two.in_register();
        // Is it all there is of the run?
        let gone = u64::from(run.1 == 0) << i;
        layout::clear_occupied(&mut two.near(), gone);
        let Some(to) = last else {
            return InHomeBlock::Across(Gap {
                block: home,
                start: target.start,
                at: target.slot(&two),
            });
        };
        let at = target.slot(&two);
        layout::close_bits::<I, L>(&mut two.near(), target.start, at, to);
        two.close::<I>(target.start, target.before, to);
        self.used -= 1;
        InHomeBlock::Done(Taken::One)
    }

    /// The body of [`remove_slow`](Self::remove_slow).
    #[inline(always)]
    pub(super) fn remove_slow_on<I: Isa>(
        &mut self,
        quotient: u64,
        remainder: u64,
        of: Of,
    ) -> Taken {
        let run = self.run_slow_on::<I>(quotient);
        let at = self.lower_bound(&run, remainder);
        // Where no slot is marked, any number of them is as good as one.
        let last = match of == Of::Any && !self.has_marks(&run) {
            true => run.end.min(at + 1),
            false => run.end,
        };
        let mut end = at;
        while end < last && self.remainder(end) == remainder {
            if self.is_marked(end) {
                return Taken::Unclear;
            }
            end += 1;
        }
        if end == at {
            return Taken::NotFound;
        }
        if of != Of::Any && of != Of::Exactly((end - at) as u32) {
            return Taken::Unclear;
        }
        self.close::<I>(&run, at);
        Taken::One
    }

    /// The body of [`close_across`](Self::close_across).
    #[inline(always)]
    pub(super) fn close_across_on<I: Isa, L: Sidecar>(&mut self, gap: Gap) {
        self.close_gap::<I, L>(gap.block, gap, None);
    }
}
