//! The operations that need the keys of a minirun.

use super::write::check_entry;
use super::{AdaptiveFilter, Leave};
use crate::error::Error;
use crate::hash::{Hashed, StreamHash};
use crate::minirun::Minirun;
use crate::outcome::{Adapted, Inserted};
use crate::prints::{Print, edit};
use crate::table::Taken;

impl<H: StreamHash> AdaptiveFilter<H> {
    /// Adds a key with a count and a value, given all keys of its minirun (without the new
    /// one). Where a count above one or a different value hangs on one of two keys, both
    /// are extended until neither's fingerprint matches the other, so that no count or
    /// value is ever ambiguous.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the keys are not those of the minirun, [`Error::Full`] if
    /// slots are missing, [`Error::Geometry`] for a value with too many bits or a count of
    /// zero. Nothing has changed then.
    pub fn insert_with(
        &mut self,
        key: &Hashed<'_>,
        count: u64,
        value: u64,
        keys: &[Hashed<'_>],
    ) -> Result<Inserted, Error> {
        check_entry(self.core.layout, count, value)?;
        self.insert_parted(key, Print::new(count, value), keys, edit::must_part)
    }

    /// Adds a key so that no fingerprint of its minirun matches the key of another, whatever
    /// their counts and values: both sides are extended until none is a prefix of another. `keys`
    /// are all keys of the minirun (without the new one). A ghost that fits comes back to life.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the keys are not those of the minirun, [`Error::Full`] if
    /// slots are missing, [`Error::Inseparable`] if hashes agree for ever. Nothing has changed
    /// then.
    pub fn insert_apart(
        &mut self,
        key: &Hashed<'_>,
        keys: &[Hashed<'_>],
    ) -> Result<Inserted, Error> {
        self.insert_parted(key, Print::new(1, 0), keys, |_, _| true)
    }

    fn insert_parted(
        &mut self,
        key: &Hashed<'_>,
        new: Print,
        keys: &[Hashed<'_>],
        part: impl Fn(&Print, &Print) -> bool,
    ) -> Result<Inserted, Error> {
        let minirun = self.core.minirun_of(key.h0());
        let keys = self.check_keys(minirun, keys)?;
        if self.position(&keys, key).is_some() {
            return Ok(Inserted::Present);
        }
        let contents = self.core.contents_of(minirun);
        let digits = |key| self.core.digits(key);
        let streams: Vec<_> = keys.iter().map(|&key| digits(key)).collect();
        let ghosts = self.core.ghosts;
        let after = edit::insert(contents.prints.clone(), &streams, &digits(key), new, part)?;
        self.core.replace(minirun, &contents, after)?;
        Ok(if self.core.ghosts < ghosts {
            Inserted::Revived
        } else {
            Inserted::New
        })
    }

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
        self.adapt_among(query, minirun, keys)
    }

    /// [`adapt`](Self::adapt) where it is not done at once, kept out of that.
    #[inline(never)]
    fn adapt_among(
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

    /// Removes a member, given all keys of its minirun (the removed one among them).
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the key is not among the keys or these do not fit the
    /// fingerprints; [`Error::Full`] if there is no slot for a ghost. Nothing has changed
    /// then.
    pub fn remove(
        &mut self,
        key: &Hashed<'_>,
        keys: &[Hashed<'_>],
        leave: Leave,
    ) -> Result<(), Error> {
        if leave == Leave::Nothing && self.remove_alike(key, keys) {
            return Ok(());
        }
        self.remove_among(key, keys, leave)
    }

    /// [`remove`](Self::remove) where there is one fingerprint of one slot for each of the keys, so that it
    /// does not matter which one goes. Has that been done? If not, nothing has changed.
    fn remove_alike(&mut self, key: &Hashed<'_>, keys: &[Hashed<'_>]) -> bool {
        // With values they are not alike. And each key is compared with each other, which takes less than
        // reading the minirun only where there are few: random keys are hardly ever more than three.
        let most = match self.core.layout.value_bits {
            0 => 8,
            _ => 1,
        };
        if keys.len() > most || !keys.iter().any(|other| other.is_same_key(key)) {
            return false;
        }
        let id = self.core.table.geometry().id(key.h0());
        for (i, one) in keys.iter().enumerate() {
            let is_of_it = self.core.table.geometry().id(one.h0()) == id;
            if !is_of_it || keys[..i].iter().any(|other| other.is_same_key(one)) {
                return false;
            }
        }
        self.core.remove_one_of(key.h0(), keys.len() as u32) == Taken::One
    }

    /// [`remove`](Self::remove) for any minirun.
    #[inline(never)]
    pub(super) fn remove_among(
        &mut self,
        key: &Hashed<'_>,
        keys: &[Hashed<'_>],
        leave: Leave,
    ) -> Result<(), Error> {
        let minirun = self.core.minirun_of(key.h0());
        let keys = self.check_keys(minirun, keys)?;
        let Some(removed) = self.position(&keys, key) else {
            return Err(Error::mismatch("the key to remove is not among the keys"));
        };
        let contents = self.core.contents_of(minirun);
        let streams: Vec<_> = keys.iter().map(|&key| self.core.digits(key)).collect();
        let after = edit::remove(contents.prints.clone(), &streams, removed, leave)?;
        self.core.replace(minirun, &contents, after)
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
    fn check_keys<'k>(
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
    fn position(&self, keys: &[&Hashed<'_>], key: &Hashed<'_>) -> Option<usize> {
        keys.iter().position(|other| other.is_same_key(key))
    }
}
