//! A quotient table whose slots have letters beside them: what the telescoping and the
//! extension filter have in common.
//!
//! The letters of a block are one word in its lane ([`Coding`]), which means nothing to the
//! engine. So whenever slots are about to move, it says which, and the letters are moved first
//! (`moves`): the words of all blocks that are touched are found, and written only if all of
//! them fit. Otherwise it is up to the filter which letters to give up (`relieve`).
//!
//! Within a run slots are ordered by what they hold, as in the plain filter; letters make no
//! difference to the order.

mod list;
mod matching;
mod moves;
mod ops;
mod runs;
mod settle;

use crate::bits::Bytes;
use crate::builder::Parts;
use crate::code::Coding;
use crate::error::Error;
use crate::hash::Hashed;
use crate::mem::{HugePages, Memory};
use crate::table::{Fingerprint, Geometry, Order, Run, Table, TableOptions, Violation};

pub(crate) use self::list::Letters;
pub(crate) use self::matching::match_all;
pub(crate) use self::moves::Refuse;
pub(crate) use self::ops::Glimpse;
pub(crate) use self::runs::{Entry, Plan};

/// What happens to the letters of a block whose code is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Overflow {
    /// One after the other is given up until the rest fits: what can be kept, is kept.
    #[default]
    Keep,
    /// All of them are given up, but for the newest: the rule of the papers.
    Rebuild,
}

/// A filter without its hash function.
#[derive(Debug)]
pub(crate) struct Core<C: Coding, M = Memory> {
    pub(crate) table: Table<C::Lane, M>,
    pub(crate) geometry: Geometry,
    pub(crate) coding: C,
}

/// What the table of such a filter is built from.
fn table_options(geometry: &Geometry, huge_pages: HugePages) -> TableOptions {
    TableOptions {
        quotients: geometry.slots(),
        slot_bits: geometry.remainder_bits(),
        ignored_bits: 0,
        huge_pages,
    }
}

impl<C: Coding> Core<C> {
    pub(crate) fn from_parts(parts: &Parts, coding: C) -> Result<Self, Error> {
        Ok(Core {
            table: Table::new(table_options(&parts.geometry, parts.huge_pages))?,
            geometry: parts.geometry,
            coding,
        })
    }

    pub(crate) fn try_clone(&self) -> Result<Self, Error> {
        Ok(Core {
            table: self.table.try_clone()?,
            geometry: self.geometry,
            coding: self.coding.clone(),
        })
    }
}

impl<C: Coding, M: Bytes> Core<C, M> {
    /// The table of a file.
    pub(crate) fn over(geometry: Geometry, memory: M, used: u64, coding: C) -> Result<Self, Error> {
        let options = table_options(&geometry, HugePages::default());
        Ok(Core {
            table: Table::over(memory, options, used)?,
            geometry,
            coding,
        })
    }

    pub(crate) fn word(&self, block: u64) -> C::Word {
        C::load(self.table.lane(block))
    }

    /// The run of a quotient.
    pub(crate) fn run(&self, quotient: u64) -> Run {
        self.table.run(quotient)
    }

    /// What stands in the slots, and in whose run, in the order of the table.
    pub(crate) fn fingerprints(&self) -> impl Iterator<Item = Fingerprint> + '_ {
        self.table.runs().flat_map(move |run| {
            (run.start..run.end).map(move |slot| Fingerprint {
                quotient: run.quotient,
                remainder: self.table.slot(slot).value,
            })
        })
    }

    /// How many slots have a letter. Reads every block.
    pub(crate) fn count_letters(&self) -> u64 {
        let blocks = 0..self.table.blocks();
        let count = |block| self.coding.letters(self.word(block)).count() as u64;
        blocks.map(count).sum()
    }

    /// The table holds what it must, runs are in order, and letters stand beside used slots
    /// and are coded as they would be.
    pub(crate) fn check_invariants(&self) -> Result<(), Violation> {
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
        self.check_letters()
    }

    /// The same, but fast.
    pub(crate) fn verify(&self) -> Result<(), Violation> {
        self.table.verify(Order::Ascending, |_| Ok(()))?;
        self.check_letters()
    }

    /// Of a table whose runs are right. Costs next to nothing where there are no letters.
    fn check_letters(&self) -> Result<(), Violation> {
        let mut runs = self.table.runs().peekable();
        for block in 0..self.table.blocks() {
            let word = self.word(block);
            for (slot, _) in self.coding.letters(word) {
                let slot = block * 64 + u64::from(slot);
                // Runs that end before this letter have had their turn.
                while runs.next_if(|run| run.end <= slot).is_some() {}
                if runs.peek().is_none_or(|run| run.start > slot) {
                    return Err(Violation::new("an empty slot has a letter", slot));
                }
            }
            if self.coding.encode(self.coding.letters(word)) != Some(word) {
                return Err(Violation::new("a block's code is not canonical", block));
            }
        }
        Ok(())
    }

    /// The quotient whose run has this slot, if one has.
    pub(crate) fn owner(&self, slot: u64) -> Option<Run> {
        let mut quotient = slot.min(self.geometry.slots() - 1);
        loop {
            let run = self.run(quotient);
            if run.occupied && run.start <= slot {
                return (slot < run.end).then_some(run);
            }
            quotient = quotient.checked_sub(1)?;
        }
    }
}

/// Are two hashed keys the same key?
pub(crate) fn is_same(a: &Hashed<'_>, b: &Hashed<'_>) -> bool {
    match (a.key(), b.key()) {
        (Some(a), Some(b)) => a == b,
        // Chosen hashes have no key behind them: they are their stream.
        _ => {
            let words = Hashed::MAX_WORDS;
            a.h0() == b.h0() && a.common_bits(b, words) == 64 * u64::from(words)
        }
    }
}

/// The different keys among some.
pub(crate) fn distinct<'k, 'h>(keys: &'k [Hashed<'h>]) -> Vec<&'k Hashed<'h>> {
    let mut set: Vec<&Hashed<'_>> = Vec::with_capacity(keys.len());
    for key in keys {
        if !set.iter().any(|other| is_same(other, key)) {
            set.push(key);
        }
    }
    set
}
