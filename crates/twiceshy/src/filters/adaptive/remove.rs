//! Removing a member, with the keys of its minirun or without.

use super::{AdaptiveFilter, Leave};
use crate::error::Error;
use crate::hash::{Hashed, Key, StreamHash};
use crate::outcome::Removed;
use crate::prints::{Print, edit};
use crate::table::Taken;

impl<H: StreamHash> AdaptiveFilter<H> {
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
        if leave == Leave::Nothing && self.remove_bare(key, keys) {
            return Ok(());
        }
        self.remove_from_minirun(key, keys, leave)
    }

    /// [`remove`](Self::remove) where there is one fingerprint of one slot for each of the keys, so that it
    /// does not matter which one goes. Has that been done? If not, nothing has changed.
    fn remove_bare(&mut self, key: &Hashed<'_>, keys: &[Hashed<'_>]) -> bool {
        // With values they are not alike. And each key is compared with each other, which takes less than
        // reading the minirun only where there are few: random keys are hardly ever more than three.
        let most = match self.core.widths.value_bits {
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
    pub(super) fn remove_from_minirun(
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

    /// Removes a key that **is a member**, without its minirun's keys. The filter can't
    /// check that: removing a false positive this way removes another key's fingerprint,
    /// and the filter will then wrongly say "no" for that key.
    ///
    /// # Errors
    /// [`Error::NeedsKeys`] if several different fingerprints match the key:
    /// [`remove`](Self::remove) does it then. Nothing has changed.
    #[inline(always)]
    pub fn remove_known_member<K: Key + ?Sized>(&mut self, key: &K) -> Result<Removed, Error> {
        match self.core.remove_plain(self.first_word(key)) {
            Taken::One => Ok(Removed::One),
            Taken::NotFound => Ok(Removed::NotFound),
            Taken::Unclear => self.remove_by_words(key),
        }
    }

    #[cold]
    #[inline(never)]
    fn remove_by_words<K: Key + ?Sized>(&mut self, key: &K) -> Result<Removed, Error> {
        self.remove_by_contents(&Hashed::new::<H, K>(&self.seed, key))
    }

    /// [`remove_known_member`](Self::remove_known_member) for a key that is hashed already,
    /// with the same warning.
    ///
    /// # Errors
    /// As [`remove_known_member`](Self::remove_known_member).
    pub fn remove_known_member_hashed(&mut self, key: &Hashed<'_>) -> Result<Removed, Error> {
        match self.core.remove_plain(key.h0()) {
            Taken::One => Ok(Removed::One),
            Taken::NotFound => Ok(Removed::NotFound),
            Taken::Unclear => self.remove_by_contents(key),
        }
    }

    /// [`remove_known_member_hashed`](Self::remove_known_member_hashed) for any minirun.
    fn remove_by_contents(&mut self, key: &Hashed<'_>) -> Result<Removed, Error> {
        let minirun = self.core.minirun_of(key.h0());
        let contents = self.core.contents_of(minirun);
        let digits = self.core.digits(key);
        let prints = &contents.prints;
        let matching = |print: &Print| !print.is_ghost() && print.prefixes(&digits);
        let Some(first) = prints.iter().position(matching) else {
            return Ok(Removed::NotFound);
        };
        // A member has a fingerprint that matches: if there is but one, or all are alike, it is that.
        let differs = |print: &Print| *print != prints[first] && matching(print);
        if prints.iter().any(differs) {
            return Err(Error::NeedsKeys { minirun });
        }
        let mut after = prints.clone();
        after.remove(first);
        self.core.replace(minirun, &contents, after)?;
        Ok(Removed::One)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::Seed;

    #[test]
    fn what_is_removed_in_place_is_what_rewriting_removes() {
        let (mut plain, mut extended) = (0, 0);
        for (slots, bits) in [(100_u64, 2), (300, 4), (200, 9)] {
            for load in [40, 60, 75, 95, 130] {
                let builder = AdaptiveFilter::builder().slots(slots).remainder_bits(bits);
                let mut filter = builder.seed(Seed::from_u64(load)).build().unwrap();
                let mut keys = 0..slots * load / 100;
                if let Some(end) = keys.clone().find(|key| filter.insert(key).is_err()) {
                    keys.end = end;
                }
                let all: Vec<_> = keys
                    .clone()
                    .map(|key| filter.hash(&key).into_owned())
                    .collect();
                let all_of = |filter: &AdaptiveFilter, minirun| {
                    let mut all = all.clone();
                    all.retain(|key| filter.core.minirun_of(key.h0()) == minirun);
                    all
                };
                // Extensions of one digit to three, if no fingerprint of another key is beside.
                for key in keys.clone().step_by(2) {
                    let hashed = filter.hash(&key).into_owned();
                    let other = hashed.word(1) ^ 1 << 63 >> (key % 3 * u64::from(bits));
                    let words = [hashed.h0(), other];
                    let minirun = filter.core.minirun_of(hashed.h0());
                    let all = all_of(&filter, minirun);
                    if all.len() == 1 {
                        let _ = filter.adapt(&Hashed::from_words(&words), minirun, &all);
                    }
                }
                for key in keys.clone() {
                    let hashed = filter.hash(&key).into_owned();
                    let minirun = filter.core.minirun_of(hashed.h0());
                    let all = all_of(&filter, minirun);
                    let contents = filter.core.contents_of(minirun);
                    let mut slow = filter.try_clone().unwrap();
                    slow.remove_from_minirun(&hashed, &all, Leave::Nothing)
                        .unwrap();
                    slow.check_invariants().unwrap();

                    let mut quick = filter.try_clone().unwrap();
                    quick.remove(&hashed, &all, Leave::Nothing).unwrap();
                    assert!(quick.to_bytes() == slow.to_bytes());

                    let mut quick = filter.try_clone().unwrap();
                    match quick.core.remove_plain(hashed.h0()) {
                        Taken::One => {
                            assert!(quick.to_bytes() == slow.to_bytes());
                            plain += 1;
                        }
                        Taken::NotFound => panic!("{key} is there"),
                        Taken::Unclear => {
                            assert!(quick.to_bytes() == filter.to_bytes());
                            extended += 1;
                            if let Ok(removed) = quick.remove_known_member_hashed(&hashed) {
                                assert_eq!(removed, Removed::One);
                                quick.check_invariants().unwrap();
                                assert!(
                                    contents.prints.len() > 1
                                        || quick.to_bytes() == slow.to_bytes()
                                );
                            }
                        }
                    }
                }
            }
        }
        assert!(plain > 1000 && extended > 100, "{plain} {extended}");
    }
}
