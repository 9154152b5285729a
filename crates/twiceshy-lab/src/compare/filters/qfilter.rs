//! `qfilter`: the same kind of filter, hence the one that ratios refer to.
//!
//! It chooses its own geometry: the least power of two that holds the wanted
//! capacity at 95% load, and ⌈−log₂ FPR⌉ remainder bits. Asking for 95% of our slots
//! so gives it exactly our geometry, which `build` verifies.
//!
//! Its `insert` keeps equal fingerprints once, ours keeps each; at this error rate
//! that is one key in a thousand. Its `merge` is asked to keep both of two equal
//! fingerprints, as ours does: only then does it take memory for the whole result at once.

use anyhow::{Context, Result, ensure};
use qfilter::Filter;

use super::{Contender, Entry, Merge, REFERENCE, REMAINDER_BITS};
use crate::compare::operation::Operation;
use crate::compare::workload::Workload;

pub(super) const ENTRY: Entry = Entry {
    name: REFERENCE,
    note: "foldhash; same slots and remainder bits as ours",
    lacks: &[Operation::Adapt],
    ours: false,
    learns: None,
    build,
};

fn build(workload: &Workload) -> Result<Box<dyn Contender>> {
    let capacity = (workload.slots() * 19).div_ceil(20);
    let filter = Filter::new(capacity, 0.5_f64.powi(REMAINDER_BITS as i32))?;
    ensure!(
        filter.capacity() == capacity
            && filter.max_capacity() == capacity
            && u32::from(filter.fingerprint_size()) == workload.log2_slots + REMAINDER_BITS,
        "qfilter took another geometry than 2^{} slots of {REMAINDER_BITS} bits",
        workload.log2_slots,
    );
    Ok(Box::new(filter))
}

impl Contender for Filter {
    #[inline(always)]
    fn insert(&mut self, key: u64) -> Result<()> {
        Filter::insert(self, key)?;
        Ok(())
    }

    #[inline(always)]
    fn contains(&self, key: u64) -> bool {
        Filter::contains(self, key)
    }

    #[inline(always)]
    fn remove(&mut self, key: &u64) -> bool {
        Filter::remove(self, *key)
    }

    fn to_merge(&self, halves: [&[u64]; 2]) -> Result<Merge> {
        let [first, second] = halves.map(|keys| -> Result<Filter> {
            let mut half = self.clone();
            half.clear();
            half.insert_all(keys)?;
            Ok(half)
        });
        let (mut first, second) = (Some(first?), second?);
        Ok(Box::new(move || {
            let mut merged = first.take().context("they are merged already")?;
            merged.merge(true, &second)?;
            Ok(Box::new(merged))
        }))
    }

    fn bytes(&self) -> u64 {
        self.memory_usage() as u64
    }
}
