//! `xorf`: binary fuse filters, which are built once from all their keys.
//!
//! `insert` gathers the keys and `seal` builds the filter, both on the clock; the
//! gathering costs about a nanosecond a key. Keys are taken as 64-bit hashes: there is
//! a seeded mixer inside, but no hash of bytes.

use anyhow::{Error, Result};
use xorf::{BinaryFuse8, BinaryFuse16, Filter};

use super::{Contender, Entry, Operation, Shape};

pub(super) const FUSE8: Entry = Entry {
    name: "xorf-fuse8",
    about: ABOUT,
    learns: false,
    with_keys: None,
    alone: Some(gathering::<BinaryFuse8>),
};

pub(super) const FUSE16: Entry = Entry {
    name: "xorf-fuse16",
    about: ABOUT,
    learns: false,
    with_keys: None,
    alone: Some(gathering::<BinaryFuse16>),
};

const ABOUT: &str = "the crate xorf: static, so insert builds it; mixes keys, does not hash";

/// What the two widths have in common; the crate has no trait for it.
trait Fuse: Filter<u64> + Sized + 'static {
    fn build(keys: &[u64]) -> Result<Self, &'static str>;
    fn bytes(&self) -> usize;
}

impl Fuse for BinaryFuse8 {
    fn build(keys: &[u64]) -> Result<Self, &'static str> {
        Self::try_from(keys)
    }

    fn bytes(&self) -> usize {
        size_of_val(&*self.fingerprints)
    }
}

impl Fuse for BinaryFuse16 {
    fn build(keys: &[u64]) -> Result<Self, &'static str> {
        Self::try_from(keys)
    }

    fn bytes(&self) -> usize {
        size_of_val(&*self.fingerprints)
    }
}

/// Before `seal` the keys, after it the filter.
enum Static<F> {
    Gathering(Vec<u64>),
    Sealed(F),
}

fn gathering<F: Fuse>(shape: &Shape) -> Result<Box<dyn Contender>> {
    // Written once here, so that the page faults are not on the clock.
    let mut keys = vec![1; usize::try_from(shape.keys())?];
    keys.clear();
    Ok(Box::new(Static::<F>::Gathering(keys)))
}

impl<F: Fuse> Contender for Static<F> {
    fn can(&self, operation: Operation) -> bool {
        operation.is_for_all() && operation != Operation::Insert8590
    }

    #[inline(always)]
    fn insert(&mut self, key: u64) -> Result<()> {
        match self {
            Static::Gathering(keys) => keys.push(key),
            Static::Sealed(_) => return Err(Error::msg("a static filter takes no more keys")),
        }
        Ok(())
    }

    fn seal(&mut self) -> Result<()> {
        if let Static::Gathering(keys) = self {
            *self = Static::Sealed(F::build(keys).map_err(Error::msg)?);
        }
        Ok(())
    }

    #[inline(always)]
    fn contains(&self, key: u64) -> bool {
        match self {
            // Not a filter yet, so nothing can be ruled out.
            Static::Gathering(_) => true,
            Static::Sealed(filter) => filter.contains(&key),
        }
    }

    fn bytes(&self) -> u64 {
        match self {
            Static::Gathering(keys) => size_of_val(&**keys) as u64,
            Static::Sealed(filter) => filter.bytes() as u64,
        }
    }
}
