//! The short ways to remove a slot, and to close one that was found.

use std::ops::Range;

use super::super::*;
use super::model::Made;
use super::{Apply, Edit, Game, Short, bytes};
use crate::bits::{Isa, Operation, Portable};
use crate::outcome::Removed;

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
        let run = self.0.run_on::<I>(self.1);
        self.0.close_near::<I>(&run, self.2)
    }
}

/// The one fingerprint with a remainder, slot by slot, if it is near: where it was.
struct ClosePrint<'t, S: Made>(&'t mut Table<S>, Fingerprint);

impl<S: Made> Operation for ClosePrint<'_, S> {
    type Output = Option<Range<u64>>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Option<Range<u64>> {
        let ClosePrint(table, fingerprint) = self;
        let print = table.only_print::<I>(fingerprint)?;
        let slots = print.home..print.end;
        let mut tail = (print.home + 1..print.end).rev();
        let closed = tail.all(|slot| table.close_tail::<I>(slot));
        if table.close_bare::<I>(fingerprint.quotient, print) {
            assert!(closed);
            return Some(slots);
        }
        assert!(slots.end - slots.start == 1 || !closed);
        None
    }
}

/// The one fingerprint with a remainder, both slots at once, if they are near and the second has this
/// digit.
struct RemoveTwo<'t, S: Made>(&'t mut Table<S>, Fingerprint, u64);

impl<S: Made> Operation for RemoveTwo<'_, S> {
    type Output = bool;

    #[inline(always)]
    fn run<I: Isa>(self) -> bool {
        let RemoveTwo(table, fingerprint, digit) = self;
        let Taken::BesideMarks(run) = table.remove_short::<I, S, false>(fingerprint) else {
            return false;
        };
        let taken = table.remove_beside_marks::<I, S, false>(fingerprint, run);
        let two = taken.err().and_then(Undone::two_slots);
        two.is_some_and(|print| table.remove_two::<I, S>(print, digit))
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

    /// Taking out a fingerprint of this run by the short ways does what the long way does, or nothing.
    pub(super) fn check_print(&self, quotient: u64, number: u64) {
        let stored = &self.model.runs[quotient as usize];
        if stored.is_empty() {
            return;
        }
        let i = (number % stored.len() as u64) as usize;
        let remainder = stored[i].home.0 >> self.options.ignored_bits;
        #[rustfmt::skip]
        let fingerprint = Fingerprint { quotient, remainder };
        let start = self.model.layout(self.portable.slots()).runs[quotient as usize].start;
        let home = start + self.model.slot_of(quotient, i);
        let slots = home..home + stored[i].slots();
        let table = || self.portable.try_clone().unwrap();
        let mut long = table();
        for at in slots.clone().rev() {
            let apply = Apply {
                table: &mut long,
                quotient,
                edit: Edit::Close { at },
            };
            apply.run::<Portable>().unwrap();
        }
        let check = |short: &Table<S>, fast: &Table<S>, done: bool| {
            let expected = if done { &long } else { &self.portable };
            assert!(bytes(short) == bytes(expected) && bytes(fast) == bytes(expected));
            assert_eq!(
                (short.used(), fast.used()),
                (expected.used(), expected.used())
            );
        };
        let [mut long_ones, mut twos] = self.taken.get();

        let (mut short, mut fast) = (table(), table());
        let done = ClosePrint(&mut short, fingerprint).run::<Portable>();
        assert_eq!(self.cpu().run(ClosePrint(&mut fast, fingerprint)), done);
        check(&short, &fast, done.is_some());
        if let Some(done) = done {
            assert_eq!(done, slots);
            long_ones += u64::from(!stored[i].tail.is_empty());
        }

        if let ([digit], false) = (&stored[i].tail[..], S::MARKED_RUNENDS) {
            for (digit, right) in [(digit.value ^ 1, false), (digit.value, true)] {
                let (mut short, mut fast) = (table(), table());
                let done = RemoveTwo(&mut short, fingerprint, digit).run::<Portable>();
                let remove = RemoveTwo(&mut fast, fingerprint, digit);
                assert_eq!(self.cpu().run(remove), done);
                assert!(right || !done);
                check(&short, &fast, done);
                twos += u64::from(done);
            }
        }
        self.taken.set([long_ones, twos]);
    }
}
