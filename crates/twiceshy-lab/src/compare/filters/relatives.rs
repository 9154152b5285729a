//! Ours: the cuckoo, the vacuum and both Bloom filters, with the fast hash.

use anyhow::Result;
use twiceshy::Removed;
use twiceshy::bloom::{BitFilter, BlockedBloomFilter, BloomFilter, Planned};
use twiceshy::cuckoo::{Alternate, CuckooFilter, PartialKeyFilter, VacuumFilter};
use twiceshy::hash::{Seed, Xxh3};

use super::{Contender, Entry, Merge, REMAINDER_BITS, Trust, ours};
use crate::compare::operation::Operation;
use crate::compare::workload::Workload;

pub(super) const CUCKOO: Entry = Entry {
    name: "twiceshy-cuckoo/xxh3",
    note: "XXH3; 12-bit fingerprints, buckets of four",
    lacks: NO_ORDER,
    ours: true,
    learns: None,
    build: cuckoo,
};

pub(super) const VACUUM: Entry = Entry {
    name: "twiceshy-vacuum/xxh3",
    note: "XXH3; 12-bit fingerprints, buckets of four",
    lacks: NO_ORDER,
    ours: true,
    learns: None,
    build: vacuum,
};

pub(super) const BLOOM: Entry = Entry {
    name: "twiceshy-bloom/xxh3",
    note: "XXH3; a Bloom filter can't remove",
    lacks: BITS,
    ours: true,
    learns: None,
    build: bloom,
};

pub(super) const BLOCKED: Entry = Entry {
    name: "twiceshy-blocked-bloom/xxh3",
    note: "XXH3; one cache line a query",
    lacks: BITS,
    ours: true,
    learns: None,
    build: blocked,
};

/// What takes hash order.
const NO_ORDER: &[Operation] = &[
    Operation::Adapt,
    Operation::Zipf,
    Operation::ZipfAgain,
    Operation::BulkLoad,
    Operation::BulkLoadSorted,
    Operation::Merge,
];

const BITS: &[Operation] = &[
    Operation::Adapt,
    Operation::Zipf,
    Operation::ZipfAgain,
    Operation::BulkLoad,
    Operation::BulkLoadSorted,
    Operation::Remove,
];

/// Two buckets of four are compared: three bits more than a remainder for the same error.
const FINGERPRINT_BITS: u32 = REMAINDER_BITS + 3;

fn cuckoo(workload: &Workload) -> Result<Box<dyn Contender>> {
    let builder = CuckooFilter::builder().hash::<Xxh3>();
    let builder = builder.buckets(workload.slots() / 4);
    let builder = builder.fingerprint_bits(FINGERPRINT_BITS);
    Ok(Box::new(
        builder.seed(Seed::from_u64(workload.seed)).build()?,
    ))
}

fn vacuum(workload: &Workload) -> Result<Box<dyn Contender>> {
    let builder = VacuumFilter::builder().hash::<Xxh3>();
    let builder = builder.buckets(workload.slots() / 4);
    let builder = builder.fingerprint_bits(FINGERPRINT_BITS);
    Ok(Box::new(
        builder.seed(Seed::from_u64(workload.seed)).build()?,
    ))
}

fn bloom(workload: &Workload) -> Result<Box<dyn Contender>> {
    let builder = BloomFilter::builder().hash::<Xxh3>();
    let builder = builder.capacity(workload.members());
    let builder = builder.fpr(0.5_f64.powi(REMAINDER_BITS as i32));
    Ok(Box::new(
        builder.seed(Seed::from_u64(workload.seed)).build()?,
    ))
}

fn blocked(workload: &Workload) -> Result<Box<dyn Contender>> {
    let builder = BlockedBloomFilter::builder().hash::<Xxh3>();
    let builder = builder.capacity(workload.members());
    let builder = builder.fpr(0.5_f64.powi(REMAINDER_BITS as i32));
    Ok(Box::new(
        builder.seed(Seed::from_u64(workload.seed)).build()?,
    ))
}

impl<A: Alternate> Contender for PartialKeyFilter<Xxh3, A> {
    #[inline(always)]
    fn insert(&mut self, key: u64) -> Result<()> {
        Ok(self.insert(&key)?)
    }

    #[inline(always)]
    fn contains(&self, key: u64) -> bool {
        self.contains(&key)
    }

    #[inline(always)]
    fn remove(&mut self, key: &u64) -> bool {
        matches!(self.remove(key), Ok(Removed::One))
    }

    fn insert_batch(&mut self, keys: &[u64]) -> Result<u64> {
        ours::insert_batch(self, keys)
    }

    fn contains_batch(&self, keys: &[u64], found: &mut Vec<bool>) -> Result<u64> {
        Ok(ours::contains_batch(self, keys, found))
    }

    fn to_file(&self) -> Result<Vec<u8>> {
        Ok(self.to_bytes())
    }

    fn open(&self, file: &[u8], trust: Trust) -> Result<u64> {
        ours::open::<Self>(file, trust)
    }

    fn bytes(&self) -> u64 {
        self.stats().bytes
    }
}

impl<P: Planned> Contender for BitFilter<Xxh3, P> {
    #[inline(always)]
    fn insert(&mut self, key: u64) -> Result<()> {
        self.insert(&key);
        Ok(())
    }

    #[inline(always)]
    fn contains(&self, key: u64) -> bool {
        self.contains(&key)
    }

    fn to_merge(&self, halves: [&[u64]; 2]) -> Result<Merge> {
        let [mut first, second] = halves.map(|keys| {
            let mut half = self.clone();
            half.clear();
            keys.iter().for_each(|key| half.insert(key));
            half
        });
        Ok(Box::new(move || {
            first.union(&second)?;
            Ok(Box::new(first.try_clone()?))
        }))
    }

    fn insert_batch(&mut self, keys: &[u64]) -> Result<u64> {
        ours::insert_batch(self, keys)
    }

    fn contains_batch(&self, keys: &[u64], found: &mut Vec<bool>) -> Result<u64> {
        Ok(ours::contains_batch(self, keys, found))
    }

    fn to_file(&self) -> Result<Vec<u8>> {
        Ok(self.to_bytes())
    }

    fn open(&self, file: &[u8], trust: Trust) -> Result<u64> {
        ours::open::<Self>(file, trust)
    }

    fn bytes(&self) -> u64 {
        self.stats().bytes
    }
}
