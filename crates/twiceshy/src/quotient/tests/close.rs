//! The short way to close a slot that was found.

use super::super::*;
use super::model::Made;
use super::{Apply, Edit, Game, bytes};
use crate::bits::{Isa, Operation, Portable};

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
