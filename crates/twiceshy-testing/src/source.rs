//! Where the choices of a test come from.
//!
//! A test asks for one small number after the other. From a seed they never end, and are
//! the same in every run; from bytes they end with the bytes, which is how a fuzzer steers
//! a test: whatever it writes is some sequence of operations, and a shorter input is a
//! shorter sequence.

use std::fmt;

/// The golden ratio in 64 bits: an odd step that visits every word.
pub(crate) const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The last steps of SplitMix64: every bit of the result depends on every bit of `x`.
pub(crate) fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The bytes of a [`Source`] are used up, so the test ends, successfully.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted;

impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the source of choices is used up")
    }
}

impl std::error::Error for Exhausted {}

/// A deterministic source of choices.
///
/// ```
/// use twiceshy_testing::{Exhausted, Source};
///
/// let mut endless = Source::from_seed(1);
/// assert!(endless.below(6)? < 6);
///
/// // Small choices take one byte each, so a fuzzer's input goes far.
/// let mut bytes = Source::from_bytes(&[4, 5]);
/// assert_eq!(bytes.below(10), Ok(4));
/// assert_eq!(bytes.below(10), Ok(5));
/// assert_eq!(bytes.below(10), Err(Exhausted));
/// # Ok::<(), Exhausted>(())
/// ```
#[derive(Clone, Debug)]
pub struct Source<'b>(Kind<'b>);

#[derive(Clone, Debug)]
enum Kind<'b> {
    /// The state of a SplitMix64 generator.
    Seed(u64),
    /// What is left.
    Bytes(&'b [u8]),
}

impl Source<'static> {
    /// Endless choices, the same for the same seed.
    #[must_use]
    pub fn from_seed(seed: u64) -> Self {
        Source(Kind::Seed(seed))
    }
}

impl<'b> Source<'b> {
    /// As many choices as the bytes are good for.
    #[must_use]
    pub fn from_bytes(bytes: &'b [u8]) -> Self {
        Source(Kind::Bytes(bytes))
    }

    /// A number of `bytes` bytes, at most 8.
    fn take(&mut self, bytes: usize) -> Result<u64, Exhausted> {
        match &mut self.0 {
            Kind::Seed(state) => {
                *state = state.wrapping_add(GOLDEN);
                // The best bits of a word are as good as the others, so any will do.
                Ok(mix(*state) >> (64 - 8 * bytes))
            }
            Kind::Bytes(left) => {
                let (taken, rest) = left.split_at_checked(bytes).ok_or(Exhausted)?;
                *left = rest;
                let mut word = [0; 8];
                word[..bytes].copy_from_slice(taken);
                Ok(u64::from_le_bytes(word))
            }
        }
    }

    /// Any word.
    ///
    /// # Errors
    /// [`Exhausted`] if fewer than eight bytes are left.
    pub fn word(&mut self) -> Result<u64, Exhausted> {
        self.take(8)
    }

    /// A number below `end`. Almost uniform from a seed; from bytes it takes as few of them
    /// as `end` needs.
    ///
    /// # Errors
    /// [`Exhausted`] if the bytes don't suffice.
    ///
    /// # Panics
    /// If `end` is zero.
    pub fn below(&mut self, end: u64) -> Result<u64, Exhausted> {
        assert!(end > 0, "there is no number below zero");
        let bytes = match &self.0 {
            // A wide draw leaves next to no bias in the remainder.
            Kind::Seed(_) => 8,
            Kind::Bytes(_) => (u64::BITS - (end - 1).leading_zeros()).div_ceil(8).max(1) as usize,
        };
        Ok(self.take(bytes)? % end)
    }

    /// `true` one time in `n`.
    ///
    /// # Errors
    /// [`Exhausted`] if the bytes don't suffice.
    pub fn one_in(&mut self, n: u64) -> Result<bool, Exhausted> {
        Ok(self.below(n)? == 0)
    }

    /// One of `choices`.
    ///
    /// # Errors
    /// [`Exhausted`] if the bytes don't suffice.
    ///
    /// # Panics
    /// If there are none.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> Result<T, Exhausted> {
        let at = self.below(choices.len() as u64)?;
        Ok(choices[at as usize])
    }

    /// One of `choices`, each as often as its weight says.
    ///
    /// # Errors
    /// [`Exhausted`] if the bytes don't suffice.
    ///
    /// # Panics
    /// If the weights sum up to zero.
    pub fn weighted<T: Copy>(&mut self, choices: &[(T, u32)]) -> Result<T, Exhausted> {
        let total = choices.iter().map(|&(_, weight)| u64::from(weight)).sum();
        Ok(weigh(choices, self.below(total)?))
    }
}

/// The choice that a draw below the sum of all weights falls on.
///
/// # Panics
/// If the draw is not below it.
pub(super) fn weigh<T: Copy>(choices: &[(T, u32)], mut draw: u64) -> T {
    for &(choice, weight) in choices {
        match draw.checked_sub(u64::from(weight)) {
            None => return choice,
            Some(rest) => draw = rest,
        }
    }
    unreachable!("the draw is below the sum of all weights")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_repeat_and_differ() {
        let words = |seed| -> Vec<u64> {
            let mut source = Source::from_seed(seed);
            (0..100).map(|_| source.word().unwrap()).collect()
        };
        assert_eq!(words(7), words(7));
        assert_ne!(words(7), words(8));
        // The published first output of SplitMix64 with seed 0.
        assert_eq!(words(0)[0], 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn bytes_are_used_sparingly_and_run_out() {
        let bytes: Vec<u8> = (0..12).collect();
        let mut source = Source::from_bytes(&bytes);
        assert_eq!(source.below(1), Ok(0));
        assert_eq!(source.below(256), Ok(1));
        assert_eq!(source.below(257), Ok(0x0302 % 257));
        assert_eq!(source.word(), Ok(0x0b0a_0908_0706_0504));
        assert_eq!(source.below(2), Err(Exhausted));
        assert_eq!(Exhausted.to_string(), "the source of choices is used up");
    }

    #[test]
    fn choices_cover_their_range() {
        let mut source = Source::from_seed(3);
        let mut counts = [0_u32; 6];
        for _ in 0..6_000 {
            counts[source.below(6).unwrap() as usize] += 1;
        }
        assert!(counts.iter().all(|&count| (850..1150).contains(&count)));

        let mut drawn = [0_u32; 3];
        for _ in 0..4_000 {
            let choice = source.weighted(&[(0, 1), (1, 0), (2, 3)]).unwrap();
            drawn[choice] += 1;
        }
        assert_eq!(drawn[1], 0);
        assert!((850..1150).contains(&drawn[0]));
        assert_eq!(source.pick(&[9]), Ok(9));
    }
}
