//! Replacing a stretch of a run: fingerprints that grow, shrink or change places.

use std::ops::Range;

use super::block::{self, Slot};
use super::find::Run;
use super::sidecar::{Mark, Marks};
use super::table::{Table, split};
use crate::bits::{Bytes, Isa};
use crate::error::Error;

impl<M: Bytes + AsMut<[u8]>> Table<Marks, M> {
    /// Replaces the slots `old` of a run, which are whole fingerprints, by `new`, which are
    /// too. Runend bits of unmarked slots in `new` don't matter: the run's own is kept
    /// right.
    ///
    /// # Errors
    /// [`Error::Full`] if there is no room for what is more; nothing has changed then.
    #[inline(always)]
    pub(crate) fn rewrite<I: Isa>(
        &mut self,
        quotient: u64,
        old: Range<u64>,
        new: &[Slot<Mark>],
    ) -> Result<(), Error> {
        debug_assert!(old.start < old.end);
        let run = self.run::<I>(quotient);
        debug_assert!(run.occupied && run.start <= old.start && old.end <= run.end);
        let (had, have) = ((old.end - old.start) as usize, new.len());
        if have > had && !self.has_room::<I>(&run, have - had) {
            return Err(self.full());
        }
        // As one fingerprint with a long tail, slots can be opened and closed in it freely.
        let is_last = old.contains(&(run.home_end - 1));
        for slot in old.clone() {
            let first = slot == old.start;
            self.put_back(
                slot,
                Slot {
                    value: 0,
                    runend: first && is_last,
                    item: if first { Mark::Home } else { Mark::Continues },
                },
            );
        }
        let tail = Slot {
            value: 0,
            runend: false,
            item: Mark::Continues,
        };
        for _ in had..have {
            let run = self.run::<I>(quotient);
            self.open_marked::<I>(&run, old.start + 1, tail)
                .expect("there is room, as was just checked");
        }
        for _ in have.max(1)..had {
            let run = self.run::<I>(quotient);
            self.close::<I>(&run, old.start + 1);
        }
        if new.is_empty() {
            let run = self.run::<I>(quotient);
            self.close::<I>(&run, old.start);
            return Ok(());
        }
        let last_home = new.iter().rposition(|slot| slot.item == Mark::Home);
        for (i, slot) in new.iter().enumerate() {
            let runend = match slot.item {
                Mark::Home => is_last && Some(i) == last_home,
                Mark::Continues => slot.runend,
            };
            self.put_back(old.start + i as u64, Slot { runend, ..*slot });
        }
        Ok(())
    }

    /// Are at least `count` slots free where a slot of `run` would be opened?
    #[inline(always)]
    pub(crate) fn has_room<I: Isa>(&self, run: &Run, count: usize) -> bool {
        let mut from = run.end;
        for _ in 0..count {
            from = self.first_empty::<I>(from) + 1;
            if from > self.slots {
                return false;
            }
        }
        true
    }

    /// Overwrites a used slot; nothing moves.
    #[inline(always)]
    fn put_back(&mut self, slot: u64, content: Slot<Mark>) {
        let (block, i) = split(slot);
        block::overwrite::<Marks>(&mut self.block_mut(block), i, content);
    }
}
