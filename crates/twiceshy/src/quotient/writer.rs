//! Filling an empty table from sorted input, front to back.

use super::block::{self, Slot};
use super::sidecar::Sidecar;
use super::table::{Table, split};
use crate::error::Error;

/// Writes slots in the order of their quotients into a table, each once and in place:
/// no search, no shifting.
#[derive(Debug)]
pub struct Writer<S: Sidecar> {
    table: Table<S>,
    /// The quotient of the run being written.
    quotient: Option<u64>,
    /// The last unmarked slot written.
    home: u64,
    /// One past the last slot written.
    end: u64,
    /// Offsets are written for blocks before this.
    offsets_to: u64,
}

impl<S: Sidecar> Writer<S> {
    /// A writer into `table`, which it clears.
    #[must_use]
    pub fn new(mut table: Table<S>) -> Self {
        if table.used > 0 {
            table.clear();
        }
        Writer {
            table,
            quotient: None,
            home: 0,
            end: 0,
            offsets_to: 0,
        }
    }

    /// Appends an unmarked slot to the run of `quotient`, which is at least that of the
    /// slot before.
    ///
    /// # Errors
    /// [`Error::Full`] if no slot is left behind the last one.
    ///
    /// # Panics
    /// If `quotient` is lower than the one before, or not below the table's.
    pub fn push(&mut self, quotient: u64, value: u64, item: S::Item) -> Result<(), Error> {
        if self.quotient != Some(quotient) {
            assert!(
                self.quotient < Some(quotient) && quotient < self.table.quotients,
                "quotients come in ascending order and lie inside the table"
            );
            self.end_run();
            self.write_offsets_to(quotient / 64 + 1);
            self.end = self.end.max(quotient);
            if self.end >= self.table.slots {
                return Err(self.table.full());
            }
            self.table.set_occupied(quotient, true);
            self.quotient = Some(quotient);
        }
        let home = self.end;
        self.put(Slot {
            value,
            runend: false,
            item,
        })?;
        self.home = home;
        Ok(())
    }

    /// Appends a marked slot behind the slot before.
    ///
    /// # Errors
    /// [`Error::Full`] if no slot is left behind the last one.
    pub fn push_marked(&mut self, slot: Slot<S::Item>) -> Result<(), Error> {
        debug_assert!(self.quotient.is_some() && S::is_mark(slot.item));
        self.put(slot)
    }

    fn put(&mut self, slot: Slot<S::Item>) -> Result<(), Error> {
        if self.end >= self.table.slots {
            return Err(self.table.full());
        }
        let (block, i) = split(self.end);
        block::put::<S>(&mut self.table.block_mut(block), i, slot);
        self.end += 1;
        self.table.used += 1;
        Ok(())
    }

    fn end_run(&mut self) {
        if self.quotient.is_some() {
            self.table.set_runend(self.home, true);
        }
    }

    /// The runs of all blocks before are written, so the offsets of the blocks up to
    /// `block` are known.
    fn write_offsets_to(&mut self, block: u64) {
        for block in self.offsets_to..block {
            let offset = self.end.saturating_sub(block * 64);
            let offset = offset.min(u64::from(S::MAX_OFFSET)) as u16;
            block::set_offset(&mut self.table.block_mut(block), offset);
        }
        self.offsets_to = self.offsets_to.max(block);
    }

    /// The finished table.
    #[must_use]
    pub fn finish(mut self) -> Table<S> {
        self.end_run();
        self.write_offsets_to(self.table.blocks());
        self.table
    }
}
