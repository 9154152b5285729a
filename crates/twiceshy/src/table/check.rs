//! Everything that must hold in a table, verified from scratch.

use super::lane::Sidecar;
use super::storage::Table;
use crate::bits::Bytes;
pub(super) use crate::violation::Violation;

pub(super) fn require(holds: bool, what: &'static str, at: u64) -> Result<(), Violation> {
    if holds {
        Ok(())
    } else {
        Err(Violation::new(what, at))
    }
}

impl<S: Sidecar, M: Bytes> Table<S, M> {
    /// Verifies the invariants of `docs/design.md`, "The table", in one pass that
    /// uses neither offsets nor select.
    ///
    /// # Errors
    /// The first one that does not hold.
    pub fn check_invariants(&self) -> Result<(), Violation> {
        let mut used = 0;
        // One past the last slot of the runs so far.
        let mut end = 0;
        for block in 0..self.blocks() {
            let header = self.header(block);
            let base = block * 64;
            let offset = end.max(base) - base;
            let stored = offset.min(u64::from(S::MAX_OFFSET));
            require(
                u64::from(header.offset) == stored,
                "a block's offset is wrong",
                block,
            )?;
            for i in 0..64 {
                let quotient = base + i;
                if header.occupieds >> i & 1 == 0 {
                    continue;
                }
                require(
                    quotient < self.quotients(),
                    "a quotient is too high",
                    quotient,
                )?;
                let start = end.max(quotient);
                self.check_empty(end, start)?;
                end = self.check_run(quotient, start)?;
                used += end - start;
            }
        }
        self.check_empty(end, self.slots)?;
        require(used == self.used, "the number of used slots is wrong", used)?;
        self.check_padding()
    }

    /// Behind the blocks stand zeros.
    pub(super) fn check_padding(&self) -> Result<(), Violation> {
        let padding = self.blocks.padding();
        require(
            padding.iter().all(|&byte| byte == 0),
            "the padding is not zero",
            0,
        )
    }

    /// The run that starts at `start` has an end: gives one past its last slot.
    fn check_run(&self, quotient: u64, start: u64) -> Result<u64, Violation> {
        let last = (start..self.slots).find(|&slot| self.is_end(slot));
        last.map(|last| last + 1)
            .ok_or(Violation::new("a run has no end", quotient))
    }

    /// The slots from `from` up to `to` hold nothing at all.
    fn check_empty(&self, from: u64, to: u64) -> Result<(), Violation> {
        for slot in from..to {
            let content = self.slot(slot);
            require(!content.runend, "an empty slot ends a run", slot)?;
            require(
                content.item == S::Item::default(),
                "an empty slot has something in its lane",
                slot,
            )?;
            require(content.value == 0, "an empty slot is not zero", slot)?;
        }
        Ok(())
    }
}
