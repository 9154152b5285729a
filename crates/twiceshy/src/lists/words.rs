//! Lists that are nothing but little-endian words: in memory, and as the content of a file.

use std::fmt;
use std::marker::PhantomData;

use super::join::Lists;
use super::{Answer, BuildList, List, YesNoList, check_rate};
use crate::bits::mask_below;
use crate::error::Error;
use crate::file::{FileFilter, FilterKind, Header};
use crate::geometry::Geometry;
use crate::hash::{HashKind, Hashed, Key, Seed, Sip13, StreamHash};
use crate::mem::Memory;
use crate::violation::Violation;

/// Words, as they stand in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words(Vec<u8>);

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

/// What the words of a list mean.
pub trait Content: Sized + Clone + fmt::Debug + Send + Sync + 'static {
    /// The list's number in files.
    const KIND: FilterKind;

    /// What these words, of a file perhaps, say of themselves.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if they are of no such list.
    fn read(words: &Words) -> Result<Self, Error>;

    /// Is the answer YES, where there are YES keys at all?
    fn says_yes(&self, words: &Words, key: &Hashed<'_>) -> bool;

    /// The chance of a YES for a key on neither list, where there are YES keys at all.
    fn expected_fpr(&self, words: &Words) -> f64;
}

/// [`Content`] that is made from two lists at once.
pub trait Built: Content {
    /// The words for these lists.
    ///
    /// # Errors
    /// As [`BuildList::build_seeded`].
    fn build(lists: &Lists<'_>, fpr: f64) -> Result<Words, Error>;
}

/// A list that is words, as `C` reads them: [`Bloomier`](super::Bloomier), [`Cascade`](super::Cascade),
/// [`IntegratedXor`](super::IntegratedXor) or [`Seesaw`](super::Seesaw).
#[derive(Clone, Debug)]
pub struct WordList<C, H: StreamHash = Sip13> {
    pub(super) words: Words,
    pub(super) content: C,
    pub(super) seed: Seed,
    pub(super) yes: u64,
    pub(super) no: u64,
    hash: PhantomData<H>,
}

impl<C: Built> WordList<C> {
    /// A list with a random seed and the default hash.
    ///
    /// # Errors
    /// As [`build_seeded`](BuildList::build_seeded), and [`Error::Seed`] if the system has no
    /// randomness to give.
    pub fn build<Y: Key, N: Key>(yes: &[Y], no: &[N], fpr: f64) -> Result<Self, Error> {
        Self::build_seeded(yes, no, fpr, Seed::random()?)
    }
}

impl<C: Content, H: StreamHash> WordList<C, H> {
    /// The list of these words, for so many YES and NO keys.
    pub(super) fn of(words: Words, seed: Seed, [yes, no]: [u64; 2]) -> Result<Self, Error> {
        Ok(WordList {
            content: C::read(&words)?,
            words,
            seed,
            yes,
            no,
            hash: PhantomData,
        })
    }
}

impl<C: Built, H: StreamHash> BuildList for WordList<C, H> {
    fn build_seeded<Y: Key, N: Key>(
        yes: &[Y],
        no: &[N],
        fpr: f64,
        seed: Seed,
    ) -> Result<Self, Error> {
        check_rate(fpr)?;
        let lists = Lists::new::<H, Y, N>(seed, yes, no)?;
        let lens = [lists.yes.len(), lists.no.len()];
        Self::of(C::build(&lists, fpr)?, seed, lens)
    }
}

impl<C: Content, H: StreamHash> YesNoList for WordList<C, H> {
    fn hash<'k, K: Key + ?Sized>(&self, key: &'k K) -> Hashed<'k> {
        Hashed::new::<H, K>(&self.seed, key)
    }

    fn answer_hashed(&self, key: &Hashed<'_>) -> Answer {
        // An empty list is never right, not even by chance.
        Answer::yes_if(self.yes > 0 && self.content.says_yes(&self.words, key))
    }

    fn len_of(&self, list: List) -> u64 {
        match list {
            List::Yes => self.yes,
            List::No => self.no,
        }
    }

    fn bytes(&self) -> u64 {
        self.words.bytes().len() as u64
    }

    fn expected_fpr(&self) -> f64 {
        match self.yes {
            0 => 0.0,
            _ => self.content.expected_fpr(&self.words),
        }
    }
}

impl<C: Content, H: StreamHash> FileFilter<Memory> for WordList<C, H> {
    const KIND: FilterKind = C::KIND;
    const HASH: HashKind = H::KIND;

    fn header(&self) -> Header {
        let geometry = Geometry::new(self.words.len(), 1);
        let geometry = geometry.expect("there are some words, and memory has fewer than 2^59");
        Header {
            used: 0,
            ghosts: self.no,
            ..Header::new::<Memory, Self>(geometry, self.seed, self.yes)
        }
    }

    fn table(&self) -> &[u8] {
        self.words.bytes()
    }

    /// What the words mean is between the list and its loader.
    fn size(header: &Header) -> Option<(u64, usize)> {
        let bytes = header.geometry.slots().checked_mul(8)?;
        Some((0, usize::try_from(bytes).ok()?))
    }

    fn assemble(header: &Header, memory: Memory) -> Result<Self, Error> {
        let words = Words::from_bytes(memory.as_ref().to_vec());
        Self::of(words, header.seed, [header.live, header.ghosts])
    }

    /// All that must hold was looked at when it was put together.
    fn verify(&mut self) -> Result<(), Violation> {
        Ok(())
    }
}
