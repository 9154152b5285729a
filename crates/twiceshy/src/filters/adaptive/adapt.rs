//! Fixing a mistake, and forgetting what is not needed any more.

use super::AdaptiveFilter;
use crate::error::Error;
use crate::hash::{Hashed, StreamHash};
use crate::minirun::Minirun;
use crate::outcome::Adapted;
use crate::prints::edit;

impl<H: StreamHash> AdaptiveFilter<H> {
    /// Fixes a false positive: lengthens every fingerprint of the minirun that matches the
    /// query, each along its own key, until none does. `keys` are all keys of the minirun,
    /// in any order. Never shortens anything, never loses a key.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the query is itself one of the keys, or the keys do not fit the
    /// fingerprints; [`Error::Full`] if slots are missing: the filter goes on as it was, with
    /// this mistake unfixed; grow it or rebuild it with a new seed to fix it.
    #[inline]
    pub fn adapt(
        &mut self,
        query: &Hashed<'_>,
        minirun: Minirun,
        keys: &[Hashed<'_>],
    ) -> Result<Adapted, Error> {
        if let [key] = keys {
            if self.core.adapt_at_once(query, minirun, key) {
                return Ok(Adapted::ONE);
            }
        }
        self.adapt_minirun(query, minirun, keys)
    }

    /// [`adapt`](Self::adapt) by all that the minirun holds, kept out of the frequent case.
    #[inline(never)]
    fn adapt_minirun(
        &mut self,
        query: &Hashed<'_>,
        minirun: Minirun,
        keys: &[Hashed<'_>],
    ) -> Result<Adapted, Error> {
        if self.core.minirun_of(query.h0()) != minirun {
            return Err(Error::mismatch("the query belongs to another minirun"));
        }
        let keys = self.check_keys(minirun, keys)?;
        if self.position(&keys, query).is_some() {
            return Err(Error::mismatch(
                "the query is a member: its answer was right and needs no fix",
            ));
        }
        let contents = self.core.contents_of(minirun);
        let digits = |key| self.core.digits(key);
        let streams: Vec<_> = keys.iter().map(|&key| digits(key)).collect();
        let (after, report) = edit::adapt(contents.prints.clone(), &streams, &digits(query))?;
        if report != Adapted::default() {
            self.core.replace(minirun, &contents, after)?;
        }
        Ok(report)
    }

    /// Drops what of the extensions of a minirun is not needed to answer "no" for every
    /// key of `against`, given all keys of the minirun. Mistakes on other queries that were
    /// fixed before may come back.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the keys do not fit, or one of them is in `against`. Nothing
    /// has changed then.
    pub fn shorten(
        &mut self,
        minirun: Minirun,
        keys: &[Hashed<'_>],
        against: &[Hashed<'_>],
    ) -> Result<(), Error> {
        let keys = self.check_keys(minirun, keys)?;
        let mut others = Vec::new();
        for other in against {
            if self.core.minirun_of(other.h0()) != minirun {
                continue; // told apart by the home fingerprint
            }
            if self.position(&keys, other).is_some() {
                return Err(Error::mismatch("a member can't be answered \"no\""));
            }
            others.push(self.core.digits(other));
        }
        let contents = self.core.contents_of(minirun);
        let streams: Vec<_> = keys.iter().map(|&key| self.core.digits(key)).collect();
        let after = edit::shorten(contents.prints.clone(), &streams, &others)?;
        self.core.replace(minirun, &contents, after)
    }

    /// The keys as a set, if all are of the minirun.
    pub(super) fn check_keys<'k>(
        &self,
        minirun: Minirun,
        keys: &'k [Hashed<'k>],
    ) -> Result<Vec<&'k Hashed<'k>>, Error> {
        let mut set: Vec<&Hashed<'_>> = Vec::with_capacity(keys.len());
        for key in keys {
            if self.core.minirun_of(key.h0()) != minirun {
                return Err(Error::mismatch("a key belongs to another minirun"));
            }
            if self.position(&set, key).is_none() {
                set.push(key);
            }
        }
        Ok(set)
    }

    /// Where a key is among others.
    pub(super) fn position(&self, keys: &[&Hashed<'_>], key: &Hashed<'_>) -> Option<usize> {
        keys.iter().position(|other| other.is_same_key(key))
    }
}
