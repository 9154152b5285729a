//! Ours: the adaptive quotient filter, with the fast and with the default hash.
//!
//! The filter itself needs no keys until it is told of a mistake, or is to remove one of
//! two members with the same fingerprint: [`Members`] has them.

use std::collections::HashSet;
use std::hint::black_box;
use std::rc::Rc;

use anyhow::{Context, Result};
use twiceshy::filters::adaptive::Leave;
use twiceshy::hash::{Seed, Sip13, StreamHash, Xxh3};
use twiceshy::{AdaptiveFilter, Builder, Error, Minirun, Removed};

use super::{
    Contender, Entry, Learner, Learns, Merge, Order, REMAINDER_BITS, Trust, ours, twiceshy as plain,
};
use crate::compare::members::{Members, Mistake};
use crate::compare::workload::Workload;

pub(super) const XXH3: Entry = Entry {
    name: "twiceshy-adaptive/xxh3",
    note: "XXH3, for keys that no attacker chooses",
    lacks: &[],
    ours: true,
    learns: Some(Learns {
        plain: plain::XXH3.name,
        members: Members::new::<Xxh3>,
    }),
    build: build::<Xxh3>,
};

pub(super) const SIP: Entry = Entry {
    name: "twiceshy-adaptive/sip",
    note: "SipHash-1-3, the default",
    lacks: &[],
    ours: true,
    learns: Some(Learns {
        plain: plain::SIP.name,
        members: Members::new::<Sip13>,
    }),
    build: build::<Sip13>,
};

struct Adaptive<H: StreamHash> {
    filter: AdaptiveFilter<H>,
    members: Option<Rc<Members>>,
    /// Removed with the help of the other keys of their minirun. Those that were removed
    /// without were alone in theirs, so nobody asks for them again.
    removed: HashSet<u64>,
}

fn builder<H: StreamHash>(slots: u64, seed: Seed) -> Builder<AdaptiveFilter<H>> {
    AdaptiveFilter::builder()
        .slots(slots)
        .remainder_bits(REMAINDER_BITS)
        .hash::<H>()
        .seed(seed)
}

fn build<H: StreamHash>(workload: &Workload) -> Result<Box<dyn Contender>> {
    let filter = builder::<H>(workload.slots(), Seed::from_u64(workload.seed)).build()?;
    Ok(Box::new(Adaptive::from(filter)))
}

impl<H: StreamHash> From<AdaptiveFilter<H>> for Adaptive<H> {
    fn from(filter: AdaptiveFilter<H>) -> Self {
        Adaptive {
            filter,
            members: None,
            removed: HashSet::new(),
        }
    }
}

impl<H: StreamHash> Adaptive<H> {
    fn load(&self, keys: &[u64], order: Order) -> Result<AdaptiveFilter<H>> {
        let builder = builder::<H>(self.filter.geometry().slots(), self.filter.seed());
        Ok(match order {
            Order::Any => builder.build_from(keys),
            Order::ByHash => builder.build_from_sorted(keys),
        }?)
    }

    fn members(&self) -> Result<&Members> {
        self.members.as_deref().context("the keys are not known")
    }

    #[cold]
    fn fix(&mut self, query: u64) -> Result<()> {
        let mistake = self.members()?.mistake(query, self.filter.len());
        let Mistake {
            query,
            minirun,
            keys,
        } = &mistake;
        self.filter.adapt(query, *minirun, keys)?;
        Ok(())
    }

    /// Removes a key that the filter could not remove alone. Apart from the loop over the keys, which
    /// would keep less in registers with the error at hand.
    #[cold]
    #[inline(never)]
    fn remove_after(&mut self, key: u64, error: Error) -> bool {
        match error {
            Error::NeedsKeys { minirun } => self.remove_among(key, minirun).is_ok(),
            _ => false,
        }
    }

    fn remove_among(&mut self, key: u64, minirun: Minirun) -> Result<()> {
        let members = self.members()?;
        let keys = members.keys(minirun, u64::MAX);
        let left = keys.filter(|key| !self.removed.contains(key));
        let left: Vec<_> = left.map(|key| members.hash(key)).collect();
        let hashed = self.filter.hash(&key).into_owned();
        self.filter.remove(&hashed, &left, Leave::Nothing)?;
        self.removed.insert(key);
        Ok(())
    }
}

impl<H: StreamHash> Contender for Adaptive<H> {
    #[inline(always)]
    fn insert(&mut self, key: u64) -> Result<()> {
        self.filter.insert(&key)?;
        Ok(())
    }

    #[inline(always)]
    fn contains(&self, key: u64) -> bool {
        self.filter.contains(&key)
    }

    #[inline(always)]
    fn remove(&mut self, key: &u64) -> bool {
        match self.filter.remove_known_member(key) {
            Ok(removed) => removed == Removed::One,
            Err(error) => self.remove_after(*key, error),
        }
    }

    fn bulk_load(&self, keys: &[u64], order: Order) -> Result<Box<dyn Contender>> {
        Ok(Box::new(Adaptive::from(self.load(keys, order)?)))
    }

    fn sort_by_hash(&self, keys: &mut [u64]) {
        ours::sort_by_hash::<H>(self.filter.seed(), keys);
    }

    fn to_merge(&self, [first, second]: [&[u64]; 2]) -> Result<Merge> {
        let first = self.load(first, Order::Any)?;
        let second = self.load(second, Order::Any)?;
        Ok(Box::new(move || {
            let merged = AdaptiveFilter::merge([&first, &second])?;
            Ok(Box::new(Adaptive::from(merged)))
        }))
    }

    fn insert_batch(&mut self, keys: &[u64]) -> Result<u64> {
        ours::insert_batch(&mut self.filter, keys)
    }

    fn contains_batch(&self, keys: &[u64], found: &mut Vec<bool>) -> Result<u64> {
        Ok(ours::contains_batch(&self.filter, keys, found))
    }

    fn to_file(&self) -> Result<Vec<u8>> {
        Ok(self.filter.to_bytes())
    }

    fn open(&self, file: &[u8], trust: Trust) -> Result<u64> {
        ours::open::<AdaptiveFilter<H>>(file, trust)
    }

    fn bytes(&self) -> u64 {
        self.filter.stats().bytes
    }

    fn learner(&mut self) -> Option<&mut dyn Learner> {
        Some(self)
    }

    fn ask_strangers(&mut self, keys: &[u64]) -> Result<u64> {
        let mut wrong = 0;
        for &key in black_box(keys) {
            if self.filter.contains(&key) {
                wrong += 1;
                self.fix(key)?;
            }
        }
        Ok(black_box(wrong))
    }
}

impl<H: StreamHash> Learner for Adaptive<H> {
    fn meet(&mut self, members: Rc<Members>) {
        self.members = Some(members);
    }

    fn positives(&self, keys: &[u64], found: &mut Vec<(Minirun, u64)>) {
        for &key in keys {
            found.extend(self.filter.lookup(&key).map(|minirun| (minirun, key)));
        }
    }

    fn adapt_all(&mut self, mistakes: &[Mistake]) -> Result<u64> {
        let mut extended = 0;
        for mistake in black_box(mistakes) {
            let Mistake {
                query,
                minirun,
                keys,
            } = mistake;
            extended += self.filter.adapt(query, *minirun, keys)?.extended;
        }
        Ok(black_box(extended))
    }

    fn used_slots(&self) -> u64 {
        // Exact: both numbers are far below 2⁵³.
        (self.filter.load() * self.filter.geometry().slots() as f64).round() as u64
    }

    fn fork(&self) -> Result<Box<dyn Contender>> {
        Ok(Box::new(Adaptive {
            filter: self.filter.try_clone()?,
            members: self.members.clone(),
            removed: self.removed.clone(),
        }))
    }
}
