//! Filters that don't learn, and need no keys. The database has them: one insert each.

use anyhow::{Result, bail};
use twiceshy::bloom::{BlockedBloomFilter, BloomFilter};
use twiceshy::cuckoo::{CuckooFilter, VacuumFilter};
use twiceshy::hash::{Seed, Xxh3};
use twiceshy::{Insert, QuotientFilter, Remove, Removed};

use super::{Accesses, Entry, Set, Shape, Space};

pub(super) const QUOTIENT: Entry = Entry {
    name: "quotient",
    about: "quotient filter (QF, RSQF)",
    learns: false,
    removes: true,
    build: |shape| {
        let builder = QuotientFilter::builder().slots(shape.slots).hash::<Xxh3>();
        let builder = builder.remainder_bits(shape.bits).seed(seed(shape));
        Ok(Box::new(Plain::removing(builder.build()?)))
    },
};

pub(super) const CUCKOO: Entry = Entry {
    name: "cuckoo",
    about: "cuckoo filter (CF), buckets of four",
    learns: false,
    removes: true,
    build: |shape| {
        let builder = CuckooFilter::builder()
            .buckets(shape.slots / 4)
            .hash::<Xxh3>();
        let builder = builder.fingerprint_bits(shape.bits + 3).seed(seed(shape));
        Ok(Box::new(Plain::removing(builder.build()?)))
    },
};

pub(super) const VACUUM: Entry = Entry {
    name: "vacuum",
    about: "vacuum filter, buckets of four",
    learns: false,
    removes: true,
    build: |shape| {
        let builder = VacuumFilter::builder()
            .buckets(shape.slots / 4)
            .hash::<Xxh3>();
        let builder = builder.fingerprint_bits(shape.bits + 3).seed(seed(shape));
        Ok(Box::new(Plain::removing(builder.build()?)))
    },
};

pub(super) const BLOOM: Entry = Entry {
    name: "bloom",
    about: "Bloom filter",
    learns: false,
    removes: false,
    build: |shape| {
        let builder = BloomFilter::builder().capacity(shape.keys()).hash::<Xxh3>();
        let builder = builder.fpr(shape.fpr()).seed(seed(shape));
        Ok(Box::new(Plain::keeping(builder.build()?)))
    },
};

pub(super) const BLOCKED: Entry = Entry {
    name: "blocked bloom",
    about: "Bloom filter of one cache line a key",
    learns: false,
    removes: false,
    build: |shape| {
        let builder = BlockedBloomFilter::builder()
            .capacity(shape.keys())
            .hash::<Xxh3>();
        let builder = builder.fpr(shape.fpr()).seed(seed(shape));
        Ok(Box::new(Plain::keeping(builder.build()?)))
    },
};

fn seed(shape: &Shape) -> Seed {
    Seed::from_u64(shape.seed)
}

/// Takes a member out.
type RemoveFrom<F> = fn(&mut F, &[u8]) -> Result<()>;

struct Plain<F> {
    filter: F,
    remove: Option<RemoveFrom<F>>,
    inserted: u64,
}

impl<F> Plain<F> {
    fn keeping(filter: F) -> Self {
        Plain {
            filter,
            remove: None,
            inserted: 0,
        }
    }

    fn removing(filter: F) -> Self
    where
        F: Remove,
    {
        let remove = |filter: &mut F, key: &[u8]| match filter.remove(key)? {
            Removed::One => Ok(()),
            removed => bail!("a member was not there to be removed: {removed:?}"),
        };
        Plain {
            remove: Some(remove),
            ..Plain::keeping(filter)
        }
    }
}

impl<F: Insert> Set for Plain<F> {
    fn insert(&mut self, key: &[u8]) -> Result<()> {
        self.filter.insert(key)?;
        self.inserted += 1;
        Ok(())
    }

    fn remove(&mut self, key: &[u8]) -> Result<()> {
        match self.remove {
            Some(remove) => remove(&mut self.filter, key),
            None => bail!("it can't remove"),
        }
    }

    fn contains(&self, key: &[u8]) -> bool {
        self.filter.contains(key)
    }

    fn space(&self) -> Space {
        Space::of(&self.filter.stats())
    }

    fn accesses(&self) -> Accesses {
        Accesses {
            inserts: self.inserted,
            ..Accesses::default()
        }
    }
}
