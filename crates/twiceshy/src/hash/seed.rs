//! The secret behind a filter's hashes.

use std::fmt;

use super::{GOLDEN, mix};
use crate::error::Error;

/// 128 bits that choose one hash function out of many.
///
/// A filter's answers are unpredictable to those who do not know its seed, so take a
/// [`random`](Seed::random) one unless something else is needed: filters that are to be
/// merged or asked with the same [`Hashed`](super::Hashed) key share a seed, and tests
/// want one that is the same tomorrow.
///
/// A seed is kept out of logs: its `Debug` output does not contain it.
///
/// ```
/// use twiceshy::hash::Seed;
///
/// let seed = Seed::random()?;
/// assert_eq!(Seed::from_bytes(seed.to_bytes()), seed);
/// assert_eq!(format!("{seed:?}"), "Seed(..)");
/// # Ok::<(), twiceshy::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Seed([u64; 2]);

impl Seed {
    /// A seed from the operating system's random numbers.
    ///
    /// # Errors
    /// [`Error::Seed`] if the system has none to give.
    pub fn random() -> Result<Self, Error> {
        let mut bytes = [0; 16];
        match getrandom::fill(&mut bytes) {
            Ok(()) => Ok(Seed::from_bytes(bytes)),
            Err(error) => Err(Error::Seed {
                reason: error.to_string(),
            }),
        }
    }

    /// A seed that is the same for the same `number`, in every version and on every
    /// machine.
    ///
    /// For tests, experiments and golden files. Spread over 128 bits, it still holds no
    /// more secret than the number: whoever can guess the one can guess the other.
    #[must_use]
    pub const fn from_u64(number: u64) -> Self {
        // Two steps of SplitMix64. The map is one-to-one.
        Seed([
            mix(number.wrapping_add(GOLDEN)),
            mix(number.wrapping_add(GOLDEN.wrapping_mul(2))),
        ])
    }

    /// The seed that [`to_bytes`](Seed::to_bytes) took apart.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        let both = u128::from_le_bytes(bytes);
        Seed([both as u64, (both >> 64) as u64])
    }

    /// The seed as stored in files: anyone who reads these bytes can predict the
    /// filter's mistakes.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        (self.0[0] as u128 | (self.0[1] as u128) << 64).to_le_bytes()
    }

    /// Both halves, the one stored first being the first.
    #[inline]
    pub(crate) const fn words(&self) -> [u64; 2] {
        self.0
    }
}

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_round_trip() {
        let bytes: [u8; 16] = std::array::from_fn(|i| i as u8);
        let seed = Seed::from_bytes(bytes);
        assert_eq!(seed.to_bytes(), bytes);
        assert_eq!(seed.words(), [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908]);
    }

    /// Files written with a numbered seed must find it again.
    #[test]
    fn numbered_seeds_are_golden() {
        assert_eq!(
            Seed::from_u64(0).words(),
            [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4]
        );
        assert_eq!(
            Seed::from_u64(42).words(),
            [0xbdd7_3226_2feb_6e95, 0x28ef_e333_b266_f103]
        );
        assert_ne!(Seed::from_u64(u64::MAX), Seed::from_u64(0));
    }

    #[test]
    fn random_seeds_differ() {
        let one = Seed::random().expect("the system has random numbers");
        let two = Seed::random().expect("the system has random numbers");
        assert_ne!(one, two);
    }

    #[test]
    fn debug_says_nothing() {
        for seed in [Seed::from_u64(0), Seed::from_u64(1)] {
            assert_eq!(format!("{seed:?}"), "Seed(..)");
            assert_eq!(format!("{seed:#?}"), "Seed(..)");
        }
    }
}
