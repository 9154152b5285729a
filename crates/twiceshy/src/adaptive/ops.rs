//! The operations on the table, compiled for each set of instructions.

use std::marker::PhantomData;
use std::ops::Range;

use super::Adapted;
use super::core::Core;
use super::print::{Digits, Stream, extension_slot};
use crate::bits::{Bytes, Isa, Operation};
use crate::error::Error;
use crate::quotient::{Fingerprint, Gap, Mark, Marks, Run, Sidecar, Slot, Table, Taken};
use crate::traits::Removed;

/// Removes a fingerprint of a minirun whose fingerprints are all alike; `None` if they may differ.
/// `ALONE` where there are values, which a look at the home slots does not compare: then there must
/// be one. With marks beside it, too, unless the long way finds that all are bare.
pub(super) struct RemovePlain<'f, L, const ALONE: bool> {
    pub(super) core: &'f mut Core,
    pub(super) h0: u64,
    pub(super) lane: PhantomData<L>,
}

impl<L: Sidecar, const ALONE: bool> Operation for RemovePlain<'_, L, ALONE> {
    type Output = Option<Removed>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Option<Removed> {
        let RemovePlain { core, h0, lane } = self;
        let fingerprint = core.geometry.fingerprint(h0);
        match core.table.remove_short::<I, L, ALONE>(fingerprint) {
            Taken::Done(removed) => Some(removed),
            Taken::Across(gap) => I::apart(CloseGap { core, gap, lane }),
            Taken::NotHere => I::apart(RemoveBeyond::<L, ALONE> { core, h0, lane }),
            Taken::Marked => I::apart(RemoveBeside { core, h0 }),
        }
    }
}

/// The same with marked slots beside the one that goes.
struct RemoveBeside<'f> {
    core: &'f mut Core,
    h0: u64,
}

impl Operation for RemoveBeside<'_> {
    type Output = Option<Removed>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Option<Removed> {
        let RemoveBeside { core, h0 } = self;
        let fingerprint = core.geometry.fingerprint(h0);
        let lane = PhantomData::<Marks>;
        match core.table.remove_beside_marks::<I>(fingerprint) {
            Taken::Done(removed) => Some(removed),
            Taken::Across(gap) => I::apart(CloseGap { core, gap, lane }),
            Taken::NotHere => I::apart(RemoveBeyond::<_, true> { core, h0, lane }),
            Taken::Marked => I::apart(RemoveMarked { core, h0 }),
        }
    }
}

/// With marked slots in front of the one that goes, or behind it.
struct RemoveMarked<'f> {
    core: &'f mut Core,
    h0: u64,
}

impl Operation for RemoveMarked<'_> {
    type Output = Option<Removed>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Option<Removed> {
        let RemoveMarked { core, h0 } = self;
        match core.table.only_print::<I>(core.geometry.fingerprint(h0)) {
            // Later words of the hash must say whether it is that of the key.
            Some((home, end)) if end > home + 1 => None,
            _ => I::apart(RemoveFar { core, h0 }),
        }
    }
}

struct CloseGap<'f, L> {
    core: &'f mut Core,
    gap: Gap,
    lane: PhantomData<L>,
}

impl<L: Sidecar> Operation for CloseGap<'_, L> {
    type Output = Option<Removed>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Option<Removed> {
        self.core.table.close_gap::<I, L>(self.gap);
        Some(Removed::One)
    }
}

struct RemoveBeyond<'f, L, const ALONE: bool> {
    core: &'f mut Core,
    h0: u64,
    lane: PhantomData<L>,
}

impl<L: Sidecar, const ALONE: bool> Operation for RemoveBeyond<'_, L, ALONE> {
    type Output = Option<Removed>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Option<Removed> {
        let RemoveBeyond { core, h0, lane } = self;
        let fingerprint = core.geometry.fingerprint(h0);
        match core.table.remove_displaced::<I, L, ALONE>(fingerprint) {
            Taken::Done(removed) => Some(removed),
            Taken::Across(gap) => I::apart(CloseGap { core, gap, lane }),
            Taken::NotHere | Taken::Marked => I::apart(RemoveFar { core, h0 }),
        }
    }
}

struct RemoveFar<'f> {
    core: &'f mut Core,
    h0: u64,
}

impl Operation for RemoveFar<'_> {
    type Output = Option<Removed>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Option<Removed> {
        let Core {
            table, geometry, ..
        } = self.core;
        let Fingerprint {
            quotient,
            remainder,
        } = geometry.fingerprint(self.h0);
        let run = table.odd_run::<I>(quotient);
        let at = bare_and_alike(table, &run, remainder)?;
        if !table.close_near::<I>(&run, at) {
            table.close::<I>(&run, at);
        }
        Some(Removed::One)
    }
}

/// The slots of the one fingerprint of a minirun, if it has but one.
#[inline(always)]
fn alone(table: &Table<Marks>, run: &Run, remainder: u64) -> Option<Range<u64>> {
    let holds = |slot| slot < run.end && table.remainder(slot) == remainder;
    let at = table.lower_bound(run, remainder);
    let end = table.end_of_print(at, run.end);
    // The run is sorted: the fingerprints of a minirun are neighbours.
    (holds(at) && !holds(end)).then_some(at..end)
}

/// The home slot of the one fingerprint of a minirun, if it has but one and that is not
/// extended.
#[inline(always)]
pub(super) fn alone_and_bare(table: &Table<Marks>, run: &Run, remainder: u64) -> Option<u64> {
    let slots = alone(table, run, remainder)?;
    (slots.end == slots.start + 1).then_some(slots.start)
}

/// The first home slot of a minirun whose fingerprints are all alike, none being extended. Values
/// may differ, so where there are such it must be one.
#[inline(always)]
fn bare_and_alike(table: &Table<Marks>, run: &Run, remainder: u64) -> Option<u64> {
    let at = table.lower_bound(run, remainder);
    let mut end = at;
    while end < run.end && table.remainder(end) == remainder {
        end += 1;
        if table.end_of_print(end - 1, run.end) > end {
            return None;
        }
    }
    let one = end == at + 1;
    (one || end > at && table.ignored_bits() == 0).then_some(at)
}

/// Adapts a minirun that holds one fingerprint, without counter, of one key: by far the
/// most frequent case, done in place. `None` if it is not that case; nothing has changed
/// then.
pub(super) struct AdaptAlone<'f, 'k> {
    pub(super) core: &'f mut Core,
    pub(super) query: Digits<'k>,
    pub(super) key: Digits<'k>,
}

impl Operation for AdaptAlone<'_, '_> {
    type Output = Option<Result<Adapted, Error>>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Self::Output {
        let AdaptAlone { core, query, key } = self;
        let Core {
            table, geometry, ..
        } = core;
        let Fingerprint {
            quotient,
            remainder,
        } = geometry.fingerprint(query.key.h0());
        let run = table.run::<I>(quotient);
        let Range { start: at, end } = alone(table, &run, remainder)?;
        let mut k = 0;
        for slot in at + 1..end {
            let slot = table.slot(slot);
            // A counter, a key that does not fit, or a query that does not match.
            if slot.runend || key.digit(k) != slot.value || query.digit(k) != slot.value {
                return None;
            }
            k += 1;
        }
        let first = k;
        while key.digit(k) == query.digit(k) {
            k += 1;
            if k >= key.digits() {
                return Some(Err(Error::Inseparable));
            }
        }
        if k > first && !table.has_room::<I>(&run, k - first + 1) {
            return Some(Err(table.full()));
        }
        for (place, k) in (end..).zip(first..=k) {
            let run = Run {
                end: run.end + (place - end),
                ..run
            };
            let slot = extension_slot(key.digit(k));
            if let Err(error) = table.open_marked::<I>(&run, place, slot) {
                return Some(Err(error));
            }
        }
        Some(Ok(Adapted::ONE))
    }
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
        let h0 = key.key.h0();
        let Core {
            table,
            geometry,
            beyond,
            ..
        } = &mut *core;
        let Some((home, end)) = table.only_print::<I>(geometry.fingerprint(h0)) else {
            return I::apart(RemoveAloneFar { core, key });
        };
        if !continues(table, home + 1..end, &key) {
            return None;
        }
        for slot in (home + 1..end).rev() {
            if !table.close_marked::<I>(slot) {
                return I::apart(RemoveAloneFar { core, key });
            }
            *beyond -= 1;
        }
        // What is left is bare.
        I::apart(RemoveBeside { core, h0 })
    }
}

/// Are these marked slots no counter, but the digits that a key goes on with?
#[inline(always)]
fn continues(table: &Table<Marks>, tail: Range<u64>, key: &Digits<'_>) -> bool {
    tail.enumerate().all(|(k, slot)| {
        let slot = table.slot(slot);
        !slot.runend && key.digit(k) == slot.value
    })
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
        let Core {
            table,
            geometry,
            beyond,
            ..
        } = core;
        let Fingerprint {
            quotient,
            remainder,
        } = geometry.fingerprint(key.key.h0());
        let mut run = table.run::<I>(quotient);
        let slots = alone(table, &run, remainder)?;
        if !continues(table, slots.start + 1..slots.end, &key) {
            return None;
        }
        *beyond -= slots.end - slots.start - 1;
        // From the last slot on, so that those that are left are a fingerprint.
        for slot in slots.rev() {
            table.close::<I>(&run, slot);
            run.home_end -= u64::from(run.home_end > slot);
            run.end -= 1;
        }
        Some(Removed::One)
    }
}

/// The slots of the first live fingerprint that matches a key.
pub(super) struct FindLive<'f, 'k, M> {
    pub(super) core: &'f Core<M>,
    pub(super) key: Digits<'k>,
}

impl<M: Bytes> Operation for FindLive<'_, '_, M> {
    type Output = Option<Range<u64>>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Self::Output {
        let FindLive { core, key } = self;
        let fingerprint = core.geometry.fingerprint(key.key.h0());
        let Some((first, homes)) = core.table.homes::<I>(fingerprint) else {
            return core.find_beyond(key);
        };
        core.live_among(first, homes, &key)
    }
}

pub(super) struct FindBeyond<'f, 'k, M> {
    pub(super) core: &'f Core<M>,
    pub(super) key: Digits<'k>,
}

impl<M: Bytes> Operation for FindBeyond<'_, '_, M> {
    type Output = Option<Range<u64>>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Self::Output {
        let FindBeyond { core, key } = self;
        let Core {
            table, geometry, ..
        } = core;
        let Fingerprint {
            quotient,
            remainder,
        } = geometry.fingerprint(key.key.h0());
        let run = table.odd_run::<I>(quotient);
        let mut at = table.lower_bound(&run, remainder);
        while at < run.end && table.remainder(at) == remainder {
            let end = table.end_of_print(at, run.end);
            if core.tail_matches(at + 1..end, &key) {
                return Some(at..end);
            }
            at = end;
        }
        None
    }
}

pub(super) struct FindRun<'f, M> {
    pub(super) table: &'f Table<Marks, M>,
    pub(super) quotient: u64,
}

impl<M: Bytes> Operation for FindRun<'_, M> {
    type Output = Run;

    #[inline(always)]
    fn run<I: Isa>(self) -> Run {
        self.table.run::<I>(self.quotient)
    }
}

pub(super) struct HasRoom<'f> {
    pub(super) table: &'f Table<Marks>,
    pub(super) run: Run,
    pub(super) count: usize,
}

impl Operation for HasRoom<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<I: Isa>(self) -> bool {
        self.table.has_room::<I>(&self.run, self.count)
    }
}

pub(super) struct OpenHome<'f> {
    pub(super) table: &'f mut Table<Marks>,
    pub(super) run: Run,
    pub(super) at: u64,
    pub(super) value: u64,
}

impl Operation for OpenHome<'_> {
    type Output = Result<(), Error>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Result<(), Error> {
        self.table
            .open_home::<I>(&self.run, self.at, self.value, Mark::Home)
    }
}

pub(super) struct Rewrite<'f> {
    pub(super) table: &'f mut Table<Marks>,
    pub(super) quotient: u64,
    pub(super) old: Range<u64>,
    pub(super) new: &'f [Slot<Mark>],
}

impl Operation for Rewrite<'_> {
    type Output = Result<(), Error>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Result<(), Error> {
        self.table.rewrite::<I>(self.quotient, self.old, self.new)
    }
}
