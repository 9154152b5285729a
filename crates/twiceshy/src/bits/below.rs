//! Numbers below an end, of which the compiler knows that they are below it.
//!
//! Whoever asks a table for cell `i` is checked. But most numbers of cells are made of a hash,
//! in one of the two ways that stand here, and can't be too large: after these, the check is
//! compiled away.
//!
//! | | is | |
//! | --- | --- | --- |
//! | [`scale`](Below::scale) | `hash * end / 2^64` | any number, as often as any other |
//! | [`mirror`](Below::mirror) | `(sum - number) mod end` | the other of two that find each other by the hash |

use std::hint::assert_unchecked;

use super::choose::difference_below;

/// The numbers `0..end`; there is one at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Below {
    /// From 1 to [`MOST`].
    end: u64,
    /// One if `end` is even.
    odd: u64,
}

/// The largest end: twice as much is not more than a word.
const MOST: u64 = 1 << 63;

impl Below {
    /// The numbers below `end`, or `None` if there are none, or more than 2^63.
    #[inline]
    #[must_use]
    pub const fn new(end: u64) -> Option<Self> {
        if end == 0 || end > MOST {
            return None;
        }
        let odd = 1 - end % 2;
        Some(Below { end, odd })
    }

    /// How many there are.
    #[inline(always)]
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.end
    }

    /// The number at `hash` of all hashes, and how far the hash is behind the first that gives
    /// it: a fraction of one, in 2^64ths, as good as a hash itself.
    #[inline(always)]
    #[must_use]
    pub fn scale(&self, hash: u64) -> (u64, u64) {
        let product = u128::from(hash) * u128::from(self.end);
        let number = (product >> 64) as u64;
        // SAFETY: `hash` is less than 2^64, so the product is less than `end * 2^64`, since `end`
        // is not zero.
        unsafe { assert_unchecked(number < self.end) };
        (number, product as u64)
    }

    /// The number at `hash` of all hashes; if the end is even, an odd one.
    #[inline(always)]
    #[must_use]
    pub fn draw(&self, hash: u64) -> u64 {
        let number = self.scale(hash).0 | self.odd;
        // SAFETY: if the end is even, an even number below it is at least two less; and if the
        // end is odd, the number stays what it was.
        unsafe { assert_unchecked(number < self.end) };
        number
    }

    /// `(sum - number) mod end`, where `sum` is [drawn](Self::draw): the number whose mirror image
    /// is this one. If the end is even, `sum` is odd, and no number is its own image; else one is.
    ///
    /// # Panics
    /// Unless `number` is below the end.
    #[inline(always)]
    #[must_use]
    pub fn mirror(&self, hash: u64, number: u64) -> u64 {
        assert!(number < self.end, "a number lies below its end");
        let sum = self.draw(hash);
        let image = difference_below(self.end, sum, number);
        // SAFETY: both numbers are below the end, so their difference lies between `-end` and
        // `end`, both excluded; and the end is added if it is negative.
        unsafe { assert_unchecked(image < self.end) };
        image
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::{GOLDEN, mix};

    /// Hashes at both ends, and some between.
    fn hashes() -> impl Iterator<Item = u64> {
        let between = (1..100_u64).map(|i| mix(GOLDEN.wrapping_mul(i)));
        between.chain([0, 1, MOST - 1, MOST, MOST + 1, u64::MAX - 1, u64::MAX])
    }

    #[test]
    fn only_some_ends_have_numbers_below() {
        assert_eq!(Below::new(0), None);
        assert_eq!(Below::new(MOST + 1), None);
        assert_eq!(Below::new(u64::MAX), None);
        assert!([1, 2, MOST].iter().all(|&end| Below::new(end).is_some()));
    }

    #[test]
    fn numbers_stay_below_the_end() {
        for end in (1..70).chain([1 << 32, MOST - 2, MOST - 1, MOST]) {
            let below = Below::new(end).unwrap();
            for hash in hashes() {
                let (number, rest) = below.scale(hash);
                let product = u128::from(number) << 64 | u128::from(rest);
                assert_eq!(product, u128::from(hash) * u128::from(end));
                assert!(number < end);
                for number in [0, number, end / 2, end - 1] {
                    assert!(below.mirror(hash, number) < end);
                }
            }
            assert_eq!(below.scale(0), (0, 0));
            assert_eq!(below.scale(u64::MAX).0, end - 1);
        }
    }

    #[test]
    fn an_image_is_what_a_division_gives() {
        for end in (1..70).chain([(1 << 40) + 1, MOST - 1, MOST]) {
            let below = Below::new(end).unwrap();
            for hash in hashes() {
                let sum = below.scale(hash).0 | u64::from(end % 2 == 0);
                for number in hashes().map(|number| number % end) {
                    let image = below.mirror(hash, number);
                    let expected = (u128::from(sum) + u128::from(end - number)) % u128::from(end);
                    assert_eq!(u128::from(image), expected);
                    assert_eq!(below.mirror(hash, image), number);
                    assert!(end % 2 == 1 || image != number);
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "below its end")]
    fn a_number_from_the_end_on_has_no_image() {
        let _ = Below::new(9).unwrap().mirror(5, 9);
    }
}
