//! What can be chosen for a Bloom or a blocked Bloom filter.

use super::filter::BitFilter;
use super::probes::Planned;
use super::sizing::Size;
use crate::builder::{Build, Builder};
use crate::error::Error;
use crate::hash::{Sip13, StreamHash};

/// Builds a Bloom or a blocked Bloom filter.
///
/// ```
/// use twiceshy::bloom::BlockedBloomFilter;
///
/// let mut filter = BlockedBloomFilter::builder().capacity(10_000).fpr(0.001).build()?;
/// filter.insert("redb");
/// assert!(filter.contains("redb"));
/// # Ok::<(), twiceshy::Error>(())
/// ```
pub type BloomBuilder<P, H = Sip13> = Builder<BitFilter<H, P>>;

/// What can be chosen for a [`BitFilter`] beside what all filters have.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bits {
    bits: Option<u64>,
    hashes: Option<u32>,
}

impl<H: StreamHash, P: Planned> Builder<BitFilter<H, P>> {
    /// The exact number of bits, in place of a capacity: any number for a Bloom filter, a
    /// multiple of 512 for a blocked one.
    pub fn bits(mut self, bits: u64) -> Self {
        self.choices.bits = Some(bits);
        self
    }

    /// How many bits are set for a key, in place of a false-positive rate: up to 64, or 16 in a
    /// blocked filter.
    pub fn hashes(mut self, hashes: u32) -> Self {
        self.choices.hashes = Some(hashes);
        self
    }
}

impl<H: StreamHash, P: Planned> Build for BitFilter<H, P> {
    type Choices = Bits;
    type WithHash<X: StreamHash> = BitFilter<X, P>;

    fn build(builder: &Builder<Self>) -> Result<Self, Error> {
        let (wished, Bits { bits, hashes }) = (
            (builder.wishes.capacity, builder.wishes.fpr),
            builder.choices,
        );
        let size = match (wished, bits, hashes) {
            ((Some(capacity), fpr), None, None) => P::size(capacity, fpr.unwrap_or(0.01))?,
            ((None, None), Some(bits), Some(hashes)) => Size { bits, hashes },
            _ => {
                return Err(Error::geometry(
                    "set `capacity` and perhaps `fpr`, or `bits` and `hashes`, and no more",
                ));
            }
        };
        Self::from_parts(size, (), builder.any_seed()?, builder.wishes.huge_pages)
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
