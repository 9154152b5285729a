//! The four fingerprints of a bucket in one register, compared at once.
//!
//! ```text
//!            lane 3       lane 2       lane 1       lane 0
//! bit     4w-1 … 3w   3w-1 … 2w   2w-1 … w     w-1 … 0
//! ```
//!
//! Fingerprints of up to 16 bits fit four to a `u64`, wider ones to a `u128`; the code is
//! the same. A lane of zero is empty.

use std::fmt::Debug;
use std::ops::{BitAnd, BitOr, BitXor, Not, Shl, Shr};

/// Slots of a bucket.
pub(super) const SLOTS: u32 = 4;

/// A register that four lanes fit into.
pub(super) trait Word:
    Copy
    + Debug
    + Eq
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
{
    /// Bits of the register.
    const BITS: u32;
    const ZERO: Self;

    fn from_u64(value: u64) -> Self;
    /// The lowest 64 bits.
    fn low(self) -> u64;
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn lowest_bit(self) -> u32;
    fn count(self) -> u32;

    /// The little-endian word at byte `at`.
    fn read(bytes: &[u8], at: usize) -> Self;
    fn write(self, bytes: &mut [u8], at: usize);

    /// The lowest `bits` bits, all of them if there are no more.
    #[inline]
    fn mask(bits: u32) -> Self {
        if bits == 0 {
            Self::ZERO
        } else {
            !Self::ZERO >> (Self::BITS - bits)
        }
    }
}

macro_rules! word {
    ($type:ty) => {
        impl Word for $type {
            const BITS: u32 = <$type>::BITS;
            const ZERO: Self = 0;

            #[inline]
            fn from_u64(value: u64) -> Self {
                Self::from(value)
            }

            #[inline]
            fn low(self) -> u64 {
                self as u64
            }

            #[inline]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }

            #[inline]
            fn lowest_bit(self) -> u32 {
                self.trailing_zeros()
            }

            #[inline]
            fn count(self) -> u32 {
                self.count_ones()
            }

            #[inline]
            fn read(bytes: &[u8], at: usize) -> Self {
                let bytes = bytes[at..].first_chunk().expect("the padding is there");
                Self::from_le_bytes(*bytes)
            }

            #[inline]
            fn write(self, bytes: &mut [u8], at: usize) {
                let bytes = bytes[at..].first_chunk_mut().expect("the padding is there");
                *bytes = self.to_le_bytes();
            }
        }
    };
}

word!(u64);
word!(u128);

/// The constants for one width.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lanes<W> {
    bits: u32,
    /// The highest bit of the first lane, which is `bits - 1`.
    highest: u32,
    /// The lowest bit of each lane.
    ones: W,
    /// What takes one from each lane when it is added.
    minus_ones: W,
    /// The highest bit of each lane.
    highs: W,
    /// The other bits of each lane.
    lows: W,
}

impl<W: Word> Lanes<W> {
    /// Lanes of `bits` bits, four of which fit into the word.
    pub(super) fn new(bits: u32) -> Self {
        debug_assert!(SLOTS * bits <= W::BITS);
        let one = W::from_u64(1);
        let ones = (0..SLOTS).fold(W::ZERO, |ones, lane| ones | one << (lane * bits));
        let highs = ones << (bits - 1);
        Lanes {
            bits,
            highest: bits - 1,
            ones,
            minus_ones: (!ones).plus(one),
            highs,
            lows: W::mask(SLOTS * bits) & !highs,
        }
    }

    /// Marks, by its highest bit, each lane that holds `value`.
    #[inline]
    pub(super) fn equal(&self, lanes: W, value: u64) -> W {
        let difference = lanes ^ self.ones.times(W::from_u64(value));
        // Adding the mask carries into the highest bit unless all lower ones are zero.
        self.highs & !((difference & self.lows).plus(self.lows) | difference)
    }

    /// The same in fewer instructions, for those who ask for the first lane that holds `value`, or
    /// whether there is one: lanes behind the first may be marked though they do not.
    #[inline]
    pub(super) fn first_equal(&self, lanes: W, value: u64) -> W {
        self.highs & self.first_equal_unmasked(lanes, value)
    }

    /// [`first_equal`](Self::first_equal) where other bits than the [highest](Self::highs) of lanes
    /// do not count.
    #[inline]
    pub(super) fn first_equal_unmasked(&self, lanes: W, value: u64) -> W {
        let difference = lanes ^ self.ones.times(W::from_u64(value));
        // Taking one makes the highest bit of a lane change from zero to one if the lane is zero,
        // and then borrows one of the next lane.
        difference.plus(self.minus_ones) & !difference
    }

    /// The highest bit of each lane.
    #[inline]
    pub(super) fn highs(&self) -> W {
        self.highs
    }

    /// The first lane that [`equal`](Self::equal) or [`first_equal`](Self::first_equal) has
    /// marked.
    #[inline]
    pub(super) fn first(&self, marked: W) -> Option<u32> {
        (marked != W::ZERO).then(|| marked.lowest_bit() / self.bits)
    }

    /// A value in the [`first`](Self::first) lane that is marked, one at least, and zero in the
    /// others.
    #[inline]
    pub(super) fn at_first(&self, marked: W, value: u64) -> W {
        debug_assert!(marked != W::ZERO);
        W::from_u64(value) << (marked.lowest_bit() - self.highest)
    }

    /// A value in one lane, and zero in the others.
    #[inline]
    pub(super) fn at(&self, lane: u32, value: u64) -> W {
        W::from_u64(value) << (lane * self.bits)
    }

    /// The first empty lane.
    #[inline]
    pub(super) fn empty(&self, lanes: W) -> Option<u32> {
        self.first(self.first_equal(lanes, 0))
    }

    /// How many lanes hold something.
    #[inline]
    pub(super) fn used(&self, lanes: W) -> u32 {
        SLOTS - self.equal(lanes, 0).count()
    }

    /// What a lane holds.
    #[inline]
    pub(super) fn get(&self, lanes: W, lane: u32) -> u64 {
        ((lanes >> (lane * self.bits)) & W::mask(self.bits)).low()
    }

    /// The lanes with another value in one of them.
    #[inline]
    pub(super) fn with(&self, lanes: W, lane: u32, value: u64) -> W {
        let at = lane * self.bits;
        lanes & !(W::mask(self.bits) << at) | W::from_u64(value) << at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::{GOLDEN, mix};

    fn check<W: Word>(bits: u32) {
        let lanes = Lanes::<W>::new(bits);
        let most = (1_u64 << bits) - 1;
        for seed in 0..200 {
            let values: [u64; 4] = std::array::from_fn(|lane| {
                let word = mix(GOLDEN.wrapping_mul(seed * 4 + lane as u64 + 1));
                match word % 4 {
                    0 => 0,
                    1 => most,
                    2 => 1,
                    _ => (word >> 8) & most,
                }
            });
            let mut word = W::ZERO;
            for (lane, &value) in (0..).zip(&values) {
                word = lanes.with(word, lane, value);
            }
            for (lane, &value) in (0..).zip(&values) {
                assert_eq!(lanes.get(word, lane), value);
                let first = values.iter().position(|&other| other == value);
                let marked = lanes.equal(word, value);
                assert_eq!(lanes.first(marked), first.map(|lane| lane as u32));
                // The first lane is marked right whatever stands behind the last one.
                for behind in [word, word | !W::mask(SLOTS * bits)] {
                    let marked = lanes.first_equal(behind, value);
                    assert_eq!(lanes.first(marked), first.map(|lane| lane as u32));
                    let at_first = lanes.at_first(marked, value);
                    let lane = first.expect("a value of the lanes") as u32;
                    assert_eq!(at_first, lanes.with(W::ZERO, lane, value));
                }
                let absent = lanes.first_equal(word, value ^ 1) == W::ZERO;
                assert_eq!(absent, !values.contains(&(value ^ 1)));
                let equal = values.iter().filter(|&&other| other == value).count();
                assert_eq!(marked.count() as usize, equal);
            }
            let used = values.iter().filter(|&&value| value != 0).count();
            assert_eq!(lanes.used(word) as usize, used);
            assert_eq!(lanes.empty(word).is_some(), used < 4);
        }
    }

    #[test]
    fn all_lanes_at_once_match_a_loop() {
        (4..=16).for_each(check::<u64>);
        (4..=32).for_each(check::<u128>);
    }

    #[test]
    fn masks_have_every_length() {
        assert_eq!(u64::mask(0), 0);
        assert_eq!(u64::mask(64), u64::MAX);
        assert_eq!(u128::mask(128), u128::MAX);
        assert_eq!(u128::mask(65), (1 << 65) - 1);
    }
}
