//! Coded filters and their keys: see [`coded`](crate::filters::coded).

use super::keyed::{KeyedSet, Learner};
use super::reverse_map::{self, ReverseMap};
use crate::error::Error;
use crate::filters::coded::{
    CodedFilter, ExtensionFilter, PlainTelescopingFilter, Symbols, TelescopingFilter,
};
use crate::hash::{Hashed, Sip13, StreamHash};
use crate::outcome::{Adapted, Inserted, Removed};

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

impl<S, H, R> Learner<R> for CodedFilter<S, H>
where
    S: Symbols,
    H: StreamHash,
    R: ReverseMap<Error: From<Error>>,
{
    type Error = R::Error;

    fn place(&self, key: &Hashed<'_>) -> Option<u64> {
        self.lookup_hashed(key).map(|at| *at.hashes().start())
    }

    fn is_member(&self, key: &Hashed<'_>, keys: &R) -> Result<bool, R::Error> {
        reverse_map::has(keys, key)
    }

    fn insert_key(&mut self, key: &Hashed<'_>, keys: &mut R) -> Result<Inserted, R::Error> {
        let (bytes, seed) = (key.stored_key()?, self.seed());
        self.insert_by(key, |hashes| reverse_map::read::<H, R>(keys, &seed, hashes))?;
        keys.insert(key.h0(), bytes)?;
        Ok(Inserted::New)
    }

    fn remove_key(&mut self, key: &Hashed<'_>, keys: &mut R) -> Result<Removed, R::Error> {
        let seed = self.seed();
        reverse_map::remove(keys, key, |others| {
            self.remove_by(key, |hashes| {
                let is_inside = hashes.contains(&key.h0());
                let mut known = reverse_map::read::<H, R>(others, &seed, hashes)?;
                known.extend(is_inside.then(|| key.clone().into_owned()));
                Ok(known)
            })
        })
    }

    fn learn(&mut self, query: &Hashed<'_>, keys: &mut R) -> Result<Adapted, R::Error> {
        let seed = self.seed();
        self.adapt_by(query, |hashes| {
            reverse_map::read::<H, R>(keys, &seed, hashes)
        })
    }

    fn check_keys(&self, keys: &R) -> Result<(), R::Error> {
        self.check_invariants().map_err(Error::from)?;
        let keys = reverse_map::read::<H, R>(keys, &self.seed(), 0..=u64::MAX)?;
        reverse_map::check(self, &keys)?;
        match self.pairs(&keys) {
            true => Ok(()),
            false => Err(Error::mismatch("some key has no fingerprint").into()),
        }
    }
}
