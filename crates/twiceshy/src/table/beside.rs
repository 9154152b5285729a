//! What a filter keeps beside the slots, in lanes that mean nothing to the table.
//!
//! Coded filters have one word for the symbols of all 64 slots of a block. The table cannot move
//! symbols as it moves slots: it says what is about to move, and the filter makes way.
//!
//! ```text
//! insert    find the place and the next empty slot  ->  make way  ->  move slots
//!                                                       a block is full: nothing moves
//! ```

use super::find::{Found, Run};
use super::lane::Sidecar;
use super::storage::Table;
use crate::bits::{Bytes, Isa};

/// A block whose lane has no room for what would come into it; nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockFull(pub(crate) u64);

/// What stands beside slots, and moves with them. `()` is nothing.
pub(crate) trait Beside<S: Sidecar>: Copy {
    /// Is there nothing that moves?
    const IS_NOTHING: bool = false;

    /// May what stands beside a slot change its remainder? Then a lookup asks for all slots of a
    /// run, and otherwise for those that have the remainder.
    const CHANGES_REMAINDERS: bool;

    /// Has any of the slots `from..=to` something beside it? May say so if one before them has.
    fn asks(self, lane: &[u8], from: u32, to: u32) -> bool;

    /// Moves what is beside the slots `from..to` of a block up by one, where that is easy; slot
    /// `to` has nothing. If it is not, nothing has changed, and [`make_way`](Self::make_way) must
    /// do it.
    fn raise_few(self, lane: &mut [u8], from: u32, to: u32) -> bool;

    /// Slots are about to move: up by one, those from `from` up to, not including, `to`; or down
    /// by one, those behind `from` up to, not including, `to`.
    fn make_way<M: Bytes + AsMut<[u8]>>(
        self,
        table: &mut Table<S, M>,
        from: u64,
        to: u64,
        up: bool,
    ) -> Result<(), BlockFull>;
}

impl<S: Sidecar> Beside<S> for () {
    const IS_NOTHING: bool = true;
    const CHANGES_REMAINDERS: bool = false;

    #[inline(always)]
    fn asks(self, _: &[u8], _: u32, _: u32) -> bool {
        false
    }

    #[inline(always)]
    fn raise_few(self, _: &mut [u8], _: u32, _: u32) -> bool {
        true
    }

    #[inline(always)]
    fn make_way<M: Bytes + AsMut<[u8]>>(
        self,
        _: &mut Table<S, M>,
        _: u64,
        _: u64,
        _: bool,
    ) -> Result<(), BlockFull> {
        Ok(())
    }
}

impl<S: Sidecar, M: Bytes> Table<S, M> {
    /// The body of [`contains_beside`](Self::contains_beside): in the home block, else by
    /// [`contains_beside_slow`](Self::contains_beside_slow).
    #[inline(always)]
    pub(super) fn contains_beside_on<I: Isa, B: Beside<S>>(&self, h0: u64, beside: B) -> Found {
        let Some(run) = self.view::<I, S>(self.at(h0)) else {
            return self.contains_beside_slow(h0, beside);
        };
        // The last slot up to which something beside it would make a difference. The caller
        // branches on whether there is one, too.
        let to = match B::CHANGES_REMAINDERS {
            true => (run.occupied != 0).then_some(run.start + run.more),
            false => run.any_equal().then(|| run.first_equal()),
        };
        match to {
            Some(to) if beside.asks(run.lane(), run.start, to) => Found::Ask,
            _ => run.any_equal().into(),
        }
    }

    /// The body of [`contains_beside_slow`](Self::contains_beside_slow).
    #[inline(always)]
    pub(super) fn contains_beside_slow_on<I: Isa, B: Beside<S>>(
        &self,
        h0: u64,
        beside: B,
    ) -> Found {
        let at = self.at(h0);
        let run = self.run_slow_on::<I>(at.quotient);
        let found = self.run_contains::<I, S>(&run, at.remainder);
        let matters = B::CHANGES_REMAINDERS || found != Found::No;
        match matters && self.asks_run(&run, beside) {
            true => Found::Ask,
            false => found,
        }
    }

    /// Has any slot of a run something beside it?
    #[inline(always)]
    fn asks_run<B: Beside<S>>(&self, run: &Run, beside: B) -> bool {
        let mut at = run.start;
        while at < run.end {
            let end = run.end.min((at / 64 + 1) * 64);
            let (from, to) = ((at % 64) as u32, ((end - 1) % 64) as u32);
            if beside.asks(self.lane(at / 64), from, to) {
                return true;
            }
            at = end;
        }
        false
    }
}

impl<S: Sidecar, M: Bytes + AsMut<[u8]>> Table<S, M> {
    /// The body of [`make_way`](Self::make_way).
    #[inline(always)]
    pub(super) fn make_way_on<I: Isa, B: Beside<S>>(
        &mut self,
        from: u64,
        to: u64,
        up: bool,
        beside: B,
    ) -> Result<(), BlockFull> {
        beside.make_way(self, from, to, up)
    }

    /// [`make_way`](Self::make_way), unless there is nothing beside slots.
    #[inline(always)]
    pub(super) fn move_beside<B: Beside<S>>(
        &mut self,
        from: u64,
        to: u64,
        up: bool,
        beside: B,
    ) -> Result<(), BlockFull> {
        match B::IS_NOTHING {
            true => Ok(()),
            false => self.make_way(from, to, up, beside),
        }
    }

    /// The same for slots of one block that move up.
    #[inline(always)]
    pub(super) fn raise_beside<B: Beside<S>>(
        &mut self,
        block: u64,
        from: u32,
        to: u32,
        beside: B,
    ) -> Result<(), BlockFull> {
        if beside.raise_few(self.block_mut(block).lane(), from, to) {
            return Ok(());
        }
        let start = block * 64;
        self.move_beside(start + u64::from(from), start + u64::from(to), true, beside)
    }

    /// The body of [`close_beside`](Self::close_beside).
    #[inline(always)]
    pub(super) fn close_beside_on<I: Isa, B: Beside<S>>(
        &mut self,
        run: &Run,
        at: u64,
        beside: B,
    ) -> Result<(), BlockFull> {
        self.close_after::<I, B>(run, at, beside)
    }
}
