//! A quotient table whose slots have symbols beside them.
//!
//! The symbols of a block are one word in its lane ([`Coding`](super::code::Coding)), which means
//! nothing to the table. So whenever slots are about to move, it says which, and the symbols are
//! moved first (`moves`).
//!
//! Within a run slots are ordered by what they hold, as in the plain filter; symbols make no
//! difference to the order.

use super::Overflow;
use super::symbols::{Placed, Stretch, Symbols};
use crate::batch::Unclear;
use crate::bits::Bytes;
use crate::builder::Parts;
use crate::error::Error;
use crate::file::{FilterKind, Header};
use crate::filters::facade::{InsertCore, OwnedCore, TableCore};
use crate::filters::{bare_options, check_bare};
use crate::hash::Hashed;
use crate::mem::{HugePages, Memory};
use crate::table::{BlockFull, Found, Order, Put, Run, Table};
use crate::violation::Violation;

/// The core of a [`CodedFilter`](super::CodedFilter).
#[derive(Debug)]
pub struct Coded<S: Symbols, M = Memory> {
    pub(super) table: Table<S::Lane, M>,
    pub(super) coding: &'static S,
    /// What to do about full codes is not part of a file.
    pub(super) overflow: Overflow,
}

impl<S: Symbols, M: Bytes> TableCore for Coded<S, M> {
    const KIND: FilterKind = S::KIND;
    const NAME: &'static str = S::NAME;

    type Lane = S::Lane;
    type Memory = M;

    fn over(header: &Header, memory: M) -> Result<Self, Error> {
        let options = bare_options(&header.geometry, HugePages::default());
        Ok(Self::of(Table::over(memory, options, header.used, 0)?))
    }

    #[inline(always)]
    fn table(&self) -> &Table<S::Lane, M> {
        &self.table
    }

    #[inline(always)]
    fn contains(&self, h0: u64) -> Found {
        self.table.contains_beside(h0, self.coding)
    }

    #[inline(always)]
    fn contains_slow(&self, h0: u64) -> Found {
        self.contains(h0)
    }

    /// Leaves all to [`contains_slow`](Self::contains_slow).
    fn contains_many(&self, hashes: &[u64], _: &mut [bool], unclear: &mut Unclear) {
        (0..hashes.len()).for_each(|i| unclear.note(i, true));
    }

    fn matches(&self, key: &Hashed<'_>) -> bool {
        let key = Placed::new(&self.table.geometry(), key);
        let run = self.run(key.home.quotient);
        let found = self.find_slot(&run, |slot| S::fits(&key, slot));
        found.is_some()
    }

    /// Beyond the table, symbols stand beside used slots and are coded as they would be.
    fn check_invariants(&self) -> Result<(), Violation> {
        check_bare(&self.table)?;
        self.check_symbols()
    }

    fn verify(&self) -> Result<(), Violation> {
        self.table.verify(Order::Ascending, |_| Ok(()))?;
        self.check_symbols()
    }
}

impl<S: Symbols> OwnedCore for Coded<S> {
    type View<'b> = Coded<S, &'b [u8]>;

    fn from_parts(parts: &Parts) -> Result<Self, Error> {
        let options = bare_options(&parts.geometry, parts.huge_pages);
        Ok(Self::of(Table::new(options)?))
    }

    fn try_clone(&self) -> Result<Self, Error> {
        Ok(Coded {
            table: self.table.try_clone()?,
            ..*self
        })
    }

    fn clear(&mut self) {
        self.table.clear();
    }
}

impl<S: Symbols> InsertCore for Coded<S> {
    type Done = ();

    #[inline(always)]
    fn insert<'k>(&mut self, h0: u64, _: impl FnOnce() -> Hashed<'k>) -> Result<(), Error> {
        match self.put(h0) {
            Put::Done => Ok(()),
            refused => self.insert_again(h0, refused),
        }
    }
}

impl<S: Symbols, M: Bytes> Coded<S, M> {
    fn of(table: Table<S::Lane, M>) -> Self {
        Coded {
            coding: S::for_width(table.geometry().remainder_bits()),
            table,
            overflow: Overflow::default(),
        }
    }

    /// The keys that may fit the same slots as one with this `h0`.
    pub(super) fn stretch(&self, h0: u64) -> Stretch {
        let geometry = &self.table.geometry();
        Stretch::of_ids(geometry, &S::UNIT.ids(geometry, geometry.fingerprint(h0)))
    }

    /// The symbols of a block, as they are stored.
    pub(super) fn word(&self, block: u64) -> S::Word {
        S::load(self.table.lane(block))
    }

    /// The run of a quotient.
    pub(super) fn run(&self, quotient: u64) -> Run {
        self.table.run(quotient)
    }

    /// How many slots have a symbol. Reads every block.
    pub(super) fn count_symbols(&self) -> u64 {
        let blocks = 0..self.table.blocks();
        let count = |block| self.coding.symbols(self.word(block)).count() as u64;
        blocks.map(count).sum()
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

impl<S: Symbols> Coded<S> {
    /// Adds a slot without a symbol behind all of its run that are not above it.
    #[inline(always)]
    pub(super) fn put(&mut self, h0: u64) -> Put {
        let (at, coding) = (self.table.at(h0), self.coding);
        self.table.insert_beside(at, coding)
    }

    /// Makes room in full blocks until an insertion that was refused succeeds.
    #[cold]
    fn insert_again(&mut self, h0: u64, mut put: Put) -> Result<(), Error> {
        loop {
            match put {
                Put::Done => return Ok(()),
                Put::BlockFull(full) => self.make_room_alone(full)?,
                Put::Full | Put::Counted => return Err(self.table.full()),
            }
            put = self.put(h0);
        }
    }

    /// Takes one slot out of a run.
    pub(super) fn close(&mut self, run: &Run, at: u64) -> Result<(), BlockFull> {
        self.table.close_beside(run, at, self.coding)
    }
}
