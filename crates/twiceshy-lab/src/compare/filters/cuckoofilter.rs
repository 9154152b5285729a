//! `cuckoofilter`: as many slots as ours, in buckets of four.
//!
//! Its fingerprints have 8 bits whatever one asks for, and two buckets are compared
//! per query: about 14 times the error of the others, in fewer bits.

use std::collections::hash_map::DefaultHasher;

use anyhow::Result;
use cuckoofilter::CuckooFilter;

use super::{Contender, Entry};
use crate::compare::operation::Operation;
use crate::compare::workload::Workload;

pub(super) const ENTRY: Entry = Entry {
    name: "cuckoofilter",
    note: "SipHash-1-3; 8-bit fingerprints only",
    lacks: &[
        Operation::Adapt,
        Operation::Zipf,
        Operation::ZipfAgain,
        Operation::Merge,
    ],
    ours: false,
    learns: None,
    build,
};

type Cuckoo = CuckooFilter<DefaultHasher>;

fn build(workload: &Workload) -> Result<Box<dyn Contender>> {
    let slots = usize::try_from(workload.slots())?;
    Ok(Box::new(Cuckoo::with_capacity(slots)))
}

impl Contender for Cuckoo {
    #[inline(always)]
    fn insert(&mut self, key: u64) -> Result<()> {
        Ok(self.add(&key)?)
    }

    #[inline(always)]
    fn contains(&self, key: u64) -> bool {
        Cuckoo::contains(self, &key)
    }

    #[inline(always)]
    fn remove(&mut self, key: &u64) -> bool {
        self.delete(key)
    }

    fn bytes(&self) -> u64 {
        self.memory_usage() as u64
    }
}
