//! The Bloomier filter: a static function that says YES on `Y` and NO on `N`.
//!
//! ```text
//!   key of Y    table says   fingerprint          equal: YES
//!   key of N    table says   fingerprint ^ 1      different: NO
//!   others      table says   anything             equal with probability 2^-r
//! ```
//!
//! All of `Y` and `N` is in the table, at `r = log2(1/fpr)` bits and 1.23 cells a key:
//! `1.23 (n + m) log2(1/fpr)` bits. Where `N` is long, that is much; the
//! [integrated xor filter](super::ixor) has a way out.
//!
//! The published filter can also move a key from one list to the other, with a second table of the
//! same size; this one is static.
//!
//! Paper: Chazelle, Kilian, Rubinfeld and Tal, "The Bloomier Filter" (2004).
//!
//! ```
//! use twiceshy::lists::{Answer, Bloomier, YesNoList};
//!
//! let list = Bloomier::build(&["ads.example"], &["news.example", "vote.example"], 0.01)?;
//! assert_eq!(list.answer("ads.example"), Answer::Yes);
//! assert_eq!(list.answer("vote.example"), Answer::No);
//! # Ok::<(), twiceshy::Error>(())
//! ```

use std::marker::PhantomData;

use super::join::Lists;
use super::retrieval::{Retrieval, width_for};
use super::words::{WordList, Words, impossible};
use super::{Answer, BuildList, List, YesNoList, check_rate};
use crate::error::Error;
use crate::file::FilterKind;
use crate::hash::{Hashed, Key, Seed, Sip13, StreamHash};

/// A Bloomier filter as a YES/NO list. See the [module](self).
#[derive(Clone, Debug)]
pub struct Bloomier<H: StreamHash = Sip13> {
    words: Words,
    table: Retrieval,
    seed: Seed,
    yes: u64,
    no: u64,
    hash: PhantomData<H>,
}

impl Bloomier {
    /// A list with a random seed and the default hash.
    ///
    /// # Errors
    /// As [`build_seeded`](BuildList::build_seeded), and [`Error::Seed`] if the system has no
    /// randomness to give.
    pub fn build<Y: Key, N: Key>(yes: &[Y], no: &[N], fpr: f64) -> Result<Self, Error> {
        Self::build_seeded(yes, no, fpr, Seed::random()?)
    }
}

impl<H: StreamHash> BuildList for Bloomier<H> {
    fn build_seeded<Y: Key, N: Key>(
        yes: &[Y],
        no: &[N],
        fpr: f64,
        seed: Seed,
    ) -> Result<Self, Error> {
        check_rate(fpr)?;
        let lists = Lists::new::<H, Y, N>(seed, yes, no)?;
        let both = [Some(&lists.yes), Some(&lists.no)];
        let words = Retrieval::build(width_for(fpr)?, both, |which, print| print ^ which as u64)?;
        Ok(Bloomier {
            table: Retrieval::read(&words, 0)?,
            words,
            seed,
            yes: lists.yes.len(),
            no: lists.no.len(),
            hash: PhantomData,
        })
    }
}

impl<H: StreamHash> YesNoList for Bloomier<H> {
    fn hash<'k, K: Key + ?Sized>(&self, key: &'k K) -> Hashed<'k> {
        Hashed::new::<H, K>(&self.seed, key)
    }

    fn answer_hashed(&self, key: &Hashed<'_>) -> Answer {
        let (value, print) = self.table.get(&self.words, key);
        // An empty list is never right, not even by chance.
        Answer::yes_if(self.yes > 0 && value == print)
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
            _ => f64::exp2(-f64::from(self.table.width)),
        }
    }
}

impl<H: StreamHash> WordList for Bloomier<H> {
    const LIST: FilterKind = FilterKind::Bloomier;
    type Hash = H;

    fn content(&self) -> (&[u8], Seed, [u64; 2]) {
        (self.words.bytes(), self.seed, [self.yes, self.no])
    }

    fn from_content(words: Vec<u8>, seed: Seed, [yes, no]: [u64; 2]) -> Result<Self, Error> {
        let words = Words::from_bytes(words);
        let table = Retrieval::read(&words, 0)?;
        if table.words() != words.len() {
            return Err(impossible("something stands behind the table"));
        }
        Ok(Bloomier {
            words,
            table,
            seed,
            yes,
            no,
            hash: PhantomData,
        })
    }
}
