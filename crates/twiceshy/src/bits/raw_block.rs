//! One block of a table, checked once and then read without further checks.

use std::marker::PhantomData;

use super::packed::Packed;

/// A header of fixed length, 64 packed slots behind it, and eight readable bytes behind
/// those. That all of it is there is checked when it is made, so reads need no bounds.
#[derive(Clone, Copy)]
pub struct RawBlock<'t> {
    /// Valid for reads of `slots_at + packed.bytes_per_block() + 8` bytes.
    start: *const u8,
    /// At least `HEADER`.
    slots_at: usize,
    packed: &'t Packed,
    bytes: PhantomData<&'t [u8]>,
}

impl<'t> RawBlock<'t> {
    /// Bytes at the start of every block that [`word`](Self::word) may read.
    pub const HEADER: usize = 18;

    /// The block at byte `at` of `bytes`, whose slots start `slots_at` bytes further on.
    ///
    /// # Panics
    /// If the block, with the eight bytes behind it, is not inside `bytes`.
    #[inline(always)]
    #[must_use]
    pub fn new(bytes: &'t [u8], at: usize, slots_at: usize, packed: &'t Packed) -> Self {
        assert!(slots_at >= Self::HEADER, "slots come behind the header");
        let end = at.checked_add(slots_at + packed.bytes_per_block() + 8);
        assert!(
            end.is_some_and(|end| end <= bytes.len()),
            "a block lies inside its table"
        );
        RawBlock {
            // SAFETY: `at` is at most `bytes.len()`.
            start: unsafe { bytes.as_ptr().add(at) },
            slots_at,
            packed,
            bytes: PhantomData,
        }
    }

    /// The eight bytes at `AT` of the header.
    #[inline(always)]
    #[must_use]
    pub fn word<const AT: usize>(&self) -> u64 {
        const { assert!(AT + 8 <= Self::HEADER) };
        // SAFETY: the header is inside the block.
        unsafe { self.load(AT) }
    }

    /// The word right behind the header, zero if the slots begin there.
    #[inline(always)]
    #[must_use]
    pub fn lane_word(&self) -> u64 {
        if self.slots_at < Self::HEADER + 8 {
            return 0;
        }
        // SAFETY: as just checked, there are eight bytes between header and slots.
        unsafe { self.load(Self::HEADER) }
    }

    /// The window that starts at `slot & 63`; see [`Packed`].
    #[inline(always)]
    #[must_use]
    pub fn window(&self, slot: u32) -> u64 {
        let bit = (slot & 63) as usize * self.packed.bits() as usize;
        // SAFETY: the slot is one of 64, so it starts before `bytes_per_block`, and eight
        // more bytes are readable behind the block.
        unsafe { self.load(self.slots_at + bit / 8) >> (bit % 8) }
    }

    /// Asks for the cache line where `slot` is, before it is known to be needed. Does
    /// nothing where there is no such instruction.
    #[inline(always)]
    pub fn prefetch_slot(&self, slot: u32) {
        let bit = (slot & 63) as usize * self.packed.bits() as usize;
        #[cfg(all(target_arch = "x86_64", not(twiceshy_portable)))]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: the address is inside the block, as in `window`, and a prefetch
            // reads nothing.
            unsafe {
                _mm_prefetch::<_MM_HINT_T0>(self.start.add(self.slots_at + bit / 8).cast());
            }
        }
        #[cfg(not(all(target_arch = "x86_64", not(twiceshy_portable))))]
        let _ = bit;
    }

    /// # Safety
    /// `at` is at most `slots_at + packed.bytes_per_block()`.
    #[inline(always)]
    unsafe fn load(&self, at: usize) -> u64 {
        // SAFETY: eight bytes are readable from every such `at`, by the check in `new`.
        // The read is unaligned, of plain bytes.
        u64::from_le_bytes(unsafe { self.start.add(at).cast::<[u8; 8]>().read() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_checked_loads_read() {
        for bits in 1..=56 {
            let packed = Packed::new(bits, 0);
            for slots_at in [18, 26] {
                let stride = slots_at + packed.bytes_per_block();
                let bytes: Vec<u8> = (0..3 * stride + 8).map(|i| (i * i + 7) as u8).collect();
                for at in [0, stride, 2 * stride] {
                    let block = RawBlock::new(&bytes, at, slots_at, &packed);
                    assert_eq!(block.word::<2>(), super::super::load_word(&bytes, at + 2));
                    let lane = super::super::load_word(&bytes, at + 18);
                    assert_eq!(block.lane_word(), if slots_at == 26 { lane } else { 0 });
                    for slot in 0..64 {
                        let expected = packed.window(&bytes[at + slots_at..], slot);
                        assert_eq!(block.window(slot), expected);
                        block.prefetch_slot(slot);
                    }
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "a block lies inside its table")]
    fn a_block_that_is_cut_off_is_refused() {
        let packed = Packed::new(9, 0);
        let bytes = vec![0; 18 + 72 + 8];
        let _ = RawBlock::new(&bytes, 1, 18, &packed);
    }
}
