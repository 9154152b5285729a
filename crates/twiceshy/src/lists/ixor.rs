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

use super::join::Lists;
use super::retrieval::{Retrieval, width_for};
use super::words::{Built, Content, WordList, Words, impossible};
use crate::error::Error;
use crate::file::FilterKind;
use crate::hash::{Hashed, Sip13};

/// An integrated xor filter. See the [module](self).
pub type IntegratedXor<H = Sip13> = WordList<Tables, H>;

/// The table of bit 0 and, if there are more, that of the others.
#[derive(Clone, Debug)]
pub struct Tables {
    first: Retrieval,
    rest: Option<Retrieval>,
}

impl Content for Tables {
    const KIND: FilterKind = FilterKind::IntegratedXor;

    fn read(words: &Words) -> Result<Self, Error> {
        let first = Retrieval::read_at(words, 0)?;
        let behind = first.words();
        let rest = match behind == words.len() {
            true => None,
            false => Some(Retrieval::read_at(words, behind)?),
        };
        let end = behind + rest.map_or(0, Retrieval::words);
        if first.width != 1 || end != words.len() {
            return Err(impossible("there are not one or two tables"));
        }
        Ok(Tables { first, rest })
    }

    fn says_yes(&self, words: &Words, key: &Hashed<'_>) -> bool {
        let matches = |table: Retrieval| table.matches(words, key);
        matches(self.first) && self.rest.is_none_or(matches)
    }

    fn expected_fpr(&self, _: &Words) -> f64 {
        let width = 1 + self.rest.map_or(0, |rest| rest.width);
        f64::exp2(-f64::from(width))
    }
}

impl Built for Tables {
    fn build(lists: &Lists<'_>, fpr: f64) -> Result<Words, Error> {
        let both = [Some(&lists.yes), Some(&lists.no)];
        let first = Retrieval::of(1, both, |which, print| print ^ which as u64)?;
        let rest = match width_for(fpr)? {
            1 => Words::default(),
            width => Retrieval::of(width - 1, [Some(&lists.yes), None], |_, print| print)?,
        };
        Ok(Words::from_bytes([first.bytes(), rest.bytes()].concat()))
    }
}
