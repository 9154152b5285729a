//! The operations on the table, compiled for each set of instructions.

use super::Core;
use crate::batch::Unclear;
use crate::bits::{Bytes, Isa, Operation};
use crate::table::{Bare, Closer, Glance};

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
