//! Ours: the filters that learn in fixed space, telescoping (with coded and with plain
//! selectors) and extension.
//!
//! They may forget a mistake when they learn another, so they are not timed where none may
//! come back.

use std::hint::black_box;
use std::ops::RangeInclusive;
use std::rc::Rc;

use anyhow::{Context, Result};
use twiceshy::hash::{Seed, Xxh3};
use twiceshy::sets;
use twiceshy::{
    Buildable, Builder, Error, ExtensionFilter, Insert, PlainTelescopingFilter, ReverseMap,
    TelescopingFilter,
};
use twiceshy::{Geometry, Minirun};

use super::{Contender, Entry, Learner, Learns, REMAINDER_BITS, twiceshy as plain};
use crate::compare::members::{Members, Mistake};
use crate::compare::operation::Operation;
use crate::compare::workload::Workload;

const LACKS: &[Operation] = &[
    Operation::Adapt,
    Operation::Zipf,
    Operation::ZipfAgain,
    Operation::Remove,
    Operation::Merge,
];

const LEARNS: Option<Learns> = Some(Learns {
    plain: plain::XXH3.name,
    members: Members::new::<Xxh3>,
});

pub(super) const TELESCOPING: Entry = Entry {
    name: "twiceshy-telescoping/xxh3",
    note: "XXH3; learns in fixed space",
    lacks: LACKS,
    ours: false,
    learns: LEARNS,
    build: build::<TelescopingFilter<Xxh3>>,
};

pub(super) const TELESCOPING_PLAIN: Entry = Entry {
    name: "twiceshy-telescoping-plain/xxh3",
    note: "XXH3; the same, with three bits a slot",
    lacks: LACKS,
    ours: false,
    learns: LEARNS,
    build: build::<PlainTelescopingFilter<Xxh3>>,
};

pub(super) const EXTENSION: Entry = Entry {
    name: "twiceshy-extension/xxh3",
    note: "XXH3; learns in fixed space",
    lacks: LACKS,
    ours: false,
    learns: LEARNS,
    build: build::<ExtensionFilter<Xxh3>>,
};

/// A filter that learns from the first members.
trait Keyed: sets::Learner<Among, Error = Error> {}

impl<F: sets::Learner<Among, Error = Error>> Keyed for F {}

struct Coded<F> {
    filter: F,
    geometry: Geometry,
    members: Option<Rc<Members>>,
}

fn build<F>(workload: &Workload) -> Result<Box<dyn Contender>>
where
    F: Keyed + Buildable + Insert + Clone + 'static,
{
    let filter = Builder::<F>::new()
        .slots(workload.slots())
        .remainder_bits(REMAINDER_BITS)
        .seed(Seed::from_u64(workload.seed))
        .build()?;
    Ok(Box::new(Coded {
        filter,
        geometry: Geometry::new(workload.slots(), REMAINDER_BITS)?,
        members: None,
    }))
}

/// The first members as a reverse map.
struct Among {
    members: Rc<Members>,
    count: u64,
}

impl ReverseMap for Among {
    type Error = Error;

    fn keys(&self, h0: RangeInclusive<u64>, mut each: impl FnMut(u64, &[u8])) -> Result<(), Error> {
        for key in self.members.within(h0, self.count) {
            let hashed = self.members.hash(key);
            each(hashed.h0(), hashed.key().unwrap_or_default());
        }
        Ok(())
    }

    fn insert(&mut self, _: u64, _: &[u8]) -> Result<bool, Error> {
        Ok(false)
    }

    fn remove(&mut self, _: u64, _: &[u8]) -> Result<bool, Error> {
        Ok(false)
    }
}

impl<F: Keyed> Coded<F> {
    /// The members that have been inserted.
    fn among(&self) -> Result<Among> {
        Ok(Among {
            members: self.members.clone().context("the keys are not known")?,
            count: self.filter.len(),
        })
    }

    #[cold]
    fn insert_from(&mut self, key: u64) -> Result<()> {
        let mut among = self.among()?;
        let hashed = among.members.hash(key);
        self.filter.insert_key(&hashed, &mut among)?;
        Ok(())
    }
}

impl<F: Keyed + Insert + Clone + 'static> Contender for Coded<F> {
    #[inline(always)]
    fn insert(&mut self, key: u64) -> Result<()> {
        match self.filter.insert(&key) {
            Err(Error::NeedsHashes { .. }) => self.insert_from(key),
            result => Ok(result?),
        }
    }

    #[inline(always)]
    fn contains(&self, key: u64) -> bool {
        self.filter.contains(&key)
    }

    fn bytes(&self) -> u64 {
        self.filter.stats().bytes
    }

    fn learner(&mut self) -> Option<&mut dyn Learner> {
        Some(self)
    }

    fn ask_strangers(&mut self, keys: &[u64]) -> Result<u64> {
        let mut among = self.among()?;
        let mut wrong = 0;
        for &key in black_box(keys) {
            if self.filter.contains(&key) {
                wrong += 1;
                let hashed = among.members.hash(key);
                self.filter.learn(&hashed, &mut among)?;
            }
        }
        Ok(black_box(wrong))
    }
}

impl<F: Keyed + Insert + Clone + 'static> Learner for Coded<F> {
    fn meet(&mut self, members: Rc<Members>) {
        self.members = Some(members);
    }

    fn positives(&self, keys: &[u64], found: &mut Vec<(Minirun, u64)>) {
        let h0 = |key: u64| self.filter.hash(&key).h0();
        let minirun = |key: u64| Minirun::from_id(self.geometry.id(h0(key)));
        let wrong = keys.iter().filter(|&key| self.filter.contains(key));
        found.extend(wrong.map(|&key| (minirun(key), key)));
    }

    fn adapt_all(&mut self, mistakes: &[Mistake]) -> Result<u64> {
        let mut among = self.among()?;
        let mut changed = 0;
        for mistake in black_box(mistakes) {
            let fixed = self.filter.learn(&mistake.query, &mut among)?;
            changed += fixed.extended;
        }
        Ok(black_box(changed))
    }

    fn used_slots(&self) -> u64 {
        self.filter.len()
    }

    fn fork(&self) -> Result<Box<dyn Contender>> {
        Ok(Box::new(Coded {
            filter: self.filter.clone(),
            geometry: self.geometry,
            members: self.members.clone(),
        }))
    }
}
