//! One builder for filters of every kind.

use std::fmt;

use super::kinds::Kind;
use super::{AnyFilter, Object, boxed, no_such_hash};
use crate::bloom::{BlockedBloomFilter, BloomFilter, RetouchedBloomFilter};
use crate::builder::{Build, Builder, Wishes};
use crate::cuckoo::adaptive::Cells;
use crate::cuckoo::{AdaptiveCuckooFilter, CuckooFilter, Scheme, VacuumFilter};
use crate::error::Error;
use crate::file::FilterKind;
use crate::filters::coded::{ExtensionFilter, PlainTelescopingFilter, TelescopingFilter};
use crate::filters::counting::CountingFilter;
use crate::hash::{HashKind, Seed, Sip13, StreamHash};
use crate::{AdaptiveFilter, QuotientFilter};

/// Builds an empty filter of a kind and hash that are known only at run time.
///
/// ```
/// use twiceshy::any::AnyFilter;
/// use twiceshy::file::FilterKind;
///
/// let builder = AnyFilter::builder(FilterKind::BlockedBloom);
/// let filter = builder.capacity(10_000).fpr(0.001).build()?;
/// assert!(!filter.contains(b"anna"));
/// # Ok::<(), twiceshy::Error>(())
/// ```
#[derive(Clone, Copy)]
#[must_use = "a builder does nothing until `build`"]
pub struct AnyBuilder {
    kind: FilterKind,
    hash: HashKind,
    wishes: Wishes,
}

impl AnyBuilder {
    pub(super) fn new(kind: FilterKind) -> Self {
        AnyBuilder {
            kind,
            hash: HashKind::SipHash13,
            wishes: Wishes {
                capacity: Some(0),
                ..Wishes::default()
            },
        }
    }

    /// The hash. Default: SipHash-1-3, which is safe against chosen keys.
    pub fn hash(mut self, hash: HashKind) -> Self {
        self.hash = hash;
        self
    }

    /// How many items the filter shall hold at its false-positive rate.
    pub fn capacity(mut self, items: u64) -> Self {
        self.wishes.capacity = Some(items);
        self
    }

    /// The highest false-positive rate, reached at capacity. Default: 0.01.
    pub fn fpr(mut self, fpr: f64) -> Self {
        self.wishes.fpr = Some(fpr);
        self
    }

    /// The seed of the hash. Default: random.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.wishes.seed = Some(seed);
        self
    }

    /// Builds the filter, empty.
    ///
    /// # Errors
    /// [`Error::Geometry`] if there is no such filter or no memory for it, and for weighted
    /// Bloom filters, which take weights; [`Error::Format`] if this build of the library does
    /// not have the hash; [`Error::Seed`] if the system has no randomness to give.
    pub fn build(self) -> Result<AnyFilter, Error> {
        let object = match self.hash {
            HashKind::SipHash13 => self.build_hash::<Sip13>(),
            #[cfg(feature = "xxh3")]
            HashKind::Xxh3 => self.build_hash::<crate::hash::Xxh3>(),
            other => Err(no_such_hash(other)),
        }?;
        Ok(AnyFilter { object })
    }

    fn build_hash<H: StreamHash>(self) -> Result<Box<dyn Object>, Error> {
        match self.kind {
            FilterKind::Plain => self.boxed::<QuotientFilter<H>>(),
            FilterKind::Counting => self.boxed::<CountingFilter<H>>(),
            FilterKind::Adaptive => self.boxed::<AdaptiveFilter<H>>(),
            FilterKind::Telescoping => self.boxed::<TelescopingFilter<H>>(),
            FilterKind::PlainTelescoping => self.boxed::<PlainTelescopingFilter<H>>(),
            FilterKind::Extension => self.boxed::<ExtensionFilter<H>>(),
            FilterKind::Cuckoo => self.boxed::<CuckooFilter<H>>(),
            FilterKind::Vacuum => self.boxed::<VacuumFilter<H>>(),
            FilterKind::AdaptiveCuckoo => {
                let cells = Cells::new(Scheme::Cyclic { selector_bits: 2 });
                let builder = Builder::<AdaptiveCuckooFilter<H>>::with(self.wishes, cells);
                Ok(boxed(builder.build()?))
            }
            FilterKind::Bloom => self.boxed::<BloomFilter<H>>(),
            FilterKind::BlockedBloom => self.boxed::<BlockedBloomFilter<H>>(),
            FilterKind::RetouchedBloom => {
                let filter = self.filter::<BloomFilter<H>>()?;
                Ok(boxed(RetouchedBloomFilter::from(filter)))
            }
            FilterKind::WeightedBloom => Err(Error::geometry(
                "a weighted Bloom filter takes weights; build it with `WeightedBloomFilter`, or \
                 take a standard one",
            )),
            list => Err(Error::geometry(format!(
                "a YES/NO list ({list}) is no filter; build it with `lists`"
            ))),
        }
    }

    fn boxed<F: Kind + Build<Choices: Default>>(self) -> Result<Box<dyn Object>, Error> {
        Ok(boxed(self.filter::<F>()?))
    }

    fn filter<F: Build<Choices: Default>>(self) -> Result<F, Error> {
        Builder::with(self.wishes, F::Choices::default()).build()
    }
}

impl fmt::Debug for AnyBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnyBuilder")
            .field("kind", &self.kind)
            .field("hash", &self.hash)
            .field("capacity", &self.wishes.capacity)
            .field("fpr", &self.wishes.fpr)
            .finish_non_exhaustive()
    }
}
