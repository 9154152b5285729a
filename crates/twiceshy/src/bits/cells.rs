//! Cells of any number of bits, without gaps: their bytes, measured once, so that reading one
//! costs one comparison.
//!
//! ```text
//! | cell 0 | cell 1 | … | cell count - 1 | zero bits | slack |
//! |- bits -|
//! ```

use super::blocks::Bytes;

/// Bytes behind the last cell, because whole words are read.
const SLACK: usize = 16;

/// As many cells as there are in some bytes.
pub struct Cells<M> {
    /// [`bytes_of_cells`] of them.
    memory: M,
    bits: u64,
    count: u64,
}

/// Bytes of so many cells and the slack behind them; `None` if they can't be counted.
#[must_use]
pub fn bytes_of_cells(count: u64, bits: u32) -> Option<usize> {
    let bytes = count.checked_mul(bits.into())?.div_ceil(8);
    usize::try_from(bytes).ok()?.checked_add(SLACK)
}

impl<M: Bytes> Cells<M> {
    /// `count` cells in `memory`, or `None` if that has not the right length.
    #[must_use]
    pub fn new(memory: M, bits: u32, count: u64) -> Option<Self> {
        (memory.as_ref().len() == bytes_of_cells(count, bits)?).then(|| Cells {
            memory,
            bits: bits.into(),
            count,
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

    /// The byte in which a cell starts, and its bit in there.
    #[inline(always)]
    #[must_use]
    pub fn place(&self, cell: u64) -> (usize, u32) {
        let bit = cell * self.bits;
        ((bit / 8) as usize, (bit % 8) as u32)
    }

    /// The 57 bits, or more, that start with a cell.
    ///
    /// # Panics
    /// Unless there is such a cell.
    #[inline(always)]
    #[must_use]
    pub fn word(&self, cell: u64) -> u64 {
        assert!(cell < self.count, "a cell lies inside its table");
        let (at, shift) = self.place(cell);
        let start = self.memory.as_ref().as_ptr();
        // SAFETY: by `new` and the promise of `Bytes`, at least 16 bytes follow the byte in which
        // a cell starts.
        let word = unsafe { start.add(at).cast::<u64>().read_unaligned() };
        u64::from_le(word) >> shift
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
    pub fn flip(&mut self, cell: u64, bits: u64) {
        assert!(cell < self.count, "a cell lies inside its table");
        let (at, shift) = self.place(cell);
        let start = self.memory.as_mut().as_mut_ptr();
        // SAFETY: as in `word`; and the bytes are borrowed with `self`.
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
        for bits in [4, 12, 20, 48, 56] {
            let count = 9;
            let length = bytes_of_cells(count, bits).unwrap();
            let bytes: Vec<u8> = (0..length as u8).map(|i| i.wrapping_mul(37)).collect();
            let cells = Cells::new(&bytes[..], bits, count).unwrap();
            let bit = |i: u64| u64::from(bytes[(i / 8) as usize] >> (i % 8) & 1);
            for cell in 0..count {
                let start = cell * u64::from(bits);
                let expected = (0..57).fold(0, |word, i| word | bit(start + i) << i);
                assert_eq!(cells.word(cell) & (u64::MAX >> 7), expected);
            }
        }
    }

    #[test]
    fn what_is_flipped_is_flipped_and_nothing_else() {
        use crate::mem::{HugePages, Memory};

        let length = bytes_of_cells(5, 12).unwrap();
        let memory = Memory::zeroed(length, HugePages::Never).unwrap();
        let mut cells = Cells::new(memory, 12, 5).unwrap();
        cells.flip(3, 0xabc);
        let all: Vec<u64> = (0..5).map(|cell| cells.word(cell) & 0xfff).collect();
        assert_eq!(all, [0, 0, 0, 0xabc, 0]);
        cells.flip(3, 0xabc);
        assert!(cells.bytes().iter().all(|&byte| byte == 0));
    }

    #[test]
    fn other_lengths_are_refused() {
        let length = bytes_of_cells(5, 12).unwrap();
        assert!(Cells::new(&vec![0; length - 1][..], 12, 5).is_none());
        assert!(Cells::new(&vec![0; length + 1][..], 12, 5).is_none());
        assert_eq!(bytes_of_cells(u64::MAX, 12), None);
    }

    #[test]
    #[should_panic(expected = "inside its table")]
    fn a_cell_behind_the_last_is_none() {
        let bytes = vec![0; bytes_of_cells(5, 12).unwrap()];
        let _ = Cells::new(&bytes[..], 12, 5).unwrap().word(5);
    }
}
