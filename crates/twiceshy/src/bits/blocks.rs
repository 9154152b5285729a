//! The blocks of a table: their bytes, measured once, so that taking one costs one
//! comparison.
//!
//! ```text
//! | block 0 | block 1 | …  | block count - 1 | padding |
//! |- stride -|
//! ```

use std::marker::PhantomData;

use super::cpu::SLACK;
use super::packed::Packed;
use super::raw_block::{HEADER, RawBlock, RawBlockMut};
use super::two_blocks::{ROOM, TwoBlocks};
use crate::mem::Memory;

/// Bytes that stay what they are: `Blocks` measures them once and believes it from then on.
///
/// # Safety
/// While the value is not changed through a `&mut` to it, `as_ref` gives the same bytes every
/// time; `as_mut`, where there is one, gives them too. Moving the value changes nothing about
/// how many bytes there are.
#[allow(unsafe_code)]
pub unsafe trait Bytes: AsRef<[u8]> {}

// SAFETY: a slice is the same slice every time.
unsafe impl Bytes for &[u8] {}

// SAFETY: memory has a fixed length, and no method that replaces it.
unsafe impl Bytes for Memory {}

/// The bytes between the header and the slots of every block.
pub trait Lane {
    /// How many there are.
    const BYTES: usize;
}

/// As many blocks as there are in some bytes.
pub struct Blocks<M, L> {
    /// At least `count * stride + SLACK` bytes, where `stride` is what [`stride`] says for `L`
    /// and `packed`.
    memory: M,
    packed: Packed,
    stride: usize,
    count: u64,
    /// Blocks below this have another one behind them, and [`ROOM`] bytes from where its slots
    /// start.
    with_next: u64,
    lane: PhantomData<L>,
}

/// Bytes of a block.
#[inline(always)]
const fn stride<L: Lane>(slot_bits: u32) -> usize {
    HEADER + L::BYTES + slot_bits as usize * 8
}

/// Bytes of so many blocks and the padding behind them; `None` if they can't be counted.
#[must_use]
pub fn bytes_of_blocks<L: Lane>(count: u64, slot_bits: u32) -> Option<u64> {
    let bytes = count.checked_mul(stride::<L>(slot_bits) as u64)?;
    bytes.checked_add(SLACK as u64)
}

impl<M: Bytes, L: Lane> Blocks<M, L> {
    /// `count` blocks in `memory`, or `None` if that has not the right length.
    #[must_use]
    pub fn new(memory: M, packed: Packed, count: u64) -> Option<Self> {
        let bytes = bytes_of_blocks::<L>(count, packed.bits())?;
        let stride = stride::<L>(packed.bits());
        // The room is more than the padding, so at least the last block is not among them.
        let with_next = bytes.saturating_sub((HEADER + L::BYTES + ROOM) as u64) / stride as u64;
        (memory.as_ref().len() as u64 == bytes).then(|| Blocks {
            memory,
            stride,
            packed,
            count,
            with_next,
            lane: PhantomData,
        })
    }

    /// All bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.memory.as_ref()
    }

    /// The bytes behind the last block.
    #[must_use]
    pub fn padding(&self) -> &[u8] {
        let bytes = self.bytes();
        &bytes[bytes.len() - SLACK..]
    }

    /// A block, to read.
    ///
    /// # Panics
    /// Unless `block` is below [`count`](Self::count).
    #[inline(always)]
    #[must_use]
    pub fn get(&self, block: u64) -> RawBlock<'_> {
        self.try_get(block).expect("a block lies inside its table")
    }

    /// A block, to read; `None` unless `block` is below [`count`](Self::count).
    #[inline(always)]
    #[must_use]
    pub fn try_get(&self, block: u64) -> Option<RawBlock<'_>> {
        if block >= self.count {
            return None;
        }
        let start = self.memory.as_ref().as_ptr();
        // SAFETY: by `new` and the promise of `Bytes`, `count` blocks of `stride` bytes and
        // the padding are there, and this is one of them.
        Some(unsafe {
            let start = start.add(block as usize * self.stride);
            RawBlock::from_raw(start, HEADER + L::BYTES, &self.packed)
        })
    }
}

impl<M: Bytes + AsMut<[u8]>, L: Lane> Blocks<M, L> {
    /// All bytes, to write.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.memory.as_mut()
    }

    /// A block, to read and write.
    ///
    /// # Panics
    /// Unless `block` is below [`count`](Self::count).
    #[inline(always)]
    #[must_use]
    pub fn get_mut(&mut self, block: u64) -> RawBlockMut<'_> {
        assert!(block < self.count, "a block lies inside its table");
        let start = self.memory.as_mut().as_mut_ptr();
        // SAFETY: as in `get`; and the bytes are borrowed with `self`.
        unsafe {
            let start = start.add(block as usize * self.stride);
            RawBlockMut::from_raw(start, HEADER + L::BYTES, &self.packed)
        }
    }
}

impl<M: Bytes + AsMut<[u8]>, L: Lane> Blocks<M, L> {
    /// A block and the next one; `None` if there is no next one, or too little behind it.
    #[inline(always)]
    #[must_use]
    pub fn two_mut(&mut self, block: u64) -> Option<TwoBlocks<'_>> {
        if block >= self.with_next {
            return None;
        }
        let start = self.memory.as_mut().as_mut_ptr();
        // SAFETY: as in `get_mut`, and by what `with_next` is.
        unsafe {
            let start = start.add(block as usize * self.stride);
            Some(TwoBlocks::from_raw(start, HEADER + L::BYTES, &self.packed))
        }
    }

    /// All blocks, to write, from bytes that are at hand and not asked for each time.
    #[must_use]
    pub fn open(&mut self) -> OpenBlocks<'_> {
        OpenBlocks {
            bytes: self.memory.as_mut(),
            packed: &self.packed,
            stride: self.stride,
            slots_at: HEADER + L::BYTES,
            count: self.count,
        }
    }
}

/// The blocks of a table while it is written from front to back.
pub struct OpenBlocks<'t> {
    /// As in [`Blocks`].
    bytes: &'t mut [u8],
    packed: &'t Packed,
    stride: usize,
    slots_at: usize,
    count: u64,
}

impl<'t> OpenBlocks<'t> {
    /// All bytes.
    #[inline(always)]
    pub fn bytes(&mut self) -> &mut [u8] {
        self.bytes
    }

    /// The packing of the slots.
    #[inline(always)]
    #[must_use]
    pub fn packed(&self) -> &'t Packed {
        self.packed
    }

    /// Where a block starts.
    #[inline(always)]
    #[must_use]
    pub fn start_of(&self, block: u64) -> usize {
        block as usize * self.stride
    }

    /// Where the slots of a block start, from the start of the block.
    #[inline(always)]
    #[must_use]
    pub fn slots_at(&self) -> usize {
        self.slots_at
    }

    /// A block, to read and write.
    ///
    /// # Panics
    /// Unless there is such a block.
    #[inline(always)]
    #[must_use]
    pub fn get_mut(&mut self, block: u64) -> RawBlockMut<'_> {
        assert!(block < self.count, "a block lies inside its table");
        let start = self.start_of(block);
        // SAFETY: as in `Blocks::get_mut`: these are its bytes and its measures.
        unsafe {
            let start = self.bytes.as_mut_ptr().add(start);
            RawBlockMut::from_raw(start, self.slots_at, self.packed)
        }
    }
}

impl<M, L> Blocks<M, L> {
    /// How many blocks there are.
    #[inline(always)]
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The packing of the slots.
    #[inline(always)]
    #[must_use]
    pub fn packed(&self) -> &Packed {
        &self.packed
    }

    /// The bytes themselves.
    #[must_use]
    pub fn memory(&self) -> &M {
        &self.memory
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Eight;

    impl Lane for Eight {
        const BYTES: usize = 8;
    }

    #[test]
    fn blocks_lie_one_behind_the_other() {
        let packed = Packed::new(9, 0);
        let bytes: Vec<u8> = (0..3 * 98 + SLACK).map(|i| i as u8).collect();
        let blocks: Blocks<&[u8], Eight> = Blocks::new(&bytes[..], packed, 3).unwrap();
        for block in 0..3_u64 {
            let at = block as usize * 98;
            assert_eq!(blocks.get(block).lane(), &bytes[at + 18..at + 26]);
        }
        assert_eq!(blocks.padding(), &bytes[3 * 98..]);
    }

    #[test]
    fn bytes_of_another_length_are_refused() {
        let bytes = vec![0; 3 * 98 + SLACK];
        let new = |len: usize, count| {
            Blocks::<&[u8], Eight>::new(&bytes[..len], Packed::new(9, 0), count).is_some()
        };
        assert!(new(bytes.len(), 3));
        assert!(!new(bytes.len() - 1, 3));
        assert!(!new(bytes.len(), 2));
        assert!(!new(bytes.len(), u64::MAX));
    }

    #[test]
    #[should_panic(expected = "a block lies inside its table")]
    fn a_block_behind_the_last_is_refused() {
        let bytes = vec![0; 3 * 98 + SLACK];
        let blocks: Blocks<&[u8], Eight> = Blocks::new(&bytes[..], Packed::new(9, 0), 3).unwrap();
        let _ = blocks.get(3);
    }
}
