//! Changing remainders: what needs the keys.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::{SelectorCoding, Stretch, TelescopingFilter, remainder};
use crate::code::Selector;
use crate::error::Error;
use crate::filters::lettered::{Entry, Plan, Refuse, distinct, is_same, match_all};
use crate::hash::{Hashed, Seed, StreamHash};
use crate::outcome::Adapted;
use crate::sets::keyed::{Failure, KeyedFilter, read};
use crate::sets::reverse_map::ReverseMap;
use crate::table::{Geometry, Run, Violation};
use crate::traits::Adaptive;

/// Which key each slot of a run belongs to; all keys have one.
pub(super) type Pairing = Vec<Option<usize>>;

fn unpaired() -> Error {
    Error::mismatch("some key has no fingerprint here; give all keys of the run and no others")
}

/// Matches all keys of a run with its slots.
pub(super) fn pair(
    geometry: &Geometry,
    entries: &[Entry<Selector>],
    keys: &[&Hashed<'_>],
) -> Result<Pairing, Error> {
    let fits = |key: usize, slot: usize| {
        let entry = &entries[slot];
        remainder(geometry, keys[key], entry.letter) == entry.value
    };
    match_all(keys.len(), entries.len(), fits).ok_or_else(unpaired)
}

/// The next remainder of a key that tells it from a query: with a higher selector if there is
/// one, or else with the lowest. `None` if all are the same.
fn other_remainder(
    geometry: &Geometry,
    key: &Hashed<'_>,
    query: &Hashed<'_>,
    now: Selector,
    max: Selector,
) -> Option<Selector> {
    let mut all = (now + 1..=max).chain(0..now);
    all.find(|&selector| remainder(geometry, key, selector) != remainder(geometry, query, selector))
}

/// Keys that were read once, by quotient.
pub(super) struct Known<'k, 'n, S> {
    source: S,
    /// A key that the source may have, but that has no slot.
    without: Option<&'n Hashed<'n>>,
    runs: BTreeMap<u64, Vec<Hashed<'k>>>,
}

impl<'n, S> Known<'_, 'n, S> {
    pub(super) fn new(source: S, without: Option<&'n Hashed<'n>>) -> Self {
        Known {
            source,
            without,
            runs: BTreeMap::new(),
        }
    }
}

impl<'k, E: From<Error>, S> Known<'k, '_, S>
where
    S: FnMut(RangeInclusive<u64>) -> Result<Vec<Hashed<'k>>, E>,
{
    pub(super) fn of(&mut self, geometry: &Geometry, quotient: u64) -> Result<&[Hashed<'k>], E> {
        if !self.runs.contains_key(&quotient) {
            let stretch = Stretch::of_quotients(geometry, quotient..=quotient);
            let mut keys = (self.source)(stretch.hashes())?;
            keys.retain(|key| !self.without.is_some_and(|other| is_same(key, other)));
            let here = |key: &Hashed<'_>| geometry.fingerprint(key.h0()).quotient == quotient;
            if !keys.iter().all(here) {
                return Err(Error::mismatch("a key belongs to another run").into());
            }
            self.runs.insert(quotient, keys);
        }
        Ok(&self.runs[&quotient])
    }
}

impl<H: StreamHash, C: SelectorCoding> TelescopingFilter<H, C> {
    /// Fixes a false positive, given all keys whose first hash words are in the stretch that
    /// [`lookup`](Self::lookup) gave, or in the larger one that [`Error::NeedsHashes`] named
    /// the last time.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the query is itself one of the keys, or the keys do not fit the
    /// fingerprints; [`Error::NeedsHashes`] if a block's code is full, and making room takes
    /// more keys. Nothing has changed then.
    pub fn adapt(
        &mut self,
        query: &Hashed<'_>,
        at: Stretch,
        keys: &[Hashed<'_>],
    ) -> Result<Adapted, Error> {
        self.adapt_by(query, given(at, keys))
    }

    /// Adds a key, given all keys in the stretch that [`Error::NeedsHashes`] named. They may
    /// or may not include the new one.
    ///
    /// # Errors
    /// As [`insert`](Self::insert); if the stretch is still too small, a larger one is named.
    pub fn insert_with(
        &mut self,
        key: &Hashed<'_>,
        at: Stretch,
        keys: &[Hashed<'_>],
    ) -> Result<(), Error> {
        self.insert_by(key, given(at, keys))
    }

    pub(super) fn adapt_by<'k, E: From<Error>>(
        &mut self,
        query: &Hashed<'_>,
        source: impl FnMut(RangeInclusive<u64>) -> Result<Vec<Hashed<'k>>, E>,
    ) -> Result<Adapted, E> {
        let geometry = self.core.geometry;
        let quotient = self.quotient(query);
        let matches =
            |entry: &Entry<Selector>| entry.value == remainder(&geometry, query, entry.letter);
        let mut known = Known::new(source, None);
        let mut report = Adapted::default();
        let (run, mut entries, key_of) = loop {
            let run = self.core.run(quotient);
            let entries = self.core.entries(&run);
            let keys = distinct(known.of(&geometry, quotient)?);
            if keys.iter().any(|key| is_same(key, query)) {
                return Err(Error::mismatch(
                    "the query is a member: its answer was right and needs no fix",
                )
                .into());
            }
            let key_of = pair(&geometry, &entries, &keys)?;
            // A slot without a key that matches can't be changed, but nobody misses it.
            let surplus = (0..entries.len()).find(|&i| key_of[i].is_none() && matches(&entries[i]));
            let Some(surplus) = surplus else {
                break (run, entries, key_of);
            };
            match self.close(&run, run.start + surplus as u64) {
                Ok(()) => report.dropped += 1,
                Err(block) => report.forgotten += self.make_room(block, &mut known)?,
            }
        };
        let keys = distinct(known.of(&geometry, quotient)?);
        for (entry, key) in entries.iter_mut().zip(&key_of) {
            let Some(key) = key.filter(|_| matches(entry)) else {
                continue;
            };
            let now = entry.letter;
            if let Some(selector) = other_remainder(&geometry, keys[key], query, now, C::MAX) {
                entry.letter = selector;
                entry.value = remainder(&geometry, keys[key], selector);
                report.extended += 1;
            }
        }
        if report.extended > 0 {
            sort(&mut entries);
            let plan = Plan::from([(run.start, entries)]);
            report.forgotten += self.settle(plan, &run, Some(query), &mut known)?;
        }
        let left = self.core.entries(&self.core.run(quotient));
        report.unfixed = left.iter().filter(|entry| matches(entry)).count() as u64;
        Ok(report)
    }

    pub(super) fn insert_by<'k, E: From<Error>>(
        &mut self,
        key: &Hashed<'_>,
        source: impl FnMut(RangeInclusive<u64>) -> Result<Vec<Hashed<'k>>, E>,
    ) -> Result<(), E> {
        // The new key may be among those of its run already.
        let mut known = Known::new(source, Some(key));
        loop {
            let Err(error) = self.core.insert(key.h0()) else {
                return Ok(());
            };
            match Refuse::block(&error) {
                None => return Err(error.into()),
                Some(block) => self.make_room(block, &mut known)?,
            };
        }
    }

    /// Takes a slot out of its run, or says which block has no room for the letters that
    /// move.
    pub(super) fn close(&mut self, run: &Run, slot: u64) -> Result<(), u64> {
        let result = self.core.close(run, slot, Refuse);
        result.map_err(|error| Refuse::block(&error).expect("closing fails for want of room only"))
    }

    /// Gives up a selector of a block, or of the slot before it.
    pub(super) fn make_room<'k, E: From<Error>, S>(
        &mut self,
        block: u64,
        known: &mut Known<'k, '_, S>,
    ) -> Result<u64, E>
    where
        S: FnMut(RangeInclusive<u64>) -> Result<Vec<Hashed<'k>>, E>,
    {
        let nothing = Plan::new();
        let letter_of = |block| {
            let nobody = 0..0;
            self.core.victim(&nothing, block, &nobody, self.overflow)
        };
        let victim = letter_of(block)
            // One that would move in, from behind when a slot is closed.
            .or_else(|| letter_of(block.checked_sub(1)?))
            .or_else(|| letter_of(block + 1))
            .expect("a block that is full has letters near it");
        let run = self
            .core
            .owner(victim)
            .expect("a slot with a letter is in a run");
        let geometry = self.core.geometry;
        let mut entries = self.core.entries(&run);
        let keys = known.of(&geometry, run.quotient)?;
        let index = (victim - run.start) as usize;
        reset(&geometry, &mut entries, index, keys, None)?;
        let plan = Plan::from([(run.start, entries)]);
        Ok(1 + self.settle(plan, &run, None, known)?)
    }

    fn settle<'k, E: From<Error>, S>(
        &mut self,
        plan: Plan<Selector>,
        own: &Run,
        query: Option<&Hashed<'_>>,
        known: &mut Known<'k, '_, S>,
    ) -> Result<u64, E>
    where
        S: FnMut(RangeInclusive<u64>) -> Result<Vec<Hashed<'k>>, E>,
    {
        let geometry = self.core.geometry;
        let slots = own.start..own.end;
        self.core
            .settle(plan, slots, self.overflow, |run, entries, i| {
                let keys = known.of(&geometry, run.quotient)?;
                let query = query.filter(|_| run.quotient == own.quotient);
                reset(&geometry, entries, i, keys, query)
            })
    }
}

/// Gives entry `i` of a run its lowest selector, but for those that match `query` if there is a
/// lower one that does not.
fn reset<E: From<Error>>(
    geometry: &Geometry,
    entries: &mut [Entry<Selector>],
    i: usize,
    keys: &[Hashed<'_>],
    query: Option<&Hashed<'_>>,
) -> Result<(), E> {
    let keys = distinct(keys);
    let key_of = pair(geometry, entries, &keys)?;
    // Nobody misses a slot without a key: any remainder will do.
    let Some(key) = key_of[i].map(|key| keys[key]).or(keys.first().copied()) else {
        entries[i] = Entry::default();
        sort(entries);
        return Ok(());
    };
    let tells_apart = |&selector: &Selector| {
        query.is_none_or(|query| {
            remainder(geometry, key, selector) != remainder(geometry, query, selector)
        })
    };
    let selector = (0..entries[i].letter).find(tells_apart).unwrap_or(0);
    entries[i] = Entry {
        value: remainder(geometry, key, selector),
        letter: selector,
    };
    sort(entries);
    Ok(())
}

/// Runs are in the order of what their slots hold.
fn sort(entries: &mut [Entry<Selector>]) {
    entries.sort_unstable_by_key(|entry| (entry.value, entry.letter));
}

/// Keys from a slice that has all of a stretch.
pub(super) fn given<'k>(
    at: Stretch,
    keys: &'k [Hashed<'k>],
) -> impl FnMut(RangeInclusive<u64>) -> Result<Vec<Hashed<'k>>, Error> {
    move |hashes| {
        let (first, last) = (*hashes.start(), *hashes.end());
        if first < at.first || last > at.last {
            let (first, last) = (first.min(at.first), last.max(at.last));
            return Err(Error::NeedsHashes { first, last });
        }
        let inside = keys.iter().filter(|key| hashes.contains(&key.h0()));
        Ok(inside.cloned().collect())
    }
}

impl<H: StreamHash, C: SelectorCoding> Adaptive for TelescopingFilter<H, C> {
    type Place = Stretch;

    fn lookup_hashed(&self, key: &Hashed<'_>) -> Option<Stretch> {
        self.lookup_hashed(key)
    }

    fn adapt(
        &mut self,
        query: &Hashed<'_>,
        at: Stretch,
        stored: &[Hashed<'_>],
    ) -> Result<Adapted, Error> {
        self.adapt(query, at, stored)
    }
}

impl<H: StreamHash, C: SelectorCoding> KeyedFilter for TelescopingFilter<H, C> {
    type Hash = H;

    fn seed(&self) -> Seed {
        self.seed()
    }

    fn insert_from<R: ReverseMap>(
        &mut self,
        key: &Hashed<'_>,
        keys: &R,
    ) -> Result<(), Failure<R::Error>> {
        let seed = self.seed;
        self.insert_by(key, |hashes| read::<H, R>(keys, &seed, hashes))
    }

    fn remove_from<R: ReverseMap>(
        &mut self,
        key: &Hashed<'_>,
        keys: &R,
    ) -> Result<(), Failure<R::Error>> {
        let seed = self.seed;
        self.remove_by(key, |hashes| read::<H, R>(keys, &seed, hashes))
    }

    fn adapt_from<R: ReverseMap>(
        &mut self,
        query: &Hashed<'_>,
        keys: &R,
    ) -> Result<Adapted, Failure<R::Error>> {
        let seed = self.seed;
        self.adapt_by(query, |hashes| read::<H, R>(keys, &seed, hashes))
    }

    fn pairs(&self, keys: &[Hashed<'_>]) -> bool {
        let mut runs: BTreeMap<u64, Vec<&Hashed<'_>>> = BTreeMap::new();
        for key in keys {
            runs.entry(self.quotient(key)).or_default().push(key);
        }
        runs.into_iter().all(|(quotient, keys)| {
            let entries = self.core.entries(&self.core.run(quotient));
            pair(&self.core.geometry, &entries, &keys).is_ok()
        })
    }

    fn check_invariants(&self) -> Result<(), Violation> {
        self.check_invariants()
    }
}
