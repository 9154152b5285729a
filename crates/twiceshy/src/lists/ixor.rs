//! The integrated xor filter with a protected NO list.
//!
//! A xor filter is a static function that gives every key of `Y` its own fingerprint. A NO key is
//! protected as soon as *one* bit of what the table gives it is not that of its fingerprint, so one
//! bit is enough to store of it:
//!
//! ```text
//!   bit 0               keys of Y: as in the fingerprint     keys of N: the opposite
//!   bits 1 … r - 1      keys of Y: as in the fingerprint     keys of N: not stored
//! ```
//!
//! Bit 0 is a static function on `Y` and `N`, the others one on `Y` alone:
//! `1.23 (n r + m)` bits. That is the smallest of all static lists here where `N` is not much longer
//! than `Y`, and the largest where it is much longer, since it has a bit of every NO key, harmful or not.
//!
//! Paper: Reviriego, Sánchez-Macián, Walzer and Dillinger, "Approximate Membership Query Filters
//! with a False Positive Free Set" (2021), whose integrated filters this is made after: from their
//! idea, not from their code.
//!
//! ```
//! use twiceshy::lists::{Answer, IntegratedXor, YesNoList};
//!
//! let list = IntegratedXor::build(&["ads.example"], &["news.example"], 0.01)?;
//! assert_eq!(list.answer("ads.example"), Answer::Yes);
//! assert_eq!(list.answer("news.example"), Answer::No);
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

/// An integrated xor filter. See the [module](self).
#[derive(Clone, Debug)]
pub struct IntegratedXor<H: StreamHash = Sip13> {
    /// The table of bit 0 and, if there are more, that of the others.
    words: Words,
    first: Retrieval,
    rest: Option<Retrieval>,
    seed: Seed,
    yes: u64,
    no: u64,
    hash: PhantomData<H>,
}

impl IntegratedXor {
    /// A list with a random seed and the default hash.
    ///
    /// # Errors
    /// As [`build_seeded`](BuildList::build_seeded), and [`Error::Seed`] if the system has no
    /// randomness to give.
    pub fn build<Y: Key, N: Key>(yes: &[Y], no: &[N], fpr: f64) -> Result<Self, Error> {
        Self::build_seeded(yes, no, fpr, Seed::random()?)
    }
}

/// The tables that the words speak of.
fn tables(words: &Words) -> Result<(Retrieval, Option<Retrieval>), Error> {
    let first = Retrieval::read(words, 0)?;
    let behind = first.words();
    let rest = match behind == words.len() {
        true => None,
        false => Some(Retrieval::read(words, behind)?),
    };
    let end = behind + rest.map_or(0, Retrieval::words);
    if first.width != 1 || end != words.len() {
        return Err(impossible("there are not one or two tables"));
    }
    Ok((first, rest))
}

impl<H: StreamHash> BuildList for IntegratedXor<H> {
    fn build_seeded<Y: Key, N: Key>(
        yes: &[Y],
        no: &[N],
        fpr: f64,
        seed: Seed,
    ) -> Result<Self, Error> {
        check_rate(fpr)?;
        let lists = Lists::new::<H, Y, N>(seed, yes, no)?;
        let both = [Some(&lists.yes), Some(&lists.no)];
        let first = Retrieval::build(1, both, |which, print| print ^ which as u64)?;
        let rest = match width_for(fpr)? {
            1 => Words::default(),
            width => Retrieval::build(width - 1, [Some(&lists.yes), None], |_, print| print)?,
        };
        let words = Words::from_bytes([first.bytes(), rest.bytes()].concat());
        let (first, rest) = tables(&words)?;
        Ok(IntegratedXor {
            words,
            first,
            rest,
            seed,
            yes: lists.yes.len(),
            no: lists.no.len(),
            hash: PhantomData,
        })
    }
}

impl<H: StreamHash> YesNoList for IntegratedXor<H> {
    fn hash<'k, K: Key + ?Sized>(&self, key: &'k K) -> Hashed<'k> {
        Hashed::new::<H, K>(&self.seed, key)
    }

    fn answer_hashed(&self, key: &Hashed<'_>) -> Answer {
        let matches = |table: Retrieval| {
            let (value, print) = table.get(&self.words, key);
            value == print
        };
        Answer::yes_if(self.yes > 0 && matches(self.first) && self.rest.is_none_or(matches))
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
        let width = 1 + self.rest.map_or(0, |rest| rest.width);
        match self.yes {
            0 => 0.0,
            _ => f64::exp2(-f64::from(width)),
        }
    }
}

impl<H: StreamHash> WordList for IntegratedXor<H> {
    const LIST: FilterKind = FilterKind::IntegratedXor;
    type Hash = H;

    fn content(&self) -> (&[u8], Seed, [u64; 2]) {
        (self.words.bytes(), self.seed, [self.yes, self.no])
    }

    fn from_content(words: Vec<u8>, seed: Seed, [yes, no]: [u64; 2]) -> Result<Self, Error> {
        let words = Words::from_bytes(words);
        let (first, rest) = tables(&words)?;
        Ok(IntegratedXor {
            words,
            first,
            rest,
            seed,
            yes,
            no,
            hash: PhantomData,
        })
    }
}
