//! Single words: masks, rank, shifts of a range, and loads from little-endian bytes.

use super::cpu::Isa;

/// The lowest `bits` bits; `bits` is at most 63.
#[inline(always)]
#[must_use]
pub fn mask_below(bits: u32) -> u64 {
    debug_assert!(bits < 64);
    (1 << bits) - 1
}

/// Bits 0 up to and including `bit`.
#[inline(always)]
#[must_use]
pub fn mask_through(bit: u32) -> u64 {
    debug_assert!(bit < 64);
    !0 >> (63 - bit)
}

/// How many bits of `word` are set from bit 0 up to and including `bit`.
#[inline(always)]
#[must_use]
pub fn rank_through(word: u64, bit: u32) -> u32 {
    debug_assert!(bit < 64);
    // Shifting the others out takes fewer instructions than a mask.
    (word << (!bit & 63)).count_ones()
}

/// Moves bits `from..to` up by one, puts `carry` at `from`, and gives the bit that was
/// at `to`. All other bits stay.
#[inline(always)]
#[must_use]
pub fn shift_bits_up(word: u64, from: u32, to: u32, carry: bool) -> (u64, bool) {
    debug_assert!(from <= to);
    let range = mask_through(to) & !mask_below(from);
    let moved = (word & range) << 1 & range;
    let out = word >> to & 1 == 1;
    (word & !range | moved | u64::from(carry) << from, out)
}

/// Moves bits `from..to` up by one and puts `new`, a bit, at `from`. Bit `to` is clear; or it is 64,
/// and the highest bit is no more.
#[inline(always)]
#[must_use]
pub fn open_bit<I: Isa>(word: u64, from: u32, to: u32, new: u64) -> u64 {
    debug_assert!(from < 64 && from <= to && to <= 64);
    I::with_gap(word, from, to) | new << from
}

/// Moves bits `from + 1..=to` down by one, puts `carry` at `to`, and gives the bit that
/// was at `from`. All other bits stay.
#[inline(always)]
#[must_use]
pub fn shift_bits_down(word: u64, from: u32, to: u32, carry: bool) -> (u64, bool) {
    debug_assert!(from <= to);
    let out = word >> from & 1 == 1;
    // All up to `to`, of which those from `from` on lose their first.
    let through = word & mask_through(to);
    let moved = through >> from >> 1 << from;
    let new = word ^ through ^ through & mask_below(from) ^ moved;
    (new | u64::from(carry) << to, out)
}

/// Takes the lowest bit of `range`, which has no gaps, out of `word`: the others of the range come
/// down by one, and its last is left empty.
#[inline(always)]
#[must_use]
pub fn close_bits(word: u64, range: u64) -> u64 {
    let moving = word & range;
    word ^ (moving ^ moving >> 1) & range
}

/// The eight bytes at `at` as a little-endian word, at any alignment.
#[inline(always)]
#[must_use]
pub fn load_word(bytes: &[u8], at: usize) -> u64 {
    let bytes = bytes[at..].first_chunk().expect("a word has eight bytes");
    u64::from_le_bytes(*bytes)
}

/// Writes `word` to the eight bytes at `at`, little-endian, at any alignment.
#[inline(always)]
pub fn store_word(bytes: &mut [u8], at: usize, word: u64) {
    let bytes = bytes[at..]
        .first_chunk_mut()
        .expect("a word has eight bytes");
    *bytes = word.to_le_bytes();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::{Cpu, Operation};

    struct Open(u64, u32, u32, u64);

    impl Operation for Open {
        type Output = u64;

        #[inline(always)]
        fn run<I: Isa>(self) -> u64 {
            open_bit::<I>(self.0, self.1, self.2, self.3)
        }
    }

    struct Close(u64, u32, u32);

    impl Operation for Close {
        type Output = u64;

        #[inline(always)]
        fn run<I: Isa>(self) -> u64 {
            I::close_bit(self.0, self.1, self.2)
        }
    }

    #[test]
    fn a_bit_is_opened_as_by_a_shift() {
        let word = 0xdead_beef_0bad_cafe_u64;
        for (from, to) in (0..64).flat_map(|from| (from..=64).map(move |to| (from, to))) {
            let word = if to < 64 { word & !(1 << to) } else { word };
            for new in [false, true] {
                let (expected, _) = shift_bits_up(word, from, to.min(63), new);
                for cpu in Cpu::all() {
                    let opened = cpu.run(Open(word, from, to, u64::from(new)));
                    assert_eq!(opened, expected, "{cpu:?} {from} {to}");
                }
            }
        }
    }

    #[test]
    fn shifts_match_a_vector_of_bits() {
        let word = 0xdead_beef_0bad_cafe_u64;
        let bits: Vec<bool> = (0..64).map(|bit| word >> bit & 1 == 1).collect();
        let pack = |bits: &[bool]| (0..64).fold(0, |word, bit| word | u64::from(bits[bit]) << bit);
        for from in 0..64 {
            for to in from..64 {
                for carry in [false, true] {
                    let mut up = bits.clone();
                    let out = up.remove(to);
                    up.insert(from, carry);
                    let got = shift_bits_up(word, from as u32, to as u32, carry);
                    assert_eq!(got, (pack(&up), out));

                    let mut closed = bits.clone();
                    closed.remove(from);
                    closed.insert(to, false);
                    let range = mask_through(to as u32) & !mask_below(from as u32);
                    assert_eq!(close_bits(word, range), pack(&closed));
                    for cpu in Cpu::all() {
                        let got = cpu.run(Close(word, from as u32, to as u32));
                        assert_eq!(got, pack(&closed), "{cpu:?}");
                    }

                    let mut down = bits.clone();
                    let out = down.remove(from);
                    down.insert(to, carry);
                    let got = shift_bits_down(word, from as u32, to as u32, carry);
                    assert_eq!(got, (pack(&down), out));
                }
            }
        }
    }

    #[test]
    fn rank_matches_counting() {
        let word = 0x8000_0001_f0f0_1234_u64;
        for bit in 0..64 {
            let expected = (0..=bit).filter(|&b| word >> b & 1 == 1).count() as u32;
            assert_eq!(rank_through(word, bit), expected);
        }
    }

    #[test]
    fn words_are_little_endian_at_any_offset() {
        let mut bytes = [0; 24];
        for at in 0..=16 {
            store_word(&mut bytes, at, 0x0102_0304_0506_0708);
            assert_eq!(bytes[at], 8);
            assert_eq!(load_word(&bytes, at), 0x0102_0304_0506_0708);
        }
    }
}
