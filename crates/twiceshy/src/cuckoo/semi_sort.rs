//! Semi-sorting: four nibbles in 12 bits.
//!
//! The order of the four fingerprints of a bucket means nothing, so it need not be stored:
//! sorted by their lowest four bits, those nibbles `a <= b <= c <= d` are one of
//! `C(19, 4) = 3876` multisets, whose number has 12 bits instead of 16: one bit less for each
//! slot. (*Cuckoo Filter: Practically Better Than Bloom*, section 5.2.)
//!
//! The number of a multiset is `C(a, 1) + C(b + 1, 2) + C(c + 2, 3) + C(d + 3, 4)`: the
//! combinatorial number system.
//!
//! ```text
//! stored     | number, 12 bits | rest 0 | rest 1 | rest 2 | rest 3 |   4 (w - 1) bits
//! in hand    | rest 0 : nibble 0 | … | rest 3 : nibble 3 |            4 w bits
//! ```

use super::lanes::{Lanes, SLOTS, Word};

/// How many multisets of four nibbles there are.
const COUNT: usize = 3876;

/// Bits of the number of a multiset.
const NUMBER_BITS: u32 = 12;

/// The multiset of each number: four nibbles, the lowest first.
const NIBBLES: [u16; COUNT] = nibbles();

/// Entry `[k][x]`: `C(x + k, k + 1)`.
const CHOICES: [[u16; 16]; 4] = choices();

const fn choices() -> [[u16; 16]; 4] {
    let mut table = [[0; 16]; 4];
    let mut k = 0;
    while k < 4 {
        let mut x = 0;
        while x < 16 {
            // C(x + k, k + 1) = C(x + k - 1, k + 1) + C(x + k - 1, k)
            table[k][x] = match (k, x) {
                (_, 0) => 0,
                (0, x) => x as u16,
                (k, x) => table[k][x - 1] + table[k - 1][x],
            };
            x += 1;
        }
        k += 1;
    }
    table
}

const fn nibbles() -> [u16; COUNT] {
    let mut table = [0; COUNT];
    let mut number = 0;
    let mut d = 0;
    while d < 16 {
        let mut c = 0;
        while c <= d {
            let mut b = 0;
            while b <= c {
                let mut a = 0;
                while a <= b {
                    table[number] = a | b << 4 | c << 8 | d << 12;
                    number += 1;
                    a += 1;
                }
                b += 1;
            }
            c += 1;
        }
        d += 1;
    }
    table
}

/// The fingerprints of `bits` bits behind what is stored. A number that stands for nothing
/// gives an empty bucket.
#[inline]
pub(super) fn decode<W: Word>(stored: W, bits: u32) -> W {
    let number = stored.low() as usize & ((1 << NUMBER_BITS) - 1);
    let Some(&nibbles) = NIBBLES.get(number) else {
        return W::ZERO;
    };
    let rest_bits = bits - 4;
    let mut lanes = W::ZERO;
    for lane in 0..SLOTS {
        let rest = (stored >> (NUMBER_BITS + lane * rest_bits)) & W::mask(rest_bits);
        let nibble = W::from_u64(u64::from(nibbles >> (4 * lane) & 15));
        lanes = lanes | (rest << 4 | nibble) << (lane * bits);
    }
    lanes
}

/// What is stored for these fingerprints. Their order makes no difference.
#[inline]
pub(super) fn encode<W: Word>(lanes: W, of: &Lanes<W>, bits: u32) -> W {
    let mut sorted: [u64; SLOTS as usize] = std::array::from_fn(|lane| of.get(lanes, lane as u32));
    // By nibble first, then by the rest: one encoding for each multiset of fingerprints.
    sorted.sort_unstable_by_key(|fingerprint| fingerprint.rotate_right(4));
    let mut number = 0;
    let mut stored = W::ZERO;
    for (lane, fingerprint) in (0..).zip(sorted) {
        number += u64::from(CHOICES[lane as usize][(fingerprint & 15) as usize]);
        stored = stored | W::from_u64(fingerprint >> 4) << (NUMBER_BITS + lane * (bits - 4));
    }
    stored | W::from_u64(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::{GOLDEN, mix};

    #[test]
    fn numbers_and_multisets_are_a_bijection() {
        let of = Lanes::<u64>::new(4);
        for (number, &nibbles) in NIBBLES.iter().enumerate() {
            let lanes = decode(number as u64, 4);
            assert_eq!(lanes, u64::from(nibbles));
            assert_eq!(encode(lanes, &of, 4), number as u64);
        }
        let mut distinct = NIBBLES.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), COUNT);
        assert_eq!(decode(4095_u64, 4), 0);
    }

    fn sorted<W: Word>(lanes: W, of: &Lanes<W>) -> [u64; 4] {
        let mut values = std::array::from_fn(|lane| of.get(lanes, lane as u32));
        values.sort_unstable();
        values
    }

    fn check<W: Word>(bits: u32) {
        let of = Lanes::<W>::new(bits);
        for seed in 0..300 {
            let mut lanes = W::ZERO;
            for lane in 0..4 {
                let word = mix(GOLDEN.wrapping_mul(u64::from(seed * 4 + lane + 1)));
                let value = if word % 3 == 0 {
                    0
                } else {
                    (word >> 8) & ((1 << bits) - 1)
                };
                lanes = of.with(lanes, lane, value);
            }
            let stored = encode(lanes, &of, bits);
            assert_eq!(stored & !W::mask(4 * (bits - 1)), W::ZERO);
            let back = decode(stored, bits);
            assert_eq!(sorted(back, &of), sorted(lanes, &of));
            assert_eq!(encode(back, &of, bits), stored);
        }
    }

    #[test]
    fn buckets_come_back_in_another_order() {
        (4..=16).for_each(check::<u64>);
        (4..=32).for_each(check::<u128>);
    }
}
