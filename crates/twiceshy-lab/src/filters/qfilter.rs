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

use super::{Contender, Entry, Merge, Operation, Set, Shape, Space};

pub(super) const ENTRY: Entry = Entry {
    name: "qfilter",
    about: "the crate qfilter: a quotient filter; foldhash",
    learns: false,
    with_keys: Some(|shape| Ok(Box::new(build(shape)?))),
    alone: Some(|shape| Ok(Box::new(build(shape)?))),
};

fn build(shape: &Shape) -> Result<Filter> {
    let capacity = (shape.slots * 19).div_ceil(20);
    let filter = Filter::new(capacity, shape.fpr())?;
    let bits = shape.slots.ilog2() + shape.bits;
    ensure!(
        filter.capacity() == capacity
            && filter.max_capacity() == capacity
            && u32::from(filter.fingerprint_size()) == bits,
        "qfilter took another geometry than {} slots of {} bits",
        shape.slots,
        shape.bits,
    );
    Ok(filter)
}

impl Set for Filter {
    fn insert(&mut self, key: &[u8]) -> Result<()> {
        // Each of two equal fingerprints, as ours do.
        Ok(self.insert_duplicated(key)?)
    }

    fn remove(&mut self, key: &[u8]) -> Result<()> {
        ensure!(Filter::remove(self, key), "a member was not there");
        Ok(())
    }

    fn contains(&self, key: &[u8]) -> bool {
        Filter::contains(self, key)
    }

    fn space(&self) -> Space {
        let bytes = self.memory_usage() as u64;
        let load = self.len() as f64 / (self.capacity() as f64 / 0.95);
        Space {
            bytes,
            used_bits: bytes as f64 * 8.0 * load,
        }
    }
}

impl Contender for Filter {
    fn can(&self, operation: Operation) -> bool {
        operation.is_for_all() || matches!(operation, Operation::Remove | Operation::Merge)
    }

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
            Contender::insert_all(&mut half, keys)?;
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
