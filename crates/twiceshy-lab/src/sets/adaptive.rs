//! The adaptive quotient filter, with the policies of `twiceshy::filters::adaptive::policy`.

use anyhow::Result;
use twiceshy::filters::adaptive::Leave;
use twiceshy::filters::adaptive::policy::{Decision, Judge, Policy};
use twiceshy::hash::{Hashed, Seed, Xxh3};
use twiceshy::sets::reverse_map::{Counted, MemoryMap, ReverseMap};
use twiceshy::{AdaptiveFilter, Minirun};

use super::keyed::infallible;
use super::{Accesses, Entry, Set, Shape, Space};

pub(super) const ALWAYS: Entry = Entry {
    name: "adaptive",
    about: "adaptive quotient filter; adapts to every mistake",
    learns: true,
    removes: true,
    build: |shape| build(shape, Policy::Always),
};

pub(super) const AFTER_2: Entry = Entry {
    name: "adaptive, 2nd mistake",
    about: "adaptive quotient filter; adapts at the second mistake of a minirun",
    learns: true,
    removes: true,
    build: |shape| build(shape, Policy::AfterRepeats(2)),
};

pub(super) const AFTER_8: Entry = Entry {
    name: "adaptive, 8th mistake",
    about: "adaptive quotient filter; adapts at the eighth mistake of a minirun",
    learns: true,
    removes: true,
    build: |shape| build(shape, Policy::AfterRepeats(8)),
};

struct Adaptive {
    filter: AdaptiveFilter<Xxh3>,
    keys: Counted<MemoryMap>,
    judge: Judge,
}

fn build(shape: &Shape, policy: Policy) -> Result<Box<dyn Set>> {
    let filter = AdaptiveFilter::builder()
        .slots(shape.slots)
        .remainder_bits(shape.bits)
        .hash::<Xxh3>()
        .seed(Seed::from_u64(shape.seed))
        .build()?;
    Ok(Box::new(Adaptive {
        filter,
        keys: Counted::new(MemoryMap::default()),
        judge: Judge::new(policy),
    }))
}

impl Adaptive {
    fn keys_of(&self, minirun: Minirun) -> Vec<Hashed<'static>> {
        let (mut keys, seed) = (Vec::new(), self.filter.seed());
        let range = self.filter.geometry().hash_range(minirun.id());
        let each = |_, key: &[u8]| keys.push(Hashed::from_bytes::<Xxh3>(&seed, key).into_owned());
        infallible(self.keys.keys(range, each));
        keys
    }
}

impl Set for Adaptive {
    fn insert(&mut self, key: &[u8]) -> Result<()> {
        let hashed = self.filter.hash(key);
        self.filter.insert_hashed(&hashed)?;
        infallible(self.keys.insert(hashed.h0(), key));
        Ok(())
    }

    fn remove(&mut self, key: &[u8]) -> Result<()> {
        let hashed = self.filter.hash(key);
        let minirun = Minirun::from_id(self.filter.geometry().id(hashed.h0()));
        let keys = self.keys_of(minirun);
        self.filter.remove(&hashed, &keys, Leave::Nothing)?;
        infallible(self.keys.remove(hashed.h0(), key));
        Ok(())
    }

    fn contains(&self, key: &[u8]) -> bool {
        self.filter.contains(key)
    }

    fn report(&mut self, key: &[u8]) -> Result<()> {
        let hashed = self.filter.hash(key);
        let Some(minirun) = self.filter.lookup_hashed(&hashed) else {
            return Ok(());
        };
        if self.judge.on_false_positive(minirun) == Decision::Adapt {
            let keys = self.keys_of(minirun);
            self.filter.adapt(&hashed, minirun, &keys)?;
        }
        Ok(())
    }

    fn space(&self) -> Space {
        Space::of(&self.filter.stats())
    }

    fn accesses(&self) -> Accesses {
        let counted = self.keys.accesses();
        Accesses {
            inserts: counted.writes,
            updates: 0,
            reads: counted.reads,
        }
    }
}
