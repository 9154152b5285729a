//! The short ways to remove a slot, and to close one that was found.

use super::super::*;
use super::model::Made;
use super::{Apply, Edit, Game, Short, bytes};
use crate::bits::{Isa, Operation, Portable};
use crate::traits::Removed;

/// The short ways to remove a slot, as far as they go.
pub(super) struct RemoveShort<'t, S: Made>(pub(super) &'t mut Table<S>, pub(super) Fingerprint);

impl<S: Made> Operation for RemoveShort<'_, S> {
    type Output = Short<Removed>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Self::Output {
        let taken = match self.0.remove_short::<I, S, false>(self.1) {
            Taken::NotHere => self.0.remove_displaced::<I, S, false>(self.1),
            Taken::BesideMarks(run) => {
                return match self.0.remove_beside_marks::<I, S, false>(self.1, run) {
                    Ok(()) => Short::Done(Removed::One),
                    Err(_) => Short::NotHere,
                };
            }
            taken => taken,
        };
        match taken {
            Taken::Done(removed) => Short::Done(removed),
            Taken::Across(gap) => {
                self.0.close_gap::<I, S>(gap);
                Short::Done(Removed::One)
            }
            Taken::NotHere | Taken::BesideMarks(_) => Short::NotHere,
        }
    }
}

struct CloseNear<'t, S: Made>(&'t mut Table<S>, u64, u64);

impl<S: Made> Operation for CloseNear<'_, S> {
    type Output = bool;

    #[inline(always)]
    fn run<I: Isa>(self) -> bool {
        let run = self.0.run::<I>(self.1);
        self.0.close_near::<I>(&run, self.2)
    }
}

impl<S: Made> Game<S> {
    /// Closing the last slot of a fingerprint of this run does what the long way does, or nothing.
    pub(super) fn check_close(&self, quotient: u64, number: u64) {
        let stored = &self.model.runs[quotient as usize];
        if stored.is_empty() {
            return;
        }
        let i = (number % stored.len() as u64) as usize;
        let start = self.model.layout(self.portable.slots()).runs[quotient as usize].start;
        let at = start + self.model.slot_of(quotient, i) + stored[i].tail.len() as u64;
        let table = || self.portable.try_clone().unwrap();
        let (mut short, mut fast, mut long) = (table(), table(), table());
        let done = CloseNear(&mut short, quotient, at).run::<Portable>();
        let close = CloseNear(&mut fast, quotient, at);
        assert_eq!(self.cpu().run(close), done);
        if done {
            let apply = Apply {
                table: &mut long,
                quotient,
                edit: Edit::Close { at },
            };
            apply.run::<Portable>().unwrap();
        }
        assert!(bytes(&short) == bytes(&long) && bytes(&fast) == bytes(&long));
        assert_eq!((short.used(), fast.used()), (long.used(), long.used()));
    }
}
