//! Lists that are nothing but little-endian words: in memory, and as the content of a file.

use crate::bits::mask_below;
use crate::error::Error;
use crate::file::{FileFilter, FilterKind, Header};
use crate::hash::{HashKind, Seed, StreamHash};
use crate::mem::Memory;
use crate::table::{Geometry, Violation};

/// Words, as they stand in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Words(Vec<u8>);

impl Words {
    /// So many zero words.
    ///
    /// # Errors
    /// [`Error::Geometry`] if there is not that much memory.
    pub(super) fn zeroed(count: u64) -> Result<Self, Error> {
        let too_large = || Error::geometry(format!("{count} words do not fit in memory"));
        let bytes = count
            .checked_mul(8)
            .and_then(|bytes| usize::try_from(bytes).ok());
        let bytes = bytes.ok_or_else(too_large)?;
        let mut words = Vec::new();
        words.try_reserve_exact(bytes).map_err(|_| too_large())?;
        words.resize(bytes, 0);
        Ok(Words(words))
    }

    /// How many there are.
    pub(super) fn len(&self) -> u64 {
        self.0.len() as u64 / 8
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Word `at`; zero behind the last.
    #[inline]
    pub(super) fn get(&self, at: u64) -> u64 {
        let at = at as usize * 8;
        let word = self.0.get(at..).and_then(|rest| rest.first_chunk::<8>());
        word.map_or(0, |word| u64::from_le_bytes(*word))
    }

    pub(super) fn set(&mut self, at: u64, word: u64) {
        let at = at as usize * 8;
        self.0[at..at + 8].copy_from_slice(&word.to_le_bytes());
    }

    /// The `width` bits (1 to 57) from bit `at` of the words behind `start` on.
    #[inline]
    pub(super) fn bits(&self, start: u64, at: u64, width: u32) -> u64 {
        let (word, skip) = (start + at / 64, (at % 64) as u32);
        let low = self.get(word) >> skip;
        let high = match skip {
            0 => 0,
            _ => self.get(word + 1) << (64 - skip),
        };
        (low | high) & mask_below(width)
    }

    /// Flips the bits there that are set in `value`.
    pub(super) fn flip(&mut self, start: u64, at: u64, width: u32, value: u64) {
        let value = value & mask_below(width);
        let (word, skip) = (start + at / 64, (at % 64) as u32);
        self.set(word, self.get(word) ^ value << skip);
        if skip + width > 64 {
            self.set(word + 1, self.get(word + 1) ^ value >> (64 - skip));
        }
    }

    /// Are the bits from `bits` on of the words `start..start + words` all zero?
    pub(super) fn is_zero_behind(&self, start: u64, words: u64, bits: u64) -> bool {
        let (word, skip) = (bits / 64, (bits % 64) as u32);
        let first = match word < words {
            true => self.get(start + word) >> skip,
            false => 0,
        };
        first == 0 && (start + word + 1..start + words).all(|at| self.get(at) == 0)
    }
}

/// A list that is words: what it takes to be a file.
pub trait WordList: Sized {
    /// Its number in files.
    const LIST: FilterKind;
    /// Its hash.
    type Hash: StreamHash;

    /// Its words, its seed, and how long its lists are.
    #[doc(hidden)]
    fn content(&self) -> (&[u8], Seed, [u64; 2]);

    /// The list of these words.
    #[doc(hidden)]
    fn from_content(words: Vec<u8>, seed: Seed, lens: [u64; 2]) -> Result<Self, Error>;
}

impl Words {
    pub(super) fn from_bytes(bytes: Vec<u8>) -> Self {
        Words(bytes)
    }
}

/// What is wrong with words that were read.
pub(super) fn impossible(what: &str) -> Error {
    Error::corrupt(format!(
        "its checksum is right, but its words are not: {what}"
    ))
}

impl<T: WordList> FileFilter<Memory> for T {
    const KIND: FilterKind = T::LIST;
    const HASH: HashKind = T::Hash::KIND;

    fn header(&self) -> Header {
        let (words, seed, [yes, no]) = self.content();
        let geometry = Geometry::new(words.len() as u64 / 8, 1);
        let geometry = geometry.expect("there are some words, and memory has fewer than 2^59");
        Header {
            used: 0,
            ghosts: no,
            ..Header::new::<Memory, Self>(geometry, seed, yes)
        }
    }

    fn table(&self) -> &[u8] {
        self.content().0
    }

    /// What the words mean is between the list and its loader.
    fn size(header: &Header) -> Option<(u64, usize)> {
        let bytes = header.geometry.slots().checked_mul(8)?;
        Some((0, usize::try_from(bytes).ok()?))
    }

    fn assemble(header: &Header, memory: Memory) -> Result<Self, Error> {
        let lens = [header.live, header.ghosts];
        T::from_content(memory.as_ref().to_vec(), header.seed, lens)
    }

    /// All that must hold was looked at when it was put together.
    fn verify(&mut self) -> Result<(), Violation> {
        Ok(())
    }
}
