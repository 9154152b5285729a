//! Slots of 1 to 56 bits, packed without gaps, 64 to a block.
//!
//! ```text
//!            slot 0     slot 1     slot 2
//! bit    0 ........r-1 r ......2r-1 2r ...        little-endian: bit 0 is the lowest
//!                                                bit of byte 0
//! ```
//!
//! An unaligned 64-bit load, shifted right by up to 7, holds at least 57 good bits: a
//! *window* of `57 / r` whole slots, with noise above the last. All slots of a window are compared with a value at
//! once, in a register, whatever `r` is: there is no branch on the width, only
//! constants that depend on it.

use super::cpu::Isa;
#[cfg(all(target_arch = "x86_64", twiceshy_has_avx512, not(twiceshy_portable)))]
use super::masks;
use super::register::read_again;
use super::word::mask_below;
#[cfg(test)]
use super::word::{load_word, store_word};

/// The constants for one slot width.
#[derive(Clone, Debug)]
pub struct Packed {
    /// A word, so that a slot's place is computed with it where it is.
    bits: usize,
    ignored: u32,
    /// A word too, to be compared with one.
    per_window: u64,
    /// `x * inverse >> 12` is `x / bits` for the bits of a word.
    inverse: u32,
    /// The lowest bit of each slot of a window.
    ones: u64,
    /// The highest bit of each slot of a window.
    highs: u64,
    /// The other bits of each slot of a window.
    lows: u64,
    /// The lowest bit of each slot of a window that takes part in comparisons.
    compared_ones: u64,
    /// The bits of each slot of a window that take part in comparisons, without the highest.
    compared_lows: u64,
    /// Entry `n`: the highest bit of each of the first `n` slots of a window.
    highs_of_first: [u64; 65],
    /// Entry `n`: the byte where slot `n` starts. It is looked up, not computed: as few instructions as
    /// possible should wait for a line that is not in the caches (see `docs/performance.md`).
    bytes: [u16; 64],
    /// Entry `n`: the bit of that byte.
    bits_in_bytes: [u8; 64],
    /// Entry `n`: what is to be added to the place of a slot's highest bit in the window at slot `n`, to
    /// have how many bits are before that slot, from the byte on where the window starts.
    bits_before: [i8; 64],
    /// Entry `n`: the lowest `n + 1` bits. In memory they are an operand of what tests them.
    slots_through: [u64; 57],
    /// Entry `n`: the end of slot `n`, as [`masks`] has it.
    #[cfg(all(target_arch = "x86_64", twiceshy_has_avx512, not(twiceshy_portable)))]
    ends: [i16; 64],
    /// So many slots are always in a vector of 64 bytes that starts at the byte of the first.
    #[cfg(all(target_arch = "x86_64", twiceshy_has_avx512, not(twiceshy_portable)))]
    per_vector: u32,
}

/// Where a slot starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// The byte, counted from where the slots of the block start.
    pub byte: usize,
    /// The bit of that byte.
    pub bit: u32,
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
        let highs = ones << (bits - 1);
        let compared = ones * (mask_below(bits) & !mask_below(ignored));
        let mut highs_of_first = [highs; 65];
        for count in 0..per_window {
            highs_of_first[count as usize] = highs & mask_below(count * bits);
        }
        let first_bit = |slot: usize| slot as u32 * bits;
        Packed {
            bits: bits as usize,
            ignored,
            per_window: per_window.into(),
            inverse: 4096_u32.div_ceil(bits),
            ones,
            highs,
            lows: (ones * mask_below(bits)) & !highs,
            compared_ones: ones << ignored,
            compared_lows: compared & !highs,
            highs_of_first,
            bytes: std::array::from_fn(|slot| (first_bit(slot) / 8) as u16),
            bits_in_bytes: std::array::from_fn(|slot| (first_bit(slot) % 8) as u8),
            bits_before: std::array::from_fn(|slot| (first_bit(slot) % 8 + 1) as i8 - bits as i8),
            slots_through: std::array::from_fn(|last| mask_below(last as u32 + 1)),
            #[cfg(all(target_arch = "x86_64", twiceshy_has_avx512, not(twiceshy_portable)))]
            ends: std::array::from_fn(|slot| masks::end(first_bit(slot + 1))),
            #[cfg(all(target_arch = "x86_64", twiceshy_has_avx512, not(twiceshy_portable)))]
            per_vector: (512 - 7) / bits,
        }
    }

    /// Bits of a slot.
    #[inline(always)]
    #[must_use]
    pub fn bits(&self) -> u32 {
        self.bits as u32
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
        self.bits * 8
    }

    /// The bit where `slot & 63` starts.
    #[inline(always)]
    #[must_use]
    pub fn first_bit(&self, slot: u32) -> usize {
        (slot & 63) as usize * self.bits
    }

    /// Where `slot & 63` starts. Read anew for each use: no register has to keep it meanwhile.
    #[inline(always)]
    #[must_use]
    pub fn start(&self, slot: u32) -> Start {
        Start {
            byte: self.byte(slot),
            bit: self.bit_in_byte(slot),
        }
    }

    /// The byte where `slot & 63` starts.
    #[inline(always)]
    #[must_use]
    pub fn byte(&self, slot: u32) -> usize {
        read_again(&self.bytes[(slot & 63) as usize]).into()
    }

    /// The bit of that byte.
    #[inline(always)]
    #[must_use]
    pub fn bit_in_byte(&self, slot: u32) -> u32 {
        read_again(&self.bits_in_bytes[(slot & 63) as usize]).into()
    }

    /// How many slots a window holds.
    #[inline(always)]
    #[must_use]
    pub fn per_window(&self) -> u32 {
        self.per_window as u32
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
        self.highs_of(count) & !self.differ(window, pattern)
    }

    /// The highest bit of each of the first `count & 63` slots of a window.
    #[inline(always)]
    #[must_use]
    pub fn highs_of(&self, count: u32) -> u64 {
        self.highs_of_first[(count & 63) as usize]
    }

    /// The highest bit of each slot of a window up to and including `last`; `None` if there are
    /// not as many. It is as wide as an index is, because to widen it takes an instruction, unless that is
    /// all that the compiler knows of it (`in_register`).
    #[inline(always)]
    #[must_use]
    pub fn highs_through(&self, last: u64) -> Option<u64> {
        // SAFETY: a window has at most 57 slots.
        (last < self.per_window)
            .then(|| unsafe { *self.highs_of_first.get_unchecked(last as usize + 1) })
    }

    /// A bit for each slot of a window up to and including `last`; `None` if there are not as many.
    #[inline(always)]
    #[must_use]
    pub fn slots_through(&self, last: u64) -> Option<u64> {
        // SAFETY: a window has at most 57 slots.
        (last < self.per_window)
            .then(|| unsafe { *self.slots_through.get_unchecked(last as usize) })
    }

    /// The highest bit of each slot says whether window and pattern differ there, ignored
    /// bits aside. The other bits mean nothing.
    #[inline(always)]
    #[must_use]
    pub fn differ(&self, window: u64, pattern: u64) -> u64 {
        let difference = window ^ pattern;
        // Adding the mask carries into the highest bit unless all lower ones are zero.
        ((difference & self.compared_lows) + self.compared_lows) | difference
    }

    /// The highest bit of the first slot of a window that equals the one in `pattern`, ignored
    /// bits aside, is set, and of none before it. All other bits mean nothing. To ask for the
    /// first, or whether there is any, takes two instructions less than [`differ`](Self::differ).
    #[inline(always)]
    #[must_use]
    pub fn first_equal(&self, window: u64, pattern: u64) -> u64 {
        let difference = window ^ pattern;
        // Only a slot whose compared bits are all zero borrows from the one behind it; and only
        // then, or behind such a slot, is its highest bit set afterwards but not before.
        difference.wrapping_sub(read_again(&self.compared_ones)) & !difference
    }

    /// Marks (by its highest bit) each slot of a window whose bit is set in `slots`.
    #[inline(always)]
    #[must_use]
    pub fn spread<I: Isa>(&self, slots: u64) -> u64 {
        I::deposit(slots, self.highs)
    }

    /// The slots that [`equal`](Self::equal) has marked, a bit each.
    #[inline(always)]
    #[must_use]
    pub fn slots_of<I: Isa>(&self, equal: u64) -> u64 {
        I::compress(equal, self.highs)
    }

    /// The slot that a bit of a window is in.
    #[inline(always)]
    #[must_use]
    pub fn index_of_bit(&self, bit: u32) -> u32 {
        bit.wrapping_mul(self.inverse) >> 12
    }

    /// How many bits are before a slot of the window at `start`, from the byte on where the window
    /// starts. It is the first that is marked by its highest bit, as [`equal`](Self::equal) does it.
    #[inline(always)]
    #[must_use]
    pub fn bits_before(&self, start: u32, marked: u64) -> u32 {
        let first = self.bits_before[(start & 63) as usize];
        marked
            .trailing_zeros()
            .wrapping_add_signed(i32::from(first))
    }

    /// The end of `slot & 63`, for [`masks`], in a vector that starts at `byte`.
    #[cfg(all(target_arch = "x86_64", twiceshy_has_avx512, not(twiceshy_portable)))]
    #[inline(always)]
    #[must_use]
    pub(super) fn end(&self, slot: u32, byte: usize) -> isize {
        isize::from(self.ends[(slot & 63) as usize]) + byte as isize
    }

    /// Is `to & 63` no earlier slot than `from & 63`, and all from the start of the one to the end of
    /// the other surely in a vector of 64 bytes from the byte of the first on?
    #[cfg(all(target_arch = "x86_64", twiceshy_has_avx512, not(twiceshy_portable)))]
    #[inline(always)]
    #[must_use]
    pub(super) fn is_in_vector(&self, from: u32, to: u32) -> bool {
        // Whatever the numbers: the slots that are asked for later are these.
        (to & 63).wrapping_sub(from & 63) < self.per_vector
    }

    /// Which slot of the window at `start` has so many [bits before](Self::bits_before) it.
    #[inline(always)]
    #[must_use]
    pub fn index_behind(&self, start: u32, before: u32) -> u32 {
        // Few ask for it, and where nobody does, it must not be read.
        let skipped = self.bits_in_bytes[(start & 63) as usize];
        self.index_of_bit(before.wrapping_sub(skipped.into()))
    }

    /// How many of the first `count` slots of `window` are at most the one in
    /// `pattern`, ignored bits included. `count` is at most
    /// [`per_window`](Self::per_window).
    #[inline(always)]
    #[must_use]
    pub fn count_at_most(&self, window: u64, pattern: u64, count: u32) -> u32 {
        // Lower bits by subtraction: the highest bit survives if there is no borrow.
        let lower = (pattern | self.highs) - (window & self.lows);
        // The highest bit decides where it differs, the lower ones where not.
        let at_most = lower ^ (pattern ^ window) & (pattern ^ lower);
        (at_most & self.highs_of_first[(count & 63) as usize]).count_ones()
    }
}

/// All slots of a window at once, for those who look at every slot of a table. A slot is
/// marked by its highest bit.
impl Packed {
    /// The highest bit of each slot of a window.
    #[inline(always)]
    #[must_use]
    pub fn highs(&self) -> u64 {
        self.highs
    }

    /// Marks each slot that is at most the one in `other`, ignored bits included.
    #[inline(always)]
    #[must_use]
    pub fn at_most(&self, window: u64, other: u64) -> u64 {
        // As in `count_at_most`.
        let lower = (other | self.highs) - (window & self.lows);
        (other & !window | !(other ^ window) & lower) & self.highs
    }

    /// Marks each slot that is not zero.
    #[inline(always)]
    #[must_use]
    pub fn nonzero(&self, window: u64) -> u64 {
        (((window & self.lows) + self.lows) | window) & self.highs
    }
}

/// Slots in bytes that are checked at every access: the oracle of
/// [`RawBlock`](super::RawBlock).
#[cfg(test)]
impl Packed {
    /// Reads one slot.
    pub(super) fn get(&self, slots: &[u8], slot: u32) -> u64 {
        self.window(slots, slot) & mask_below(self.bits())
    }

    /// Writes one slot.
    pub(super) fn set(&self, slots: &mut [u8], slot: u32, value: u64) {
        debug_assert!(value <= mask_below(self.bits()));
        let bit = self.first_bit(slot);
        let word = load_word(slots, bit / 8) & !(mask_below(self.bits()) << (bit % 8));
        store_word(slots, bit / 8, word | value << (bit % 8));
    }

    /// The window that starts at `slot`.
    pub(super) fn window(&self, slots: &[u8], slot: u32) -> u64 {
        let bit = self.first_bit(slot);
        load_word(slots, bit / 8) >> (bit % 8)
    }
}

#[cfg(test)]
mod tests {
    use super::super::cpu::{Cpu, Operation};
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
    fn every_bit_of_a_window_is_in_the_right_slot() {
        for bits in 1..=56 {
            let packed = Packed::new(bits, 0);
            for bit in 0..57 {
                assert_eq!(packed.index_of_bit(bit), bit / bits);
            }
            for (slot, start) in (0..packed.per_window()).flat_map(|slot| [(slot, 0), (slot, 63)]) {
                let high = 1 << ((slot + 1) * bits - 1);
                let before = slot * bits + start * bits % 8;
                assert_eq!(packed.bits_before(start, high), before);
                assert_eq!(packed.index_behind(start, before), slot);
            }
        }
    }

    struct SlotsOf<'p>(&'p Packed, u64);

    impl Operation for SlotsOf<'_> {
        type Output = (u64, u64);

        #[inline(always)]
        fn run<I: Isa>(self) -> (u64, u64) {
            let slots = self.0.slots_of::<I>(self.1);
            (slots, self.0.spread::<I>(slots))
        }
    }

    #[test]
    fn slots_and_their_highest_bits_are_the_same_at_every_width() {
        let mut state = 5;
        for bits in 1..=56 {
            let packed = Packed::new(bits, 0);
            for _ in 0..50 {
                let equal = random(&mut state) & packed.highs();
                let marked = |slot: &u32| equal >> ((slot + 1) * bits - 1) & 1 == 1;
                let slots = (0..packed.per_window()).filter(marked);
                let expected = slots.fold(0, |all, slot| all | 1 << slot);
                for cpu in Cpu::all() {
                    assert_eq!(cpu.run(SlotsOf(&packed, equal)), (expected, equal));
                }
            }
        }
    }

    #[test]
    fn highest_bits_through_a_slot_end_with_the_window() {
        for bits in 1..=56 {
            let packed = Packed::new(bits, 0);
            for last in (0..130).chain([u32::MAX.into(), u64::MAX]) {
                let slots = 0..=last.min(64) as u32;
                let highs = slots.map(|slot| 1_u64.checked_shl((slot + 1) * bits - 1));
                let expected = (last < packed.per_window().into())
                    .then(|| highs.fold(0, |all, high| all | high.unwrap_or(0)));
                assert_eq!(packed.highs_through(last), expected, "{bits} {last}");
                let expected = (last < packed.per_window().into()).then(|| (2 << last) - 1);
                assert_eq!(packed.slots_through(last), expected);
            }
        }
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
                        let value = values[near.min(63)] ^ (random(&mut state) & 1);
                        let value = value & mask_below(bits);
                        let window = packed.window(&bytes, slot);
                        let pattern = packed.repeat(value);
                        for count in 0..=packed.per_window().min(64 - slot) {
                            let range = &values[slot as usize..(slot + count) as usize];
                            let equal = packed.equal(window, pattern, count);
                            let first =
                                packed.first_equal(window, pattern) & packed.highs_of(count);
                            assert_eq!(first.trailing_zeros(), equal.trailing_zeros());
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
