//! Sorting a bucket: radix sort from the lowest digit up.
//!
//! # The idea
//!
//! Sort by the lowest digit, then by the next one, each time keeping the order of equal
//! digits; after the highest digit all is sorted. Each pass counts how often a digit occurs,
//! so it knows where the words with that digit go, and moves each word there once:
//!
//! ```text
//!   words          31 12 22 11 32
//!   by low digit   31 11 12 22 32
//!   by high digit  11 12 22 31 32
//! ```
//!
//! # Space and time
//!
//! As much memory again as the words take, and `ceil(bits / 9)` passes over both. No pass
//! has a branch that depends on its input, so none is mispredicted, and both copies are in the
//! second-level cache. A pass in which all words have the same digit is left out.

use super::word::Word;
use crate::bits::mask_below;

/// The widest digit: its counts, and a cache line for each of them, fit the first-level cache.
const DIGIT_BITS: u32 = 9;
const DIGITS: usize = 1 << DIGIT_BITS;

/// Below this many words, counting digits takes longer than comparing words.
const SMALL: usize = 128;

/// Sorts words that differ in their lowest `bits` bits only. `spare` is memory for it.
pub(super) fn sort<W: Word>(words: &mut Vec<W>, spare: &mut Vec<W>, bits: u32) {
    if words.len() < SMALL || u32::try_from(words.len()).is_err() {
        words.sort_unstable();
        return;
    }
    spare.resize(words.len(), W::default());
    let passes = bits.div_ceil(DIGIT_BITS);
    let mut shift = 0;
    for pass in 0..passes {
        // All about equally wide.
        let width = (bits - shift).div_ceil(passes - pass);
        if sort_by_digit(words, spare, shift, width) {
            std::mem::swap(words, spare);
        }
        shift += width;
    }
}

/// Moves all words into `sorted`, by one digit; `false` if they all have the same one and
/// stay.
fn sort_by_digit<W: Word>(words: &[W], sorted: &mut [W], shift: u32, width: u32) -> bool {
    debug_assert!(width <= DIGIT_BITS && words.len() == sorted.len());
    let mask = mask_below(width);
    let digit = |word: W| (word.widen() >> shift & mask) as usize % DIGITS;
    let mut counts = [0_u32; DIGITS];
    for &word in words {
        counts[digit(word)] += 1;
    }
    let first = words.first().map_or(0, |&word| counts[digit(word)]);
    if first as usize == words.len() {
        return false;
    }
    let mut end = 0;
    for count in &mut counts {
        end += std::mem::replace(count, end);
    }
    for &word in words {
        let place = &mut counts[digit(word)];
        sorted[*place as usize] = word;
        *place += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::{GOLDEN, mix};

    /// Sorts `words` and compares; they differ in `bits` bits.
    fn check<W: Word + std::fmt::Debug>(mut words: Vec<W>, bits: u32) {
        let mut expected = words.clone();
        expected.sort_unstable();
        sort(&mut words, &mut Vec::new(), bits);
        assert_eq!(words, expected);
    }

    #[test]
    fn sorts_like_the_standard_library() {
        for bits in [1, 2, 8, 9, 10, 18, 19, 27, 28, 31, 32] {
            for len in [0, 1, 2, SMALL - 1, SMALL, SMALL + 1, 1_000, 5_000] {
                let mask = u64::MAX >> (64 - bits);
                let random = |i: u64| mix((i + 1).wrapping_mul(GOLDEN));
                let kinds: [&dyn Fn(u64) -> u64; 7] = [
                    &|i| random(i) & mask,
                    &|i| i & mask,
                    &|i| (len as u64 - i) & mask,
                    &|_| mask,
                    &|i| random(i) & mask & 0x8000_0101,
                    &|i| (random(i) & mask) * (i % 2),
                    &|i| if i == 0 { 0 } else { mask },
                ];
                for kind in kinds {
                    // The bits above are the same in all words of a bucket.
                    let above = !mask & 0x5555_5555_5555_5555;
                    let words = (0..len as u64).map(|i| kind(i) | above);
                    check(words.clone().map(u32::cut).collect(), bits);
                    check(words.map(u64::cut).collect(), bits);
                }
            }
        }
        for bits in [33, 45, 54, 60, 64] {
            let words = (0..3_000_u64).map(|i| mix(i) >> (64 - bits));
            check::<u64>(words.collect(), bits);
        }
    }
}
