//! What the filters ask of the table, compiled for each set of instructions.

use super::code::Coding;
use super::core::Core;
use super::moves::{BlockFull, Lower, Raise};
use super::symbols::{Symbols, Unit};
use crate::bits::{Bytes, Isa, Operation};
use crate::error::Error;
use crate::table::{Added, Fingerprint, Glance, Opening, Run};

/// Why a slot could not be added; nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// No slot is free.
    Full,
    /// A block has no room for the symbols that would move into it.
    BlockFull(BlockFull),
}

/// Does a slot match a key with this `h0`? `None` if symbols decide.
struct Answer<'f, S: Symbols, M> {
    core: &'f Core<S, M>,
    h0: u64,
}

impl<S: Symbols, M: Bytes> Operation for Answer<'_, S, M> {
    type Output = Option<bool>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Option<bool> {
        let Answer { core, h0 } = self;
        let table = &core.table;
        let Some(look) = table.look::<I, S::Lane>(core.geometry.fingerprint(h0)) else {
            return core.answer_beyond(h0);
        };
        // The last slot up to which a symbol would make a difference: of the run, or of those
        // that have the remainder. The caller branches on that, too.
        let to = match S::UNIT {
            Unit::Run => (look.occupied != 0).then_some(look.start + look.last),
            Unit::Minirun => look.any_equal().then(|| look.first_equal()),
        };
        if let Some(to) = to {
            let word = S::load(look.lane());
            if !core.coding.is_clear(word, look.start, to)
                && has_symbol(core.coding, word, look.start, to)
            {
                return None;
            }
        }
        Some(look.any_equal())
    }
}

/// Has one of the slots `from..=to` a symbol? Kept out of the short ways.
#[inline(never)]
fn has_symbol<C: Coding>(coding: &C, word: C::Word, from: u32, to: u32) -> bool {
    coding.has_symbol(word, from, to)
}

struct AnswerBeyond<'f, S: Symbols, M> {
    core: &'f Core<S, M>,
    h0: u64,
}

impl<S: Symbols, M: Bytes> Operation for AnswerBeyond<'_, S, M> {
    type Output = Option<bool>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Option<bool> {
        let AnswerBeyond { core, h0 } = self;
        let Fingerprint {
            quotient,
            remainder,
        } = core.geometry.fingerprint(h0);
        let run = core.table.odd_run::<I>(quotient);
        let found = core.table.probe_run(&run, remainder) == Glance::Clear(true);
        if (S::UNIT == Unit::Minirun && !found) || core.is_run_clear(&run) {
            return Some(found);
        }
        None
    }
}

impl<S: Symbols, M: Bytes> Core<S, M> {
    /// Does a slot match a key with this `h0`? `None` if symbols decide.
    #[inline(always)]
    pub(super) fn answer(&self, h0: u64) -> Option<bool> {
        self.table.cpu().run(Answer { core: self, h0 })
    }

    /// The long way, kept out of the short one.
    #[inline(never)]
    fn answer_beyond(&self, h0: u64) -> Option<bool> {
        self.table.cpu().run(AnswerBeyond { core: self, h0 })
    }
}

impl<S: Symbols> Core<S> {
    /// Adds a slot without a symbol behind all of its run that are not above it.
    #[inline(always)]
    pub(super) fn insert(&mut self, h0: u64) -> Result<(), Refused> {
        let result = self.table.cpu().run(Insert { core: self, h0 });
        result.map_err(refused)
    }

    /// [`insert`](Self::insert) the long way, kept out of the short one.
    #[inline(never)]
    fn insert_beyond(&mut self, h0: u64) -> Result<(), Error> {
        self.table.cpu().run(InsertBeyond { core: self, h0 })
    }

    /// Takes one slot out of a run. If the symbols that move do not fit, nothing has changed.
    pub(super) fn close(&mut self, run: &Run, at: u64) -> Result<(), BlockFull> {
        let result = self.table.cpu().run(Close {
            core: self,
            run,
            at,
        });
        result.map_err(|error| {
            BlockFull::of_error(&error).expect("closing fails for want of room only")
        })
    }
}

#[cold]
fn refused(error: Error) -> Refused {
    BlockFull::of_error(&error).map_or(Refused::Full, Refused::BlockFull)
}

// Two words, so that it travels in registers.
struct Insert<'f, S: Symbols> {
    core: &'f mut Core<S>,
    h0: u64,
}

impl<S: Symbols> Operation for Insert<'_, S> {
    type Output = Result<(), Error>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Result<(), Error> {
        let Insert { core, h0 } = self;
        let Fingerprint {
            quotient,
            remainder,
        } = core.geometry.fingerprint(h0);
        let moving = Raise(core.coding);
        let table = &mut core.table;
        match table.insert_short_after::<I, S::Lane>(quotient, remainder, moving) {
            Added::Done => Ok(()),
            Added::Across(opening) => I::apart(InsertAcross { core, h0, opening }),
            Added::NotHere => core.insert_beyond(h0),
        }
    }
}

struct InsertAcross<'f, S: Symbols> {
    core: &'f mut Core<S>,
    h0: u64,
    opening: Opening<()>,
}

impl<S: Symbols> Operation for InsertAcross<'_, S> {
    type Output = Result<(), Error>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Result<(), Error> {
        let InsertAcross { core, h0, opening } = self;
        let moving = Raise(core.coding);
        if core.table.open_across::<I, S::Lane>(&opening, moving) {
            return Ok(());
        }
        core.insert_beyond(h0)
    }
}

struct InsertBeyond<'f, S: Symbols> {
    core: &'f mut Core<S>,
    h0: u64,
}

impl<S: Symbols> Operation for InsertBeyond<'_, S> {
    type Output = Result<(), Error>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Result<(), Error> {
        let Core {
            table,
            geometry,
            coding,
        } = self.core;
        let Fingerprint {
            quotient,
            remainder,
        } = geometry.fingerprint(self.h0);
        let run = table.odd_run::<I>(quotient);
        let at = table.upper_bound(&run, remainder);
        table.open_home_after::<I>(&run, at, remainder, (), Raise(*coding))
    }
}

struct Close<'f, S: Symbols> {
    core: &'f mut Core<S>,
    run: &'f Run,
    at: u64,
}

impl<S: Symbols> Operation for Close<'_, S> {
    type Output = Result<(), Error>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Result<(), Error> {
        let Core { table, coding, .. } = self.core;
        table.close_after::<I>(self.run, self.at, Lower(*coding))
    }
}
