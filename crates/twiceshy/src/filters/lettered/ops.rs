//! The operations on the table, compiled for each set of instructions.

use super::Core;
use super::moves::{Lower, Raise, Refuse, Relieve};
use crate::bits::{Bytes, Isa, Operation};
use crate::code::Coding;
use crate::error::Error;
use crate::table::{Added, Fingerprint, Glance, Look, Opening, Run};

/// What letters mean for a lookup.
pub(crate) trait Glimpse {
    /// Does it ask for the letters of those slots only that hold the remainder of the query?
    const ASKS_ONLY_EQUALS: bool;

    /// The last slot up to which a letter would make a difference, counted from the block's
    /// start; `None` if no letter would.
    fn asks(look: &Look<'_>) -> Option<u32>;
}

/// Does a slot match a key with this `h0`? `None` if letters decide.
pub(crate) struct Answer<'f, C: Coding, M, G> {
    pub(crate) core: &'f Core<C, M>,
    pub(crate) h0: u64,
    pub(crate) glimpse: std::marker::PhantomData<G>,
}

impl<C: Coding, M: Bytes, G: Glimpse> Operation for Answer<'_, C, M, G> {
    type Output = Option<bool>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Option<bool> {
        let Answer { core, h0, .. } = self;
        let table = &core.table;
        let Some(look) = table.look::<I, C::Lane>(core.geometry.fingerprint(h0)) else {
            return core.answer_beyond::<G>(h0);
        };
        if let Some(to) = G::asks(&look) {
            let word = C::load(look.lane());
            if !core.coding.is_clear(word, look.start, to)
                && has_letter(&core.coding, word, look.start, to)
            {
                return None;
            }
        }
        Some(look.any_equal())
    }
}

/// Has one of the slots `from..=to` a letter? Kept out of the short ways.
#[inline(never)]
fn has_letter<C: Coding>(coding: &C, word: C::Word, from: u32, to: u32) -> bool {
    coding.has_letter(word, from, to)
}

struct AnswerBeyond<'f, C: Coding, M> {
    core: &'f Core<C, M>,
    h0: u64,
    only_equals: bool,
}

impl<C: Coding, M: Bytes> Operation for AnswerBeyond<'_, C, M> {
    type Output = Option<bool>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Option<bool> {
        let AnswerBeyond {
            core,
            h0,
            only_equals,
        } = self;
        let Fingerprint {
            quotient,
            remainder,
        } = core.geometry.fingerprint(h0);
        let run = core.table.odd_run::<I>(quotient);
        let found = core.table.probe_run(&run, remainder) == Glance::Clear(true);
        if (only_equals && !found) || core.is_run_clear(&run) {
            return Some(found);
        }
        None
    }
}

impl<C: Coding, M: Bytes> Core<C, M> {
    #[inline(always)]
    pub(crate) fn answer<G: Glimpse>(&self, h0: u64) -> Option<bool> {
        self.table.cpu().run(Answer {
            core: self,
            h0,
            glimpse: std::marker::PhantomData::<G>,
        })
    }

    /// The long way, kept out of the short one.
    #[inline(never)]
    fn answer_beyond<G: Glimpse>(&self, h0: u64) -> Option<bool> {
        self.table.cpu().run(AnswerBeyond {
            core: self,
            h0,
            only_equals: G::ASKS_ONLY_EQUALS,
        })
    }
}

impl<C: Coding> Core<C> {
    /// Adds a slot without a letter behind all of its run that are not above it. Gives up no
    /// letters; see [`Refuse`].
    #[inline(always)]
    pub(crate) fn insert(&mut self, h0: u64) -> Result<(), Error> {
        self.table.cpu().run(Insert { core: self, h0 })
    }

    /// [`insert`](Self::insert) the long way, kept out of the short one; and with letters given
    /// up where there is no room for them.
    #[inline(never)]
    pub(crate) fn insert_beyond(
        &mut self,
        h0: u64,
        relieve: impl Relieve<C, crate::mem::Memory>,
    ) -> Result<(), Error> {
        self.table.cpu().run(InsertBeyond {
            core: self,
            h0,
            relieve,
        })
    }

    /// Takes one slot out of a run.
    pub(crate) fn close(
        &mut self,
        run: &Run,
        at: u64,
        relieve: impl Relieve<C, crate::mem::Memory>,
    ) -> Result<(), Error> {
        self.table.cpu().run(Close {
            core: self,
            run,
            at,
            relieve,
        })
    }
}

// Two words, so that it travels in registers.
struct Insert<'f, C: Coding> {
    core: &'f mut Core<C>,
    h0: u64,
}

impl<C: Coding> Operation for Insert<'_, C> {
    type Output = Result<(), Error>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Result<(), Error> {
        let Insert { core, h0 } = self;
        let relieve = Refuse;
        let Fingerprint {
            quotient,
            remainder,
        } = core.geometry.fingerprint(h0);
        let coding = &core.coding;
        let result = core.table.insert_short_after::<I, C::Lane>(
            quotient,
            remainder,
            (),
            Raise { coding, relieve },
        );
        match result {
            Added::Done => Ok(()),
            Added::Across(opening) => I::apart(InsertAcross { core, h0, opening }),
            Added::NotHere => core.insert_beyond(h0, relieve),
        }
    }
}

struct InsertAcross<'f, C: Coding> {
    core: &'f mut Core<C>,
    h0: u64,
    opening: Opening<()>,
}

impl<C: Coding> Operation for InsertAcross<'_, C> {
    type Output = Result<(), Error>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Result<(), Error> {
        let InsertAcross { core, h0, opening } = self;
        let (coding, relieve) = (&core.coding, Refuse);
        let moving = Raise { coding, relieve };
        if core.table.open_across::<I, C::Lane>(&opening, moving) {
            return Ok(());
        }
        core.insert_beyond(h0, relieve)
    }
}

struct InsertBeyond<'f, C: Coding, R> {
    core: &'f mut Core<C>,
    h0: u64,
    relieve: R,
}

impl<C: Coding, R: Relieve<C, crate::mem::Memory>> Operation for InsertBeyond<'_, C, R> {
    type Output = Result<(), Error>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Result<(), Error> {
        let InsertBeyond { core, h0, relieve } = self;
        let Core {
            table,
            geometry,
            coding,
        } = core;
        let Fingerprint {
            quotient,
            remainder,
        } = geometry.fingerprint(h0);
        let run = table.odd_run::<I>(quotient);
        let at = table.upper_bound(&run, remainder);
        table.open_home_after::<I>(&run, at, remainder, (), Raise { coding, relieve })
    }
}

struct Close<'f, C: Coding, R> {
    core: &'f mut Core<C>,
    run: &'f Run,
    at: u64,
    relieve: R,
}

impl<C: Coding, R: Relieve<C, crate::mem::Memory>> Operation for Close<'_, C, R> {
    type Output = Result<(), Error>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Result<(), Error> {
        let Core { table, coding, .. } = self.core;
        let relieve = self.relieve;
        table.close_after::<I>(self.run, self.at, Lower { coding, relieve })
    }
}
