//! One builder for the cuckoo and the vacuum filter.

use std::fmt;
use std::marker::PhantomData;

use super::alternate::Alternate;
use super::filter::PartialKeyFilter;
use super::lanes::SLOTS;
use super::shape::{PLANNED_LOAD, Packing, Shape, buckets_for, fingerprint_bits};
use crate::error::Error;
use crate::hash::{Seed, Sip13, StreamHash};
use crate::mem::HugePages;

/// Builds a filter: either by what it shall hold ([`capacity`](Self::capacity) and
/// [`fpr`](Self::fpr)) or by its measures ([`buckets`](Self::buckets) and
/// [`fingerprint_bits`](Self::fingerprint_bits)).
///
/// ```
/// use twiceshy::cuckoo::{CuckooFilter, Packing};
/// use twiceshy::hash::Seed;
///
/// let mut filter = CuckooFilter::builder()
///     .capacity(10_000)
///     .fpr(0.001)
///     .packing(Packing::SemiSorted) // a bit less for each slot, and slower
///     .seed(Seed::from_u64(7)) // the same answers in every run; leave it out otherwise
///     .build()?;
/// filter.insert("redb")?;
/// assert!(filter.contains("redb"));
/// # Ok::<(), twiceshy::Error>(())
/// ```
#[must_use = "a builder does nothing until `build`"]
pub struct CuckooBuilder<A, H = Sip13> {
    capacity: Option<u64>,
    fpr: Option<f64>,
    buckets: Option<u64>,
    fingerprint_bits: Option<u32>,
    packing: Packing,
    seed: Option<Seed>,
    huge_pages: HugePages,
    filter: PhantomData<fn() -> (A, H)>,
}

impl<A: Alternate> CuckooBuilder<A> {
    pub(super) fn new() -> Self {
        CuckooBuilder {
            capacity: None,
            fpr: None,
            buckets: None,
            fingerprint_bits: None,
            packing: Packing::default(),
            seed: None,
            huge_pages: HugePages::default(),
            filter: PhantomData,
        }
    }
}

impl<A: Alternate, H: StreamHash> CuckooBuilder<A, H> {
    /// How many keys the filter shall hold at its false-positive rate: at most 94% of the slots.
    pub fn capacity(mut self, items: u64) -> Self {
        self.capacity = Some(items);
        self
    }

    /// The highest false-positive rate, reached at capacity. Default: 0.01.
    pub fn fpr(mut self, fpr: f64) -> Self {
        self.fpr = Some(fpr);
        self
    }

    /// The exact number of buckets of four slots, in place of a capacity. Any number will do.
    pub fn buckets(mut self, buckets: u64) -> Self {
        self.buckets = Some(buckets);
        self
    }

    /// The exact number of bits of a fingerprint, 4 to 32, in place of a false-positive rate.
    pub fn fingerprint_bits(mut self, bits: u32) -> Self {
        self.fingerprint_bits = Some(bits);
        self
    }

    /// How fingerprints are stored. Default: as they are.
    pub fn packing(mut self, packing: Packing) -> Self {
        self.packing = packing;
        self
    }

    /// The seed of the hash. Default: random, so that nobody can prepare keys that collide.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Whether a large table asks the system for huge pages. Default: it does.
    pub fn huge_pages(mut self, huge_pages: HugePages) -> Self {
        self.huge_pages = huge_pages;
        self
    }

    /// Another hash function than the default [`Sip13`].
    pub fn hash<X: StreamHash>(self) -> CuckooBuilder<A, X> {
        CuckooBuilder {
            capacity: self.capacity,
            fpr: self.fpr,
            buckets: self.buckets,
            fingerprint_bits: self.fingerprint_bits,
            packing: self.packing,
            seed: self.seed,
            huge_pages: self.huge_pages,
            filter: PhantomData,
        }
    }

    /// Builds the filter.
    ///
    /// # Errors
    /// [`Error::Geometry`] if the wishes are impossible, contradict each other or do not fit in
    /// memory; [`Error::Seed`] if the system has no randomness to give.
    pub fn build(self) -> Result<PartialKeyFilter<H, A>, Error> {
        let buckets = match (self.capacity, self.buckets) {
            (Some(capacity), None) => buckets_for(capacity)?,
            (None, Some(buckets)) => buckets,
            (None, None) => return Err(Error::geometry("set `capacity` or `buckets`")),
            (Some(_), Some(_)) => {
                return Err(Error::geometry("set `capacity` or `buckets`, not both"));
            }
        };
        let bits = match (self.fpr, self.fingerprint_bits) {
            (fpr, None) => {
                fingerprint_bits(fpr.unwrap_or(0.01), f64::from(2 * SLOTS) * PLANNED_LOAD)?
            }
            (None, Some(bits)) => bits,
            (Some(_), Some(_)) => {
                return Err(Error::geometry("set `fpr` or `fingerprint_bits`, not both"));
            }
        };
        let shape = Shape::new(buckets, bits, self.packing)?;
        let seed = self.seed.map_or_else(Seed::random, Ok)?;
        PartialKeyFilter::from_parts(shape, seed, self.huge_pages)
    }
}

impl<A, H> fmt::Debug for CuckooBuilder<A, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CuckooBuilder")
            .field("capacity", &self.capacity)
            .field("fpr", &self.fpr)
            .field("buckets", &self.buckets)
            .field("fingerprint_bits", &self.fingerprint_bits)
            .field("packing", &self.packing)
            .field("huge_pages", &self.huge_pages)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use crate::cuckoo::{Anywhere, CuckooBuilder, CuckooFilter, VacuumFilter};

    #[test]
    fn contradictions_say_what_to_do() {
        let new = CuckooFilter::builder;
        let message = |builder: CuckooBuilder<Anywhere>| match builder.build() {
            Ok(_) => panic!("must not build"),
            Err(error) => error.to_string(),
        };
        assert!(message(new()).contains("set `capacity` or `buckets`"));
        assert!(message(new().capacity(9).buckets(9)).contains("not both"));
        let both = new().buckets(9).fpr(0.1).fingerprint_bits(8);
        assert!(message(both).contains("not both"));
        assert!(message(new().buckets(9).fingerprint_bits(99)).contains("4 to 32"));
        assert!(message(new().buckets(1 << 46).fingerprint_bits(12)).contains("memory"));
    }

    #[test]
    fn every_measure_can_be_chosen() {
        let filter = VacuumFilter::builder().buckets(77).fingerprint_bits(9);
        let shape = filter.build().unwrap().shape();
        assert_eq!((shape.buckets(), shape.fingerprint_bits()), (77, 9));
        let filter = VacuumFilter::new(1_000, 0.01).unwrap();
        assert_eq!(filter.shape().fingerprint_bits(), 10);
    }
}
