//! Removing a key, compiled for each set of instructions.
//!
//! ```text
//! RemovePlain                    a run in its home block                            9 of 10
//!   -> CloseGap                  the same, and slots of further blocks move
//!   -> RemoveBeside              the same with marked slots in the run
//!   -> RemoveBeyond              in the next block
//!        -> RemoveFar            across the end of a block, or anywhere
//! RemoveTwo                      a fingerprint with one digit that RemoveBeside has found
//! RemoveAlone                    a fingerprint that goes on, with all words of the key
//!   -> RemoveAloneFar            the same, not in its home block
//! ```
//!
//! They get the first word of the hash, not the key. A key that is read here would be read from where
//! the caller has just put it, and such a read seems to wait for the writes of the removal before: that
//! took 64 ns for 50.

use std::marker::PhantomData;
use std::ops::Range;

use super::core::Core;
use super::ops::alone;
use crate::bits::{Isa, Operation, OperationOn};
use crate::outcome::Removed;
use crate::prints::{Digits, Stream};
use crate::table::{
    Extensions, Fingerprint, Gap, Marks, Nearby, Run, ShortRun, Sidecar, Table, Taken, TwoSlots,
    Undone,
};

/// Removes a fingerprint of a minirun whose fingerprints are all alike. If that has not been done, there
/// is none, or they may differ; who is told so finds out which, with the words of the key at hand.
/// `ALONE` where there are values, which a look at the home slots does not compare: then there must
/// be one. They may differ, too, if one of them goes on.
pub(super) struct RemovePlain<'f, L, const ALONE: bool> {
    pub(super) core: &'f mut Core,
    pub(super) h0: u64,
    pub(super) lane: PhantomData<L>,
}

impl<L: Sidecar, const ALONE: bool> Operation for RemovePlain<'_, L, ALONE> {
    type Output = Result<(), Undone>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Result<(), Undone> {
        let RemovePlain { core, h0, lane } = self;
        let fingerprint = core.geometry.fingerprint(h0);
        match core.table.remove_short::<I, L, ALONE>(fingerprint) {
            Taken::Done(removed) => done_if(removed == Removed::One),
            Taken::Across(gap) => I::apart(CloseGap { core, gap, lane }),
            Taken::NotHere => I::apart(RemoveBeyond::<L, ALONE> { core, h0, lane }),
            Taken::BesideMarks(run) => {
                I::apart_on(RemoveBeside::<L, ALONE> { core, h0, lane }, run)
            }
        }
    }
}

/// The same with marked slots beside the one that goes.
struct RemoveBeside<'f, L, const ALONE: bool> {
    core: &'f mut Core,
    h0: u64,
    lane: PhantomData<L>,
}

impl<L: Sidecar, const ALONE: bool> OperationOn<ShortRun> for RemoveBeside<'_, L, ALONE> {
    type Output = Result<(), Undone>;

    #[inline(always)]
    fn run_on<I: Isa>(self, run: ShortRun) -> Result<(), Undone> {
        let Core {
            table, geometry, ..
        } = self.core;
        table.remove_beside_marks::<I, L, ALONE>(geometry.fingerprint(self.h0), run)
    }
}

struct CloseGap<'f, L> {
    core: &'f mut Core,
    gap: Gap,
    lane: PhantomData<L>,
}

impl<L: Sidecar> Operation for CloseGap<'_, L> {
    type Output = Result<(), Undone>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Result<(), Undone> {
        self.core.table.close_gap::<I, L>(self.gap);
        Ok(())
    }
}

struct RemoveBeyond<'f, L, const ALONE: bool> {
    core: &'f mut Core,
    h0: u64,
    lane: PhantomData<L>,
}

impl<L: Sidecar, const ALONE: bool> Operation for RemoveBeyond<'_, L, ALONE> {
    type Output = Result<(), Undone>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Result<(), Undone> {
        let RemoveBeyond { core, h0, lane } = self;
        let fingerprint = core.geometry.fingerprint(h0);
        match core.table.remove_displaced::<I, L, ALONE>(fingerprint) {
            Taken::Done(removed) => done_if(removed == Removed::One),
            Taken::Across(gap) => I::apart(CloseGap { core, gap, lane }),
            Taken::NotHere | Taken::BesideMarks(_) => I::apart(RemoveFar { core, h0 }),
        }
    }
}

struct RemoveFar<'f> {
    core: &'f mut Core,
    h0: u64,
}

impl Operation for RemoveFar<'_> {
    type Output = Result<(), Undone>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Result<(), Undone> {
        let Core {
            table, geometry, ..
        } = self.core;
        let Fingerprint {
            quotient,
            remainder,
        } = geometry.fingerprint(self.h0);
        let run = table.odd_run::<I>(quotient);
        let Some(at) = bare_and_alike(table, &run, remainder) else {
            return Err(Undone::UNCLEAR);
        };
        if !table.close_near::<I>(&run, at) {
            table.close::<I>(&run, at);
        }
        Ok(())
    }
}

#[inline(always)]
fn done_if(done: bool) -> Result<(), Undone> {
    if done { Ok(()) } else { Err(Undone::UNCLEAR) }
}

/// Removes a fingerprint of two slots, if its digit is this one. Has that been done?
pub(super) struct RemoveTwo<'f> {
    pub(super) core: &'f mut Core,
    pub(super) digit: u64,
}

impl OperationOn<TwoSlots> for RemoveTwo<'_> {
    type Output = bool;

    #[inline(always)]
    fn run_on<I: Isa>(self, print: TwoSlots) -> bool {
        let RemoveTwo { core, digit } = self;
        let removed = core.table.remove_two::<I, Extensions>(print, digit);
        core.extras.take(u64::from(removed));
        removed
    }
}

/// The first home slot of a minirun whose fingerprints are all alike, none being extended. Values
/// may differ, so where there are such it must be one.
#[inline(always)]
fn bare_and_alike(table: &Table<Marks>, run: &Run, remainder: u64) -> Option<u64> {
    let at = table.lower_bound(run, remainder);
    let mut end = at;
    while end < run.end && table.remainder(end) == remainder {
        end += 1;
        if table.end_of_print(end - 1) > end {
            return None;
        }
    }
    let one = end == at + 1;
    (one || end > at && table.ignored_bits() == 0).then_some(at)
}

/// Removes a key from a minirun that holds one fingerprint, without counter, which the key starts
/// with: most that have adapted are such. `None` if it is not that case; nothing has changed then.
pub(super) struct RemoveAlone<'f, 'k> {
    pub(super) core: &'f mut Core,
    pub(super) key: Digits<'k>,
}

impl Operation for RemoveAlone<'_, '_> {
    type Output = Option<Removed>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Option<Removed> {
        let RemoveAlone { core, key } = self;
        let fingerprint = core.geometry.fingerprint(key.key.h0());
        match core.table.only_print::<I>(fingerprint) {
            Some(print) => remove_print::<I>(core, fingerprint.quotient, print, key),
            None => I::apart(RemoveAloneFar { core, key }),
        }
    }
}

/// [`RemoveAlone`] where the fingerprint was found, of this quotient.
#[inline(always)]
fn remove_print<I: Isa>(
    core: &mut Core,
    quotient: u64,
    print: Nearby,
    key: Digits<'_>,
) -> Option<Removed> {
    if !is_extended_by(core, print.home..print.end, &key) {
        return None;
    }
    for slot in (print.home + 1..print.end).rev() {
        if !core.table.close_tail::<I>(slot) {
            return I::apart(RemoveAloneFar { core, key });
        }
        core.extras.take(1);
    }
    if core.table.close_bare::<I>(quotient, print) {
        return Some(Removed::One);
    }
    I::apart(RemoveAloneFar { core, key })
}

/// Has a fingerprint no counter, and an extension that a key goes on with?
#[inline(always)]
fn is_extended_by(core: &Core, print: Range<u64>, key: &Digits<'_>) -> bool {
    for (k, digit) in core.tail(print).enumerate() {
        if digit.counts || key.digit(k) != digit.value {
            return false;
        }
    }
    true
}

/// The same wherever the fingerprint is.
struct RemoveAloneFar<'f, 'k> {
    core: &'f mut Core,
    key: Digits<'k>,
}

impl Operation for RemoveAloneFar<'_, '_> {
    type Output = Option<Removed>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Option<Removed> {
        let RemoveAloneFar { core, key } = self;
        let Fingerprint {
            quotient,
            remainder,
        } = core.geometry.fingerprint(key.key.h0());
        let mut run = core.table.run_on::<I>(quotient);
        let slots = alone(&core.table, &run, remainder)?;
        if !is_extended_by(core, slots.clone(), &key) {
            return None;
        }
        core.extras.take(slots.end - slots.start - 1);
        // From the last slot on, so that those that are left are a fingerprint.
        for slot in slots.rev() {
            core.table.close::<I>(&run, slot);
            run.end -= 1;
        }
        Some(Removed::One)
    }
}
