//! The cells of an adaptive cuckoo filter: a fingerprint and a selector each.

use super::plan::Plan;
use crate::bits::{Bytes, load_word, mask_below, prefetch, store_word};
use crate::cuckoo::search::Cell;
use crate::error::Error;
use crate::hash::Hashed;
use crate::mem::{HugePages, Memory};
use crate::violation::Violation;

/// What a cell holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Content {
    /// From 1 on; zero if the cell is empty.
    pub(super) fingerprint: u64,
    pub(super) selector: u32,
}

/// Cells of `w + s` bits without gaps, the fingerprint lowest, and eight zero bytes behind them.
pub(super) struct Cells<M = Memory> {
    memory: M,
    plan: Plan,
}

impl Cells {
    pub(super) fn new(plan: Plan, huge_pages: HugePages) -> Result<Self, Error> {
        let bytes = plan.checked_bytes();
        let bytes = bytes.ok_or_else(|| Error::geometry("it is larger than any memory"))?;
        Cells::over(Memory::zeroed(bytes, huge_pages)?, plan)
    }

    pub(super) fn try_clone(&self) -> Result<Self, Error> {
        Ok(Cells {
            memory: self.memory.try_clone()?,
            ..*self
        })
    }

    pub(super) fn clear(&mut self) {
        self.memory.as_mut().fill(0);
    }

    pub(super) fn set(&mut self, cell: Cell, content: Content) {
        let width = self.plan.cell_bits();
        let (at, shift) = self.place(cell);
        let value =
            content.fingerprint | u64::from(content.selector) << self.plan.fingerprint_bits();
        let bytes = self.memory.as_mut();
        let word = load_word(bytes, at) & !(mask_below(width) << shift);
        store_word(bytes, at, word | value << shift);
    }
}

impl<M: Bytes> Cells<M> {
    pub(super) fn over(memory: M, plan: Plan) -> Result<Self, Error> {
        if Some(memory.as_ref().len()) != plan.checked_bytes() {
            return Err(Error::geometry("the table has another length"));
        }
        Ok(Cells { memory, plan })
    }

    #[inline]
    pub(super) fn plan(&self) -> &Plan {
        &self.plan
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.memory.as_ref()
    }

    /// The number of a cell, by which the key store knows it.
    #[inline]
    pub(super) fn number(&self, cell: Cell) -> u64 {
        cell.bucket * u64::from(self.plan.layout().slots()) + u64::from(cell.slot)
    }

    /// The cell of a number.
    pub(super) fn cell(&self, number: u64) -> Cell {
        let slots = u64::from(self.plan.layout().slots());
        Cell {
            bucket: number / slots,
            slot: (number % slots) as u32,
        }
    }

    #[inline]
    fn place(&self, cell: Cell) -> (usize, u32) {
        let bit = self.number(cell) * u64::from(self.plan.cell_bits());
        ((bit / 8) as usize, (bit % 8) as u32)
    }

    #[inline]
    pub(super) fn get(&self, cell: Cell) -> Content {
        let (at, shift) = self.place(cell);
        let value = load_word(self.memory.as_ref(), at) >> shift;
        let bits = self.plan.fingerprint_bits();
        Content {
            fingerprint: value & mask_below(bits),
            selector: (value >> bits & mask_below(self.plan.selector_bits())) as u32,
        }
    }

    /// An empty slot of a bin.
    #[inline]
    pub(super) fn free(&self, bucket: u64) -> Option<u32> {
        let mut slots = 0..self.plan.layout().slots();
        slots.find(|&slot| self.get(Cell { bucket, slot }).fingerprint == 0)
    }

    pub(super) fn prefetch(&self, key: &Hashed<'_>) {
        for choice in 0..self.plan.layout().choices() {
            let bucket = self.plan.bin(key, choice);
            prefetch(self.bytes(), self.place(Cell { bucket, slot: 0 }).0);
        }
    }

    /// The cells that match a key, each as often as it matches.
    #[inline]
    pub(super) fn matches<'c>(&'c self, key: &'c Hashed<'_>) -> impl Iterator<Item = Cell> + 'c {
        let plan = &self.plan;
        (0..plan.layout().choices()).flat_map(move |choice| {
            let bucket = plan.bin(key, choice);
            (0..plan.layout().slots()).filter_map(move |slot| {
                let cell = Cell { bucket, slot };
                let Content {
                    fingerprint,
                    selector,
                } = self.get(cell);
                let function = plan.function(selector, slot, choice);
                let equal = fingerprint != 0 && fingerprint == plan.fingerprint(key, function);
                equal.then_some(cell)
            })
        })
    }

    /// Empty cells have no selector, and there is nothing behind them; gives the number of
    /// fingerprints.
    pub(super) fn count(&self) -> Result<u64, Violation> {
        let mut used = 0;
        for number in 0..self.plan.cells() {
            let content = self.get(self.cell(number));
            if content.fingerprint != 0 {
                used += 1;
            } else if content.selector != 0 {
                return Err(Violation::new("an empty cell has a selector", number));
            }
        }
        let (at, shift) = self.place(self.cell(self.plan.cells()));
        let behind = &self.bytes()[at..];
        let first = behind.first().map_or(0, |byte| byte >> shift);
        if first != 0 || behind[1..].iter().any(|&byte| byte != 0) {
            return Err(Violation::new("the padding is not zero", at as u64));
        }
        Ok(used)
    }
}
