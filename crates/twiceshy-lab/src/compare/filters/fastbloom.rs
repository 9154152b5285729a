//! `fastbloom`: a Bloom filter, sized by itself for our keys and error rate.
//!
//! Its merge is the union of two arrays of bits, in the place of one of them.

use anyhow::{Context, Result};
use fastbloom::BloomFilter;

use super::{Contender, Entry, Merge, REMAINDER_BITS};
use crate::compare::operation::Operation;
use crate::compare::workload::Workload;

pub(super) const ENTRY: Entry = Entry {
    name: "fastbloom",
    note: "SipHash-1-3; a Bloom filter can't remove",
    lacks: &[
        Operation::Adapt,
        Operation::Zipf,
        Operation::ZipfAgain,
        Operation::Remove,
    ],
    ours: false,
    learns: None,
    build,
};

fn build(workload: &Workload) -> Result<Box<dyn Contender>> {
    let filter = BloomFilter::with_false_pos(0.5_f64.powi(REMAINDER_BITS as i32))
        .seed(&u128::from(workload.seed))
        .expected_items(usize::try_from(workload.members())?);
    Ok(Box::new(filter))
}

impl Contender for BloomFilter {
    #[inline(always)]
    fn insert(&mut self, key: u64) -> Result<()> {
        BloomFilter::insert(self, &key);
        Ok(())
    }

    #[inline(always)]
    fn contains(&self, key: u64) -> bool {
        BloomFilter::contains(self, &key)
    }

    fn to_merge(&self, halves: [&[u64]; 2]) -> Result<Merge> {
        let [first, second] = halves.map(|keys| {
            let mut half = self.clone();
            half.clear();
            half.insert_all(keys);
            half
        });
        let mut first = Some(first);
        Ok(Box::new(move || {
            let mut merged = first.take().context("they are merged already")?;
            merged.union(&second);
            Ok(Box::new(merged))
        }))
    }

    fn bytes(&self) -> u64 {
        self.num_bits() as u64 / 8
    }
}
