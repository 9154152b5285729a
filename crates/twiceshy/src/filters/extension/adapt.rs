//! Lengthening fingerprints, and removing them: what needs the keys of a minirun.

use std::collections::BTreeMap;
use std::convert::Infallible;

use super::{ExtensionFilter, continues, give_up};
use crate::code::Extension;
use crate::error::Error;
use crate::filters::lettered::{Entry, Plan, distinct, is_same, match_all};
use crate::hash::{Hashed, Key, Seed, StreamHash};
use crate::outcome::{Adapted, Removed};
use crate::sets::keyed::{Failure, KeyedFilter, read};
use crate::sets::reverse_map::ReverseMap;
use crate::table::{Minirun, Run, Violation};
use crate::traits::{Adaptive, Remove};

/// A minirun among the slots of its run.
struct Contents {
    run: Run,
    /// All slots of the run.
    entries: Vec<Entry<Extension>>,
    /// Those of the minirun, as places in `entries`.
    places: Vec<usize>,
}

impl<H: StreamHash> ExtensionFilter<H> {
    fn contents(&self, minirun: Minirun) -> Contents {
        let home = self.core.geometry.fingerprint_of(minirun.id());
        let run = self.core.run(home.quotient);
        let entries = self.core.entries(&run);
        let places = (0..entries.len()).filter(|&i| entries[i].value == home.remainder);
        Contents {
            run,
            places: places.collect(),
            entries,
        }
    }

    fn minirun_of(&self, key: &Hashed<'_>) -> Minirun {
        Minirun::from_id(self.core.geometry.id(key.h0()))
    }

    /// The different keys, all of which belong to a minirun.
    fn check_keys<'k, 'h>(
        &self,
        minirun: Minirun,
        keys: &'k [Hashed<'h>],
    ) -> Result<Vec<&'k Hashed<'h>>, Error> {
        if keys.iter().any(|key| self.minirun_of(key) != minirun) {
            return Err(Error::mismatch("a key belongs to another minirun"));
        }
        Ok(distinct(keys))
    }

    /// Fixes a false positive: lengthens every fingerprint of the minirun that matches the
    /// query, each along its own key, until none does. `keys` are all keys of the minirun,
    /// in any order.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the query is itself one of the keys, or the keys do not fit the
    /// fingerprints. Nothing has changed then.
    pub fn adapt(
        &mut self,
        query: &Hashed<'_>,
        minirun: Minirun,
        keys: &[Hashed<'_>],
    ) -> Result<Adapted, Error> {
        if self.minirun_of(query) != minirun {
            return Err(Error::mismatch("the query belongs to another minirun"));
        }
        let keys = self.check_keys(minirun, keys)?;
        if keys.iter().any(|key| is_same(key, query)) {
            return Err(Error::mismatch(
                "the query is a member: its answer was right and needs no fix",
            ));
        }
        let mut report = Adapted::default();
        let (contents, key_of) = loop {
            let contents = self.contents(minirun);
            let key_of = pair(&contents, &keys)?;
            // A slot without a key that matches can't be changed, but nobody misses it.
            let mut places = contents.places.iter().zip(&key_of);
            let surplus = places.find(|&(&place, key)| {
                key.is_none() && continues(query, contents.entries[place].letter)
            });
            let Some((&place, _)) = surplus else {
                break (contents, key_of);
            };
            self.close(&contents.run, place)?;
            report.dropped += 1;
        };
        let Contents {
            run,
            mut entries,
            places,
        } = contents;
        for (&place, key) in places.iter().zip(&key_of) {
            let entry = &mut entries[place];
            let Some(key) = key.filter(|_| continues(query, entry.letter)) else {
                continue;
            };
            if let Some(extension) = shortest_apart(keys[key], query) {
                entry.letter = extension;
                report.extended += 1;
            }
        }
        if report.extended > 0 {
            let plan = Plan::from([(run.start, entries)]);
            let own = run.start..run.end;
            let forget = |_: &Run, entries: &mut Vec<Entry<Extension>>, i: usize| {
                entries[i].letter = Extension::default();
                Ok::<(), Infallible>(())
            };
            report.forgotten = match self.core.settle(plan, own, self.overflow, forget) {
                Ok(forgotten) => forgotten,
                Err(never) => match never {},
            };
        }
        let left = self.contents(minirun);
        let matches = |&&place: &&usize| continues(query, left.entries[place].letter);
        report.unfixed = left.places.iter().filter(matches).count() as u64;
        Ok(report)
    }

    /// Removes a member, given all keys of its minirun (the removed one among them).
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the key is not among the keys or these do not fit the
    /// fingerprints. Nothing has changed then.
    pub fn remove(&mut self, key: &Hashed<'_>, keys: &[Hashed<'_>]) -> Result<(), Error> {
        let minirun = self.minirun_of(key);
        let mut keys = self.check_keys(minirun, keys)?;
        let Some(removed) = keys.iter().position(|other| is_same(other, key)) else {
            return Err(Error::mismatch("the key to remove is not among the keys"));
        };
        pair(&self.contents(minirun), &keys)?;
        keys.remove(removed);
        loop {
            // What the others leave over goes.
            let contents = self.contents(minirun);
            let key_of = pair(&contents, &keys)?;
            let mut places = contents.places.iter().zip(&key_of);
            let Some((&place, _)) = places.find(|(_, key)| key.is_none()) else {
                return Ok(());
            };
            self.close(&contents.run, place)?;
        }
    }

    /// Removes a member without the keys of its minirun.
    ///
    /// **The caller vouches that the key is a member**, as for a plain filter: removing
    /// another key can take a member's fingerprint away.
    ///
    /// # Errors
    /// [`Error::NeedsKeys`] if several different fingerprints match the key:
    /// [`remove`](Self::remove) does it then. Nothing has changed.
    pub fn remove_known_member<K: Key + ?Sized>(&mut self, key: &K) -> Result<Removed, Error> {
        let hashed = Hashed::new::<H, K>(&self.seed, key);
        self.remove_known_member_hashed(&hashed)
    }

    /// [`remove_known_member`](Self::remove_known_member) for a key that is hashed already,
    /// with the same warning.
    ///
    /// # Errors
    /// As [`remove_known_member`](Self::remove_known_member).
    pub fn remove_known_member_hashed(&mut self, key: &Hashed<'_>) -> Result<Removed, Error> {
        let minirun = self.minirun_of(key);
        let Contents {
            run,
            entries,
            places,
        } = self.contents(minirun);
        let mut matching = places
            .into_iter()
            .filter(|&place| continues(key, entries[place].letter));
        let Some(first) = matching.next() else {
            return Ok(Removed::NotFound);
        };
        // A member has a slot that matches: if there is but one, or all are alike, it is that.
        if !matching.all(|place| entries[place] == entries[first]) {
            return Err(Error::NeedsKeys { minirun });
        }
        self.close(&run, first)?;
        Ok(Removed::One)
    }

    /// Takes a slot out of a run.
    fn close(&mut self, run: &Run, place: usize) -> Result<(), Error> {
        let slot = run.start + place as u64;
        self.core.close(run, slot, give_up(self.overflow))
    }
}

/// Pairs all keys with slots of their minirun. Extensions are nested, so taking the longest
/// first would do; matching does as well.
fn pair(contents: &Contents, keys: &[&Hashed<'_>]) -> Result<Vec<Option<usize>>, Error> {
    let Contents {
        entries, places, ..
    } = contents;
    let fits = |key: usize, place: usize| continues(keys[key], entries[places[place]].letter);
    match_all(keys.len(), places.len(), fits).ok_or_else(|| {
        Error::mismatch(
            "some key has no fingerprint here; give all keys of the minirun and no others",
        )
    })
}

/// The first bits of a key's stream that are not a query's; `None` if they are too many.
fn shortest_apart(key: &Hashed<'_>, query: &Hashed<'_>) -> Option<Extension> {
    let common = key.common_bits(query, 1);
    let len = u32::try_from(common + 1).ok()?;
    if len > Extension::MAX_LEN {
        return None;
    }
    Extension::new(len, key.bits(0, len))
}

impl<H: StreamHash> Adaptive for ExtensionFilter<H> {
    type Place = Minirun;

    fn lookup_hashed(&self, key: &Hashed<'_>) -> Option<Minirun> {
        self.lookup_hashed(key)
    }

    fn adapt(
        &mut self,
        query: &Hashed<'_>,
        at: Minirun,
        stored: &[Hashed<'_>],
    ) -> Result<Adapted, Error> {
        self.adapt(query, at, stored)
    }
}

impl<H: StreamHash> Remove for ExtensionFilter<H> {
    fn remove_hashed(&mut self, key: &Hashed<'_>) -> Result<Removed, Error> {
        self.remove_known_member_hashed(key)
    }
}

impl<H: StreamHash> KeyedFilter for ExtensionFilter<H> {
    type Hash = H;

    fn seed(&self) -> Seed {
        self.seed()
    }

    fn insert_from<R: ReverseMap>(
        &mut self,
        key: &Hashed<'_>,
        _: &R,
    ) -> Result<(), Failure<R::Error>> {
        Ok(self.insert_hashed(key)?)
    }

    fn remove_from<R: ReverseMap>(
        &mut self,
        key: &Hashed<'_>,
        keys: &R,
    ) -> Result<(), Failure<R::Error>> {
        let range = self.core.geometry.hash_range(self.minirun_of(key).id());
        let keys = read::<H, R>(keys, &self.seed, range)?;
        Ok(self.remove(key, &keys)?)
    }

    fn adapt_from<R: ReverseMap>(
        &mut self,
        query: &Hashed<'_>,
        keys: &R,
    ) -> Result<Adapted, Failure<R::Error>> {
        let minirun = self.minirun_of(query);
        let range = self.core.geometry.hash_range(minirun.id());
        let keys = read::<H, R>(keys, &self.seed, range)?;
        Ok(self.adapt(query, minirun, &keys)?)
    }

    fn pairs(&self, keys: &[Hashed<'_>]) -> bool {
        let mut miniruns: BTreeMap<Minirun, Vec<&Hashed<'_>>> = BTreeMap::new();
        for key in keys {
            miniruns.entry(self.minirun_of(key)).or_default().push(key);
        }
        let paired = |(minirun, keys): (Minirun, Vec<_>)| pair(&self.contents(minirun), &keys);
        miniruns.into_iter().all(|minirun| paired(minirun).is_ok())
    }

    fn check_invariants(&self) -> Result<(), Violation> {
        self.check_invariants()
    }
}
