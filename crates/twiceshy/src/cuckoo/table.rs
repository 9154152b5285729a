//! Buckets of four fingerprints in bytes, without gaps.
//!
//! ```text
//! | bucket 0 | bucket 1 | … | bucket m - 1 | zero bits | 16 zero bytes |
//! |- 4w or 4(w - 1) bits -|
//! ```
//!
//! A bucket starts at a multiple of four bits, so an unaligned word, shifted by four at
//! most, holds all of it: 60 bits of a `u64`, 124 of a `u128`; and the only buckets with more,
//! those of 16 and of 32 bits a fingerprint, start at whole bytes.

use super::lanes::{Lanes, Word};
use super::semi_sort;
use super::shape::{Home, Packing, Shape};
use crate::bits::{Below, Bytes, Cells, Starts, prefetch};
use crate::error::Error;
use crate::mem::{HugePages, Memory};
use crate::violation::Violation;

/// The buckets of a filter.
pub(super) struct Table<M = Memory> {
    /// A cell is a stored bucket.
    cells: Cells<M>,
    shape: Shape,
}

impl Table {
    pub(super) fn new(shape: Shape, huge_pages: HugePages) -> Result<Self, Error> {
        let bytes = shape.checked_bytes();
        let bytes = bytes.ok_or_else(|| Error::geometry("it is larger than any memory"))?;
        Table::over(Memory::zeroed(bytes, huge_pages)?, shape)
    }

    pub(super) fn try_clone(&self) -> Result<Self, Error> {
        Table::over(self.cells.memory().try_clone()?, self.shape)
    }

    pub(super) fn clear(&mut self) {
        self.cells.bytes_mut().fill(0);
    }
}

impl<M: Bytes> Table<M> {
    /// A table over these bytes.
    pub(super) fn over(memory: M, shape: Shape) -> Result<Self, Error> {
        let cells = Cells::new(memory, shape.bucket_bits(), shape.buckets());
        let cells = cells.ok_or_else(|| Error::geometry("the table has another length"))?;
        Ok(Table { cells, shape })
    }

    #[inline]
    pub(super) fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The numbers of the buckets.
    #[inline]
    pub(super) fn buckets(&self) -> &Below {
        self.cells.numbers()
    }

    /// Where a key lives.
    #[inline]
    pub(super) fn home(&self, h0: u64) -> Home {
        self.shape.home(self.buckets(), h0)
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.cells.bytes()
    }

    /// Do buckets start at bytes?
    pub(super) fn starts_at_bytes(&self) -> bool {
        self.cells.start_at_bytes()
    }

    /// What is stored of a bucket.
    #[inline(always)]
    fn stored<W: Word>(&self, bucket: u64) -> W {
        // The bit in the byte is 0 or 4.
        let (at, shift) = self.cells.place(bucket);
        (W::read(self.bytes(), at) >> shift) & W::mask(self.shape.bucket_bits())
    }

    /// The fingerprints of a bucket that is not semi-sorted.
    #[inline(always)]
    pub(super) fn load_whole<S: Starts>(&self, bucket: u64) -> u64 {
        debug_assert!(self.shape.packing() == Packing::Whole);
        // Bits of the next bucket above do not disturb comparisons.
        self.cells.word::<S>(bucket)
    }

    /// The fingerprints of a bucket.
    #[inline(always)]
    pub(super) fn load<W: Word>(&self, bucket: u64) -> W {
        let stored = self.stored(bucket);
        match self.shape.packing() {
            Packing::Whole => stored,
            Packing::SemiSorted => semi_sort::decode(stored, self.shape.fingerprint_bits()),
        }
    }

    /// Prefetches the cache line of a bucket.
    #[inline]
    pub(super) fn prefetch(&self, bucket: u64) {
        prefetch(self.bytes(), self.cells.place(bucket).0);
    }

    /// Every bucket is one that could have been stored, and there is nothing behind them; gives
    /// the number of fingerprints.
    pub(super) fn count<W: Word>(&self, lanes: &Lanes<W>) -> Result<u64, Violation> {
        let bits = self.shape.fingerprint_bits();
        let mut used = 0;
        for bucket in 0..self.shape.buckets() {
            let loaded = self.load(bucket);
            if self.shape.packing() == Packing::SemiSorted
                && semi_sort::encode(loaded, lanes, bits) != self.stored(bucket)
            {
                return Err(Violation::new("a bucket is not sorted", bucket));
            }
            used += u64::from(lanes.used(loaded));
        }
        let (at, shift) = self.cells.place(self.shape.buckets());
        let behind = &self.bytes()[at..];
        let first = behind.first().map_or(0, |byte| byte >> shift);
        if first != 0 || behind[1..].iter().any(|&byte| byte != 0) {
            return Err(Violation::new("the padding is not zero", at as u64));
        }
        Ok(used)
    }
}

impl<M: Bytes + AsMut<[u8]>> Table<M> {
    /// Flips bits of a bucket that is not semi-sorted and fits a `u64`.
    #[inline(always)]
    pub(super) fn flip<S: Starts>(&mut self, bucket: u64, bits: u64) {
        debug_assert!(self.shape.packing() == Packing::Whole && self.shape.bucket_bits() <= 64);
        self.cells.flip::<S>(bucket, bits);
    }

    /// Flips bits of the first of two such buckets that is marked, as [`Cells`] do.
    #[inline(always)]
    pub(super) fn flip_first_marked<S: Starts>(
        &mut self,
        buckets: [u64; 2],
        mask: u64,
        mark: impl Fn(u64) -> u64,
        flip: impl FnOnce(u64) -> u64,
    ) -> bool {
        debug_assert!(self.shape.packing() == Packing::Whole && self.shape.bucket_bits() <= 64);
        self.cells.flip_first_marked::<S>(buckets, mask, mark, flip)
    }

    /// Writes the fingerprints of a bucket. Semi-sorted, they may change places.
    #[inline(always)]
    pub(super) fn store<W: Word>(&mut self, bucket: u64, fingerprints: W, lanes: &Lanes<W>) {
        let stored = match self.shape.packing() {
            Packing::Whole => fingerprints,
            Packing::SemiSorted => {
                semi_sort::encode(fingerprints, lanes, self.shape.fingerprint_bits())
            }
        };
        let (at, shift) = self.cells.place(bucket);
        let mask = W::mask(self.shape.bucket_bits()) << shift;
        let bytes = self.cells.bytes_mut();
        let word = W::read(bytes, at) & !mask | stored << shift;
        word.write(bytes, at);
    }
}
