//! Slots of 1 to 56 bits, packed without gaps, 64 to a block.
//!
//! ```text
//!            slot 0     slot 1     slot 2
//! bit    0 ........r-1 r ......2r-1 2r ...        little-endian: bit 0 is the lowest
//!                                                bit of byte 0
//! ```
//!
//! An unaligned 64-bit load, shifted right by up to 7, holds at least 57 good bits: a
//! *window* of `57 / r` whole slots. All slots of a window are compared with a value at
//! once, in a register, whatever `r` is: there is no branch on the width, only
//! constants that depend on it.

use super::word::{byte_of, load_word, mask_below, store_word};

/// The constants for one slot width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packed {
    bits: u32,
    ignored: u32,
    per_window: u32,
    /// The lowest bit of each slot of a window.
    ones: u64,
    /// The highest bit of each slot of a window.
    highs: u64,
    /// The lowest bit of each slot of a window that takes part in comparisons.
    compared_ones: u64,
    /// The bits of each slot of a window that take part in comparisons.
    compared: u64,
}

impl Packed {
    /// The widest slot: with 7 bits of misalignment it still fits a word.
    pub const MAX_BITS: u32 = 56;

    /// Slots of `bits` bits of which the lowest `ignored` take no part in comparisons.
    ///
    /// # Panics
    /// Unless `ignored < bits <= 56`.
    #[must_use]
    pub fn new(bits: u32, ignored: u32) -> Self {
        assert!(
            ignored < bits && bits <= Self::MAX_BITS,
            "slots have 1 to 56 bits"
        );
        let per_window = 57 / bits;
        let ones = (0..per_window).fold(0, |ones, slot| ones | 1 << (slot * bits));
        let compared = mask_below(bits) & !mask_below(ignored);
        Packed {
            bits,
            ignored,
            per_window,
            ones,
            highs: ones << (bits - 1),
            compared_ones: ones << ignored,
            compared: ones * compared,
        }
    }

    /// Bits of a slot.
    #[inline(always)]
    #[must_use]
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// The lowest bits of a slot that take no part in comparisons.
    #[inline(always)]
    #[must_use]
    pub fn ignored(&self) -> u32 {
        self.ignored
    }

    /// Bytes of the 64 slots of a block.
    #[inline(always)]
    #[must_use]
    pub fn bytes_per_block(&self) -> usize {
        self.bits as usize * 8
    }

    /// How many slots a window holds.
    #[inline(always)]
    #[must_use]
    pub fn per_window(&self) -> u32 {
        self.per_window
    }

    /// Reads one slot.
    #[inline(always)]
    #[must_use]
    pub fn get(&self, slots: &[u8], slot: u32) -> u64 {
        self.window(slots, slot) & mask_below(self.bits)
    }

    /// Writes one slot.
    #[inline(always)]
    pub fn set(&self, slots: &mut [u8], slot: u32, value: u64) {
        debug_assert!(value <= mask_below(self.bits));
        let (byte, bit) = byte_of(slot as usize * self.bits as usize);
        let word = load_word(slots, byte) & !(mask_below(self.bits) << bit);
        store_word(slots, byte, word | value << bit);
    }

    /// The window that starts at `slot`. Bits beyond its last slot are noise.
    #[inline(always)]
    #[must_use]
    pub fn window(&self, slots: &[u8], slot: u32) -> u64 {
        let (byte, bit) = byte_of(slot as usize * self.bits as usize);
        load_word(slots, byte) >> bit
    }

    /// `value` in every slot of a window.
    #[inline(always)]
    #[must_use]
    pub fn repeat(&self, value: u64) -> u64 {
        self.ones.wrapping_mul(value)
    }

    /// `value`, without the ignored bits, in every slot of a window.
    #[inline(always)]
    #[must_use]
    pub fn repeat_compared(&self, value: u64) -> u64 {
        self.compared_ones.wrapping_mul(value)
    }

    /// Marks (by its highest bit) each of the first `count` slots of `window` that
    /// equals the one in `pattern`, ignored bits aside. `count` is at most
    /// [`per_window`](Self::per_window).
    #[inline(always)]
    #[must_use]
    pub fn equal(&self, window: u64, pattern: u64, count: u32) -> u64 {
        let lows = self.compared & !self.highs;
        let difference = (window ^ pattern) & self.compared;
        // Adding the mask carries into the highest bit unless all lower ones are zero.
        let differs = ((difference & lows) + lows) | difference;
        !differs & self.highs & mask_below(count * self.bits)
    }

    /// How many of the first `count` slots of `window` are at most the one in
    /// `pattern`, ignored bits included. `count` is at most
    /// [`per_window`](Self::per_window).
    #[inline(always)]
    #[must_use]
    pub fn count_at_most(&self, window: u64, pattern: u64, count: u32) -> u32 {
        // Lower bits by subtraction: the highest bit survives if there is no borrow.
        let lower = (pattern | self.highs) - (window & !self.highs & mask_below(self.all_bits()));
        let at_most = pattern & !window | !(pattern ^ window) & lower;
        (at_most & self.highs & mask_below(count * self.bits)).count_ones()
    }

    #[inline(always)]
    fn all_bits(&self) -> u32 {
        self.per_window * self.bits
    }

    /// Moves slots `from..to` up by one, puts `carry` into `from`, and gives what was in
    /// `to`; a word at a time. `slots` starts at slot 0 of the block.
    #[inline(always)]
    #[must_use]
    pub fn shift_up(&self, slots: &mut [u8], from: u32, to: u32, carry: u64) -> u64 {
        debug_assert!(from <= to && to < 64);
        let out = self.get(slots, to);
        let bits = self.bits;
        let (low, high) = ((from * bits) as usize, ((to + 1) * bits) as usize);
        let (first, last) = (low / 64, (high - 1) / 64);
        let slots_words = &mut slots[..self.bytes_per_block()];
        let mut word = load_word(slots_words, last * 8);
        let keep = !mask_through_bit(high - 1);
        let mut kept = word & keep;
        let mut range = !keep;
        for at in (first..last).rev() {
            let below = load_word(slots_words, at * 8);
            let moved = word << bits | below >> (64 - bits);
            store_word(slots_words, (at + 1) * 8, kept | moved & range);
            word = below;
            kept = 0;
            range = !0;
        }
        // The lowest word keeps what lies below `from`.
        let below = mask_below((low % 64) as u32);
        let moved = (word & !below) << bits;
        store_word(
            slots_words,
            first * 8,
            kept | word & below | moved & range & !below,
        );
        self.set(slots, from, carry);
        out
    }

    /// Moves slots `from + 1..=to` down by one, puts `carry` into `to`, and gives what
    /// was in `from`; a word at a time. `slots` starts at slot 0 of the block.
    #[inline(always)]
    #[must_use]
    pub fn shift_down(&self, slots: &mut [u8], from: u32, to: u32, carry: u64) -> u64 {
        debug_assert!(from <= to && to < 64);
        let out = self.get(slots, from);
        let bits = self.bits;
        let (low, high) = ((from * bits) as usize, ((to + 1) * bits) as usize);
        let (first, last) = (low / 64, (high - 1) / 64);
        let slots_words = &mut slots[..self.bytes_per_block()];
        let mut word = load_word(slots_words, first * 8);
        let keep = mask_below((low % 64) as u32);
        let mut kept = word & keep;
        let mut range = !keep;
        for at in first..last {
            let above = load_word(slots_words, (at + 1) * 8);
            let moved = word >> bits | above << (64 - bits);
            store_word(slots_words, at * 8, kept | moved & range);
            word = above;
            kept = 0;
            range = !0;
        }
        // The highest word keeps what lies above `to`.
        let through = mask_through_bit(high - 1);
        let moved = (word & through) >> bits;
        store_word(
            slots_words,
            last * 8,
            kept | word & !through | moved & range & through,
        );
        self.set(slots, to, carry);
        out
    }
}

/// Bits 0 to `bit % 64`, inclusive.
#[inline(always)]
fn mask_through_bit(bit: usize) -> u64 {
    super::word::mask_through((bit % 64) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(state: &mut u64) -> u64 {
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (*state ^ *state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z ^ z >> 27
    }

    fn filled(packed: &Packed, state: &mut u64) -> (Vec<u8>, Vec<u64>) {
        let values: Vec<u64> = (0..64)
            .map(|_| random(state) & mask_below(packed.bits()))
            .collect();
        let mut bytes = vec![0; packed.bytes_per_block() + 8];
        for (slot, &value) in values.iter().enumerate() {
            packed.set(&mut bytes, slot as u32, value);
        }
        (bytes, values)
    }

    #[test]
    fn slots_read_back_at_every_width() {
        let mut state = 1;
        for bits in 1..=56 {
            let packed = Packed::new(bits, 0);
            let (bytes, values) = filled(&packed, &mut state);
            let read: Vec<u64> = (0..64).map(|slot| packed.get(&bytes, slot)).collect();
            assert_eq!(read, values);
            assert_eq!(
                bytes[packed.bytes_per_block()..],
                [0; 8],
                "set leaves the padding"
            );
        }
    }

    #[test]
    fn shifts_match_a_vector_at_every_width_and_range() {
        let mut state = 2;
        for bits in 1..=56 {
            let packed = Packed::new(bits, 0);
            for from in 0..64 {
                for to in from..64 {
                    let (mut bytes, values) = filled(&packed, &mut state);
                    bytes[packed.bytes_per_block()..].fill(0xa5);
                    let before = bytes.clone();
                    let carry = random(&mut state) & mask_below(bits);

                    let mut up = values.clone();
                    let expected = up.remove(to);
                    up.insert(from, carry);
                    let out = packed.shift_up(&mut bytes, from as u32, to as u32, carry);
                    assert_eq!(out, expected);
                    let read: Vec<u64> = (0..64).map(|slot| packed.get(&bytes, slot)).collect();
                    assert_eq!(read, up, "{bits} bits, {from}..{to}");

                    // Down is the inverse of up.
                    let back = packed.shift_down(&mut bytes, from as u32, to as u32, out);
                    assert_eq!(back, carry);
                    assert_eq!(bytes, before, "{bits} bits, {from}..{to}");
                }
            }
        }
    }

    #[test]
    fn window_comparisons_match_a_loop() {
        let mut state = 3;
        for bits in 1..=56 {
            for ignored in [0, 1, 3] {
                if ignored >= bits {
                    continue;
                }
                let packed = Packed::new(bits, ignored);
                for _ in 0..50 {
                    let (bytes, mut values) = filled(&packed, &mut state);
                    values.extend([0; 64]);
                    for slot in 0..64 {
                        let near = random(&mut state) as usize % 8 + slot as usize;
                        let value = values[near.min(63)] ^ random(&mut state) % 2;
                        let value = value & mask_below(bits);
                        let window = packed.window(&bytes, slot);
                        let pattern = packed.repeat(value);
                        for count in 0..=packed.per_window().min(64 - slot) {
                            let range = &values[slot as usize..(slot + count) as usize];
                            let equal = packed.equal(window, pattern, count);
                            for (i, &other) in range.iter().enumerate() {
                                let bit = (i as u32 + 1) * bits - 1;
                                let expected = other >> ignored == value >> ignored;
                                assert_eq!(equal >> bit & 1 == 1, expected);
                            }
                            let expected =
                                range.iter().filter(|&&v| v >> ignored == value >> ignored);
                            assert_eq!(equal.count_ones() as usize, expected.count());
                            let at_most = range.iter().filter(|&&v| v <= value).count();
                            let got = packed.count_at_most(window, pattern, count);
                            assert_eq!(got as usize, at_most);
                        }
                    }
                }
            }
        }
    }
}
