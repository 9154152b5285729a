//! Making a plan fit: which letters are given up when a block's code is full.

use std::ops::Range;

use super::list::Letters;
use super::runs::{Entry, Plan};
use super::{Core, Overflow};
use crate::bits::Bytes;
use crate::code::Coding;
use crate::table::{Run, split};

impl<C: Coding> Core<C> {
    /// Writes a plan, after as many letters as necessary have been given up. Those of the slots
    /// `own` are spared as long as there are others in their block (unless these would be given
    /// up for nothing, and are to be kept). `give_up` takes the letter of
    /// one entry of a run away, or replaces it by a lower one; it may bring the entries into
    /// another order. Gives how many were given up; if `give_up` fails, nothing has changed.
    ///
    /// It ends: every round takes something away, and a block without letters always fits.
    pub(crate) fn settle<E>(
        &mut self,
        mut plan: Plan<C::Letter>,
        own: Range<u64>,
        policy: Overflow,
        mut give_up: impl FnMut(&Run, &mut Vec<Entry<C::Letter>>, usize) -> Result<(), E>,
    ) -> Result<u64, E> {
        let mut forgotten = 0;
        loop {
            let block = match self.words(&plan) {
                Ok(words) => {
                    self.write(&plan, &words);
                    return Ok(forgotten);
                }
                Err(block) => block,
            };
            let mut first = true;
            while let Some(slot) = self.victim(&plan, block, &own, policy) {
                let is_own = own.contains(&slot);
                if is_own && !first {
                    break;
                }
                let run = self.owner(slot).expect("a slot with a letter is in a run");
                let mut entries = match plan.remove(&run.start) {
                    Some(entries) => entries,
                    None => self.entries(&run),
                };
                give_up(&run, &mut entries, (slot - run.start) as usize)?;
                plan.insert(run.start, entries);
                forgotten += 1;
                if is_own || policy == Overflow::Keep {
                    break;
                }
                first = false;
            }
        }
    }
}

impl<C: Coding, M: Bytes> Core<C, M> {
    /// The next slot of a block, behind the slots `own`, whose letter can go. One of `own` only
    /// if no other slot has one, or if `own` alone is too much.
    pub(crate) fn victim(
        &self,
        plan: &Plan<C::Letter>,
        block: u64,
        own: &Range<u64>,
        policy: Overflow,
    ) -> Option<u64> {
        let letters = self.planned(plan, block);
        let base = block * 64;
        let is_own = |slot: u32| own.contains(&(base + u64::from(slot)));
        let (last, i) = split(own.end.saturating_sub(1));
        let cursor = if last == block { i } else { 63 };
        let fits = |letters: &Letters<C::Letter>| self.coding.encode(letters.iter()).is_some();
        let mut newest = letters;
        newest.retain(is_own);
        let others_can_help = policy == Overflow::Rebuild || fits(&newest);
        let other = letters.victim(cursor, |slot| others_can_help && !is_own(slot));
        let slot = other
            .or_else(|| letters.victim(cursor, is_own))
            .or_else(|| letters.victim(cursor, |_| true))?;
        Some(base + u64::from(slot))
    }
}
