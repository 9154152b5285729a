//! `fastbloom`: a Bloom filter, sized by itself for our keys and error rate.
//!
//! Its merge is the union of two arrays of bits, in the place of one of them.

use anyhow::{Context, Result};
use fastbloom::BloomFilter;

use super::{Contender, Entry, Merge, Operation, Set, Shape, Space};

pub(super) const ENTRY: Entry = Entry {
    name: "fastbloom",
    about: "the crate fastbloom: a Bloom filter; SipHash-1-3; can't remove",
    learns: false,
    with_keys: Some(|shape| Ok(Box::new(build(shape)?))),
    alone: Some(|shape| Ok(Box::new(build(shape)?))),
};

fn build(shape: &Shape) -> Result<BloomFilter> {
    Ok(BloomFilter::with_false_pos(shape.fpr())
        .seed(&u128::from(shape.seed))
        .expected_items(usize::try_from(shape.keys())?))
}

impl Set for BloomFilter {
    fn insert(&mut self, key: &[u8]) -> Result<()> {
        BloomFilter::insert(self, key);
        Ok(())
    }

    fn contains(&self, key: &[u8]) -> bool {
        BloomFilter::contains(self, key)
    }

    fn space(&self) -> Space {
        let bits = self.num_bits();
        Space {
            bytes: bits as u64 / 8,
            used_bits: bits as f64,
        }
    }
}

impl Contender for BloomFilter {
    fn can(&self, operation: Operation) -> bool {
        operation.is_for_all() || operation == Operation::Merge
    }

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
            for key in keys {
                BloomFilter::insert(&mut half, key);
            }
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
