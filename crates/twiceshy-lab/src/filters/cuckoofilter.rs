//! `cuckoofilter`: as many slots as ours, in buckets of four.
//!
//! Its fingerprints have 8 bits whatever one asks for, and two buckets are compared
//! per query: about 14 times the error of the others, in fewer bits.

use std::collections::hash_map::DefaultHasher;

use anyhow::Result;
use cuckoofilter::CuckooFilter;

use super::{Contender, Entry, Operation};

pub(super) const ENTRY: Entry = Entry {
    name: "cuckoofilter",
    about: "the crate cuckoofilter: SipHash-1-3; 8-bit fingerprints only",
    learns: false,
    with_keys: None,
    alone: Some(|shape| {
        Ok(Box::new(Cuckoo::with_capacity(usize::try_from(
            shape.slots,
        )?)))
    }),
};

type Cuckoo = CuckooFilter<DefaultHasher>;

impl Contender for Cuckoo {
    fn can(&self, operation: Operation) -> bool {
        operation.is_for_all() || operation == Operation::Remove
    }

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
