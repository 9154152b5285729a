//! One block of a table, read and written without further checks.
//!
//! ```text
//! byte  0                    18                 slots_at              + 8w        + 32
//!       | header, 18 bytes   | lane (or none)   | 64 slots of w bits  | padding   |
//! ```
//!
//! Slots are read by whole words and shifted by whole vectors, so some bytes behind them
//! must be there too: the next block, or the table's padding. They never change.

use std::marker::PhantomData;

use super::cpu::Isa;
use super::mask_below;
use super::packed::{Packed, Start};
use super::register::address_in_register;
use super::scan::{Scanned, SlotScan};

/// A block to read. [`Blocks`](super::Blocks) makes it, and knows that all of it is there.
#[derive(Clone, Copy, Debug)]
pub struct RawBlock<'t> {
    /// Valid for reads of `slots_at + packed.bytes_per_block() + SLACK` bytes for `'t`.
    start: *const u8,
    /// At least `HEADER`.
    slots_at: usize,
    packed: &'t Packed,
    bytes: PhantomData<&'t [u8]>,
}

/// A block to read and write. [`Blocks`](super::Blocks) makes it, and knows that all of it
/// is there.
pub struct RawBlockMut<'t> {
    /// Valid for reads and writes of `slots_at + packed.bytes_per_block() + SLACK` bytes for
    /// `'t`, and not otherwise used during it.
    start: *mut u8,
    /// At least `HEADER`.
    slots_at: usize,
    packed: &'t Packed,
    bytes: PhantomData<&'t mut [u8]>,
}

/// Bytes at the start of every block that the word methods may touch.
pub const HEADER: usize = 18;

/// # Safety
/// Eight bytes are readable at `start + at`.
#[inline(always)]
pub(super) unsafe fn load(start: *const u8, at: usize) -> u64 {
    // SAFETY: the caller's promise; an array of bytes has no alignment.
    u64::from_le_bytes(unsafe { start.add(at).cast::<[u8; 8]>().read() })
}

/// # Safety
/// Eight bytes are writable at `start + at`.
#[inline(always)]
pub(super) unsafe fn store(start: *mut u8, at: usize, word: u64) {
    // SAFETY: the caller's promise; an array of bytes has no alignment.
    unsafe { start.add(at).cast::<[u8; 8]>().write(word.to_le_bytes()) };
}

impl<'t> RawBlock<'t> {
    /// The block at `start`, whose slots start `slots_at` bytes further on.
    ///
    /// # Safety
    /// For `'t`, `slots_at + packed.bytes_per_block() + SLACK` bytes are readable at `start`;
    /// `slots_at` is at least [`HEADER`].
    #[inline(always)]
    pub(super) unsafe fn from_raw(start: *const u8, slots_at: usize, packed: &'t Packed) -> Self {
        RawBlock {
            start,
            slots_at,
            packed,
            bytes: PhantomData,
        }
    }

    /// The same block, with its address in one register from here on. Compilers would rather keep
    /// the table's address and the block's distance from it, and add them up at every access,
    /// which takes a register and two instructions more where a lookup has none to spare.
    #[inline(always)]
    #[must_use]
    pub fn in_register(self) -> Self {
        RawBlock {
            start: address_in_register(self.start),
            ..self
        }
    }

    /// The two bytes at `AT` of the header.
    #[inline(always)]
    #[must_use]
    pub fn half_word<const AT: usize>(&self) -> u16 {
        const { assert!(AT + 2 <= HEADER) };
        // SAFETY: the header is inside the block.
        u16::from_le_bytes(unsafe { self.start.add(AT).cast::<[u8; 2]>().read() })
    }

    /// The eight bytes at `AT` of the header.
    #[inline(always)]
    #[must_use]
    pub fn word<const AT: usize>(&self) -> u64 {
        const { assert!(AT + 8 <= HEADER) };
        // SAFETY: the header is inside the block.
        unsafe { load(self.start, AT) }
    }

    /// The packing of the slots.
    #[inline(always)]
    #[must_use]
    pub fn packed(&self) -> &'t Packed {
        self.packed
    }

    /// What stands between header and slots.
    #[inline(always)]
    #[must_use]
    pub fn lane(&self) -> &'t [u8] {
        // SAFETY: these bytes are inside the block, and readable for `'t`.
        unsafe { std::slice::from_raw_parts(self.start.add(HEADER), self.slots_at - HEADER) }
    }

    /// The window that starts at `slot & 63`; see [`Packed`].
    #[inline(always)]
    #[must_use]
    pub fn window(&self, slot: u32) -> u64 {
        let Start { byte, bit } = self.packed.start(slot);
        // SAFETY: the slot is one of 64, so it starts before `bytes_per_block`, and SLACK
        // more bytes are readable behind the block.
        unsafe { load(self.start, self.slots_at + byte) >> (bit & 63) }
    }

    /// What slot 63 holds: slots are as many words as they have bits, and this is the end of the
    /// last.
    #[inline(always)]
    #[must_use]
    pub fn last_slot(&self) -> u64 {
        let bits = self.packed.bits();
        // SAFETY: the last eight bytes of the block.
        let word = unsafe {
            load(
                self.start,
                self.slots_at + self.packed.bytes_per_block() - 8,
            )
        };
        word >> (bits.wrapping_neg() & 63)
    }

    /// Which slots hold something and are in order.
    ///
    /// # Panics
    /// If the scan is for slots of another width.
    #[inline(always)]
    #[must_use]
    pub fn scan<I: Isa, const STRICT: bool>(&self, scan: &SlotScan) -> Scanned {
        assert_eq!(
            scan.bits,
            self.packed.bits(),
            "a scan is of the block's width"
        );
        // SAFETY: the widths are the same, as just checked, and all else follows from them.
        unsafe { I::scan::<STRICT>(self, self.packed, scan) }
    }

    /// Where the slots start: valid for reads of all of them and the padding.
    #[cfg(all(target_arch = "x86_64", not(twiceshy_portable)))]
    #[inline(always)]
    pub(super) fn slots(&self) -> *const u8 {
        // SAFETY: the slots start inside the block.
        unsafe { self.start.add(self.slots_at) }
    }

    /// Asks for the cache line where `slot & 63` is, before it is known to be needed. Does
    /// nothing where there is no such instruction.
    #[inline(always)]
    pub fn prefetch_slot(&self, slot: u32) {
        self.prefetch(self.slots_at + self.packed.byte(slot));
    }

    /// The same, and for the two lines behind it: all that a vector from about there on has, and the
    /// header of the next block and the slots that move there, if those are near.
    #[inline(always)]
    pub fn prefetch_slots(&self, slot: u32) {
        let at = self.slots_at + self.packed.byte(slot);
        self.prefetch(at);
        self.prefetch(at + 64);
        self.prefetch(at + 128);
    }

    /// Asks for the cache lines of header and lane: one, or two if they lie on both sides of
    /// a line's end.
    #[inline(always)]
    pub fn prefetch_header(&self) {
        self.prefetch(0);
        self.prefetch(self.slots_at - 1);
    }

    /// Asks for the cache line behind the block: the header of the next one.
    #[inline(always)]
    pub fn prefetch_next(&self) {
        self.prefetch(self.slots_at + self.packed.bytes_per_block() + HEADER - 1);
    }

    /// Asks for the cache line with the byte that is `at` bytes behind the start of the block.
    #[inline(always)]
    pub(super) fn prefetch(&self, at: usize) {
        #[cfg(all(target_arch = "x86_64", not(twiceshy_portable)))]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: a prefetch reads nothing, whatever the address.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(self.start.wrapping_add(at).cast()) };
        }
        #[cfg(not(all(target_arch = "x86_64", not(twiceshy_portable))))]
        let _ = at;
    }
}

impl<'t> RawBlockMut<'t> {
    /// The block at `start`, whose slots start `slots_at` bytes further on.
    ///
    /// # Safety
    /// For `'t`, `slots_at + packed.bytes_per_block() + SLACK` bytes are readable and writable
    /// at `start`, and are not otherwise used; `slots_at` is at least [`HEADER`].
    #[inline(always)]
    pub(super) unsafe fn from_raw(start: *mut u8, slots_at: usize, packed: &'t Packed) -> Self {
        RawBlockMut {
            start,
            slots_at,
            packed,
            bytes: PhantomData,
        }
    }

    /// The same block, to read.
    #[inline(always)]
    #[must_use]
    pub fn as_ref(&self) -> RawBlock<'_> {
        RawBlock {
            start: self.start,
            slots_at: self.slots_at,
            packed: self.packed,
            bytes: PhantomData,
        }
    }

    /// Writes the eight bytes at `AT` of the header.
    #[inline(always)]
    pub fn set_word<const AT: usize>(&mut self, word: u64) {
        const { assert!(AT + 8 <= HEADER) };
        // SAFETY: the header is inside the block.
        unsafe { store(self.start, AT, word) };
    }

    /// Takes a bit out of the word at `AT`, the last of the header, and out of the one behind it, the
    /// first of the lane, which has one; see [`Isa::close_bit_of_two`].
    #[inline(always)]
    pub fn close_bit_of_two<I: Isa, const AT: usize>(&mut self, from: u32, to: u32) {
        const { assert!(AT + 8 == HEADER) };
        debug_assert!(self.slots_at >= HEADER + 8);
        // SAFETY: slots are behind the header, and take at least eight bytes.
        unsafe { I::close_bit_of_two(self.start.add(AT), from, to) };
    }

    /// Puts a bit into each of the same two words; see [`Isa::open_bit_of_two`].
    #[inline(always)]
    pub fn open_bit_of_two<I: Isa, const AT: usize>(&mut self, from: u32, to: u32, new: [u64; 2]) {
        const { assert!(AT + 8 == HEADER) };
        debug_assert!(self.slots_at >= HEADER + 8);
        // SAFETY: as above.
        unsafe { I::open_bit_of_two(self.start.add(AT), from, to, new) };
    }

    /// Writes the two bytes at `AT` of the header.
    #[inline(always)]
    pub fn set_half_word<const AT: usize>(&mut self, half: u16) {
        const { assert!(AT + 2 <= HEADER) };
        // SAFETY: the header is inside the block.
        unsafe {
            self.start
                .add(AT)
                .cast::<[u8; 2]>()
                .write(half.to_le_bytes())
        };
    }

    /// What stands between header and slots.
    #[inline(always)]
    #[must_use]
    pub fn lane(&mut self) -> &mut [u8] {
        // SAFETY: these bytes are inside the block, and are borrowed with `self`.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(HEADER), self.slots_at - HEADER) }
    }

    /// Moves slots `from..to` up by one, puts `carry` into `from`, and gives what was in
    /// `to`. `from <= to < 64`.
    #[inline(always)]
    pub fn shift_up<I: Isa>(&mut self, from: u32, to: u32, carry: u64) -> u64 {
        // What callers promise anyway, but the safety of the shift needs.
        let to = to & 63;
        let from = from.min(to);
        let bits = self.packed.bits();
        let out = self.as_ref().window(to) & mask_below(bits);
        // SAFETY: 64 slots are as many words as a slot has bits; before them is the header,
        // behind them the padding.
        unsafe {
            let words = self.start.add(self.slots_at);
            I::shift_words_up(
                words,
                bits,
                from * bits,
                (to + 1) * bits,
                carry & mask_below(bits),
            );
        }
        out
    }

    /// Moves slots `from + 1..=to` down by one, puts `carry` into `to`, and gives what was
    /// in `from`. `from <= to < 64`.
    #[inline(always)]
    pub fn shift_down<I: Isa>(&mut self, from: u32, to: u32, carry: u64) -> u64 {
        // What callers promise anyway, but the safety of the shift needs.
        let to = to & 63;
        let from = from.min(to);
        let bits = self.packed.bits();
        let out = self.as_ref().window(from) & mask_below(bits);
        // SAFETY: as in `shift_up`.
        unsafe {
            let words = self.start.add(self.slots_at);
            I::shift_words_down(
                words,
                bits,
                from * bits,
                (to + 1) * bits,
                carry & mask_below(bits),
            );
        }
        out
    }

    /// Writes `slot & 63`, which is empty. A slot has room for `value`.
    #[inline(always)]
    pub fn fill_slot(&mut self, slot: u32, value: u64) {
        debug_assert!(value >> self.packed.bits() == 0);
        let bit = self.packed.first_bit(slot);
        let at = self.slots_at + bit / 8;
        // SAFETY: as in `RawBlock::window`; these eight bytes are writable as well.
        unsafe { store(self.start, at, load(self.start, at) | value << (bit % 8)) };
    }

    /// Writes `slot & 63`.
    #[inline(always)]
    pub fn set_slot(&mut self, slot: u32, value: u64) {
        let bit = self.packed.first_bit(slot);
        let at = self.slots_at + bit / 8;
        let mask = mask_below(self.packed.bits());
        // SAFETY: as in `RawBlock::window`; these eight bytes are writable as well.
        unsafe {
            let word = load(self.start, at) & !(mask << (bit % 8));
            store(self.start, at, word | (value & mask) << (bit % 8));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::cpu::SLACK;
    use crate::bits::{Cpu, Operation, load_word};

    fn read<'t>(bytes: &'t [u8], at: usize, slots_at: usize, packed: &'t Packed) -> RawBlock<'t> {
        assert!(at + slots_at + packed.bytes_per_block() + SLACK <= bytes.len());
        // SAFETY: as just checked.
        unsafe { RawBlock::from_raw(bytes.as_ptr().add(at), slots_at, packed) }
    }

    fn write<'t>(
        bytes: &'t mut [u8],
        at: usize,
        slots_at: usize,
        packed: &'t Packed,
    ) -> RawBlockMut<'t> {
        assert!(at + slots_at + packed.bytes_per_block() + SLACK <= bytes.len());
        // SAFETY: as just checked.
        unsafe { RawBlockMut::from_raw(bytes.as_mut_ptr().add(at), slots_at, packed) }
    }

    fn for_each_block(mut test: impl FnMut(&mut [u8], usize, usize, &Packed)) {
        for bits in 1..=56 {
            let packed = Packed::new(bits, 0);
            for slots_at in [18, 25, 26] {
                let stride = slots_at + packed.bytes_per_block();
                for at in [0, stride, 2 * stride] {
                    let bytes = (0..3 * stride + SLACK).map(|i| (i * i + 7) as u8);
                    test(&mut bytes.collect::<Vec<_>>(), at, slots_at, &packed);
                }
            }
        }
    }

    #[test]
    fn reads_what_the_checked_loads_read() {
        for_each_block(|bytes, at, slots_at, packed| {
            let block = read(bytes, at, slots_at, packed);
            assert_eq!(block.word::<2>(), load_word(bytes, at + 2));
            assert_eq!(block.word::<10>(), load_word(bytes, at + 10));
            assert_eq!(block.lane(), &bytes[at + 18..at + slots_at]);
            for slot in 0..64 {
                block.prefetch_slot(slot);
                let expected = packed.window(&bytes[at + slots_at..], slot);
                assert_eq!(block.window(slot), expected);
            }
            assert_eq!(block.last_slot(), packed.get(&bytes[at + slots_at..], 63));
        });
    }

    #[test]
    fn writes_what_the_checked_stores_write() {
        for_each_block(|bytes, at, slots_at, packed| {
            let mut expected = bytes.to_vec();
            super::super::store_word(&mut expected, at + 2, 77);
            expected[at] = 3;
            expected[at + 1] = 1;
            expected[at + 18..at + slots_at].fill(9);
            let mut block = write(bytes, at, slots_at, packed);
            block.set_word::<2>(77);
            block.set_half_word::<0>(0x0103);
            block.lane().fill(9);
            for slot in 0..64 {
                let value = (u64::from(slot) * 0x0123_4567_89ab) & mask_below(packed.bits());
                block.set_slot(slot, value);
                packed.set(&mut expected[at + slots_at..], slot, value);
                if slot % 3 == 0 {
                    block.set_slot(slot, 0);
                    block.fill_slot(slot, value);
                }
            }
            assert_eq!(bytes, expected);
        });
    }

    struct Shift<'t> {
        bytes: &'t mut [u8],
        packed: &'t Packed,
        range: (u32, u32),
        carry: u64,
        up: bool,
    }

    impl Operation for Shift<'_> {
        type Output = u64;

        #[inline(always)]
        fn run<I: Isa>(self) -> u64 {
            let mut block = write(self.bytes, 0, HEADER, self.packed);
            let (from, to) = self.range;
            if self.up {
                block.shift_up::<I>(from, to, self.carry)
            } else {
                block.shift_down::<I>(from, to, self.carry)
            }
        }
    }

    #[test]
    fn shifts_match_a_vector_at_every_width_and_range() {
        for bits in 1..=56 {
            let packed = Packed::new(bits, 0);
            let len = HEADER + packed.bytes_per_block() + SLACK;
            let before: Vec<u8> = (0..len).map(|i| (i * i * 31 + i * 7) as u8).collect();
            let read = |bytes: &[u8]| -> Vec<u64> {
                (0..64)
                    .map(|slot| packed.get(&bytes[HEADER..], slot))
                    .collect()
            };
            for from in 0..64_usize {
                for to in from..64_usize {
                    for cpu in Cpu::all() {
                        let mut bytes = before.clone();
                        let shift = |bytes: &mut Vec<u8>, up, carry| {
                            let range = (from as u32, to as u32);
                            cpu.run(Shift {
                                bytes,
                                packed: &packed,
                                range,
                                carry,
                                up,
                            })
                        };
                        let carry = (from * 64 + to) as u64 & mask_below(bits);
                        let mut slots = read(&before);
                        let pushed = slots.remove(to);
                        slots.insert(from, carry);
                        assert_eq!(shift(&mut bytes, true, carry), pushed);
                        assert_eq!(read(&bytes), slots, "{bits} bits, {from}..{to}");
                        // Down is the inverse of up, and nothing else has changed.
                        assert_eq!(shift(&mut bytes, false, pushed), carry);
                        assert_eq!(bytes, before, "{bits} bits, {from}..{to}");
                    }
                }
            }
        }
    }
}
