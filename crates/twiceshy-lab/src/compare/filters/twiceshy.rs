//! Ours: the plain quotient filter, with the fast and with the default hash.

use anyhow::Result;
use twiceshy::hash::{Seed, Sip13, StreamHash, Xxh3};
use twiceshy::{QuotientFilter, Removed};

use super::{Contender, Entry, REMAINDER_BITS};
use crate::compare::operation::Operation;
use crate::compare::workload::Workload;

pub(super) const XXH3: Entry = Entry {
    name: "twiceshy-plain/xxh3",
    note: "XXH3, for keys that no attacker chooses",
    lacks: &[Operation::Adapt],
    learns: None,
    build: plain::<Xxh3>,
};

pub(super) const SIP: Entry = Entry {
    name: "twiceshy-plain/sip",
    note: "SipHash-1-3, the default",
    lacks: &[Operation::Adapt],
    learns: None,
    build: plain::<Sip13>,
};

struct Plain<H: StreamHash>(QuotientFilter<H>);

fn plain<H: StreamHash + 'static>(workload: &Workload) -> Result<Box<dyn Contender>> {
    let filter = QuotientFilter::builder()
        .slots(workload.slots())
        .remainder_bits(REMAINDER_BITS)
        .hash::<H>()
        .seed(Seed::from_u64(workload.seed))
        .build()?;
    Ok(Box::new(Plain(filter)))
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

    fn bytes(&self) -> u64 {
        self.0.stats().bytes
    }
}
