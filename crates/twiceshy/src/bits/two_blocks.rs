//! A block and the next one, with room behind them: where a slot goes, others come down, and where
//! one comes, they go up.
//!
//! ```text
//! | header | lane | slots of the block  | header | lane | slots of the next one | …
//!                     ^ from a byte of these, or of those, 64 bytes are there
//! ```
//!
//! All but the last block or two of a table are such: the vectors that move their slots need not
//! be told where to stop.

use std::marker::PhantomData;

use super::cpu::Isa;
use super::packed::Packed;
use super::raw_block::{HEADER, RawBlockMut, load};
use super::register::address_in_register;

/// Bytes behind the start of the next block's slots that must be there.
pub(super) const ROOM: usize = 64;

/// Two blocks to read and write. [`Blocks`](super::Blocks) makes them, and knows that all of
/// them is there.
pub struct TwoBlocks<'t> {
    /// Valid for reads and writes of both blocks and [`SLACK`](super::cpu::SLACK), and of [`ROOM`]
    /// bytes from where the slots of the next block start, for `'t`, and not otherwise used
    /// during it.
    start: *mut u8,
    /// At least the length of a header.
    slots_at: usize,
    packed: &'t Packed,
    bytes: PhantomData<&'t mut [u8]>,
}

impl<'t> TwoBlocks<'t> {
    /// The block at `start`, whose slots start `slots_at` bytes further on, and the next one.
    ///
    /// # Safety
    /// What the fields say.
    #[inline(always)]
    pub(super) unsafe fn from_raw(start: *mut u8, slots_at: usize, packed: &'t Packed) -> Self {
        TwoBlocks {
            start,
            slots_at,
            packed,
            bytes: PhantomData,
        }
    }

    /// The block itself.
    #[inline(always)]
    #[must_use]
    pub fn near(&mut self) -> RawBlockMut<'_> {
        // SAFETY: the block is there, and is borrowed with `self`.
        unsafe { RawBlockMut::from_raw(self.start, self.slots_at, self.packed) }
    }

    /// The next one.
    #[inline(always)]
    #[must_use]
    pub fn next(&mut self) -> RawBlockMut<'_> {
        // SAFETY: as above.
        unsafe { RawBlockMut::from_raw(self.start_of_next(), self.slots_at, self.packed) }
    }

    /// The packing of the slots.
    #[inline(always)]
    #[must_use]
    pub fn packed(&self) -> &'t Packed {
        self.packed
    }

    /// Asks for the cache lines behind the block that moving its slots may touch: where the header of
    /// the next one ends, and the line behind that.
    #[inline(always)]
    pub fn prefetch_next(&mut self) {
        let header_ends = self.slots_at + self.packed.bytes_per_block() + HEADER - 1;
        let near = self.near();
        near.as_ref().prefetch_next();
        near.as_ref().prefetch(header_ends + 64);
    }

    #[inline(always)]
    fn start_of_next(&self) -> *mut u8 {
        // SAFETY: it lies behind this one.
        unsafe {
            self.start
                .add(self.slots_at + self.packed.bytes_per_block())
        }
    }

    /// The same blocks, with their address in one register from here on, and nothing known of what
    /// is in them: so that what was read of them is read again where it is needed, and no register
    /// kept for it. See [`RawBlock::in_register`](super::RawBlock::in_register).
    #[inline(always)]
    #[must_use]
    pub fn in_register(self) -> Self {
        let start = address_in_register(self.start).cast_mut();
        TwoBlocks { start, ..self }
    }

    /// Takes out a slot of the [window](super::RawBlock::window) at `start`, with so many [bits
    /// before](Packed::bits_before) it: those behind it, through slot `to`, move down by one, and that
    /// is left empty.
    #[inline(always)]
    pub fn close<I: Isa>(&mut self, start: u32, before: u32, to: u32) {
        debug_assert!(start <= to && to < 64 && before < 64);
        // SAFETY: 64 bytes are there from wherever a slot of the block starts.
        unsafe {
            let words = self.start.add(self.slots_at);
            I::close_words(words, self.packed, start, before, to);
        }
    }

    /// [`close`](Self::close) through the last slot of the block, which takes what is in the first one of
    /// the next block. `before` is how many bits are before the slot.
    #[inline(always)]
    pub fn close_all<I: Isa>(&mut self, start: u32, before: u32) {
        let bits = self.packed.bits();
        let low = self.packed.byte(start) as u32 * 8 + before;
        debug_assert!(low <= 63 * bits && low % bits == 0);
        // SAFETY: as above; and the slots of the next block are more than eight bytes.
        unsafe {
            let carry = load(self.start_of_next(), self.slots_at);
            I::close_all_words(self.start.add(self.slots_at), bits, low, carry);
        }
    }

    /// Takes a bit out of the words that [`RawBlockMut::close_bit_of_two`] does, through their ends, where
    /// the first bits of the next block's come in.
    #[inline(always)]
    pub fn close_all_of_two<I: Isa, const AT: usize>(&mut self, bit: u32) {
        const { assert!(AT + 8 == HEADER) };
        debug_assert!(self.slots_at >= HEADER + 8);
        // SAFETY: as there, for both blocks.
        unsafe { I::close_all_of_two(self.start.add(AT), self.start_of_next().add(AT), bit) };
    }

    /// Puts `value` in at slot `at`: moves those from there up to `to` up by one, over what was in
    /// slot `to`. `at <= to`; with 63 and 64 alike the last slot of the block is no more. A slot has
    /// room for `value`.
    #[inline(always)]
    pub fn open<I: Isa>(&mut self, at: u32, to: u32, value: u64) {
        debug_assert!(at < 64 && at <= to && to <= 64);
        debug_assert!(value >> self.packed.bits() == 0);
        // SAFETY: 64 bytes are there from wherever a slot of the block starts, and a header before
        // the first.
        unsafe {
            let words = self.start.add(self.slots_at);
            I::open_words(words, self.packed, at, to.min(63), value);
        }
    }

    /// Puts `value` in front of all slots of the block, of which the last is no more.
    #[inline(always)]
    pub fn open_all<I: Isa>(&mut self, value: u64) {
        debug_assert!(value >> self.packed.bits() == 0);
        // SAFETY: as above.
        unsafe {
            let words = self.start.add(self.slots_at);
            I::open_all_words(words, self.packed, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::cpu::SLACK;
    use crate::bits::{Blocks, Cpu, Lane, Operation, mask_below};
    use crate::mem::{HugePages, Memory};

    struct Eight;

    impl Lane for Eight {
        const BYTES: usize = 8;
    }

    const SLOTS_AT: usize = 26;

    #[derive(Clone, Copy, Debug)]
    enum How {
        /// Inside the block, from one slot through another; the first is so far into its window.
        Near(u32, u32, u32),
        All(u32, u32),
        /// Opens one slot, up to another.
        Open(u32, u32),
        OpenAll,
    }

    const VALUE: u64 = 0x0123_4567_89ab_cdef;

    struct Close<'t>(&'t mut Blocks<Memory, Eight>, u64, How);

    impl Operation for Close<'_> {
        type Output = ();

        #[inline(always)]
        fn run<I: Isa>(self) {
            let Close(blocks, block, how) = self;
            let packed = blocks.packed().clone();
            let mut two = blocks.two_mut(block).unwrap();
            match how {
                How::Near(from, to, inside) => {
                    let start = from - inside;
                    let before = before(&packed, start, inside);
                    two.in_register().close::<I>(start, before, to);
                }
                How::All(from, inside) => {
                    let before = before(&packed, from - inside, inside);
                    two.close_all::<I>(from - inside, before);
                }
                How::Open(from, to) => two.open::<I>(from, to, VALUE & mask_below(packed.bits())),
                How::OpenAll => two.open_all::<I>(VALUE & mask_below(packed.bits())),
            }
        }
    }

    /// What is before the slot that is so far inside its window.
    fn before(packed: &Packed, start: u32, inside: u32) -> u32 {
        packed.bits_before(start, 1 << ((inside + 1) * packed.bits() - 1))
    }

    fn blocks(bits: u32, count: u64) -> Blocks<Memory, Eight> {
        let bytes = count as usize * (SLOTS_AT + 8 * bits as usize) + SLACK;
        let mut memory = Memory::zeroed(bytes, HugePages::Never).unwrap();
        for (i, byte) in memory.as_mut().iter_mut().enumerate() {
            *byte = (i * i * 31 + i * 7) as u8;
        }
        Blocks::new(memory, Packed::new(bits, 0), count).unwrap()
    }

    fn slots(bytes: &[u8], packed: &Packed, block: usize) -> Vec<u64> {
        let at = block * (SLOTS_AT + packed.bytes_per_block()) + SLOTS_AT;
        (0..64).map(|slot| packed.get(&bytes[at..], slot)).collect()
    }

    fn check(bits: u32, how: How) {
        // As few blocks as have two that can be taken: nothing is behind those.
        let count = (2..).find(|&count| blocks(bits, count).two_mut(0).is_some());
        let count = count.unwrap();
        for cpu in Cpu::all() {
            let mut table = blocks(bits, count);
            let mut expected = table.bytes().to_vec();
            let packed = table.packed().clone();
            // From where to where a slot goes, and what is in it then.
            let (from, to, value) = match how {
                How::Near(from, to, _) => (from, to, 0),
                How::All(from, _) => (from, 63, slots(&expected, &packed, 1)[0]),
                How::Open(from, to) => (to.min(63), from, VALUE & mask_below(bits)),
                How::OpenAll => (63, 0, VALUE & mask_below(bits)),
            };
            let mut values = slots(&expected, &packed, 0);
            values.remove(from as usize);
            values.insert(to as usize, value);
            for (slot, &value) in values.iter().enumerate() {
                packed.set(&mut expected[SLOTS_AT..], slot as u32, value);
            }
            cpu.run(Close(&mut table, 0, how));
            assert!(table.bytes() == expected, "{bits} bits, {cpu:?}, {how:?}");
        }
    }

    #[test]
    fn closing_matches_a_vector_at_every_width_and_range() {
        for bits in 1..=56 {
            // How far into its window a slot is, must not matter.
            let inside = |from: u32| from % (57 / bits);
            for from in 0..64 {
                for to in (from..64).step_by(if bits % 4 == 1 { 1 } else { 3 }) {
                    check(bits, How::Near(from, to, inside(from)));
                }
                check(bits, How::All(from, inside(from)));
            }
        }
    }

    #[test]
    fn opening_matches_a_vector_at_every_width_and_range() {
        for bits in 1..=56 {
            for from in 0..64 {
                for to in (from..=64).step_by(if bits % 4 == 1 { 1 } else { 3 }) {
                    check(bits, How::Open(from, to));
                }
            }
            check(bits, How::OpenAll);
        }
    }

    #[test]
    fn what_is_not_a_range_stays_in_the_two_blocks() {
        struct Any<'t>(&'t mut Blocks<Memory, Eight>, [u32; 3]);

        impl Operation for Any<'_> {
            type Output = ();

            #[inline(always)]
            fn run<I: Isa>(self) {
                let Any(blocks, [start, bit, to]) = self;
                let packed = blocks.packed().clone();
                let bits = packed.bits();
                let first = packed.first_bit(start) as u32;
                // SAFETY: what `TwoBlocks` promises for any numbers.
                unsafe {
                    let words = blocks.bytes_mut().as_mut_ptr().add(SLOTS_AT);
                    I::close_words(words, &packed, start, bit, to);
                    I::close_all_words(words, bits, first + bit, !0);
                    I::open_words(words, &packed, start, bit.wrapping_mul(to), !0);
                    I::open_words(words, &packed, start, to, !0);
                }
            }
        }

        for bits in 1..=56 {
            let stride = SLOTS_AT + 8 * bits as usize;
            for numbers in [
                [63, 63, 0],
                [63, 63, 63],
                [5, 0, 200],
                [9, 9, 1],
                [63, 9, !0 >> 8],
                [60, 0, 70],
                [70, 3, 65],
            ] {
                for cpu in Cpu::all() {
                    let mut table = blocks(bits, 4);
                    let before = table.bytes().to_vec();
                    cpu.run(Any(&mut table, numbers));
                    assert_eq!(table.bytes()[2 * stride..], before[2 * stride..]);
                    assert_eq!(table.bytes()[..SLOTS_AT], before[..SLOTS_AT]);
                }
            }
        }
    }
}
