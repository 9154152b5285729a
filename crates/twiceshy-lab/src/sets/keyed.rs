//! The filters that learn in fixed space: telescoping, with coded and with plain selectors, and
//! extension.

use std::convert::Infallible;

use anyhow::Result;
use twiceshy::hash::{Seed, Xxh3};
use twiceshy::sets::keyed::{Failure, KeyedFilter};
use twiceshy::sets::reverse_map::{Counted, MemoryMap, ReverseMap};
use twiceshy::{Builder, ExtensionFilter, PlainTelescopingFilter, TelescopingFilter};

use super::{Accesses, Entry, Set, Shape, Space};

pub(super) const TELESCOPING: Entry = Entry {
    name: "telescoping",
    about: "telescoping filter (TAF, TQF): hash selectors in an arithmetic code",
    learns: true,
    removes: true,
    build: build::<TelescopingFilter<Xxh3>>,
};

pub(super) const TELESCOPING_PLAIN: Entry = Entry {
    name: "telescoping, uncoded",
    about: "telescoping filter with three bits a slot (uTAF)",
    learns: true,
    removes: true,
    build: build::<PlainTelescopingFilter<Xxh3>>,
};

pub(super) const EXTENSION: Entry = Entry {
    name: "extension",
    about: "extension filter (exAF): coded extensions, fixed space",
    learns: true,
    removes: true,
    build: build::<ExtensionFilter<Xxh3>>,
};

struct Keyed<F> {
    filter: F,
    keys: Counted<MemoryMap>,
}

fn build<F: KeyedFilter + 'static>(shape: &Shape) -> Result<Box<dyn Set>> {
    let filter = Builder::<F>::new()
        .slots(shape.slots)
        .remainder_bits(shape.bits)
        .seed(Seed::from_u64(shape.seed))
        .build()?;
    Ok(Box::new(Keyed {
        filter,
        keys: Counted::new(MemoryMap::default()),
    }))
}

impl<F: KeyedFilter> Set for Keyed<F> {
    fn insert(&mut self, key: &[u8]) -> Result<()> {
        let hashed = self.filter.hash(key);
        in_memory(self.filter.insert_from(&hashed, &self.keys))?;
        infallible(self.keys.insert(hashed.h0(), key));
        Ok(())
    }

    fn remove(&mut self, key: &[u8]) -> Result<()> {
        let hashed = self.filter.hash(key);
        in_memory(self.filter.remove_from(&hashed, &self.keys))?;
        infallible(self.keys.remove(hashed.h0(), key));
        Ok(())
    }

    fn contains(&self, key: &[u8]) -> bool {
        self.filter.contains(key)
    }

    fn report(&mut self, key: &[u8]) -> Result<()> {
        let hashed = self.filter.hash(key);
        in_memory(self.filter.adapt_from(&hashed, &self.keys))?;
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

fn in_memory<T>(result: Result<T, Failure<Infallible>>) -> Result<T> {
    result.map_err(|failure| match failure {
        Failure::Filter(error) => error.into(),
        Failure::Map(never) => match never {},
    })
}

/// A map in memory does not fail.
pub(super) fn infallible<T>(result: Result<T, Infallible>) -> T {
    match result {
        Ok(value) => value,
        Err(never) => match never {},
    }
}
