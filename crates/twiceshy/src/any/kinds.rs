//! What each kind of filter does in its own way.

use std::fmt;

use super::{Object, Resize, convert};
use crate::batch::Interrupted;
use crate::bloom::{BitFilter, BlockedBloomFilter, BloomFilter, RetouchedBloomFilter};
use crate::bloom::{OneSided, WeightedBloomFilter};
use crate::cuckoo::MemoryCells;
use crate::cuckoo::{AdaptiveCuckooFilter, Alternate, PartialKeyFilter};
use crate::entry::Entry;
use crate::error::Error;
use crate::file::{FileFilter, FilterKind};
use crate::filters::adaptive::AdaptiveFilter;
use crate::filters::coded::{CodedFilter, Symbols};
use crate::filters::counting::CountingFilter;
use crate::filters::plain::QuotientFilter;
use crate::hash::{Hashed, StreamHash};
use crate::mem::Memory;
use crate::merge::{Collision, Merge};
use crate::stats::Stats;

/// A filter, and the keys of those that can't take another one without.
#[derive(Debug)]
pub(super) struct Held<F: Kind> {
    pub(super) filter: F,
    pub(super) keys: F::Keys,
}

impl<F: Kind> Held<F> {
    pub(super) fn new(filter: F) -> Self {
        Held {
            filter,
            keys: F::Keys::default(),
        }
    }
}

/// A kind of filter.
pub(super) trait Kind: FileFilter<Memory> + fmt::Debug + Send + Sync + 'static {
    /// What insertions need beside the filter.
    type Keys: Default + fmt::Debug + Send + Sync;

    fn has(&self, key: &[u8]) -> bool;

    fn figures(&self) -> Stats;

    fn put(&mut self, keys: &mut Self::Keys, key: &[u8]) -> Result<(), Error>;

    /// Puts keys that are given by the first words of their hashes.
    fn put_hashes(&mut self, hashes: &[u64]) -> Result<(), Interrupted>;

    fn empty(&mut self);

    fn union(filters: &[&Self]) -> Result<Self, Error> {
        let _ = filters;
        Err(Error::merge(format!(
            "{} filters have no union without their keys; build one from all keys",
            Self::KIND
        )))
    }

    fn resized(&self, how: Resize) -> Result<Self, Error> {
        let _ = how;
        Err(Error::geometry(format!(
            "the size of {} filters can't be changed without their keys; build one from them",
            Self::KIND
        )))
    }

    fn converted(&self, to: FilterKind) -> Result<Box<dyn Object>, Error> {
        Err(convert::impossible(Self::KIND, to))
    }
}

/// Merges with as few doublings as it takes.
fn with_room<F>(merge: impl Fn(u32) -> Result<F, Error>) -> Result<F, Error> {
    let mut times = 0;
    loop {
        match merge(times) {
            Err(Error::Full { .. }) => times += 1,
            result => return result,
        }
    }
}

/// What nearly every kind has under other names. (They are no trait's: a retouched Bloom filter, which
/// forgets members, is no [`Filter`].)
macro_rules! by_its_methods {
    ($self:ident, $key:ident => $put:expr) => {
        type Keys = ();

        fn put(&mut $self, (): &mut (), $key: &[u8]) -> Result<(), Error> {
            $put
        }

        fn put_hashes(&mut $self, hashes: &[u64]) -> Result<(), Interrupted> {
            $self.insert_hashes(hashes.iter().copied())
        }

        by_its_methods!();
    };
    () => {
        fn has(&self, key: &[u8]) -> bool {
            self.contains(key)
        }

        fn figures(&self) -> Stats {
            self.stats()
        }

        fn empty(&mut self) {
            self.clear();
        }
    };
}

/// Unions and sizes of filters that merge without a resolver.
macro_rules! by_merging {
    () => {
        fn union(filters: &[&Self]) -> Result<Self, Error> {
            with_room(|times| Merge::of(filters.iter().copied()).doubled(times).build())
        }

        fn resized(&self, how: Resize) -> Result<Self, Error> {
            match how {
                Resize::Double => self.doubled(),
                Resize::Halve => self.halved(),
            }
        }
    };
}

impl<H: StreamHash> Kind for QuotientFilter<H> {
    by_its_methods!(self, key => self.insert(key));

    by_merging!();

    fn converted(&self, to: FilterKind) -> Result<Box<dyn Object>, Error> {
        let counts = self.iter().map(|fingerprint| (fingerprint, 1));
        convert::quotient::<H>(Self::KIND, to, self.geometry(), self.seed(), counts)
    }
}

impl<H: StreamHash> Kind for CountingFilter<H> {
    by_its_methods!(self, key => self.insert(key));

    by_merging!();

    fn converted(&self, to: FilterKind) -> Result<Box<dyn Object>, Error> {
        convert::quotient::<H>(Self::KIND, to, self.geometry(), self.seed(), self.iter())
    }
}

/// The counts of one key in several filters add up; values must be the same.
fn sum(collision: &Collision<'_>) -> Result<Entry, Error> {
    let value = collision.entries[0].entry.value;
    if collision.entries.iter().any(|one| one.entry.value != value) {
        return Err(Error::merge(
            "they have different values for a key; merge them with `Merge::resolve`, which says \
             what to do then",
        ));
    }
    Ok(Entry::new(collision.total()?, value))
}

impl<H: StreamHash> Kind for AdaptiveFilter<H> {
    by_its_methods!(self, key => self.insert(key).map(|_| ()));

    fn union(filters: &[&Self]) -> Result<Self, Error> {
        with_room(|times| {
            let merge = Merge::of(filters.iter().copied()).doubled(times);
            merge.resolve(sum).build()
        })
    }

    fn resized(&self, how: Resize) -> Result<Self, Error> {
        match how {
            Resize::Double => self.doubled(),
            Resize::Halve => self.halved(),
        }
    }

    fn converted(&self, to: FilterKind) -> Result<Box<dyn Object>, Error> {
        let prints = self.core().iter();
        // Ghosts have a count of zero.
        let counts = prints.filter(|(_, print)| !print.is_ghost());
        let counts = counts.map(|(fingerprint, print)| (fingerprint, print.count));
        convert::quotient::<H>(Self::KIND, to, self.geometry(), self.seed(), counts)
    }
}

impl<S: Symbols, H: StreamHash> Kind for CodedFilter<S, H> {
    by_its_methods!(self, key => self.insert(key));
}

impl<H: StreamHash, A: Alternate> Kind for PartialKeyFilter<H, A>
where
    Self: FileFilter<Memory> + fmt::Debug + Send + Sync + 'static,
{
    by_its_methods!(self, key => self.insert(key));
}

impl<H: StreamHash> Kind for AdaptiveCuckooFilter<H> {
    /// Its keys by cell, once there are any: a file has none.
    type Keys = Option<MemoryCells>;

    by_its_methods!();

    fn put(&mut self, keys: &mut Option<MemoryCells>, key: &[u8]) -> Result<(), Error> {
        if keys.is_none() && !self.is_empty() {
            return Err(Error::mismatch(
                "insertions into an adaptive cuckoo filter move keys, and its file has none; \
                 build it from all keys",
            ));
        }
        let cells = keys.get_or_insert_with(MemoryCells::default);
        let hashed = Hashed::from_bytes::<H>(&self.seed(), key);
        self.insert_hashed(&hashed, cells)
    }

    fn put_hashes(&mut self, _: &[u64]) -> Result<(), Interrupted> {
        Err(Interrupted {
            inserted: 0,
            error: Error::mismatch(
                "insertions into an adaptive cuckoo filter move keys, and hashes are none; insert \
                 the keys themselves",
            ),
        })
    }
}

/// Standard and blocked Bloom filters, but for what conversions they have.
fn bit_union<H: StreamHash, P: OneSided>(
    filters: &[&BitFilter<H, P>],
) -> Result<BitFilter<H, P>, Error> {
    let mut union = filters[0].try_clone()?;
    for filter in &filters[1..] {
        union.union(filter)?;
    }
    Ok(union)
}

impl<H: StreamHash> Kind for BloomFilter<H> {
    by_its_methods!(self, key => { self.insert(key); Ok(()) });

    fn union(filters: &[&Self]) -> Result<Self, Error> {
        bit_union(filters)
    }

    fn converted(&self, to: FilterKind) -> Result<Box<dyn Object>, Error> {
        match to {
            FilterKind::RetouchedBloom => {
                let copy = self.try_clone()?;
                Ok(super::boxed(RetouchedBloomFilter::from(copy)))
            }
            other => Err(convert::impossible(Self::KIND, other)),
        }
    }
}

impl<H: StreamHash> Kind for BlockedBloomFilter<H> {
    by_its_methods!(self, key => { self.insert(key); Ok(()) });

    fn union(filters: &[&Self]) -> Result<Self, Error> {
        bit_union(filters)
    }
}

impl<H: StreamHash> Kind for RetouchedBloomFilter<H> {
    by_its_methods!(self, key => { self.insert(key); Ok(()) });
}

impl<H: StreamHash> Kind for WeightedBloomFilter<H> {
    by_its_methods!(self, key => { self.insert(key); Ok(()) });
}
