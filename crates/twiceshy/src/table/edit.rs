//! Replacing fingerprints of a run by others, which may take more slots, or fewer.

use std::ops::Range;

use super::find::Run;
use super::lane::Sidecar;
use super::layout::{self, Slot};
use super::storage::{Table, split};
use crate::bits::{Bytes, Isa};
use crate::error::Error;

impl<S: Sidecar, M: Bytes + AsMut<[u8]>> Table<S, M> {
    /// The body of [`replace`](Self::replace).
    #[inline(always)]
    pub(super) fn replace_on<I: Isa>(
        &mut self,
        mut run: Run,
        old: Range<u64>,
        new: &[Slot<S::Item>],
    ) -> Result<(), Error> {
        debug_assert!(run.start <= old.start && old.start <= old.end && old.end <= run.end);
        let (mut had, have) = (old.end - old.start, new.len() as u64);
        let marked = old.clone().filter(|&slot| self.is_marked(slot)).count();
        let marks = new.iter().filter(|slot| S::is_mark(slot.item)).count();
        if have > had && !self.has_room::<I>(&run, (have - had) as usize) {
            return Err(self.full());
        }
        // What comes first, and what goes, are fingerprints of one slot that mean nothing: whatever the
        // others are, slots can be opened and closed there one by one.
        while had < have {
            self.open_home::<I>(&run, old.start, 0, S::Item::default())
                .expect("there is room, as was just checked");
            run.end += 1;
            run.occupied = true;
            had += 1;
        }
        for slot in old.start..old.start + (had - have) {
            let runend = slot + 1 == run.end;
            self.overwrite(
                slot,
                Slot {
                    runend,
                    ..Slot::default()
                },
            );
        }
        if have > 0 {
            let first = old.start + (had - have);
            let last = first + have - 1;
            for (at, slot) in (first..).zip(new) {
                let runend = match S::is_mark(slot.item) {
                    true => slot.runend,
                    false => at == last && at + 1 == run.end,
                };
                self.overwrite(at, Slot { runend, ..*slot });
            }
        }
        while had > have {
            self.close::<I>(&run, old.start);
            run.end -= 1;
            had -= 1;
        }
        self.marked = self.marked - marked as u64 + marks as u64;
        Ok(())
    }

    /// Overwrites a used slot; nothing moves.
    #[inline(always)]
    fn overwrite(&mut self, slot: u64, content: Slot<S::Item>) {
        let (block, i) = split(slot);
        layout::overwrite::<S>(&mut self.block_mut(block), i, content);
    }
}
