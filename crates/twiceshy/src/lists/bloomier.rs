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

use super::join::Lists;
use super::retrieval::{Retrieval, width_for};
use super::words::{Built, Content, WordList, Words, impossible};
use crate::error::Error;
use crate::file::FilterKind;
use crate::hash::{Hashed, Sip13};

/// A Bloomier filter as a YES/NO list. See the [module](self).
pub type Bloomier<H = Sip13> = WordList<Retrieval, H>;

impl Content for Retrieval {
    const KIND: FilterKind = FilterKind::Bloomier;

    fn read(words: &Words) -> Result<Self, Error> {
        let table = Retrieval::read_at(words, 0)?;
        if table.words() != words.len() {
            return Err(impossible("something stands behind the table"));
        }
        Ok(table)
    }

    fn says_yes(&self, words: &Words, key: &Hashed<'_>) -> bool {
        self.matches(words, key)
    }

    fn expected_fpr(&self, _: &Words) -> f64 {
        f64::exp2(-f64::from(self.width))
    }
}

impl Built for Retrieval {
    fn build(lists: &Lists<'_>, fpr: f64) -> Result<Words, Error> {
        let both = [Some(&lists.yes), Some(&lists.no)];
        Retrieval::of(width_for(fpr)?, both, |which, print| print ^ which as u64)
    }
}
