//! Ours: the plain quotient filter, with the fast and with the default hash.

use anyhow::Result;
use twiceshy::hash::{Seed, Sip13, StreamHash, Xxh3};
use twiceshy::{Builder, QuotientFilter, Removed};

use super::{Contender, Entry, Merge, Order, REMAINDER_BITS, Trust, ours};
use crate::compare::operation::Operation;
use crate::compare::workload::Workload;

pub(super) const XXH3: Entry = Entry {
    name: "twiceshy-plain/xxh3",
    note: "XXH3, for keys that no attacker chooses",
    lacks: &[Operation::Adapt],
    ours: true,
    learns: None,
    build: plain::<Xxh3>,
};

pub(super) const SIP: Entry = Entry {
    name: "twiceshy-plain/sip",
    note: "SipHash-1-3, the default",
    lacks: &[Operation::Adapt],
    ours: true,
    learns: None,
    build: plain::<Sip13>,
};

struct Plain<H: StreamHash>(QuotientFilter<H>);

fn builder<H: StreamHash>(slots: u64, seed: Seed) -> Builder<QuotientFilter<H>> {
    QuotientFilter::builder()
        .slots(slots)
        .remainder_bits(REMAINDER_BITS)
        .hash::<H>()
        .seed(seed)
}

fn plain<H: StreamHash>(workload: &Workload) -> Result<Box<dyn Contender>> {
    let filter = builder::<H>(workload.slots(), Seed::from_u64(workload.seed)).build()?;
    Ok(Box::new(Plain(filter)))
}

impl<H: StreamHash> Plain<H> {
    fn load(&self, keys: &[u64], order: Order) -> Result<QuotientFilter<H>> {
        let builder = builder::<H>(self.0.geometry().slots(), self.0.seed());
        Ok(match order {
            Order::Any => builder.build_from(keys),
            Order::ByHash => builder.build_from_sorted(keys),
        }?)
    }
}

impl<H: StreamHash> Contender for Plain<H> {
    #[inline(always)]
    fn insert(&mut self, key: u64) -> Result<()> {
        Ok(self.0.insert(&key)?)
    }

    #[inline(always)]
    fn contains(&self, key: u64) -> bool {
        self.0.contains(&key)
    }

    #[inline(always)]
    fn remove(&mut self, key: &u64) -> bool {
        matches!(self.0.remove(key), Ok(Removed::One))
    }

    fn bulk_load(&self, keys: &[u64], order: Order) -> Result<Box<dyn Contender>> {
        Ok(Box::new(Plain(self.load(keys, order)?)))
    }

    fn sort_by_hash(&self, keys: &mut [u64]) {
        ours::sort_by_hash::<H>(self.0.seed(), keys);
    }

    fn to_merge(&self, [first, second]: [&[u64]; 2]) -> Result<Merge> {
        let first = self.load(first, Order::Any)?;
        let second = self.load(second, Order::Any)?;
        Ok(Box::new(move || {
            let merged = QuotientFilter::merge([&first, &second])?;
            Ok(Box::new(Plain(merged)))
        }))
    }

    fn insert_batch(&mut self, keys: &[u64]) -> Result<u64> {
        ours::insert_batch(&mut self.0, keys)
    }

    fn contains_batch(&self, keys: &[u64], found: &mut Vec<bool>) -> Result<u64> {
        Ok(ours::contains_batch(&self.0, keys, found))
    }

    fn to_file(&self) -> Result<Vec<u8>> {
        Ok(self.0.to_bytes())
    }

    fn open(&self, file: &[u8], trust: Trust) -> Result<u64> {
        ours::open::<QuotientFilter<H>>(file, trust)
    }

    fn bytes(&self) -> u64 {
        self.0.stats().bytes
    }
}
