//! YES/NO lists: exact on two lists, approximate on the rest.
//!
//! # The problem
//!
//! A browser must never call a good certificate revoked; a blocklist must never block the page
//! that people vote on; an assembler must never walk an edge that is not there. Each has a
//! list `Y` of keys that must be answered YES, a list `N` of keys that must be answered NO, and
//! a world of other keys for which YES is tolerable with probability at most `ε`:
//!
//! ```text
//!                     in Y        in N        in neither
//!   plain filter      YES         NO, or YES with probability ε
//!   YES/NO list       YES         NO          NO, or YES with probability ε
//! ```
//!
//! # The idea
//!
//! An [adaptive filter](crate::filters::adaptive) of `Y` that was told of all its mistakes on `N` is such a
//! list: adapting never loses a member and never forgets a mistake. The fingerprints of `Y`
//! that some key of `N` matches are lengthened, and nothing of `N` is stored:
//!
//! ```text
//!   key of Y    011|d|d'd"…        stored   011|d|d'
//!   key of N    011|d|zz'…         NO: it leaves the fingerprint behind d
//! ```
//!
//! # Which one
//!
//! | type | lists change | needs the keys | wrong on a list | bits per YES key (`n`, `m` the lengths of the lists) |
//! | --- | --- | --- | --- | --- |
//! | [`StaticYesNo`] | by [deltas](delta) of its file | to build | never | `(r + 3.25)(1 + x)`, see [`plan`] |
//! | [`YesNo`] | at any time | in a reverse map | never | the same, at lower load |
//! | [`TaggedYesNo`] | at any time | in a reverse map | never | `(r + 4.25)(1 + m/n)`: stores `N`, too |
//! | [`Cascade`] | no | to build | never | `1.44 (log2(m/n) + 2.9)`; more with a promise for other keys |
//! | [`Bloomier`] | no | to build | never | `1.23 (1 + m/n) log2(1/ε)` |
//! | [`IntegratedXor`] | no | to build | never | `1.23 (log2(1/ε) + m/n)` |
//! | [`Seesaw`] | at any time | no | **sometimes, both ways** | chosen |
//!
//! The first three are ours to recommend: they answer as fast as an adaptive filter, and their lists
//! can change. The others are there to compare with, and for those whose lists never do.
//!
//! # Example
//!
//! ```
//! use twiceshy::lists::{Answer, StaticYesNo};
//!
//! let blocked = ["malware.example", "phish.example"];
//! let never_block = ["vote.example", "bank.example"];
//! let list = StaticYesNo::build(&blocked, &never_block, 0.01)?;
//! assert_eq!(list.answer("phish.example"), Answer::Yes);
//! assert_eq!(list.answer("vote.example"), Answer::No);
//! # Ok::<(), twiceshy::Error>(())
//! ```
//!
//! Papers: Wen et al., "Adaptive Quotient Filters" (2024), sections 2.4, 4.3, 5 and 6.8; for the
//! others see their modules.

pub mod bloomier;
mod build;
pub mod cascade;
mod change;
pub mod delta;
pub mod dynamic;
mod golomb;
pub mod ixor;
mod join;
mod minirun;
pub mod plan;
mod retrieval;
pub mod seesaw;
pub mod static_;
mod static_file;
pub mod tagged;
mod words;

use std::io::{self, Read, Write};

use crate::error::Error;
use crate::file::{FileFilter, read, write};
use crate::hash::{Hashed, Key, Seed};
use crate::mem::Memory;

pub use self::bloomier::Bloomier;
pub use self::cascade::Cascade;
pub use self::delta::Delta;
pub use self::dynamic::YesNo;
pub use self::ixor::IntegratedXor;
pub use self::seesaw::Seesaw;
pub use self::static_::StaticYesNo;
pub use self::tagged::TaggedYesNo;
pub use self::words::WordList;

/// What a list says about a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// Every key of the YES list, and of the keys on no list at most the promised share.
    Yes,
    /// Every key of the NO list, and other keys that are not on the YES list.
    No,
    /// On neither list. Only [`TaggedYesNo`] says so.
    Unlisted,
}

impl Answer {
    /// `Yes` or `No`.
    #[must_use]
    pub(crate) fn yes_if(yes: bool) -> Self {
        if yes { Answer::Yes } else { Answer::No }
    }

    /// Is it `Yes`?
    #[must_use]
    pub fn is_yes(self) -> bool {
        self == Answer::Yes
    }
}

/// One of the two lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum List {
    /// The YES list.
    Yes,
    /// The NO list.
    No,
}

impl List {
    /// The other one.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            List::Yes => List::No,
            List::No => List::Yes,
        }
    }
}

/// What YES/NO lists have in common.
pub trait YesNoList {
    /// Hashes a key the way this list does.
    #[must_use]
    fn hash<'k, K: Key + ?Sized>(&self, key: &'k K) -> Hashed<'k>
    where
        Self: Sized;

    /// The answer for a key that is hashed already.
    #[must_use]
    fn answer_hashed(&self, key: &Hashed<'_>) -> Answer;

    /// The answer for a key.
    #[must_use]
    fn answer<K: Key + ?Sized>(&self, key: &K) -> Answer
    where
        Self: Sized,
    {
        self.answer_hashed(&self.hash(key))
    }

    /// How many keys are on a list.
    #[must_use]
    fn len_of(&self, list: List) -> u64;

    /// Bytes of the structure that answers, without the header of a file.
    #[must_use]
    fn bytes(&self) -> u64;

    /// The chance that a key on neither list is answered [`Answer::Yes`].
    #[must_use]
    fn expected_fpr(&self) -> f64;
}

/// Lists that are built at once from all keys.
pub trait BuildList: YesNoList + Sized {
    /// Builds the list with this seed: YES for all of `yes`, NO for all of `no`, and YES for at
    /// most the share `fpr` of other keys. A key may stand twice in a list.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if a key is in both lists, [`Error::Geometry`] if there is no such
    /// rate or no memory, [`Error::Inseparable`] if two keys have the same hash.
    fn build_seeded<Y: Key, N: Key>(
        yes: &[Y],
        no: &[N],
        fpr: f64,
        seed: Seed,
    ) -> Result<Self, Error>;
}

/// Lists that are files with the [common header](crate::file).
pub trait ListFile: YesNoList + FileFilter<Memory> {
    /// The list as a file in memory.
    #[must_use]
    fn to_bytes(&self) -> Vec<u8> {
        write::to_bytes(self)
    }

    /// Writes what [`to_bytes`](Self::to_bytes) gives, without making it in memory first.
    ///
    /// # Errors
    /// Those of the writer.
    fn write_to(&self, writer: impl Write) -> io::Result<()> {
        write::write_to(self, writer)
    }

    /// The list of a file in memory, all of which is verified.
    ///
    /// # Errors
    /// [`Error::Format`] if it holds something else, or with another hash, [`Error::Corrupt`] if
    /// it is damaged, [`Error::Geometry`] if there is no memory for it.
    fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        read::from_bytes(bytes)
    }

    /// The same from a stream, of which nothing behind the file is read.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes), and [`Error::Io`] if the reader fails.
    fn read_from(reader: impl Read) -> Result<Self, Error> {
        read::read_from(reader)
    }
}

impl<T: YesNoList + FileFilter<Memory>> ListFile for T {}

/// A rate is more than zero and at most one.
fn check_rate(fpr: f64) -> Result<(), Error> {
    if fpr > 0.0 && fpr <= 1.0 {
        return Ok(());
    }
    Err(Error::geometry(format!(
        "the share of other keys that may be answered YES is above 0 and at most 1 (0.01 is one \
         in a hundred, 1 is no promise), not {fpr}"
    )))
}
