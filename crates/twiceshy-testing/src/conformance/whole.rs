//! Operations that go through the whole filter: batches, files, sizes, halves, bulk loads.
//!
//! ```text
//!           ┌─ save ── load ─────────────────────────┐
//!           ├─ double, halve, and back ──────────────┤
//!   filter ─┼─ one half of the items ─┬─ merge ──────┼─► the game goes on with it
//!           │  the other half ────────┘              │
//!           └─ all items, in any order ── bulk load ─┘
//! ```
//!
//! None of them changes what the filter holds, and bytes are determined by that: wherever one
//! comes back to the geometry it started from, it must come back to the same bytes.

use std::cmp::Ordering;

use super::{Game, Mode};
use crate::report::Kind;
use crate::source::{Source, mix};
use crate::stop::{Stop, expect, fail};
use crate::subject::{Exactness, Subject};
use crate::subjects::all_slots;
use twiceshy::batch::Interrupted;
use twiceshy::hash::Hashed;
use twiceshy::{Error, Geometry};

/// The slots are doubled at most so often in a row, and halved at most once: larger tables
/// take their time and have no more edges.
const MOST_DOUBLINGS: i32 = 2;

/// Operations after which a filter of another size goes back, or tries to. Most are spent at
/// home, where tables get full.
const LONGEST_AWAY: u64 = 32;

/// Keys in a long batch: more than filters take at a time.
const LONG_BATCH: u64 = 300;

impl<S: Subject> Game<S> {
    /// A batch of insertions is insertions one by one, up to the first that is refused.
    ///
    /// Keys are numbers: a hash that is its key (`adaptive::universe::Chosen`) makes hashes of
    /// the shape of them, and any other makes some.
    pub(super) fn insert_batch(&mut self, source: &mut Source<'_>) -> Result<Kind, Stop> {
        if S::EXACTNESS == Exactness::OneSided {
            // It may look at more of a hash than the first word, which is all that is crafted.
            return self.compare();
        }
        let count = match source.below(8)? {
            0 => LONG_BATCH,
            _ => source.below(40)?,
        };
        let mut keys = Vec::new();
        for _ in 0..count {
            keys.push(self.hashes.next(source)?);
        }
        let hashes: Vec<u64> = keys.iter().map(|key| self.subject.hash(key).h0()).collect();
        let (inserted, error) = match self.subject.insert_batch(keys.iter()) {
            Ok(()) => (hashes.len(), None),
            Err(Interrupted { inserted, error }) => (inserted as usize, Some(error)),
        };
        for (i, &h0) in hashes.iter().enumerate().take(inserted) {
            let key = self.key(h0);
            if S::EXACTNESS == Exactness::Set && self.oracle.contains(key) {
                continue;
            }
            if self.has_room(h0) == Some(false) {
                return fail(format!("there was no room for {h0:#x}, number {i}"));
            }
            self.oracle.insert(key);
        }
        let kind = match error {
            None => Kind::InsertBatch,
            Some(error) => {
                let Some(&h0) = hashes.get(inserted) else {
                    return fail(format!("{inserted} of {count} inserted, then: {error}"));
                };
                let expected = self.has_room(h0);
                self.refused(error, expected)?;
                Kind::InsertBatchFull
            }
        };
        self.compare_ids()?;
        let one_by_one: Vec<bool> = hashes.iter().map(|&h0| self.found(h0)).collect();
        expect(
            "membership of what is in",
            one_by_one[..inserted].iter().all(|found| *found),
            true,
        )?;
        let answers = self.subject.contains_batch(&keys);
        expect("a batch of answers", answers, one_by_one)?;
        Ok(kind)
    }

    /// Goes on with the filter of the file that this one was saved to.
    pub(super) fn reload(&mut self, source: &mut Source<'_>) -> Result<Kind, Stop> {
        let Some(bytes) = self.subject.save() else {
            return self.compare();
        };
        let spoilt = source.below(bytes.len() as u64 * 8)?;
        let loaded = match S::load(&bytes) {
            None => return self.compare(),
            Some(Err(error)) => return fail(format!("the file can't be loaded: {error}")),
            Some(Ok(loaded)) => loaded,
        };
        if loaded.save().as_ref() != Some(&bytes) {
            return fail("what was loaded has other bytes than what was saved");
        }
        let keys = self.members_and_neighbours();
        let one_by_one = keys.iter().map(|key| self.subject.contains_hashed(key));
        let expected: Vec<bool> = one_by_one.collect();
        match S::view(&bytes, &keys) {
            None => {}
            Some(Err(error)) => return fail(format!("the file can't be viewed: {error}")),
            Some(Ok([verified, unverified])) => {
                expect("what a verified view says", &verified, &expected)?;
                expect("what an unverified view says", &unverified, &expected)?;
            }
        }
        let mut damaged = bytes;
        damaged[spoilt as usize / 8] ^= 1 << (spoilt % 8);
        if S::load(&damaged).is_some_and(|loaded| loaded.is_ok()) {
            return fail(format!("a file was loaded whose bit {spoilt} is wrong"));
        }
        self.subject = loaded;
        self.compare()?;
        Ok(Kind::Reload)
    }

    /// Has the filter been of another size for long enough?
    pub(super) fn is_overdue(&self) -> bool {
        self.doublings != 0 && self.away >= LONGEST_AWAY
    }

    /// Goes on in twice or half the slots, and later back to where it came from.
    pub(super) fn resize(&mut self, source: &mut Source<'_>) -> Result<Kind, Stop> {
        let overdue = self.is_overdue();
        self.away = 0;
        let double = match self.doublings.cmp(&0) {
            Ordering::Less => true,
            Ordering::Equal => source.one_in(2)?,
            Ordering::Greater => !overdue && self.doublings < MOST_DOUBLINGS && source.one_in(2)?,
        };
        let result = if double {
            self.subject.double()
        } else {
            self.subject.halve()
        };
        let Some(result) = result else {
            return self.compare();
        };
        let Some(geometry) = neighbour(&self.geometry, double) else {
            return match result {
                Err(Error::Geometry { .. }) => Ok(Kind::ResizeImpossible),
                Err(error) => fail(format!("the error is not `Geometry` but: {error}")),
                Ok(_) => fail("there is no such geometry"),
            };
        };
        let resized = match self.resized(geometry, result)? {
            Some(resized) => resized,
            None => {
                if overdue {
                    // It has grown too much to go back, and shall shrink.
                    self.mode = Mode::Draining;
                    self.patience = 2 * LONGEST_AWAY;
                }
                return Ok(Kind::ResizeFull);
            }
        };
        self.subject = resized;
        self.geometry = geometry;
        self.last.geometry = geometry;
        self.hashes = self.hashes.clone().resized(geometry);
        self.doublings += if double { 1 } else { -1 };
        self.compare()?;
        Ok(if double { Kind::Double } else { Kind::Halve })
    }

    /// Is a filter that was changed to another geometry what it should be? `None` if it was
    /// refused, rightly, for want of room.
    fn resized(&self, geometry: Geometry, result: Result<S, Error>) -> Result<Option<S>, Stop> {
        let room = self.subject.slots().map(|_| {
            let slots = all_slots(geometry.slots());
            (self.oracle.fits(&geometry, slots), slots)
        });
        // Loading everything anew must come to the same end.
        let direct = self.subject.bulk_load(geometry, &self.hashes_of_all(0));
        let direct = direct.and_then(|mut all| all.pop());
        match result {
            Ok(resized) => {
                if room.is_some_and(|(fits, _)| !fits) {
                    return fail("there was no room for all");
                }
                expect("the new geometry", resized.geometry(), geometry)?;
                if let Err(violation) = resized.check() {
                    return fail(violation);
                }
                match direct {
                    Some(Ok(direct)) => self.same_bytes("the resized filter", &resized, &direct)?,
                    Some(Err(error)) => return fail(format!("a bulk load of the same: {error}")),
                    None => {}
                }
                Ok(Some(resized))
            }
            Err(Error::Full { used, slots }) => {
                if let Some((fits, all)) = room {
                    expect("room for all", fits, false)?;
                    let expected = (self.oracle.len(), all);
                    expect("`Full { used, slots }`", (used, slots), expected)?;
                }
                match direct {
                    Some(Ok(_)) => fail("a bulk load of the same found room"),
                    _ => Ok(None),
                }
            }
            Err(error) => fail(format!("the error is not `Full` but: {error}")),
        }
    }

    /// Goes on with two halves merged, divided by some rule.
    pub(super) fn merge(&mut self, source: &mut Source<'_>) -> Result<Kind, Stop> {
        let rule = source.below(5)?;
        let pivot = source.below(self.oracle.len() + 1)?;
        let unlike = source.one_in(3)?;
        let mut halves = [self.subject.clone(), self.subject.clone()];
        for half in &mut halves {
            if half.forget_all().is_none() {
                return self.compare();
            }
            expect("the length", half.len(), 0)?;
        }
        for (at, h0) in (0..).zip(self.hashes_of_all(pivot)) {
            // Copies of one fingerprint may come to lie on both sides.
            let side = match rule {
                0 => at % 2,
                1 => u64::from(at < pivot),
                2 => u64::from(at >= pivot),
                3 => mix(self.key(h0) ^ pivot) % 2,
                _ => u64::from(at % 64 == pivot % 64),
            };
            let half = &mut halves[side as usize];
            if let Err(error) = half.insert_hashed(&Hashed::from_h0(h0)) {
                return fail(format!("no room in a half: {error}"));
            }
        }
        if unlike {
            return self.merge_unlike(&halves);
        }
        let merged = match S::unite(&halves[0], &halves[1]) {
            None => return self.compare(),
            Some(Err(error)) => return fail(format!("the halves can't be merged: {error}")),
            Some(Ok(merged)) => merged,
        };
        self.same_bytes("the merged filter", &merged, &self.subject)?;
        self.subject = merged;
        self.compare()?;
        Ok(Kind::Merge)
    }

    /// Halves of different sizes, the larger one last: the same as the whole, doubled.
    fn merge_unlike(&self, [one, two]: &[S; 2]) -> Result<Kind, Stop> {
        let Some(geometry) = neighbour(&self.geometry, true) else {
            return self.compare();
        };
        let two = match two.double() {
            None => return self.compare(),
            // A cluster near the end has fewer spare slots behind it there, and counters may
            // need more of the narrower slots. Then the whole does not fit either.
            Some(Err(Error::Full { .. })) => {
                let slots = all_slots(geometry.slots());
                if self.subject.slots().is_some() && self.oracle.fits(&geometry, slots) {
                    return fail("there was room for half of it in twice the slots");
                }
                return Ok(Kind::MergeUnlike);
            }
            Some(Err(error)) => return fail(format!("a half can't be doubled: {error}")),
            Some(Ok(two)) => two,
        };
        match S::unite(one, &two) {
            None => self.compare(),
            Some(merged) => {
                self.resized(geometry, merged)?;
                Ok(Kind::MergeUnlike)
            }
        }
    }

    /// Goes on with a filter that was loaded with all items at once.
    pub(super) fn bulk_load(&mut self, source: &mut Source<'_>) -> Result<Kind, Stop> {
        let salt = source.below(256)?;
        let mut hashes = self.hashes_of_all(salt);
        match salt % 4 {
            0 => {}
            1 => hashes.reverse(),
            _ => hashes.sort_unstable_by_key(|h0| mix(h0 ^ salt)),
        }
        let Some(all) = self.subject.bulk_load(self.geometry, &hashes) else {
            return self.compare();
        };
        for loaded in all {
            let loaded = match loaded {
                Ok(loaded) => loaded,
                Err(error) => return fail(format!("a bulk load failed: {error}")),
            };
            self.same_bytes("the loaded filter", &loaded, &self.subject)?;
            self.subject = loaded;
        }
        self.compare()?;
        Ok(Kind::BulkLoad)
    }

    /// Do two filters have the same bytes, if they have bytes and these are determined by
    /// what they hold?
    fn same_bytes(&self, what: &str, found: &S, expected: &S) -> Result<(), Stop> {
        if S::EXACTNESS == Exactness::OneSided || found.save() == expected.save() {
            return Ok(());
        }
        if let Err(violation) = found.check() {
            return fail(format!("{what}: {violation}"));
        }
        expect(what, found.ids(), expected.ids())?;
        fail(format!("{what} holds the same in other bytes"))
    }

    /// A hash for each item, in the order of the oracle.
    fn hashes_of_all(&self, salt: u64) -> Vec<u64> {
        let hash = |(at, key)| match S::EXACTNESS {
            Exactness::OneSided => key,
            Exactness::Multiset | Exactness::Set => {
                let range = self.geometry.hash_range(key);
                match (at + salt) % 2 {
                    0 => *range.start(),
                    _ => *range.end(),
                }
            }
        };
        (0..).zip(self.oracle.iter()).map(hash).collect()
    }
}

/// The geometry with twice or half the slots and as many ids, if there is one.
fn neighbour(of: &Geometry, double: bool) -> Option<Geometry> {
    let (slots, bits) = (of.slots(), of.remainder_bits());
    if double {
        Geometry::new(slots * 2, bits - 1).ok()
    } else if slots % 2 == 0 {
        Geometry::new(slots / 2, bits + 1).ok()
    } else {
        None
    }
}
