//! Reading the fingerprints in hash order.

use std::fmt;
use std::iter::FusedIterator;

use super::QuotientFilter;
use crate::bits::Bytes;
use crate::geometry::Fingerprint;
use crate::hash::StreamHash;
use crate::mem::Memory;
use crate::table::{Bare, Run, Runs, Table};

/// The fingerprints of a [`QuotientFilter`] in hash order.
pub struct Iter<'f, M = Memory> {
    pub(super) table: &'f Table<Bare, M>,
    pub(super) runs: Runs<'f, Bare, M>,
    /// What is left of the run being read.
    pub(super) run: Option<Run>,
    /// Fingerprints still to come.
    pub(super) left: u64,
}

impl<M: Bytes> Iterator for Iter<'_, M> {
    type Item = Fingerprint;

    fn next(&mut self) -> Option<Fingerprint> {
        let mut run = match self.run.take() {
            Some(run) if run.start < run.end => run,
            // A run is empty only where a damaged table leaves no slot for it.
            _ => self.runs.find(|run| run.start < run.end)?,
        };
        let remainder = self.table.slot(run.start).value;
        run.start += 1;
        self.run = Some(run);
        self.left = self.left.saturating_sub(1);
        Some(Fingerprint {
            quotient: run.quotient,
            remainder,
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.left).ok();
        (left.unwrap_or(usize::MAX), left)
    }
}

impl<M: Bytes> FusedIterator for Iter<'_, M> {}

impl<M> fmt::Debug for Iter<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Iter")
            .field("left", &self.left)
            .finish_non_exhaustive()
    }
}

impl<'f, H: StreamHash, M: Bytes> IntoIterator for &'f QuotientFilter<H, M> {
    type Item = Fingerprint;
    type IntoIter = Iter<'f, M>;

    fn into_iter(self) -> Iter<'f, M> {
        self.iter()
    }
}
