//! The operations on the table that add a slot: a fingerprint, or a digit to one.

use std::marker::PhantomData;

use super::core::Core;
use super::ops::alone_and_bare;
use crate::bits::{Isa, Operation};
use crate::error::Error;
use crate::hash::Hashed;
use crate::prints::extension_slot;
use crate::table::{Added, Fingerprint, Mark, Marks, Minirun, Opening, Short, Sidecar, Still};

/// Adds an unextended fingerprint. Has that been done? The outcome is no error, so that it stays
/// in a register: who is told no takes the long way, which has one.
pub(super) struct InsertPlain<'f, L> {
    pub(super) core: &'f mut Core,
    pub(super) h0: u64,
    pub(super) lane: PhantomData<L>,
}

impl<L: Sidecar> Operation for InsertPlain<'_, L>
where
    Mark: Into<L::Item>,
{
    type Output = bool;

    #[inline(always)]
    fn run<I: Isa>(self) -> bool {
        let InsertPlain { core, h0, lane } = self;
        let Fingerprint {
            quotient,
            remainder,
        } = core.geometry.fingerprint(h0);
        match core
            .table
            .insert_short::<I, L>(quotient, remainder, Mark::Last.into())
        {
            Added::Done => true,
            Added::Across(opening) => I::apart(InsertAcross {
                core,
                h0,
                opening,
                lane,
            }),
            Added::NotHere => I::apart(InsertBeyond { core, h0, lane }),
        }
    }
}

struct InsertAcross<'f, L: Sidecar> {
    core: &'f mut Core,
    h0: u64,
    opening: Opening<L::Item>,
    lane: PhantomData<L>,
}

impl<L: Sidecar> Operation for InsertAcross<'_, L> {
    type Output = bool;

    #[inline(always)]
    fn run<I: Isa>(self) -> bool {
        let InsertAcross {
            core, h0, opening, ..
        } = self;
        core.table.open_across::<I, L>(&opening, Still) || I::apart(InsertFar { core, h0 })
    }
}

struct InsertBeyond<'f, L> {
    core: &'f mut Core,
    h0: u64,
    lane: PhantomData<L>,
}

impl<L: Sidecar> Operation for InsertBeyond<'_, L>
where
    Mark: Into<L::Item>,
{
    type Output = bool;

    #[inline(always)]
    fn run<I: Isa>(self) -> bool {
        let InsertBeyond { core, h0, .. } = self;
        let Fingerprint {
            quotient,
            remainder,
        } = core.geometry.fingerprint(h0);
        let mark = Mark::Last.into();
        core.table
            .insert_displaced::<I, L>(quotient, remainder, mark)
            || I::apart(InsertFar { core, h0 })
    }
}

struct InsertFar<'f> {
    core: &'f mut Core,
    h0: u64,
}

impl Operation for InsertFar<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<I: Isa>(self) -> bool {
        let Core {
            table, geometry, ..
        } = self.core;
        let Fingerprint {
            quotient,
            remainder,
        } = geometry.fingerprint(self.h0);
        let run = table.odd_run::<I>(quotient);
        let at = if table.has_marks(&run) {
            let at = table.lower_bound(&run, remainder);
            if at < run.end && table.remainder(at) == remainder {
                return false;
            }
            at
        } else {
            table.upper_bound(&run, remainder)
        };
        table
            .open_home::<I>(&run, at, remainder, Mark::Last)
            .is_ok()
    }
}

/// Appends one digit of `key` to the one fingerprint of a minirun, where it has none, is in its home
/// block or the next one, and that digit tells `key` from `query`, which is of the minirun as well.
/// Has that been done?
pub(super) struct Extend<'f, 'k, L> {
    pub(super) core: &'f mut Core,
    pub(super) minirun: Minirun,
    pub(super) query: &'f Hashed<'k>,
    pub(super) key: &'f Hashed<'k>,
    pub(super) lane: PhantomData<L>,
}

impl<L: Sidecar> Operation for Extend<'_, '_, L> {
    type Output = bool;

    #[inline(always)]
    fn run<I: Isa>(self) -> bool {
        let Extend {
            core,
            minirun,
            query,
            key,
            ..
        } = self;
        let h0 = query.h0();
        let fingerprint = core.geometry.fingerprint(h0);
        if core.geometry.id_of(fingerprint) != minirun.id()
            || core.geometry.fingerprint(key.h0()) != fingerprint
        {
            return false;
        }
        let Some(digit) = core.first_digit_of(key, query) else {
            return false;
        };
        let slot = extension_slot(digit);
        match core.table.extend_short::<I, L>(fingerprint, slot) {
            Added::Done => true,
            Added::Across(opening) => I::apart(ExtendAcross { core, opening }),
            Added::NotHere => I::apart(ExtendDisplaced { core, h0, digit }),
        }
    }
}

struct ExtendAcross<'f> {
    core: &'f mut Core,
    opening: Opening<Mark>,
}

impl Operation for ExtendAcross<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<I: Isa>(self) -> bool {
        let ExtendAcross { core, opening } = self;
        core.table.open_across::<I, Marks>(&opening, Still)
    }
}

/// The same in the next block.
struct ExtendDisplaced<'f> {
    core: &'f mut Core,
    h0: u64,
    digit: u64,
}

impl Operation for ExtendDisplaced<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<I: Isa>(self) -> bool {
        let ExtendDisplaced { core, h0, digit } = self;
        let fingerprint = core.geometry.fingerprint(h0);
        let slot = extension_slot(digit);
        core.table.extend_displaced::<I>(fingerprint, slot)
    }
}

/// The same wherever it is.
pub(super) struct ExtendBeyond<'f> {
    pub(super) core: &'f mut Core,
    pub(super) h0: u64,
    pub(super) digit: u64,
}

impl Operation for ExtendBeyond<'_> {
    type Output = Short<Result<(), Error>>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Self::Output {
        let Core {
            table, geometry, ..
        } = self.core;
        let Fingerprint {
            quotient,
            remainder,
        } = geometry.fingerprint(self.h0);
        let run = table.odd_run::<I>(quotient);
        let Some(at) = alone_and_bare(table, &run, remainder) else {
            return Short::NotHere;
        };
        Short::Done(table.open_tail::<I>(&run, at + 1, extension_slot(self.digit)))
    }
}
