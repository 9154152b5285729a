//! A quotient table whose slots have symbols beside them.
//!
//! The symbols of a block are one word in its lane ([`Coding`](super::code::Coding)), which means
//! nothing to the table. So whenever slots are about to move, it says which, and the symbols are
//! moved first (`moves`).
//!
//! Within a run slots are ordered by what they hold, as in the plain filter; symbols make no
//! difference to the order.

use super::symbols::Symbols;
use crate::bits::Bytes;
use crate::builder::Parts;
use crate::error::Error;
use crate::geometry::{Fingerprint, Geometry};
use crate::mem::{HugePages, Memory};
use crate::table::{BlockFull, Found, Order, Put, Run, Table, TableOptions};
use crate::violation::Violation;

/// A filter without its hash function.
#[derive(Debug)]
pub(super) struct Core<S: Symbols, M = Memory> {
    pub(super) table: Table<S::Lane, M>,
    pub(super) coding: &'static S,
}

/// What the table of such a filter is built from.
pub(super) fn table_options(geometry: &Geometry, huge_pages: HugePages) -> TableOptions {
    TableOptions {
        quotients: geometry.slots(),
        slot_bits: geometry.remainder_bits(),
        ignored_bits: 0,
        huge_pages,
    }
}

impl<S: Symbols> Core<S> {
    pub(super) fn from_parts(parts: &Parts) -> Result<Self, Error> {
        Ok(Core {
            table: Table::new(table_options(&parts.geometry, parts.huge_pages))?,
            coding: S::for_width(parts.geometry.remainder_bits()),
        })
    }

    pub(super) fn try_clone(&self) -> Result<Self, Error> {
        Ok(Core {
            table: self.table.try_clone()?,
            ..*self
        })
    }
}

impl<S: Symbols, M: Bytes> Core<S, M> {
    /// The table of a file.
    pub(super) fn over(geometry: Geometry, memory: M, used: u64) -> Result<Self, Error> {
        let options = table_options(&geometry, HugePages::default());
        Ok(Core {
            table: Table::over(memory, options, used, 0)?,
            coding: S::for_width(geometry.remainder_bits()),
        })
    }

    /// The symbols of a block, as they are stored.
    pub(super) fn word(&self, block: u64) -> S::Word {
        S::load(self.table.lane(block))
    }

    /// The run of a quotient.
    pub(super) fn run(&self, quotient: u64) -> Run {
        self.table.run(quotient)
    }

    /// What stands in the slots, and in whose run, in the order of the table.
    pub(super) fn fingerprints(&self) -> impl Iterator<Item = Fingerprint> + '_ {
        self.table.runs().flat_map(move |run| {
            (run.start..run.end).map(move |slot| Fingerprint {
                quotient: run.quotient,
                remainder: self.table.slot(slot).value,
            })
        })
    }

    /// Does a slot match a key with this `h0`? `Ask` if symbols decide.
    #[inline(always)]
    pub(super) fn contains(&self, h0: u64) -> Found {
        self.table.contains_beside(h0, self.coding)
    }

    /// How many slots have a symbol. Reads every block.
    pub(super) fn count_symbols(&self) -> u64 {
        let blocks = 0..self.table.blocks();
        let count = |block| self.coding.symbols(self.word(block)).count() as u64;
        blocks.map(count).sum()
    }

    /// The table holds what it must, runs are in order, and symbols stand beside used slots
    /// and are coded as they would be.
    pub(super) fn check_invariants(&self) -> Result<(), Violation> {
        self.table.check_invariants()?;
        for run in self.table.runs() {
            let mut last = 0;
            for slot in run.start..run.end {
                let value = self.table.slot(slot).value;
                if value < last {
                    return Err(Violation::new("a run is not sorted", run.quotient));
                }
                last = value;
            }
        }
        self.check_symbols()
    }

    /// The same, but fast.
    pub(super) fn verify(&self) -> Result<(), Violation> {
        self.table.verify(Order::Ascending, |_| Ok(()))?;
        self.check_symbols()
    }

    /// Of a table whose runs are right. Costs next to nothing where there are no symbols.
    fn check_symbols(&self) -> Result<(), Violation> {
        let mut runs = self.table.runs().peekable();
        for block in 0..self.table.blocks() {
            let word = self.word(block);
            for (slot, _) in self.coding.symbols(word) {
                let slot = block * 64 + u64::from(slot);
                // Runs that end before this symbol have had their turn.
                while runs.next_if(|run| run.end <= slot).is_some() {}
                if runs.peek().is_none_or(|run| run.start > slot) {
                    return Err(Violation::new("an empty slot has a symbol", slot));
                }
            }
            if self.coding.encode(self.coding.symbols(word)) != Some(word) {
                return Err(Violation::new("a block's code is not canonical", block));
            }
        }
        Ok(())
    }

    /// The run that has this slot, if one has.
    pub(super) fn owner(&self, slot: u64) -> Option<Run> {
        let mut quotient = slot.min(self.table.geometry().slots() - 1);
        loop {
            let run = self.run(quotient);
            if run.occupied && run.start <= slot {
                return (slot < run.end).then_some(run);
            }
            quotient = quotient.checked_sub(1)?;
        }
    }
}

impl<S: Symbols> Core<S> {
    /// Adds a slot without a symbol behind all of its run that are not above it.
    #[inline(always)]
    pub(super) fn insert(&mut self, h0: u64) -> Put {
        let (at, coding) = (self.table.at(h0), self.coding);
        self.table.insert_beside::<S::Lane, &S>(at, coding)
    }

    /// Takes one slot out of a run.
    pub(super) fn close(&mut self, run: &Run, at: u64) -> Result<(), BlockFull> {
        self.table.close_beside(run, at, self.coding)
    }
}
