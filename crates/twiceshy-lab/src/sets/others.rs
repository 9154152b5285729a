//! Other crates' filters. None of them learns.

use anyhow::{Result, ensure};

use super::{Accesses, Entry, Set, Space};

pub(super) const QFILTER: Entry = Entry {
    name: "qfilter",
    about: "the crate qfilter: a quotient filter",
    learns: false,
    removes: true,
    build: |shape| {
        let capacity = (shape.slots * 19).div_ceil(20);
        let filter = qfilter::Filter::new(capacity, shape.fpr())?;
        Ok(Box::new(Qfilter {
            filter,
            inserted: 0,
        }))
    },
};

pub(super) const FASTBLOOM: Entry = Entry {
    name: "fastbloom",
    about: "the crate fastbloom: a Bloom filter",
    learns: false,
    removes: false,
    build: |shape| {
        let filter = fastbloom::BloomFilter::with_false_pos(shape.fpr())
            .seed(&u128::from(shape.seed))
            .expected_items(usize::try_from(shape.keys())?);
        Ok(Box::new(Fastbloom {
            filter,
            inserted: 0,
        }))
    },
};

struct Qfilter {
    filter: qfilter::Filter,
    inserted: u64,
}

impl Set for Qfilter {
    fn insert(&mut self, key: &[u8]) -> Result<()> {
        self.filter.insert_duplicated(key)?;
        self.inserted += 1;
        Ok(())
    }

    fn remove(&mut self, key: &[u8]) -> Result<()> {
        ensure!(self.filter.remove(key), "a member was not there");
        Ok(())
    }

    fn contains(&self, key: &[u8]) -> bool {
        self.filter.contains(key)
    }

    fn space(&self) -> Space {
        let bytes = self.filter.memory_usage() as u64;
        let load = self.filter.len() as f64 / (self.filter.capacity() as f64 / 0.95);
        Space {
            bytes,
            used_bits: bytes as f64 * 8.0 * load,
        }
    }

    fn accesses(&self) -> Accesses {
        Accesses {
            inserts: self.inserted,
            ..Accesses::default()
        }
    }
}

struct Fastbloom {
    filter: fastbloom::BloomFilter,
    inserted: u64,
}

impl Set for Fastbloom {
    fn insert(&mut self, key: &[u8]) -> Result<()> {
        self.filter.insert(key);
        self.inserted += 1;
        Ok(())
    }

    fn contains(&self, key: &[u8]) -> bool {
        self.filter.contains(key)
    }

    fn space(&self) -> Space {
        let bits = self.filter.num_bits();
        Space {
            bytes: bits as u64 / 8,
            used_bits: bits as f64,
        }
    }

    fn accesses(&self) -> Accesses {
        Accesses {
            inserts: self.inserted,
            ..Accesses::default()
        }
    }
}
