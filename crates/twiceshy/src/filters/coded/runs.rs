//! Runs with their symbols: read, matched with keys, and written as a whole.
//!
//! What a filter learns replaces symbols and values, never the number of slots. A [`Plan`] says
//! what some runs shall hold; it is written only if the symbols of all blocks that it touches fit.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Overflow;
use super::core::Coded;
use super::matching::match_all;
use super::symbols::{Numbered, Placed, Symbols, Unit};
use crate::bits::Bytes;
use crate::error::Error;
use crate::table::{BlockFull, Run, split};

/// What a slot holds, and the symbol beside it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlotAndSymbol<Y> {
    pub(super) value: u64,
    pub(super) symbol: Y,
}

/// What some runs shall hold, by their first slot: as many entries as they have slots.
pub(super) type Plan<Y> = BTreeMap<u64, Vec<SlotAndSymbol<Y>>>;

/// The slots that may fit a key.
pub(super) struct Group<S: Symbols> {
    pub(super) run: Run,
    /// All slots of the run.
    pub(super) entries: Vec<SlotAndSymbol<S::Symbol>>,
    /// Those of the key's [unit](Unit).
    pub(super) slots: Range<usize>,
}

impl<S: Symbols> Group<S> {
    /// The slots that fit a key.
    pub(super) fn fitting(&self, key: &Placed<'_, '_>) -> impl Iterator<Item = usize> {
        let slots = self.slots.clone();
        slots.filter(|&i| S::fits(key, self.entries[i]))
    }

    /// The key of each slot, such that each of the keys has a slot of its own that fits it.
    pub(super) fn pair(&self, keys: &[Placed<'_, '_>]) -> Result<Vec<Option<usize>>, Error> {
        let entries = &self.entries[self.slots.clone()];
        pair::<S>(entries, keys)
    }
}

/// Pairs all keys with slots that fit them, all keys and slots of their unit being given.
pub(super) fn pair<S: Symbols>(
    entries: &[SlotAndSymbol<S::Symbol>],
    keys: &[Placed<'_, '_>],
) -> Result<Vec<Option<usize>>, Error> {
    let fits = |key: usize, slot: usize| S::fits(&keys[key], entries[slot]);
    match_all(keys.len(), entries.len(), fits).ok_or_else(|| {
        Error::mismatch("some key has no fingerprint here; give all keys of its place, no others")
    })
}

/// Brings the slots of a run into order. Extensions are left where they are: slots of one minirun
/// are in the order in which they came.
pub(super) fn sort<S: Symbols>(entries: &mut [SlotAndSymbol<S::Symbol>]) {
    if S::UNIT == Unit::Run {
        entries.sort_unstable_by_key(|entry| (entry.value, entry.symbol.number()));
    }
}

impl<S: Symbols, M: Bytes> Coded<S, M> {
    /// The first slot of a run that `matches`.
    #[inline(always)]
    pub(super) fn find_slot(
        &self,
        run: &Run,
        mut matches: impl FnMut(SlotAndSymbol<S::Symbol>) -> bool,
    ) -> Option<u64> {
        let mut at = run.start;
        while at < run.end {
            let block = split(at).0;
            let end = run.end.min(block * 64 + 64);
            let mut symbols = self.coding.symbols(self.word(block));
            let mut next = symbols.next();
            while at < end {
                let i = split(at).1;
                while next.is_some_and(|(slot, _)| slot < i) {
                    next = symbols.next();
                }
                let symbol = match next {
                    Some((slot, symbol)) if slot == i => symbol,
                    _ => S::Symbol::default(),
                };
                let value = self.table.slot(at).value;
                if matches(SlotAndSymbol { value, symbol }) {
                    return Some(at);
                }
                at += 1;
            }
        }
        None
    }

    /// All slots of a run.
    pub(super) fn entries(&self, run: &Run) -> Vec<SlotAndSymbol<S::Symbol>> {
        let mut entries = Vec::with_capacity((run.end - run.start) as usize);
        self.find_slot(run, |entry| {
            entries.push(entry);
            false
        });
        entries
    }

    /// The slots that may fit a key.
    pub(super) fn group(&self, key: &Placed<'_, '_>) -> Group<S> {
        let run = self.run(key.home.quotient);
        let entries = self.entries(&run);
        let slots = match S::UNIT {
            Unit::Run => 0..entries.len(),
            Unit::Minirun => {
                let remainder = key.home.remainder;
                let below = entries.partition_point(|entry| entry.value < remainder);
                below..entries.partition_point(|entry| entry.value <= remainder)
            }
        };
        Group {
            run,
            entries,
            slots,
        }
    }

    /// The symbols of a block as they would be after a plan.
    fn planned(&self, plan: &Plan<S::Symbol>, block: u64) -> Vec<(u32, S::Symbol)> {
        let (first, end) = (block * 64, block * 64 + 64);
        let mut all = [S::Symbol::default(); 64];
        for (slot, symbol) in self.coding.symbols(self.word(block)) {
            all[slot as usize & 63] = symbol;
        }
        for (&start, entries) in plan.range(..end) {
            for (slot, entry) in (start..).zip(entries) {
                if (first..end).contains(&slot) {
                    all[(slot - first) as usize] = entry.symbol;
                }
            }
        }
        let symbols = (0..).zip(all);
        symbols
            .filter(|&(_, symbol)| symbol != S::Symbol::default())
            .collect()
    }

    /// The next slot of a block, behind the slots `own`, whose symbol can go. One of `own` only if
    /// no other slot has one, or if `own` alone is too much (unless the others would be dropped
    /// for nothing, and are to be kept).
    pub(super) fn victim(
        &self,
        plan: &Plan<S::Symbol>,
        block: u64,
        own: &Range<u64>,
    ) -> Option<u64> {
        let symbols = self.planned(plan, block);
        let base = block * 64;
        let is_own = |slot: u32| own.contains(&(base + u64::from(slot)));
        let newest = symbols.iter().copied().filter(|&(slot, _)| is_own(slot));
        let others_can_help =
            self.overflow == Overflow::Rebuild || self.coding.encode(newest).is_some();
        let (last, i) = split(own.end.saturating_sub(1));
        let cursor = if last == block { i } else { 63 };
        // The first one behind the cursor, around the end.
        let find = |may: &dyn Fn(u32) -> bool| {
            let slots = || {
                symbols
                    .iter()
                    .map(|&(slot, _)| slot)
                    .filter(|&slot| may(slot))
            };
            slots()
                .find(|&slot| slot > cursor)
                .or_else(|| slots().next())
        };
        let slot = find(&|slot| others_can_help && !is_own(slot))
            .or_else(|| find(&is_own))
            .or_else(|| find(&|_| true))?;
        Some(base + u64::from(slot))
    }
}

impl<S: Symbols> Coded<S> {
    /// Writes a plan, or says which block has no room for its symbols; then nothing has changed.
    pub(super) fn write(&mut self, plan: &Plan<S::Symbol>) -> Result<(), BlockFull> {
        let mut blocks = Vec::new();
        for (&start, entries) in plan.iter().filter(|(_, entries)| !entries.is_empty()) {
            blocks.extend(split(start).0..=split(start + entries.len() as u64 - 1).0);
        }
        blocks.sort_unstable();
        blocks.dedup();
        let word = |block| match self.coding.encode(self.planned(plan, block)) {
            Some(word) => Ok((block, word)),
            None => Err(BlockFull(block)),
        };
        let words = blocks
            .into_iter()
            .map(word)
            .collect::<Result<Vec<_>, _>>()?;
        for (&start, entries) in plan {
            for (slot, entry) in (start..).zip(entries) {
                self.table.set_value(slot, entry.value);
            }
        }
        for (block, word) in words {
            self.table.with_lane(block, |lane| S::store(lane, word));
        }
        Ok(())
    }
}
