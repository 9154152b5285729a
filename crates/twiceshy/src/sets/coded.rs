//! Coded filters with their keys: see [`coded`](crate::filters::coded).

use super::keyed::{Failure, KeyedFilter, KeyedSet, read};
use super::reverse_map::ReverseMap;
use crate::error::Error;
use crate::filters::coded::{
    CodedFilter, ExtensionFilter, PlainTelescopingFilter, Symbols, TelescopingFilter,
};
use crate::hash::{Hashed, Seed, Sip13, StreamHash};
use crate::outcome::Adapted;
use crate::table::Violation;

/// A [`TelescopingFilter`] together with its keys.
pub type TelescopingSet<H = Sip13> = KeyedSet<TelescopingFilter<H>>;

/// A [`PlainTelescopingFilter`] together with its keys.
pub type PlainTelescopingSet<H = Sip13> = KeyedSet<PlainTelescopingFilter<H>>;

/// An [`ExtensionFilter`] together with its keys.
pub type ExtensionSet<H = Sip13> = KeyedSet<ExtensionFilter<H>>;

impl<S: Symbols> KeyedSet<CodedFilter<S>> {
    /// An empty set for `capacity` keys, with a filter of false-positive rate `fpr`, a random
    /// seed and the default hash.
    ///
    /// # Errors
    /// Those of [`Builder::build`](crate::Builder::build).
    pub fn new(capacity: u64, fpr: f64) -> Result<Self, Error> {
        Self::from_builder(CodedFilter::builder().capacity(capacity).fpr(fpr))
    }
}

impl<S: Symbols, H: StreamHash> KeyedFilter for CodedFilter<S, H> {
    type Hash = H;

    fn seed(&self) -> Seed {
        self.seed()
    }

    fn insert_from<R: ReverseMap>(
        &mut self,
        key: &Hashed<'_>,
        keys: &R,
    ) -> Result<(), Failure<R::Error>> {
        let seed = self.seed();
        self.insert_by(key, |hashes| read::<H, R>(keys, &seed, hashes))
    }

    fn remove_from<R: ReverseMap>(
        &mut self,
        key: &Hashed<'_>,
        keys: &R,
    ) -> Result<(), Failure<R::Error>> {
        let seed = self.seed();
        self.remove_by(key, |hashes| read::<H, R>(keys, &seed, hashes))
    }

    fn adapt_from<R: ReverseMap>(
        &mut self,
        query: &Hashed<'_>,
        keys: &R,
    ) -> Result<Adapted, Failure<R::Error>> {
        let seed = self.seed();
        self.adapt_by(query, |hashes| read::<H, R>(keys, &seed, hashes))
    }

    fn pairs(&self, keys: &[Hashed<'_>]) -> bool {
        self.pairs(keys)
    }

    fn check_invariants(&self) -> Result<(), Violation> {
        self.check_invariants()
    }
}
