//! What can be chosen for a cuckoo or a vacuum filter.

use super::alternate::Alternate;
use super::filter::PartialKeyFilter;
use super::lanes::SLOTS;
use super::shape::{PLANNED_LOAD, Packing, Shape, buckets_for, fingerprint_bits};
use crate::builder::{Build, Builder};
use crate::error::Error;
use crate::hash::{Sip13, StreamHash};

/// Builds a cuckoo or a vacuum filter.
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
pub type CuckooBuilder<A, H = Sip13> = Builder<PartialKeyFilter<H, A>>;

/// What can be chosen for a [`PartialKeyFilter`] beside what all filters have.
#[derive(Clone, Copy, Debug, Default)]
pub struct Buckets {
    buckets: Option<u64>,
    fingerprint_bits: Option<u32>,
    packing: Packing,
}

impl<H: StreamHash, A: Alternate> Builder<PartialKeyFilter<H, A>> {
    /// The exact number of buckets of four slots, in place of a capacity. Any number will do.
    pub fn buckets(mut self, buckets: u64) -> Self {
        self.choices.buckets = Some(buckets);
        self
    }

    /// The exact number of bits of a fingerprint, 4 to 32, in place of a false-positive rate.
    pub fn fingerprint_bits(mut self, bits: u32) -> Self {
        self.choices.fingerprint_bits = Some(bits);
        self
    }

    /// How fingerprints are stored. Default: as they are.
    pub fn packing(mut self, packing: Packing) -> Self {
        self.choices.packing = packing;
        self
    }
}

impl<H: StreamHash, A: Alternate> Build for PartialKeyFilter<H, A> {
    type Choices = Buckets;
    type WithHash<X: StreamHash> = PartialKeyFilter<X, A>;

    fn build(builder: &Builder<Self>) -> Result<Self, Error> {
        let choices = &builder.choices;
        let buckets = builder.size(("buckets", choices.buckets), buckets_for)?;
        let bits = ("fingerprint_bits", choices.fingerprint_bits);
        let bits = builder.width(bits, |fpr| {
            fingerprint_bits(fpr, f64::from(2 * SLOTS) * PLANNED_LOAD)
        })?;
        let shape = Shape::new(buckets, bits, choices.packing)?;
        Self::from_parts(shape, builder.any_seed()?, builder.wishes.huge_pages)
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
