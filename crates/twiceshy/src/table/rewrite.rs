//! Replacing a stretch of a run: fingerprints that grow, shrink or change places.

use std::ops::Range;

use super::block::{self, Slot};
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
        let run = self.run_on::<I>(quotient);
        debug_assert!(run.occupied && run.start <= old.start && old.end <= run.end);
        let (had, have) = ((old.end - old.start) as usize, new.len());
        if have > had && !self.has_room_on::<I>(&run, have - had) {
            return Err(self.full());
        }
        // As one long fingerprint, slots can be opened and closed in it freely.
        let is_last = old.end == run.end;
        let digit = Slot {
            value: 0,
            runend: false,
            item: Mark::GoesOn,
        };
        for slot in old.start..old.end - 1 {
            self.put_back(slot, digit);
        }
        for _ in had..have {
            let run = self.run_on::<I>(quotient);
            self.open_tail::<I>(&run, old.start + 1, digit)
                .expect("there is room, as was just checked");
        }
        for _ in have.max(1)..had {
            let run = self.run_on::<I>(quotient);
            self.close::<I>(&run, old.start + 1);
        }
        if new.is_empty() {
            let run = self.run_on::<I>(quotient);
            self.close::<I>(&run, old.start);
            return Ok(());
        }
        debug_assert_eq!(new[have - 1].item, Mark::Last);
        for (i, slot) in new.iter().enumerate() {
            let runend = match slot.item {
                Mark::Last => is_last && i + 1 == have,
                Mark::GoesOn => slot.runend,
            };
            self.put_back(old.start + i as u64, Slot { runend, ..*slot });
        }
        Ok(())
    }

    /// Overwrites a used slot; nothing moves.
    #[inline(always)]
    fn put_back(&mut self, slot: u64, content: Slot<Mark>) {
        let (block, i) = split(slot);
        block::overwrite::<Marks>(&mut self.block_mut(block), i, content);
    }
}
