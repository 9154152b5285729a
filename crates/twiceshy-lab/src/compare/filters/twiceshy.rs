//! Ours: the plain quotient filter, with the fast and with the default hash.

use anyhow::Result;
use twiceshy::hash::{Seed, Sip13, StreamHash, Xxh3, first_word};
use twiceshy::{Builder, QuotientFilter, Removed};

use super::{Contender, Entry, Order, REMAINDER_BITS};
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

/// Brings keys into the order of their first hash words.
pub(super) fn sort_by_hash<H: StreamHash>(seed: Seed, keys: &mut [u64]) {
    let keyed = H::keyed(&seed);
    keys.sort_unstable_by_key(|key| first_word::<H, u64>(&keyed, key));
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
    fn remove(&mut self, key: u64) -> bool {
        matches!(self.0.remove(&key), Ok(Removed::One))
    }

    fn bulk_load(&self, keys: &[u64], order: Order) -> Result<Box<dyn Contender>> {
        let builder = builder::<H>(self.0.geometry().slots(), self.0.seed());
        let filter = match order {
            Order::Any => builder.build_from(keys),
            Order::ByHash => builder.build_from_sorted(keys),
        };
        Ok(Box::new(Plain(filter?)))
    }

    fn sort_by_hash(&self, keys: &mut [u64]) {
        sort_by_hash::<H>(self.0.seed(), keys);
    }

    fn bytes(&self) -> u64 {
        self.0.stats().bytes
    }
}
