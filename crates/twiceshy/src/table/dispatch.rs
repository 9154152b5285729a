//! Which instructions do what: one line a verb.
//!
//! A verb is a method of the table that its users call. Its body is written once, generic over
//! [`Isa`](crate::bits::Isa), in the file that explains it, and is called by the verb's name, without a `_with`,
//! with `_on` behind it (that of `insert_beside` is `insert_on`). What stands here compiles the body for every set of instructions, and picks one
//! when the verb is called; see [`dispatch`]. Nothing outside of the table knows of this.

use std::ops::Range;

use super::beside::{Beside, BlockFull};
use super::find::{Found, Run};
use super::insert::{Opening, Put};
use super::lane::Sidecar;
use super::layout::Slot;
use super::read::{HomeSlot, Scan};
use super::remove::{Of, Taken};
use super::shift::Gap;
use super::storage::Table;
use super::verify::{Order, Tailed};
use super::writer::{Full, Writer};
use super::{Bytes, Fingerprint, Violation};
use crate::batch::Unclear;
use crate::bits::dispatch;
use crate::error::Error;

dispatch! {
    impl[S: Sidecar, M: Bytes] Table<S, M> {
        /// Is there a slot that equals this fingerprint? `Ask` if what stands beside slots decides.
        #[inline(always)]
        pub(crate) fn contains_beside[B: Beside<S>](
            &self,
            h0: u64,
            beside: B,
        ) -> Found = contains_beside_on;

        /// The same for a run that most likely leaves its home block.
        #[cold]
        #[inline(never)]
        pub(super) fn contains_beside_slow[B: Beside<S>](
            &self,
            h0: u64,
            beside: B,
        ) -> Found = contains_beside_slow_on;

        /// [`contains`](Self::contains), where `L` is `S`, or stands for it if nothing is marked.
        #[inline(always)]
        pub(super) fn contains_with[L: Sidecar](&self, h0: u64) -> Found = contains_on;

        /// [`contains_slow`](Self::contains_slow), where `L` is `S`, or stands for it if nothing is marked.
        #[cold]
        #[inline(never)]
        pub(super) fn contains_slow_with[L: Sidecar](&self, h0: u64) -> Found = contains_slow_on;

        /// [`contains_many`](Self::contains_many), where `L` is `S`, or stands for it if nothing is
        /// marked.
        #[inline(always)]
        pub(super) fn contains_many_with[L: Sidecar](
            &self,
            hashes: &[u64],
            found: &mut [bool],
            unclear: &mut Unclear,
        ) -> () = contains_many_on;

        /// The slots of the fingerprints of a minirun, or the empty range where there would be one. Look
        /// at each of them by [`prints`](Self::prints).
        pub(crate) fn minirun(&self, at: Fingerprint) -> Range<u64> = minirun_on;

        /// The run of a quotient.
        #[inline(always)]
        pub(crate) fn run(&self, quotient: u64) -> Run = run_on;

        /// Accepts the tables that [`check_invariants`](Self::check_invariants) accepts and whose
        /// fingerprints of one slot are in order, and gives the number of marked slots. The lanes have
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

#[cfg(test)]
dispatch! {
    impl[S: Sidecar, M: Bytes] Table<S, M> {
        /// [`run`](Self::run) for a run that most likely leaves its home block.
        pub(crate) fn run_slow(&self, quotient: u64) -> Run = run_slow_on;
    }
}

dispatch! {
    impl[S: Sidecar, M: Bytes + AsMut<[u8]>] Table<S, M> {
        /// [`insert_beside`](Self::insert_beside), where `L` is `S`, or stands for it if nothing is marked.
        #[inline(always)]
        pub(super) fn insert_beside_with[L: Sidecar, B: Beside<S>](
            &mut self,
            at: Fingerprint,
            beside: B,
        ) -> Put = insert_on;

        /// The same wherever the run is, and however long.
        #[cold]
        #[inline(never)]
        pub(super) fn insert_slow[B: Beside<S>](
            &mut self,
            quotient: u64,
            remainder: u64,
            beside: B,
        ) -> Put = insert_slow_on;

        /// Finishes what adds a slot where slots of the next blocks move.
        #[cold]
        #[inline(never)]
        pub(super) fn open_rest[L: Sidecar, B: Beside<S>](
            &mut self,
            opening: Opening<L::Item>,
            beside: B,
        ) -> Put = open_rest_on;

        /// Moves what stands beside slots that are about to move.
        #[inline(never)]
        pub(super) fn make_way[B: Beside<S>](
            &mut self,
            from: u64,
            to: u64,
            up: bool,
            beside: B,
        ) -> Result<(), BlockFull> = make_way_on;

        /// Takes one slot out of a run, and what stands beside it.
        pub(crate) fn close_beside[B: Beside<S>](
            &mut self,
            run: &Run,
            at: u64,
            beside: B,
        ) -> Result<(), BlockFull> = close_beside_on;

        /// Puts a slot behind the only fingerprint of its minirun, if that is of one slot, and marks that.
        /// Has it been done? If not, nothing has changed.
        #[inline(always)]
        pub(crate) fn extend(&mut self, at: Fingerprint, digit: Slot<S::Item>) -> bool = extend_on;

        /// The same wherever the run is, and however long.
        #[cold]
        #[inline(never)]
        pub(super) fn extend_slow(&mut self, at: Fingerprint, digit: Slot<S::Item>) -> bool =
            extend_slow_on;

        /// [`remove_any`](Self::remove_any), where `L` is `S`, or stands for it if nothing is marked.
        #[inline(always)]
        pub(super) fn remove_any_with[L: Sidecar](&mut self, at: Fingerprint) -> Taken =
            remove_any_on;

        /// [`remove_one_of`](Self::remove_one_of) in the same way.
        #[inline(always)]
        pub(super) fn remove_one_of_with[L: Sidecar](&mut self, at: Fingerprint, count: u32) -> Taken =
            remove_one_of_on;

        /// Removes a fingerprint wherever the run is, however long, and marked or not.
        #[cold]
        #[inline(never)]
        pub(super) fn remove_slow(&mut self, quotient: u64, remainder: u64, of: Of) -> Taken =
            remove_slow_on;

        /// Finishes a removal where slots of the next blocks move.
        #[cold]
        #[inline(never)]
        pub(super) fn close_across[L: Sidecar](&mut self, gap: Gap) -> () = close_across_on;

        /// Replaces the slots `old` of a run, which are whole fingerprints, by `new`, which are
        /// too. Either may be none: then those of the run are `run.start..=run.end`. Runend bits of
        /// unmarked slots in `new` don't matter: the run's own is kept right.
        ///
        /// # Errors
        /// [`Error::Full`] if there is no room for what is more; nothing has changed then.
        pub(crate) fn replace(
            &mut self,
            run: Run,
            old: Range<u64>,
            new: &[Slot<S::Item>],
        ) -> Result<(), Error> = replace_on;
    }
}

dispatch! {
    impl['t, S: Sidecar, M: Bytes] Scan<'t, S, M> {
        /// Writes the next homes to the front of `out` and gives how many: none only at the end.
        pub(crate) fn read(&mut self, out: &mut [HomeSlot]) -> usize = read_on;
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
