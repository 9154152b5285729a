//! Ours: the adaptive cuckoo filter that swaps, with its keys in memory beside it.
//!
//! It is bound to its keys: wherever a fingerprint moves, its key moves too, on the clock. So it
//! learns, but can't be copied without them, and is not timed where that is wanted.

use std::hint::black_box;

use anyhow::Result;
use twiceshy::Removed;
use twiceshy::cuckoo::{AdaptiveCuckooFilter, MemoryCells, Scheme};
use twiceshy::hash::{Seed, Xxh3};

use super::{Contender, Entry, REMAINDER_BITS};
use crate::compare::operation::Operation;
use crate::compare::workload::Workload;

pub(super) const ENTRY: Entry = Entry {
    name: "twiceshy-swapping/xxh3",
    note: "XXH3; adaptive cuckoo, keys kept beside it",
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

struct Swapping {
    filter: AdaptiveCuckooFilter<Xxh3>,
    keys: MemoryCells,
}

fn build(workload: &Workload) -> Result<Box<dyn Contender>> {
    let filter = AdaptiveCuckooFilter::builder(Scheme::Swapping)
        .hash::<Xxh3>()
        .bins(workload.slots() / 4)
        .fingerprint_bits(REMAINDER_BITS + 3)
        .seed(Seed::from_u64(workload.seed))
        .build()?;
    Ok(Box::new(Swapping {
        filter,
        keys: MemoryCells::default(),
    }))
}

impl Contender for Swapping {
    #[inline(always)]
    fn insert(&mut self, key: u64) -> Result<()> {
        let hashed = self.filter.hash(&key);
        Ok(self.filter.insert_hashed(&hashed, &mut self.keys)?)
    }

    #[inline(always)]
    fn contains(&self, key: u64) -> bool {
        self.filter.contains(&key)
    }

    #[inline(always)]
    fn remove(&mut self, key: &u64) -> bool {
        let hashed = self.filter.hash(key);
        let removed = self.filter.remove_hashed(&hashed, &mut self.keys);
        matches!(removed, Ok(Removed::One))
    }

    fn bytes(&self) -> u64 {
        self.filter.stats().bytes
    }

    fn ask_strangers(&mut self, keys: &[u64]) -> Result<u64> {
        let mut wrong = 0;
        for &key in black_box(keys) {
            if self.filter.contains(&key) {
                wrong += 1;
                let hashed = self.filter.hash(&key);
                self.filter.adapt_hashed(&hashed, &mut self.keys)?;
            }
        }
        Ok(black_box(wrong))
    }
}
