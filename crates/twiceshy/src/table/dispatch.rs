//! Which instructions do what: one line a verb.
//!
//! A verb is a method of the table that its users call. Its body is written once, generic over
//! [`Isa`](crate::bits::Isa), in the file that explains it, and is called by the verb's name with
//! `_on` behind it. What stands here compiles the body for every set of instructions, and picks one
//! when the verb is called; see [`dispatch`]. Nothing outside of the table knows of this.

use super::find::Run;
use super::scan::{Home, Scan};
use super::sidecar::Sidecar;
use super::table::Table;
use super::verify::{Order, Tailed};
use super::writer::{Full, Writer};
use super::{Bytes, Violation};
use crate::bits::dispatch;

dispatch! {
    impl[S: Sidecar, M: Bytes] Table<S, M> {
        /// The run of a quotient.
        #[inline(always)]
        pub(crate) fn run(&self, quotient: u64) -> Run = run_on;

        /// Are at least `count` slots free where a slot of `run` would be opened?
        pub(crate) fn has_room(&self, run: &Run, count: usize) -> bool = has_room_on;

        /// Accepts the tables that [`check_invariants`](Self::check_invariants) accepts and whose
        /// fingerprints of one slot are in order, and gives the number of marked slots. The sidecar has
        /// nothing but marks.
        ///
        /// `each` sees each fingerprint of more than one slot, in the order of the slots. What stands
        /// before it in the table is verified by then.
        pub(crate) fn verify[F: FnMut(Tailed) -> Result<(), Violation>](
            &self,
            order: Order,
            each: F,
        ) -> Result<u64, Violation> = verify_on;
    }
}

dispatch! {
    impl['t, S: Sidecar, M: Bytes] Scan<'t, S, M> {
        /// Writes the next homes to the front of `out` and gives how many: none only at the end.
        pub(crate) fn read(&mut self, out: &mut [Home]) -> usize = read_on;
    }
}

dispatch! {
    impl[S: Sidecar] Writer<S> {
        /// [`push_all`](Writer::push_all) behind another slot.
        pub(super) fn push_rest[T: Iterator<Item = (u64, u64)>](
            &mut self,
            slots: T,
        ) -> Result<(), Full> = push_rest_on;
    }
}
