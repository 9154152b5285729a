//! One builder for the Bloom and the blocked Bloom filter.

use std::fmt;
use std::marker::PhantomData;

use super::filter::BitFilter;
use super::probes::{OneLine, Probes, Scattered};
use super::sizing::{self, Size};
use crate::error::Error;
use crate::hash::{Seed, Sip13, StreamHash};
use crate::mem::HugePages;

/// Builds a filter: either by what it shall hold ([`capacity`](Self::capacity) and
/// [`fpr`](Self::fpr)) or by its measures ([`bits`](Self::bits) and [`hashes`](Self::hashes)).
///
/// ```
/// use twiceshy::bloom::BlockedBloomFilter;
///
/// let mut filter = BlockedBloomFilter::builder().capacity(10_000).fpr(0.001).build()?;
/// filter.insert("redb");
/// assert!(filter.contains("redb"));
/// # Ok::<(), twiceshy::Error>(())
/// ```
#[must_use = "a builder does nothing until `build`"]
pub struct BloomBuilder<P, H = Sip13> {
    capacity: Option<u64>,
    fpr: Option<f64>,
    bits: Option<u64>,
    hashes: Option<u32>,
    seed: Option<Seed>,
    huge_pages: HugePages,
    filter: PhantomData<fn() -> (P, H)>,
}

/// The sizes of each kind of filter.
pub trait Sizing: Probes {
    /// The smallest for so many keys at this false-positive rate.
    ///
    /// # Errors
    /// [`Error::Geometry`] if there is none.
    fn size(capacity: u64, fpr: f64) -> Result<Size, Error>;
}

impl Sizing for Scattered {
    fn size(capacity: u64, fpr: f64) -> Result<Size, Error> {
        sizing::bloom(capacity, fpr)
    }
}

impl Sizing for OneLine {
    fn size(capacity: u64, fpr: f64) -> Result<Size, Error> {
        sizing::blocked(capacity, fpr)
    }
}

impl<P: Sizing> BloomBuilder<P> {
    pub(super) fn new() -> Self {
        BloomBuilder {
            capacity: None,
            fpr: None,
            bits: None,
            hashes: None,
            seed: None,
            huge_pages: HugePages::default(),
            filter: PhantomData,
        }
    }
}

impl<P: Sizing, H: StreamHash> BloomBuilder<P, H> {
    /// How many keys the filter shall hold at its false-positive rate. It takes more, ever less
    /// exactly.
    pub fn capacity(mut self, items: u64) -> Self {
        self.capacity = Some(items);
        self
    }

    /// The false-positive rate at capacity. Default: 0.01.
    pub fn fpr(mut self, fpr: f64) -> Self {
        self.fpr = Some(fpr);
        self
    }

    /// The exact number of bits, in place of a capacity: any number for a Bloom filter, a
    /// multiple of 512 for a blocked one.
    pub fn bits(mut self, bits: u64) -> Self {
        self.bits = Some(bits);
        self
    }

    /// How many bits are set for a key, in place of a false-positive rate: up to 64, or 16 in a
    /// blocked filter.
    pub fn hashes(mut self, hashes: u32) -> Self {
        self.hashes = Some(hashes);
        self
    }

    /// The seed of the hash. Default: random, so that nobody can prepare keys that collide.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Whether a large array asks the system for huge pages. Default: it does.
    pub fn huge_pages(mut self, huge_pages: HugePages) -> Self {
        self.huge_pages = huge_pages;
        self
    }

    /// Another hash function than the default [`Sip13`].
    pub fn hash<X: StreamHash>(self) -> BloomBuilder<P, X> {
        BloomBuilder {
            capacity: self.capacity,
            fpr: self.fpr,
            bits: self.bits,
            hashes: self.hashes,
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
    pub fn build(self) -> Result<BitFilter<H, P>, Error> {
        let Size { bits, hashes } = match (self.capacity, self.fpr, self.bits, self.hashes) {
            (Some(capacity), fpr, None, None) => P::size(capacity, fpr.unwrap_or(0.01))?,
            (None, None, Some(bits), Some(hashes)) => Size { bits, hashes },
            _ => {
                return Err(Error::geometry(
                    "set `capacity` and perhaps `fpr`, or `bits` and `hashes`, and no more",
                ));
            }
        };
        let seed = self.seed.map_or_else(Seed::random, Ok)?;
        BitFilter::from_parts(bits, hashes, seed, self.huge_pages)
    }
}

impl<P, H> fmt::Debug for BloomBuilder<P, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BloomBuilder")
            .field("capacity", &self.capacity)
            .field("fpr", &self.fpr)
            .field("bits", &self.bits)
            .field("hashes", &self.hashes)
            .field("huge_pages", &self.huge_pages)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::BloomBuilder;
    use crate::bloom::{BlockedBloomFilter, BloomFilter, OneLine};

    #[test]
    fn contradictions_say_what_to_do() {
        let new = BlockedBloomFilter::builder;
        let message = |builder: BloomBuilder<OneLine>| match builder.build() {
            Ok(_) => panic!("must not build"),
            Err(error) => error.to_string(),
        };
        assert!(message(new()).contains("set `capacity`"));
        assert!(message(new().capacity(9).bits(512).hashes(3)).contains("no more"));
        assert!(message(new().bits(500).hashes(3)).contains("a multiple of 512"));
        assert!(message(new().bits(512).hashes(17)).contains("1 to 16 hashes"));
        assert!(message(new().bits(512).hashes(0)).contains("1 to 16 hashes"));
        assert!(message(new().bits(1 << 60).hashes(3)).contains("60 bits"));
        let filter = BloomFilter::builder().bits(77).hashes(64).build().unwrap();
        assert_eq!((filter.bits(), filter.hashes()), (77, 64));
    }
}
