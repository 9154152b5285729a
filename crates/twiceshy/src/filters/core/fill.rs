//! Filling a table with fingerprints in hash order.

use super::Core;
use crate::error::Error;
use crate::geometry::{Fingerprint, Geometry};
use crate::prints::{Print, Widths};
use crate::table::{Mark, Marks, Writer};

/// Writes fingerprints in the order of their miniruns, each minirun sorted, into an empty
/// table: what bulk loads, merges and rebuilds of filters with marked slots end in.
#[derive(Debug)]
pub(crate) struct Fill {
    writer: Writer<Marks>,
    widths: Widths,
    live: u64,
    ghosts: u64,
    /// What the counts of live fingerprints are above one, in sum.
    repeats: u128,
}

impl Fill {
    /// Into the table of `core`; what it held is forgotten.
    pub(crate) fn new(core: Core) -> Self {
        Fill {
            writer: Writer::new(core.table),
            widths: core.widths,
            live: 0,
            ghosts: 0,
            repeats: 0,
        }
    }

    pub(crate) fn geometry(&self) -> Geometry {
        self.writer.geometry()
    }

    pub(crate) fn widths(&self) -> Widths {
        self.widths
    }

    /// The sum of all counts.
    pub(crate) fn total(&self) -> u128 {
        u128::from(self.live) + self.repeats
    }

    /// All slots of the table.
    pub(crate) fn slots(&self) -> u64 {
        self.writer.slots()
    }

    /// Appends live fingerprints without extension, counter or value: the same as
    /// [`home`](Self::home) for each, and faster.
    #[inline]
    pub(crate) fn homes(
        &mut self,
        fingerprints: impl Iterator<Item = Fingerprint>,
    ) -> Result<(), Error> {
        let value_bits = self.widths.value_bits;
        let home = move |print: Fingerprint| (print.quotient, print.remainder << value_bits);
        let before = self.writer.used();
        let result = self.writer.push_all(fingerprints.map(home));
        self.live += self.writer.used() - before;
        result
    }

    /// Appends a live fingerprint without extension or counter.
    #[inline]
    pub(crate) fn home(&mut self, id: u64, value: u64) -> Result<(), Error> {
        let fingerprint = self.geometry().fingerprint_of(id);
        let slot = fingerprint.remainder << self.widths.value_bits | value;
        self.live += 1;
        self.writer.push(fingerprint.quotient, slot, Mark::Last)
    }

    /// Appends any fingerprint.
    pub(crate) fn print(&mut self, id: u64, print: &Print) -> Result<(), Error> {
        self.home(id, print.value)?;
        if print.is_ghost() {
            self.live -= 1;
            self.ghosts += 1;
        } else {
            self.repeats += u128::from(print.count - 1);
        }
        print
            .tail(self.widths.width)
            .try_for_each(|digit| self.writer.push_tail(digit))
    }

    /// The filled table.
    pub(crate) fn finish(self) -> Core {
        let table = self.writer.finish();
        Core {
            table,
            widths: self.widths,
            ghosts: self.ghosts,
        }
    }
}
