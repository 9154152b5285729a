//! Cells of any number of bits, without gaps: their bytes, measured once, so that reading one
//! costs one comparison, and none if its number was made by [`Below`].
//!
//! ```text
//! | cell 0 | cell 1 | … | cell count - 1 | zero bits | padding |
//! |- bits -|
//! ```
//!
//! Cells of whole bytes start at bytes: they need no shift, and those who know that they are such
//! ([`AtBytes`]) save a quarter of the instructions of a lookup.

use super::below::Below;
use super::blocks::Bytes;
use super::choose::first_marked;

/// Bytes behind the last cell, because whole words are read.
const SLACK: usize = 16;

/// As many cells as there are in some bytes.
pub struct Cells<M> {
    /// [`bytes_of_cells`] of them.
    memory: M,
    bits: u64,
    /// `bits / 8`, rounded down.
    bytes: u64,
    numbers: Below,
}

/// Where the cells start that someone is about to read.
pub trait Starts {
    /// At bytes? Asked of other cells, that is the wrong place, though one in the table.
    const AT_BYTES: bool;
}

/// Cells of whole bytes.
#[derive(Clone, Copy, Debug)]
pub struct AtBytes;

impl Starts for AtBytes {
    const AT_BYTES: bool = true;
}

/// Any cells.
#[derive(Clone, Copy, Debug)]
pub struct AtBits;

impl Starts for AtBits {
    const AT_BYTES: bool = false;
}

/// Bytes of so many cells and the padding behind them; `None` if they can't be counted.
#[must_use]
pub fn bytes_of_cells(count: u64, bits: u32) -> Option<usize> {
    let bytes = count.checked_mul(bits.into())?.div_ceil(8);
    usize::try_from(bytes).ok()?.checked_add(SLACK)
}

impl<M: Bytes> Cells<M> {
    /// `count` cells in `memory`, or `None` if that has not the right length or there are none.
    #[must_use]
    pub fn new(memory: M, bits: u32, count: u64) -> Option<Self> {
        let numbers = Below::new(count)?;
        (memory.as_ref().len() == bytes_of_cells(count, bits)?).then(|| Cells {
            memory,
            bits: bits.into(),
            bytes: u64::from(bits / 8),
            numbers,
        })
    }

    /// What they are in.
    pub fn memory(&self) -> &M {
        &self.memory
    }

    /// All bytes.
    #[inline(always)]
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.memory.as_ref()
    }

    /// The numbers of the cells.
    #[inline(always)]
    #[must_use]
    pub fn numbers(&self) -> &Below {
        &self.numbers
    }

    /// Do all cells start at bytes?
    #[must_use]
    pub fn start_at_bytes(&self) -> bool {
        self.bits % 8 == 0
    }

    /// The byte in which a cell starts, and its bit in there.
    #[inline(always)]
    #[must_use]
    pub fn place(&self, cell: u64) -> (usize, u32) {
        let bit = cell * self.bits;
        ((bit / 8) as usize, (bit % 8) as u32)
    }

    /// The position of a cell that is there, in bytes or in bits.
    ///
    /// # Panics
    /// Unless there is such a cell.
    #[inline(always)]
    fn position<S: Starts>(&self, cell: u64) -> u64 {
        assert!(cell < self.numbers.end(), "a cell lies inside its table");
        debug_assert!(!S::AT_BYTES || self.start_at_bytes());
        cell * if S::AT_BYTES { self.bytes } else { self.bits }
    }

    /// The 57 bits, or more, that start with a cell.
    ///
    /// # Panics
    /// Unless there is such a cell.
    #[inline(always)]
    #[must_use]
    pub fn word<S: Starts>(&self, cell: u64) -> u64 {
        let position = self.position::<S>(cell);
        // SAFETY: it is the position of a cell.
        unsafe { self.word_at::<S>(position) }
    }

    /// # Safety
    /// It is the [`position`](Self::position) of a cell.
    #[inline(always)]
    unsafe fn word_at<S: Starts>(&self, position: u64) -> u64 {
        let (at, shift) = split::<S>(position);
        let start = self.memory.as_ref().as_ptr();
        // SAFETY: by `new` and the promise of `Bytes`, at least 16 bytes follow the byte in which
        // a cell starts; of cells that do not start at bytes, `AtBytes` gives one before it.
        let word = unsafe { start.add(at).cast::<u64>().read_unaligned() };
        u64::from_le(word) >> shift
    }
}

/// The byte of a position, and the bit in there.
#[inline(always)]
fn split<S: Starts>(position: u64) -> (usize, u32) {
    if S::AT_BYTES {
        (position as usize, 0)
    } else {
        ((position / 8) as usize, (position % 8) as u32)
    }
}

impl<M: Bytes + AsMut<[u8]>> Cells<M> {
    /// All bytes, to write.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.memory.as_mut()
    }

    /// Flips bits among those that [`word`](Self::word) gives.
    ///
    /// # Panics
    /// Unless there is such a cell.
    #[inline(always)]
    pub fn flip<S: Starts>(&mut self, cell: u64, bits: u64) {
        let position = self.position::<S>(cell);
        // SAFETY: it is the position of a cell.
        unsafe { self.flip_at::<S>(position, bits) };
    }

    /// Flips bits in the first of two cells that is marked; if none is, gives `false`. `mark`
    /// makes marks of a [word](Self::word), of which those in `mask` count, and `flip` makes bits
    /// of the marks. Both words are read, and one of them is written.
    ///
    /// # Panics
    /// Unless there are such cells.
    #[inline(always)]
    pub fn flip_first_marked<S: Starts>(
        &mut self,
        cells: [u64; 2],
        mask: u64,
        mark: impl Fn(u64) -> u64,
        flip: impl FnOnce(u64) -> u64,
    ) -> bool {
        let positions = cells.map(|cell| self.position::<S>(cell));
        // SAFETY: they are the positions of cells.
        let words = positions.map(|position| unsafe { self.word_at::<S>(position) });
        let (marks, position) = first_marked(mask, words.map(mark), positions);
        if marks == 0 {
            return false;
        }
        // SAFETY: it is one of both positions.
        unsafe { self.flip_at::<S>(position, flip(marks)) };
        true
    }

    /// # Safety
    /// It is the [`position`](Self::position) of a cell.
    #[inline(always)]
    unsafe fn flip_at<S: Starts>(&mut self, position: u64, bits: u64) {
        let (at, shift) = split::<S>(position);
        let start = self.memory.as_mut().as_mut_ptr();
        // SAFETY: as in `word_at`; and the bytes are borrowed with `self`.
        unsafe {
            let place = start.add(at).cast::<u64>();
            place.write_unaligned(place.read_unaligned() ^ (bits << shift).to_le());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_where_a_loop_finds_them() {
        for bits in [4, 12, 20, 24, 48, 56, 64] {
            let count = 9;
            let length = bytes_of_cells(count, bits).unwrap();
            let bytes: Vec<u8> = (0..length as u8).map(|i| i.wrapping_mul(37)).collect();
            let cells = Cells::new(&bytes[..], bits, count).unwrap();
            let bit = |i: u64| u64::from(bytes[(i / 8) as usize] >> (i % 8) & 1);
            for cell in 0..count {
                let start = cell * u64::from(bits);
                let expected = (0..57).fold(0, |word, i| word | bit(start + i) << i);
                assert_eq!(cells.word::<AtBits>(cell) & (u64::MAX >> 7), expected);
                if cells.start_at_bytes() {
                    assert_eq!(cells.word::<AtBytes>(cell), cells.word::<AtBits>(cell));
                }
            }
        }
    }

    fn flips<S: Starts>(bits: u32) {
        use crate::mem::{HugePages, Memory};

        let length = bytes_of_cells(5, bits).unwrap();
        let memory = Memory::zeroed(length, HugePages::Never).unwrap();
        let mut cells = Cells::new(memory, bits, 5).unwrap();
        let all = |cells: &Cells<Memory>| -> [u64; 5] {
            std::array::from_fn(|cell| cells.word::<S>(cell as u64) & ((1 << bits) - 1))
        };
        cells.flip::<S>(3, 0xabc);
        assert_eq!(all(&cells), [0, 0, 0, 0xabc, 0]);
        // Of these, 0xabc is marked by bit 3, and 0 is not.
        let flip = |cells: &mut Cells<Memory>, pair: [u64; 2], bits| {
            let flip = |marks| {
                assert_eq!(marks, 8);
                bits
            };
            cells.flip_first_marked::<S>(pair, 8, |word| word, flip)
        };
        assert!(flip(&mut cells, [3, 1], 0xfff));
        assert_eq!(all(&cells), [0, 0, 0, 0x543, 0]);
        assert!(!flip(&mut cells, [3, 1], 0xfff));
        assert_eq!(all(&cells), [0, 0, 0, 0x543, 0]);
        cells.flip::<S>(4, 0xaaa);
        assert!(flip(&mut cells, [3, 4], 0xaaa));
        assert_eq!(all(&cells), [0, 0, 0, 0x543, 0]);
        cells.flip::<S>(3, 0x543);
        assert!(cells.bytes().iter().all(|&byte| byte == 0));
    }

    #[test]
    fn what_is_flipped_is_flipped_and_nothing_else() {
        flips::<AtBits>(12);
        flips::<AtBits>(16);
        flips::<AtBytes>(16);
        flips::<AtBytes>(48);
    }

    #[test]
    fn other_lengths_are_refused() {
        let length = bytes_of_cells(5, 12).unwrap();
        assert!(Cells::new(&vec![0; length - 1][..], 12, 5).is_none());
        assert!(Cells::new(&vec![0; length + 1][..], 12, 5).is_none());
        assert_eq!(bytes_of_cells(u64::MAX, 12), None);
        assert!(Cells::new(&[0; SLACK][..], 12, 0).is_none());
    }

    #[test]
    #[should_panic(expected = "inside its table")]
    fn a_cell_behind_the_last_is_none() {
        let bytes = vec![0; bytes_of_cells(5, 12).unwrap()];
        let _ = Cells::new(&bytes[..], 12, 5).unwrap().word::<AtBits>(5);
    }
}
