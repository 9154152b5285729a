//! Extensions in slots of another width.
//!
//! ```text
//!   3 digits of 5 bits     | a a a a a | b b b b b | c c c c c |
//!   3 digits of 4 bits     | a a a a | a b b b | b b c c | c c c   the last three are lost
//! ```
//!
//! Any prefix of an extension is a prefix of its key's stream, so what is left still matches
//! the key: cutting can bring a mistake back, but never lose a member. And the order of
//! extensions is that of their bits, so it stays, though different ones may become equal.

use crate::bits::mask_below;

/// Digits of `from` bits as digits of `to` bits, whole ones only, and how many bits are lost.
pub(crate) fn recut(digits: &[u64], from: u32, to: u32) -> (Vec<u64>, u32) {
    let mut out = Vec::with_capacity(digits.len() * from as usize / to as usize);
    let (mut bits, mut have) = (0_u128, 0);
    for &digit in digits {
        bits = bits << from | u128::from(digit);
        have += from;
        while have >= to {
            have -= to;
            out.push((bits >> have) as u64 & mask_below(to));
        }
        // Fewer than `to` bits are left, so two digits always fit.
        bits &= u128::from(mask_below(have));
    }
    (out, have)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::Hashed;

    /// Both cuts are of the same stream, and nothing is lost that makes a digit.
    #[test]
    fn digits_of_any_width_are_the_same_bits() {
        let key = Hashed::from_h0(7);
        let cut = |width: u32, count: u64| -> Vec<u64> {
            (0..count)
                .map(|k| key.bits(k * u64::from(width), width))
                .collect()
        };
        for from in 1..=56_u32 {
            for to in 1..=56 {
                for count in 0..20_u64 {
                    let bits = count as u32 * from;
                    let (out, lost) = recut(&cut(from, count), from, to);
                    assert_eq!(out, cut(to, u64::from(bits / to)), "{from} to {to}");
                    assert_eq!(lost, bits % to);
                }
            }
        }
    }
}
