//! What changes a filter without the keys of a minirun.

use super::AdaptiveFilter;
use crate::error::Error;
use crate::hash::{Hashed, Key, StreamHash, first_word};
use crate::outcome::{Inserted, Removed};
use crate::prints::{Layout, Print, edit};
use crate::table::{Put, Taken};

impl<H: StreamHash> AdaptiveFilter<H> {
    /// Adds a key that is not a member yet. Needs no reverse map.
    ///
    /// # Errors
    /// [`Error::Full`] if no slot is left; [`Error::NeedsKeys`] if the minirun exists and
    /// the filter has value bits or the minirun holds a count above one:
    /// [`insert_with`](Self::insert_with) does it then. Nothing has changed.
    #[inline(always)]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<Inserted, Error> {
        self.insert_word(first_word::<H, K>(&self.keyed, key), key)
    }

    /// [`insert`](Self::insert) for a key whose first word is `h0`.
    #[inline(always)]
    pub(super) fn insert_word<K: Key + ?Sized>(
        &mut self,
        h0: u64,
        key: &K,
    ) -> Result<Inserted, Error> {
        match self.insert_at_once(h0) {
            Some(Put::Done) => Ok(Inserted::New),
            Some(Put::Full) => Err(self.core.table.full()),
            _ => self.insert_by_words(key),
        }
    }

    /// Adds a key of which the first word is enough. If more must be known, of it or of its minirun, or no
    /// slot is free, nothing has changed.
    #[inline(always)]
    fn insert_at_once(&mut self, h0: u64) -> Option<Put> {
        (self.core.layout.value_bits == 0).then(|| self.core.insert_bare(h0))
    }

    #[cold]
    #[inline(never)]
    fn insert_by_words<K: Key + ?Sized>(&mut self, key: &K) -> Result<Inserted, Error> {
        let hashed = Hashed::new::<H, K>(&self.seed, key);
        self.insert_among_marks(&hashed, 0)
    }

    /// [`insert`](Self::insert) for a key that is hashed already.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    pub fn insert_hashed(&mut self, key: &Hashed<'_>) -> Result<Inserted, Error> {
        match self.insert_at_once(key.h0()) {
            Some(Put::Done) => Ok(Inserted::New),
            Some(Put::Full) => Err(self.core.table.full()),
            _ => self.insert_among_marks(key, 0),
        }
    }

    /// Adds a key with a value (below `2^value_bits`) where its minirun does not exist yet.
    ///
    /// # Errors
    /// As [`insert`](Self::insert), and [`Error::Geometry`] if the value is too large.
    pub fn insert_value(&mut self, key: &Hashed<'_>, value: u64) -> Result<Inserted, Error> {
        check_entry(self.core.layout, 1, value)?;
        self.insert_among_marks(key, value)
    }

    #[cold]
    fn insert_among_marks(&mut self, key: &Hashed<'_>, value: u64) -> Result<Inserted, Error> {
        let core = &mut self.core;
        let minirun = core.minirun_of(key.h0());
        let contents = core.contents_of(minirun);
        let live = |print: &&Print| !print.is_ghost();
        let needs_keys = if core.layout.value_bits > 0 {
            contents.prints.iter().any(|print| live(&print))
        } else {
            contents.prints.iter().any(|print| print.count > 1)
        };
        if needs_keys {
            return Err(Error::NeedsKeys { minirun });
        }
        let mut prints = contents.prints.clone();
        let ghost = edit::longest_ghost(&prints, &core.digits(key));
        match ghost {
            Some(ghost) => {
                prints[ghost].count = 1;
                prints[ghost].value = value;
            }
            None => prints.push(Print::new(1, value)),
        }
        core.replace(minirun, &contents, prints)?;
        Ok(match ghost {
            Some(_) => Inserted::Revived,
            None => Inserted::New,
        })
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
        let h0 = first_word::<H, K>(&self.keyed, key);
        match self.core.remove_plain(h0) {
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

/// Can a member have this count and this value?
pub(super) fn check_entry(layout: Layout, count: u64, value: u64) -> Result<(), Error> {
    let bits = layout.value_bits;
    if value >> bits != 0 {
        return Err(Error::geometry(format!(
            "the value {value} has more than {bits} bits"
        )));
    }
    if count == 0 {
        return Err(Error::geometry("a member has a count of at least one"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filters::adaptive::Leave;
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
                    slow.remove_among(&hashed, &all, Leave::Nothing).unwrap();
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
