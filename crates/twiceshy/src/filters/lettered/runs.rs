//! Runs with their letters, read and written as a whole.

use std::collections::BTreeMap;

use super::Core;
use super::list::Letters;
use crate::bits::Bytes;
use crate::code::Coding;
use crate::table::{Run, split};

/// A slot and the letter beside it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry<L> {
    pub(crate) value: u64,
    pub(crate) letter: L,
}

/// What some runs shall hold, by their first slot: as many entries as they have slots.
pub(crate) type Plan<L> = BTreeMap<u64, Vec<Entry<L>>>;

impl<C: Coding, M: Bytes> Core<C, M> {
    /// The first slot of a run that `matches`, given what it holds and its letter.
    #[inline(always)]
    pub(crate) fn find_slot(
        &self,
        run: &Run,
        mut matches: impl FnMut(u64, C::Letter) -> bool,
    ) -> Option<u64> {
        let mut at = run.start;
        while at < run.end {
            let block = split(at).0;
            let end = run.end.min(block * 64 + 64);
            let mut letters = self.coding.letters(self.word(block));
            let mut next = letters.next();
            while at < end {
                let i = split(at).1;
                while next.is_some_and(|(slot, _)| slot < i) {
                    next = letters.next();
                }
                let letter = match next {
                    Some((slot, letter)) if slot == i => letter,
                    _ => C::Letter::default(),
                };
                if matches(self.table.slot(at).value, letter) {
                    return Some(at);
                }
                at += 1;
            }
        }
        None
    }

    /// All slots of a run.
    pub(crate) fn entries(&self, run: &Run) -> Vec<Entry<C::Letter>> {
        let mut entries = Vec::with_capacity((run.end - run.start) as usize);
        self.find_slot(run, |value, letter| {
            entries.push(Entry { value, letter });
            false
        });
        entries
    }

    /// Has no slot of a run a letter, for certain?
    pub(crate) fn is_run_clear(&self, run: &Run) -> bool {
        if run.start == run.end {
            return true;
        }
        let ((first, i), (last, j)) = (split(run.start), split(run.end - 1));
        (first..=last).all(|block| {
            let from = if block == first { i } else { 0 };
            let to = if block == last { j } else { 63 };
            self.coding.is_clear(self.word(block), from, to)
        })
    }

    /// The letters of a block as they would be after a plan.
    pub(crate) fn planned(&self, plan: &Plan<C::Letter>, block: u64) -> Letters<C::Letter> {
        let (first, end) = (block * 64, block * 64 + 64);
        let mut all = [C::Letter::default(); 64];
        for (slot, letter) in self.coding.letters(self.word(block)) {
            all[slot as usize & 63] = letter;
        }
        for (&start, entries) in plan.range(..end) {
            for (slot, entry) in (start..).zip(entries) {
                if (first..end).contains(&slot) {
                    all[(slot - first) as usize] = entry.letter;
                }
            }
        }
        let mut letters = Letters::new();
        for (slot, letter) in (0..).zip(all) {
            if letter != C::Letter::default() {
                letters.push(slot, letter);
            }
        }
        letters
    }

    /// The blocks that a plan touches.
    fn blocks_of(plan: &Plan<C::Letter>) -> Vec<u64> {
        let mut blocks = Vec::new();
        for (&start, entries) in plan.iter().filter(|(_, entries)| !entries.is_empty()) {
            blocks.extend(split(start).0..=split(start + entries.len() as u64 - 1).0);
        }
        blocks.sort_unstable();
        blocks.dedup();
        blocks
    }

    /// The words of all blocks after a plan, or the first block whose letters do not fit.
    pub(crate) fn words(&self, plan: &Plan<C::Letter>) -> Result<Vec<(u64, C::Word)>, u64> {
        let blocks = Self::blocks_of(plan).into_iter();
        let word = |block| match self.coding.encode(self.planned(plan, block).iter()) {
            Some(word) => Ok((block, word)),
            None => Err(block),
        };
        blocks.map(word).collect()
    }
}

impl<C: Coding> Core<C> {
    /// Writes what was planned; `words` are those of [`words`](Self::words).
    pub(crate) fn write(&mut self, plan: &Plan<C::Letter>, words: &[(u64, C::Word)]) {
        for (&start, entries) in plan {
            for (slot, entry) in (start..).zip(entries) {
                self.table.set_value(slot, entry.value);
            }
        }
        for &(block, word) in words {
            self.table.with_lane(block, |lane| C::store(lane, word));
        }
    }
}
