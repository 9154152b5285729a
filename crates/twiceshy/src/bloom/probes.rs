//! Which bits of the array belong to a key.

use std::fmt::Debug;

use super::sizing::{self, Size};
use crate::bits::prefetch;
use crate::error::Error;
use crate::file::FilterKind;

/// How the bits of a key are spread over the array.
pub trait Probes: sealed::Probes {}

/// Probes under which no member is ever lost: what a key has set stays set.
pub trait OneSided: Probes {}

/// Probes of an array that follows from a capacity and a false-positive rate.
pub trait Planned: OneSided + sealed::Probes<Knows = ()> {
    /// The smallest array for so many keys at this false-positive rate.
    ///
    /// # Errors
    /// [`Error::Geometry`] if there is none.
    fn size(capacity: u64, fpr: f64) -> Result<Size, Error>;
}

pub(crate) mod sealed {
    use super::{Debug, FilterKind};

    /// The rule, with the measures of the array.
    pub trait Probes: Copy + Debug + PartialEq + Send + Sync + 'static {
        const KIND: FilterKind;
        const NAME: &'static str;
        const MAX_HASHES: u32;
        /// The array has a multiple of so many bits.
        const UNIT: u64;
        /// Are vector instructions worth a call?
        const VECTORS: bool;

        /// What it knows beside bits and hashes.
        type Knows: Knowledge;

        /// Bits of the array, a multiple of [`UNIT`](Self::UNIT), and hashes of a key.
        fn of(bits: u64, hashes: u32, knows: Self::Knows) -> Self;

        fn bits(&self) -> u64;
        /// Hashes of a key, the fewest where keys differ.
        fn hashes(&self) -> u32;
        fn knows(&self) -> Self::Knows;

        /// Are all bits of the key set, as many as every key has?
        fn contains(&self, bytes: &[u8], h0: u64) -> bool;
        /// Sets all bits of the key, as many as any key may have.
        fn insert(&self, bytes: &mut [u8], h0: u64);
        /// Prefetches the cache lines that a lookup starts with.
        fn prefetch(&self, bytes: &[u8], h0: u64);
        /// The chance that all bits of a key that was never inserted are set.
        fn expected_fpr(&self, bytes: &[u8]) -> f64;
    }

    /// What a Bloom filter knows beside the number of its bits and of the hashes of a key.
    pub trait Knowledge: Copy + Debug + PartialEq + Send + Sync + 'static {
        /// The kind of a filter that knows this and scatters its bits.
        const KIND: FilterKind;
        /// Its name.
        const NAME: &'static str;

        /// The most hashes of a key, if the fewest are `hashes`.
        fn most_hashes(&self, hashes: u32) -> u32 {
            hashes
        }

        /// Bits that were cleared again.
        fn cleared(&self) -> u64 {
            0
        }

        /// What a file says about it.
        fn to_bytes(&self) -> [u8; FACT_BYTES];

        /// What a file says, beside so many hashes; `None` if that can't be.
        fn from_bytes(hashes: u32, facts: [u8; FACT_BYTES]) -> Option<Self>;
    }

    /// Bytes of [`Knowledge`] in a file.
    pub const FACT_BYTES: usize = 9;
}

use self::sealed::{FACT_BYTES, Knowledge};

impl Knowledge for () {
    const KIND: FilterKind = FilterKind::Bloom;
    const NAME: &'static str = "BloomFilter";

    fn to_bytes(&self) -> [u8; FACT_BYTES] {
        [0; FACT_BYTES]
    }

    fn from_bytes(_: u32, facts: [u8; FACT_BYTES]) -> Option<Self> {
        (facts == [0; FACT_BYTES]).then_some(())
    }
}

/// Both halves of a 128-bit product, folded: every bit of `x` moves about half of the result.
#[inline(always)]
fn fold(x: u64) -> u64 {
    let product = u128::from(x ^ 0xa076_1d64_78bd_642f) * 0xe703_7ed1_a0b4_28db;
    (product >> 64) as u64 ^ product as u64
}

/// Anywhere in the array: the Bloom filter.
///
/// Positions come from one hash word by enhanced double hashing: a start, a step, and a step
/// that itself grows, so that two keys share a sequence only if they share the word.
///
/// `K` is what else such a filter knows: nothing; the [most hashes](super::Most) of a key; or how many bits
/// were [cleared](super::Cleared).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scattered<K = ()> {
    bits: u64,
    hashes: u32,
    pub(super) knows: K,
}

/// The positions of a key, one after the other, without end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Positions {
    at: u64,
    step: u64,
    growth: u64,
    bits: u64,
}

impl Iterator for Positions {
    type Item = u64;

    #[inline(always)]
    fn next(&mut self) -> Option<u64> {
        let position = (u128::from(self.at) * u128::from(self.bits)) >> 64;
        self.at = self.at.wrapping_add(self.step);
        self.step = self.step.wrapping_add(self.growth);
        self.growth += 1;
        Some(position as u64)
    }
}

impl<K: Copy> Scattered<K> {
    /// The positions of a key: as many as are taken.
    #[inline(always)]
    pub(super) fn positions(&self, h0: u64) -> Positions {
        Positions {
            at: h0,
            step: fold(h0) | 1,
            growth: 0,
            bits: self.bits,
        }
    }

    /// Are the first `hashes` bits of a key set?
    #[inline(always)]
    pub(super) fn contains_some(&self, bytes: &[u8], h0: u64, hashes: u32) -> bool {
        let mut positions = self.positions(h0).take(hashes as usize);
        positions.all(|position| is_set(bytes, position))
    }

    /// Sets the first `hashes` bits of a key.
    #[inline(always)]
    pub(super) fn insert_some(&self, bytes: &mut [u8], h0: u64, hashes: u32) {
        for position in self.positions(h0).take(hashes as usize) {
            bytes[(position / 8) as usize] |= 1 << (position % 8);
        }
    }
}

/// The most hashes of a key whose bits are scattered.
pub(super) const MAX_SCATTERED: u32 = 64;

#[inline(always)]
pub(super) fn is_set(bytes: &[u8], position: u64) -> bool {
    bytes[(position / 8) as usize] >> (position % 8) & 1 == 1
}

/// How many bits are set.
pub(super) fn ones(bytes: &[u8]) -> u64 {
    let mut ones = 0;
    let mut left = bytes;
    while let Some((word, rest)) = left.split_first_chunk() {
        ones += u64::from(u64::from_le_bytes(*word).count_ones());
        left = rest;
    }
    ones + left
        .iter()
        .map(|byte| u64::from(byte.count_ones()))
        .sum::<u64>()
}

impl<K: Knowledge> Probes for Scattered<K> {}

impl OneSided for Scattered {}

impl Planned for Scattered {
    fn size(capacity: u64, fpr: f64) -> Result<Size, Error> {
        sizing::bloom(capacity, fpr)
    }
}

impl<K: Knowledge> sealed::Probes for Scattered<K> {
    const KIND: FilterKind = K::KIND;
    const NAME: &'static str = K::NAME;
    const MAX_HASHES: u32 = MAX_SCATTERED;
    const UNIT: u64 = 1;
    const VECTORS: bool = false;

    type Knows = K;

    fn of(bits: u64, hashes: u32, knows: K) -> Self {
        Scattered {
            bits,
            hashes,
            knows,
        }
    }

    #[inline(always)]
    fn bits(&self) -> u64 {
        self.bits
    }

    #[inline(always)]
    fn hashes(&self) -> u32 {
        self.hashes
    }

    #[inline(always)]
    fn knows(&self) -> K {
        self.knows
    }

    #[inline(always)]
    fn contains(&self, bytes: &[u8], h0: u64) -> bool {
        self.contains_some(bytes, h0, self.hashes)
    }

    #[inline(always)]
    fn insert(&self, bytes: &mut [u8], h0: u64) {
        let most = self.knows.most_hashes(self.hashes);
        self.insert_some(bytes, h0, most);
    }

    /// All of them, though a lookup of a key that is no member ends after two on average.
    #[inline(always)]
    fn prefetch(&self, bytes: &[u8], h0: u64) {
        for position in self.positions(h0).take(self.hashes as usize) {
            prefetch(bytes, (position / 8) as usize);
        }
    }

    fn expected_fpr(&self, bytes: &[u8]) -> f64 {
        let share = ones(bytes) as f64 / self.bits as f64;
        share.powi(self.hashes as i32)
    }
}

/// In one block of 512 bits: the blocked Bloom filter.
///
/// ```text
/// h0 * blocks  =  [ block | low word ]        low word, mixed  =  [ start | 6 bits | 6 bits | … ]
///
/// word    0        1        2        3        4        5        6        7
///      | ..1... | .....1 | 1..... |        |        |        |        | ...1.. |
///        2nd      3rd      4th                                          1st: start = 7
/// ```
///
/// The bits of a key lie in neighbouring words of the block, one in each of up to eight, so they
/// differ without anybody comparing them; from the ninth on a second word is mixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OneLine {
    blocks: u64,
    hashes: u32,
}

/// Bits of a block: a cache line.
const BLOCK_BITS: u64 = 512;
const BLOCK_BYTES: usize = 64;
const WORDS: usize = 8;

impl OneLine {
    /// The block of a key, and what chooses its bits.
    #[inline(always)]
    fn place(&self, h0: u64) -> (usize, u64) {
        let product = u128::from(h0) * u128::from(self.blocks);
        ((product >> 64) as usize * BLOCK_BYTES, fold(product as u64))
    }

    /// Calls `each` with the word, by its number, and the bit of each probe.
    #[inline(always)]
    fn each_bit(&self, mut choice: u64, mut each: impl FnMut(usize, u64)) {
        let mut left = self.hashes as usize;
        loop {
            let start = (choice >> 61) as usize;
            for i in 0..left.min(WORDS) {
                each((start + i) % WORDS, 1 << (choice >> (6 * i) & 63));
            }
            if left <= WORDS {
                return;
            }
            left -= WORDS;
            choice = fold(choice);
        }
    }
}

#[inline(always)]
fn word_of(block: &[u8; BLOCK_BYTES], word: usize) -> u64 {
    let bytes = block[word * 8..].first_chunk();
    u64::from_le_bytes(*bytes.expect("a block has eight words"))
}

#[inline(always)]
fn set_bits(block: &mut [u8; BLOCK_BYTES], word: usize, bits: u64) {
    let new = word_of(block, word) | bits;
    let bytes = block[word * 8..].first_chunk_mut();
    *bytes.expect("a block has eight words") = new.to_le_bytes();
}

impl Probes for OneLine {}

impl OneSided for OneLine {}

impl Planned for OneLine {
    fn size(capacity: u64, fpr: f64) -> Result<Size, Error> {
        sizing::blocked(capacity, fpr)
    }
}

impl sealed::Probes for OneLine {
    const KIND: FilterKind = FilterKind::BlockedBloom;
    const NAME: &'static str = "BlockedBloomFilter";
    const MAX_HASHES: u32 = 16;
    const UNIT: u64 = BLOCK_BITS;
    const VECTORS: bool = true;

    type Knows = ();

    fn of(bits: u64, hashes: u32, (): ()) -> Self {
        OneLine {
            blocks: bits / BLOCK_BITS,
            hashes,
        }
    }

    fn knows(&self) {}

    #[inline(always)]
    fn bits(&self) -> u64 {
        self.blocks * BLOCK_BITS
    }

    #[inline(always)]
    fn hashes(&self) -> u32 {
        self.hashes
    }

    #[inline(always)]
    fn contains(&self, bytes: &[u8], h0: u64) -> bool {
        let (at, choice) = self.place(h0);
        let block: &[u8; BLOCK_BYTES] = bytes[at..].first_chunk().expect("whole blocks");
        if self.hashes as usize == WORDS {
            // All words have one bit each, wherever they start.
            let bit = |word| word_of(block, word) >> (choice >> (6 * word) & 63);
            return (0..WORDS).fold(1, |all, word| all & bit(word)) != 0;
        }
        let mut missing = 0;
        self.each_bit(choice, |word, bit| missing |= !word_of(block, word) & bit);
        missing == 0
    }

    #[inline(always)]
    fn insert(&self, bytes: &mut [u8], h0: u64) {
        let (at, choice) = self.place(h0);
        let block: &mut [u8; BLOCK_BYTES] = bytes[at..].first_chunk_mut().expect("whole blocks");
        if self.hashes as usize == WORDS {
            // As in `contains`.
            for word in 0..WORDS {
                set_bits(block, word, 1 << (choice >> (6 * word) & 63));
            }
            return;
        }
        self.each_bit(choice, |word, bits| set_bits(block, word, bits));
    }

    #[inline(always)]
    fn prefetch(&self, bytes: &[u8], h0: u64) {
        prefetch(bytes, self.place(h0).0);
    }

    /// The mean over all blocks, and over all words that a key can start with.
    fn expected_fpr(&self, bytes: &[u8]) -> f64 {
        let hashes = self.hashes as usize;
        let chance = |block: &[u8; BLOCK_BYTES]| -> f64 {
            let fill: [f64; WORDS] =
                std::array::from_fn(|word| f64::from(word_of(block, word).count_ones()) / 64.0);
            // Rounds of eight bits go through all words, whatever they start with.
            let all: f64 = fill.iter().product();
            let rounds = all.powi((hashes / WORDS) as i32);
            let rest = |start: usize| -> f64 {
                (0..hashes % WORDS)
                    .map(|i| fill[(start + i) % WORDS])
                    .product()
            };
            rounds * (0..WORDS).map(rest).sum::<f64>() / WORDS as f64
        };
        let mut sum = 0.0;
        let mut left = bytes;
        while let Some((block, rest)) = left.split_first_chunk() {
            sum += chance(block);
            left = rest;
        }
        sum / self.blocks as f64
    }
}

#[cfg(test)]
mod tests {
    use super::sealed::Probes as _;
    use super::*;

    #[test]
    fn short_and_long_way_read_the_same_bits() {
        for hashes in 1..=16 {
            let probes = OneLine::of(512 * 5, hashes, ());
            for key in 0..2_000_u64 {
                let h0 = fold(key);
                let mut bytes = vec![0; 5 * 64];
                probes.insert(&mut bytes, h0);
                assert!(probes.contains(&bytes, h0));
                // One bit for each hash, all of them needed.
                let set = ones(&bytes);
                assert!(set <= u64::from(hashes) && (hashes > 8 || set == u64::from(hashes)));
                let clear = (0..5 * 512).filter(|&at| is_set(&bytes, at));
                for at in clear.collect::<Vec<u64>>() {
                    let mut bytes = bytes.clone();
                    bytes[(at / 8) as usize] ^= 1 << (at % 8);
                    assert!(!probes.contains(&bytes, h0));
                }
            }
        }
    }

    #[test]
    fn positions_are_in_the_array_and_spread() {
        for bits in [1, 2, 7, 64, 1_000, 1 << 40] {
            let probes = Scattered::of(bits, 20, ());
            for key in 0..500 {
                let positions = probes.positions(fold(key)).take(20);
                assert!(positions.into_iter().all(|position| position < bits));
            }
            assert!(probes.positions(u64::MAX).take(64).all(|at| at < bits));
        }
        let probes = Scattered::of(1_000, 10, ());
        let mut counts = [0_u32; 1_000];
        for key in 0..100_000 {
            for position in probes.positions(fold(key)).take(10) {
                counts[position as usize] += 1;
            }
        }
        // Each is 1000 on average, give or take 32.
        assert!(counts.iter().all(|count| (800..1_200).contains(count)));
    }

    #[test]
    fn ones_are_counted_with_odd_ends() {
        let bytes: Vec<u8> = (0..29).map(|i| i * 7).collect();
        let slow: u32 = bytes.iter().map(|byte| byte.count_ones()).sum();
        assert_eq!(ones(&bytes), u64::from(slow));
        assert_eq!(ones(&[]), 0);
    }
}
