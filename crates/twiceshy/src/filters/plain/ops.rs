//! The operations on the table, compiled for each set of instructions.

use super::Core;
use crate::batch::Unclear;
use crate::bits::{Bytes, Isa, Operation};
use crate::error::Error;
use crate::outcome::Removed;
use crate::table::{Added, Bare, Closer, Fingerprint, Gap, Glance, Opening, Still, Taken};

// Operations are two words, so that they travel in registers.

pub(super) struct Contains<'f, M> {
    pub(super) core: &'f Core<M>,
    pub(super) h0: u64,
}

impl<M: Bytes> Operation for Contains<'_, M> {
    type Output = bool;

    #[inline(always)]
    fn run<I: Isa>(self) -> bool {
        let Contains { core, h0 } = self;
        let fingerprint = core.geometry.fingerprint(h0);
        match core.table.probe::<I, Bare>(fingerprint) {
            Closer::Clear(found) => found,
            Closer::Beyond | Closer::Extended(_) => core.contains_beyond(h0),
        }
    }
}

pub(super) struct ContainsAll<'f, M> {
    pub(super) core: &'f Core<M>,
    pub(super) hashes: &'f [u64],
    pub(super) found: &'f mut [bool],
    pub(super) unclear: &'f mut Unclear,
}

impl<M: Bytes> Operation for ContainsAll<'_, M> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self) {
        let Core { table, geometry } = self.core;
        table.probe_all::<I, Bare>(geometry, self.hashes, self.found, self.unclear);
    }
}

/// The long ways, kept out of the short ones: they would cost those their registers.
impl<M: Bytes> Core<M> {
    #[inline(never)]
    pub(super) fn contains_beyond(&self, h0: u64) -> bool {
        self.table.cpu().run(ContainsBeyond { core: self, h0 })
    }
}

struct ContainsBeyond<'f, M> {
    core: &'f Core<M>,
    h0: u64,
}

impl<M: Bytes> Operation for ContainsBeyond<'_, M> {
    type Output = bool;

    #[inline(always)]
    fn run<I: Isa>(self) -> bool {
        let Core { table, geometry } = self.core;
        let fingerprint = geometry.fingerprint(self.h0);
        if let Glance::Clear(found) = table.probe_displaced::<I>(fingerprint) {
            return found;
        }
        let run = table.odd_run::<I>(fingerprint.quotient);
        table.probe_run(&run, fingerprint.remainder) == Glance::Clear(true)
    }
}

pub(super) struct InsertOne<'f> {
    pub(super) core: &'f mut Core,
    pub(super) h0: u64,
}

impl Operation for InsertOne<'_> {
    type Output = Result<(), Error>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Result<(), Error> {
        let InsertOne { core, h0 } = self;
        let Fingerprint {
            quotient,
            remainder,
        } = core.geometry.fingerprint(h0);
        match core.table.insert_short::<I, Bare>(quotient, remainder, ()) {
            Added::Done => Ok(()),
            Added::Across(opening) => I::apart(InsertAcross { core, h0, opening }),
            Added::NotHere => I::apart(InsertBeyond { core, h0 }),
        }
    }
}

struct InsertAcross<'f> {
    core: &'f mut Core,
    h0: u64,
    opening: Opening<()>,
}

impl Operation for InsertAcross<'_> {
    type Output = Result<(), Error>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Result<(), Error> {
        let InsertAcross { core, h0, opening } = self;
        if core.table.open_across::<I, Bare>(&opening, Still) {
            return Ok(());
        }
        I::apart(InsertFar { core, h0 })
    }
}

struct InsertBeyond<'f> {
    core: &'f mut Core,
    h0: u64,
}

impl Operation for InsertBeyond<'_> {
    type Output = Result<(), Error>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Result<(), Error> {
        let InsertBeyond { core, h0 } = self;
        let Fingerprint {
            quotient,
            remainder,
        } = core.geometry.fingerprint(h0);
        if core
            .table
            .insert_displaced::<I, Bare>(quotient, remainder, ())
        {
            return Ok(());
        }
        I::apart(InsertFar { core, h0 })
    }
}

struct InsertFar<'f> {
    core: &'f mut Core,
    h0: u64,
}

impl Operation for InsertFar<'_> {
    type Output = Result<(), Error>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Result<(), Error> {
        let Core { table, geometry } = self.core;
        let Fingerprint {
            quotient,
            remainder,
        } = geometry.fingerprint(self.h0);
        let run = table.odd_run::<I>(quotient);
        let at = table.upper_bound(&run, remainder);
        table.open_home::<I>(&run, at, remainder, ())
    }
}

pub(super) struct RemoveOne<'f> {
    pub(super) core: &'f mut Core,
    pub(super) h0: u64,
}

impl Operation for RemoveOne<'_> {
    type Output = Removed;

    #[inline(always)]
    fn run<I: Isa>(self) -> Removed {
        let RemoveOne { core, h0 } = self;
        let fingerprint = core.geometry.fingerprint(h0);
        match core.table.remove_short::<I, Bare, false>(fingerprint) {
            Taken::Done(removed) => removed,
            Taken::Across(gap) => I::apart(CloseGap { core, gap }),
            Taken::NotHere | Taken::BesideMarks(_) => I::apart(RemoveBeyond { core, h0 }),
        }
    }
}

struct CloseGap<'f> {
    core: &'f mut Core,
    gap: Gap,
}

impl Operation for CloseGap<'_> {
    type Output = Removed;

    #[inline(always)]
    fn run<I: Isa>(self) -> Removed {
        self.core.table.close_gap::<I, Bare>(self.gap);
        Removed::One
    }
}

struct RemoveBeyond<'f> {
    core: &'f mut Core,
    h0: u64,
}

impl Operation for RemoveBeyond<'_> {
    type Output = Removed;

    #[inline(always)]
    fn run<I: Isa>(self) -> Removed {
        let RemoveBeyond { core, h0 } = self;
        let fingerprint = core.geometry.fingerprint(h0);
        match core.table.remove_displaced::<I, Bare, false>(fingerprint) {
            Taken::Done(removed) => removed,
            Taken::Across(gap) => I::apart(CloseGap { core, gap }),
            Taken::NotHere | Taken::BesideMarks(_) => I::apart(RemoveFar { core, h0 }),
        }
    }
}

struct RemoveFar<'f> {
    core: &'f mut Core,
    h0: u64,
}

impl Operation for RemoveFar<'_> {
    type Output = Removed;

    #[inline(always)]
    fn run<I: Isa>(self) -> Removed {
        let Core { table, geometry } = self.core;
        let Fingerprint {
            quotient,
            remainder,
        } = geometry.fingerprint(self.h0);
        let run = table.odd_run::<I>(quotient);
        match table.find_value(&run, remainder) {
            Some(at) => {
                table.close::<I>(&run, at);
                Removed::One
            }
            None => Removed::NotFound,
        }
    }
}
