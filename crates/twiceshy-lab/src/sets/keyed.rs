//! The filters that learn, each with the keys that it takes to do so: adaptive quotient filters, with
//! the policies of `twiceshy::sets::policy`; telescoping filters, with coded and with plain
//! selectors; extension filters; adaptive cuckoo filters, whose keys move in lock-step with their
//! fingerprints. What they ask of their keys is counted.

use anyhow::{Result, ensure};
use twiceshy::Buildable;
use twiceshy::cuckoo::{AdaptiveCuckooFilter, Bins, MemoryCells, Scheme};
use twiceshy::hash::{Seed, Xxh3};
use twiceshy::sets::policy::{Decision, Judge};
use twiceshy::sets::{Counted, Learner, MemoryMap, Policy};
use twiceshy::{
    AdaptiveFilter, Builder, Error, ExtensionFilter, PlainTelescopingFilter, Removed,
    TelescopingFilter,
};

use super::{Accesses, Entry, Set, Shape, Space};

pub(super) const ADAPTIVE: Entry = entry(
    "adaptive",
    "adaptive quotient filter; adapts to every mistake",
    |shape| build::<AdaptiveFilter<Xxh3>>(shape, Policy::Always),
);

pub(super) const ADAPTIVE_2ND: Entry = entry(
    "adaptive, 2nd mistake",
    "adaptive quotient filter; adapts at the second mistake of a minirun",
    |shape| build::<AdaptiveFilter<Xxh3>>(shape, Policy::AfterRepeats(2)),
);

pub(super) const ADAPTIVE_8TH: Entry = entry(
    "adaptive, 8th mistake",
    "adaptive quotient filter; adapts at the eighth mistake of a minirun",
    |shape| build::<AdaptiveFilter<Xxh3>>(shape, Policy::AfterRepeats(8)),
);

pub(super) const TELESCOPING: Entry = entry(
    "telescoping",
    "telescoping filter (TAF, TQF): hash selectors in an arithmetic code",
    |shape| build::<TelescopingFilter<Xxh3>>(shape, Policy::Always),
);

pub(super) const TELESCOPING_PLAIN: Entry = entry(
    "telescoping, uncoded",
    "telescoping filter with three bits a slot (uTAF)",
    |shape| build::<PlainTelescopingFilter<Xxh3>>(shape, Policy::Always),
);

pub(super) const EXTENSION: Entry = entry(
    "extension",
    "extension filter (exAF): coded extensions, fixed space",
    |shape| build::<ExtensionFilter<Xxh3>>(shape, Policy::Always),
);

pub(super) const CYCLIC_1: Entry = entry("cyclic-1", CYCLIC, |shape| {
    cuckoo(shape, Scheme::Cyclic { selector_bits: 1 }, Bins::FourOfOne)
});

pub(super) const CYCLIC_2: Entry = entry("cyclic-2", CYCLIC, |shape| {
    cuckoo(shape, Scheme::Cyclic { selector_bits: 2 }, Bins::FourOfOne)
});

pub(super) const CYCLIC_3: Entry = entry("cyclic-3", CYCLIC, |shape| {
    cuckoo(shape, Scheme::Cyclic { selector_bits: 3 }, Bins::FourOfOne)
});

const CYCLIC: &str = "adaptive cuckoo filter with so many selector bits beside each fingerprint";

pub(super) const SWAPPING: Entry = entry(
    "swapping",
    "adaptive cuckoo filter, buckets of four; to adapt, two keys change places",
    |shape| cuckoo(shape, Scheme::Swapping, Bins::TwoOfFour),
);

pub(super) const CUCKOOING: Entry = entry(
    "cuckooing",
    "adaptive cuckoo filter; to adapt, a key moves to another place",
    |shape| cuckoo(shape, Scheme::Cuckooing, Bins::FourOfOne),
);

const fn entry(
    name: &'static str,
    about: &'static str,
    build: fn(&Shape) -> Result<Box<dyn Set>>,
) -> Entry {
    Entry {
        name,
        about,
        learns: true,
        removes: true,
        build,
    }
}

/// A filter and its keys. Not a set: the workloads know who is a member, so that nothing is asked of
/// the keys but what the filter needs.
struct Keyed<F, S> {
    filter: F,
    keys: Counted<S>,
    judge: Judge,
}

fn build<F>(shape: &Shape, policy: Policy) -> Result<Box<dyn Set>>
where
    F: Buildable + Learner<Counted<MemoryMap>, Error = Error> + 'static,
{
    let filter = Builder::<F>::new()
        .slots(shape.slots)
        .remainder_bits(shape.bits)
        .seed(Seed::from_u64(shape.seed))
        .build()?;
    Ok(Box::new(Keyed {
        filter,
        keys: Counted::new(MemoryMap::default()),
        judge: Judge::new(policy),
    }))
}

fn cuckoo(shape: &Shape, scheme: Scheme, bins: Bins) -> Result<Box<dyn Set>> {
    // A query is compared with so many fingerprints.
    let compared = bins.slots() * bins.choices();
    let filter = AdaptiveCuckooFilter::builder(scheme)
        .hash::<Xxh3>()
        .layout(bins)
        .bins(shape.slots / u64::from(bins.slots()))
        .fingerprint_bits(shape.bits + compared.ilog2())
        .seed(Seed::from_u64(shape.seed))
        .build()?;
    Ok(Box::new(Keyed {
        filter,
        keys: Counted::new(MemoryCells::default()),
        judge: Judge::default(),
    }))
}

impl<F: Learner<Counted<S>, Error = Error>, S> Set for Keyed<F, S> {
    fn insert(&mut self, key: &[u8]) -> Result<()> {
        let hashed = self.filter.hash(key);
        self.filter.insert_key(&hashed, &mut self.keys)?;
        Ok(())
    }

    fn remove(&mut self, key: &[u8]) -> Result<()> {
        let hashed = self.filter.hash(key);
        let removed = self.filter.remove_key(&hashed, &mut self.keys)?;
        ensure!(removed == Removed::One, "a member was not there");
        Ok(())
    }

    fn contains(&self, key: &[u8]) -> bool {
        self.filter.contains(key)
    }

    fn report(&mut self, key: &[u8]) -> Result<()> {
        let hashed = self.filter.hash(key);
        let Some(place) = self.filter.place(&hashed) else {
            return Ok(());
        };
        if self.judge.on_false_positive(place) == Decision::Adapt {
            self.filter.learn(&hashed, &mut self.keys)?;
        }
        Ok(())
    }

    fn space(&self) -> Space {
        Space::of(&self.filter.stats())
    }

    fn accesses(&self) -> Accesses {
        let counted = self.keys.accesses();
        Accesses {
            inserts: counted.inserts,
            updates: counted.updates,
            reads: counted.reads,
        }
    }
}
