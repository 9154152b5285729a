//! Hashes by name.

use clap::ValueEnum;
use twiceshy::hash::HashKind;

/// A hash, as the command line calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HashArg {
    /// SipHash-1-3: safe against those who choose keys to hurt you
    Sip13,
    /// XXH3: faster, for keys that nobody chooses
    Xxh3,
}

impl From<HashArg> for HashKind {
    fn from(hash: HashArg) -> Self {
        match hash {
            HashArg::Sip13 => HashKind::SipHash13,
            HashArg::Xxh3 => HashKind::Xxh3,
        }
    }
}
