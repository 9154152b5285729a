//! The adaptive cuckoo filters. Their keys move in lock-step with their fingerprints, and every
//! move is counted.

use anyhow::{Result, ensure};
use twiceshy::cuckoo::{AdaptiveCuckooFilter, Bins, Scheme};
use twiceshy::hash::{Seed, Xxh3};
use twiceshy::sets::lock_step::{Counted, MemoryCells};
use twiceshy::{Error, Removed};

use super::{Accesses, Entry, Set, Shape, Space};

pub(super) const CYCLIC_1: Entry = cyclic("cyclic-1", |shape| {
    build(shape, Scheme::Cyclic { selector_bits: 1 }, Bins::FourOfOne)
});
pub(super) const CYCLIC_2: Entry = cyclic("cyclic-2", |shape| {
    build(shape, Scheme::Cyclic { selector_bits: 2 }, Bins::FourOfOne)
});
pub(super) const CYCLIC_3: Entry = cyclic("cyclic-3", |shape| {
    build(shape, Scheme::Cyclic { selector_bits: 3 }, Bins::FourOfOne)
});

pub(super) const SWAPPING: Entry = Entry {
    name: "swapping",
    about: "adaptive cuckoo filter, buckets of four; to adapt, two keys change places",
    learns: true,
    removes: true,
    build: |shape| build(shape, Scheme::Swapping, Bins::TwoOfFour),
};

pub(super) const CUCKOOING: Entry = Entry {
    name: "cuckooing",
    about: "adaptive cuckoo filter; to adapt, a key moves to another place",
    learns: true,
    removes: true,
    build: |shape| build(shape, Scheme::Cuckooing, Bins::FourOfOne),
};

const fn cyclic(name: &'static str, build: fn(&Shape) -> Result<Box<dyn Set>>) -> Entry {
    Entry {
        name,
        about: "adaptive cuckoo filter with so many selector bits beside each fingerprint",
        learns: true,
        removes: true,
        build,
    }
}

struct Cuckoo {
    filter: AdaptiveCuckooFilter<Xxh3>,
    keys: Counted<MemoryCells>,
}

fn build(shape: &Shape, scheme: Scheme, bins: Bins) -> Result<Box<dyn Set>> {
    // A query is compared with so many fingerprints.
    let compared = bins.slots() * bins.choices();
    let filter = AdaptiveCuckooFilter::builder(scheme)
        .hash::<Xxh3>()
        .layout(bins)
        .bins(shape.slots / u64::from(bins.slots()))
        .fingerprint_bits(shape.bits + compared.ilog2())
        .seed(Seed::from_u64(shape.seed))
        .build()?;
    Ok(Box::new(Cuckoo {
        filter,
        keys: Counted::new(MemoryCells::default()),
    }))
}

impl Set for Cuckoo {
    fn insert(&mut self, key: &[u8]) -> Result<()> {
        let hashed = self.filter.hash(key);
        let inserted = self.filter.insert_hashed(&hashed, &mut self.keys);
        Ok(inserted.map_err(Error::from)?)
    }

    fn remove(&mut self, key: &[u8]) -> Result<()> {
        let hashed = self.filter.hash(key);
        let removed = self.filter.remove_hashed(&hashed, &mut self.keys);
        let removed = removed.map_err(Error::from)?;
        ensure!(removed == Removed::One, "a member was not there");
        Ok(())
    }

    fn contains(&self, key: &[u8]) -> bool {
        self.filter.contains(key)
    }

    fn report(&mut self, key: &[u8]) -> Result<()> {
        let hashed = self.filter.hash(key);
        let mended = self.filter.adapt_hashed(&hashed, &mut self.keys);
        mended.map_err(Error::from)?;
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
            reads: counted.queries,
        }
    }
}
