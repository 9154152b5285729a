//! Reading a table from front to back.

use super::find::Run;
use super::sidecar::Sidecar;
use super::table::Table;
use crate::bits::{Bytes, Portable};

impl<S: Sidecar, M: Bytes> Table<S, M> {
    /// All runs in the order of their quotients, which is the order of their slots.
    #[must_use]
    pub fn runs(&self) -> Runs<'_, S, M> {
        Runs {
            table: self,
            block: 0,
            occupieds: self.header(0).occupieds,
            end: 0,
        }
    }

    /// The longest stretch of used slots without a gap.
    #[must_use]
    pub fn longest_cluster(&self) -> u64 {
        let mut longest = 0;
        let (mut start, mut end) = (0, 0);
        for run in self.runs() {
            if run.start > end {
                start = run.start;
            }
            end = run.end;
            longest = longest.max(end - start);
        }
        longest
    }
}

/// Iterator over the runs of a table.
#[derive(Debug)]
pub struct Runs<'t, S: Sidecar, M> {
    table: &'t Table<S, M>,
    block: u64,
    /// Quotients of the block that are still to come.
    occupieds: u64,
    /// One past the last slot of the run before.
    end: u64,
}

impl<S: Sidecar, M: Bytes> Iterator for Runs<'_, S, M> {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        while self.occupieds == 0 {
            self.block += 1;
            if self.block >= self.table.blocks() {
                return None;
            }
            self.occupieds = self.table.header(self.block).occupieds;
        }
        let quotient = self.block * 64 + u64::from(self.occupieds.trailing_zeros());
        self.occupieds &= self.occupieds - 1;
        let start = self.end.max(quotient);
        self.end = self.table.select_from::<Portable>(start, 0) + 1;
        Some(Run {
            quotient,
            occupied: true,
            start,
            end: self.end,
        })
    }
}
