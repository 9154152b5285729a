//! Filling a table with fingerprints in hash order.

use super::core::Core;
use super::print::{Layout, Print, counter_digits};
use crate::error::Error;
use crate::quotient::{Geometry, Mark, Marks, Slot, Writer};

/// Writes fingerprints in the order of their miniruns, each minirun sorted, into an empty
/// table.
pub(crate) struct Fill {
    writer: Writer<Marks>,
    geometry: Geometry,
    layout: Layout,
    live: u64,
    ghosts: u64,
}

impl Fill {
    /// Into the table of `core`; what it held is forgotten.
    pub(crate) fn new(core: Core) -> Self {
        Fill {
            writer: Writer::new(core.table),
            geometry: core.geometry,
            layout: core.layout,
            live: 0,
            ghosts: 0,
        }
    }

    pub(crate) fn layout(&self) -> Layout {
        self.layout
    }

    /// How many minirun ids there are.
    pub(crate) fn ids(&self) -> u64 {
        self.geometry.ids()
    }

    /// The minirun id of a hash.
    pub(crate) fn id(&self, h0: u64) -> u64 {
        self.geometry.id(h0)
    }

    /// Appends a live fingerprint without extension or counter.
    #[inline]
    pub(crate) fn home(&mut self, id: u64, value: u64) -> Result<(), Error> {
        let fingerprint = self.geometry.fingerprint_of(id);
        let slot = fingerprint.remainder << self.layout.value_bits | value;
        self.live += 1;
        self.writer.push(fingerprint.quotient, slot, Mark::Home)
    }

    /// [`home`](Self::home) for many without values, and faster.
    #[inline]
    pub(crate) fn homes(&mut self, ids: impl ExactSizeIterator<Item = u64>) -> Result<(), Error> {
        let (geometry, layout) = (self.geometry, self.layout);
        self.live += ids.len() as u64;
        self.writer.push_all(ids.map(|id| {
            let fingerprint = geometry.fingerprint_of(id);
            let slot = fingerprint.remainder << layout.value_bits;
            (fingerprint.quotient, slot)
        }))
    }

    /// Appends any fingerprint.
    pub(crate) fn print(&mut self, id: u64, print: &Print) -> Result<(), Error> {
        self.home(id, print.value)?;
        if print.is_ghost() {
            self.live -= 1;
            self.ghosts += 1;
        }
        let extension = print.extension.iter().map(|&digit| (digit, false));
        let counter = counter_digits(print.count, self.layout.width).map(|digit| (digit, true));
        for (value, runend) in extension.chain(counter) {
            self.writer.push_marked(Slot {
                value,
                runend,
                item: Mark::Continues,
            })?;
        }
        Ok(())
    }

    /// The filled table.
    pub(crate) fn finish(self) -> Core {
        Core {
            table: self.writer.finish(),
            geometry: self.geometry,
            layout: self.layout,
            live: self.live,
            ghosts: self.ghosts,
        }
    }
}
