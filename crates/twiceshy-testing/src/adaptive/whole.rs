//! Moves that go through the whole filter: files, sizes, merges, rebuilds, batches.
//!
//! Each is compared fingerprint for fingerprint with what the model foretells, errors and all,
//! and the game goes on with what came of it. The exception is a rebuild in another geometry:
//! which of two keys has the longer fingerprint is not determined where both would do. There
//! the promises are checked, that the new state is right for all members among them, and the
//! model starts anew from what is there.

use std::cmp::Ordering;

use super::Setting;
use super::game::{Effect, Game, Step};
use super::model::{Model, Refusal};
use super::moves::digits;
use super::outcomes::Outcome;
use super::universe::Chosen;
use crate::source::{Source, mix};
use crate::stop::{Stop, expect, fail};
use twiceshy::batch::Interrupted;
use twiceshy::filters::adaptive::rebuild::Learnt;
use twiceshy::hash::{Hashed, Seed};
use twiceshy::{AdaptiveFilter, Builder, Error, Filter, Geometry, Insert, Merge, Minirun, View};

/// The widest slot, remainder and value together.
const MAX_SLOT_BITS: u32 = 56;

/// Moves in the filter that is merged with the game's.
const OTHER_MOVES: u64 = 14;

type Chose = AdaptiveFilter<Chosen>;

/// An empty filter of these measures.
pub(super) fn builder(setting: Setting) -> Builder<Chose> {
    AdaptiveFilter::builder()
        .hash::<Chosen>()
        .slots(setting.slots)
        .remainder_bits(setting.remainder_bits)
        .value_bits(setting.value_bits)
        .seed(Seed::from_u64(0))
}

impl Game {
    /// A number that hangs on all choices so far, and takes no more of them.
    fn dice(&self, key: usize) -> u64 {
        mix((self.steps as u64) << 32 | key as u64)
    }

    /// Does a filter hold what a model says, fingerprint for fingerprint?
    fn same_contents(&self, filter: &Chose, model: &Model) -> Result<(), Stop> {
        if let Err(violation) = filter.check_invariants() {
            return fail(violation.to_string());
        }
        let found = Model::of(filter, self.setting.value_bits);
        match found.difference(model) {
            Some(what) => fail(what),
            None => expect("the used slots", found.used(), model.used()),
        }
    }

    /// Goes on with another filter.
    fn adopt(&mut self, filter: Chose, model: Model) {
        let geometry = filter.geometry();
        self.filter = filter;
        self.model = model;
        self.setting.slots = geometry.slots();
        self.setting.remainder_bits = geometry.remainder_bits();
        let width = self.setting.remainder_bits + self.setting.value_bits;
        // A rebuild rounds extensions up, if need be beyond the bits that make a difference.
        let longest = self.model.longest_extension() * width as usize;
        self.stream_bits = self.stream_bits.max(longest);
        for (key, foretold) in self.keys.iter_mut().zip(&mut self.foretold) {
            key.fit(&geometry, width, self.stream_bits);
            *foretold = self.model.entry(key.minirun, &key.digits);
        }
    }

    /// Goes on with the filter of the file that this one was saved to.
    pub(super) fn reload(&mut self, key: usize) -> Step {
        let bytes = self.filter.to_bytes();
        let mut written = Vec::new();
        if self.filter.write_to(&mut written).is_err() || written != bytes {
            return fail("`write_to` does not write what `to_bytes` gives");
        }
        let loaded = match self.steps % 16 < 8 {
            true => Chose::from_bytes(&bytes),
            false => Chose::read_from(&bytes[..]),
        };
        let loaded = match loaded {
            Ok(loaded) => loaded,
            Err(error) => return fail(format!("the file can't be loaded: {error}")),
        };
        if loaded.to_bytes() != bytes {
            return fail("what was loaded has other bytes than what was saved");
        }
        for view in [View::<Chose>::new(&bytes), View::new_unverified(&bytes)] {
            let view = match view {
                Ok(view) => view,
                Err(error) => return fail(format!("the file can't be viewed: {error}")),
            };
            expect("a view's ghosts", view.ghosts(), self.filter.ghosts())?;
            for (key, foretold) in self.keys.iter().zip(&self.foretold) {
                let hashed = key.keyed();
                let entry = view.entry_hashed(&hashed);
                let entry = entry.map(|entry| (entry.count, entry.value));
                expect("a view's entry", entry, *foretold)?;
                let found = view.contains_hashed(&hashed);
                expect("a view's answer", found, foretold.is_some())?;
            }
        }
        let mut damaged = bytes;
        let bit = self.dice(key) as usize % (damaged.len() * 8);
        damaged[bit / 8] ^= 1 << (bit % 8);
        if Chose::from_bytes(&damaged).is_ok() {
            return fail(format!("a file was loaded whose bit {bit} is wrong"));
        }
        self.same_contents(&loaded, &self.model)?;
        self.filter = loaded;
        Ok((Outcome::Reload, Effect::Nothing))
    }

    /// Goes on in twice or half the slots: back to where the game began, if it is not there.
    pub(super) fn resize(&mut self, key: usize) -> Step {
        let Setting {
            slots,
            remainder_bits: bits,
            value_bits,
        } = self.setting;
        let double = match slots.cmp(&self.base.slots) {
            Ordering::Less => true,
            Ordering::Greater => false,
            Ordering::Equal => self.dice(key) % 2 == 0,
        };
        let target = match double {
            true => Geometry::new(slots * 2, bits - 1).ok(),
            false if slots % 2 == 1 => None,
            false => Geometry::new(slots / 2, bits + 1).ok(),
        };
        // A slot holds the value, too.
        let fits = |to: &Geometry| to.remainder_bits() + value_bits <= MAX_SLOT_BITS;
        let foretold = target
            .filter(fits)
            .ok_or(Refusal::Geometry)
            .and_then(|geometry| Model::union(&[&self.model], geometry));
        let result = match double {
            true => Merge::of([&self.filter]).doubled(1).build_reported(),
            // Halving loses nothing, so it has nothing to report.
            false => self
                .filter
                .halved()
                .map(|filter| (filter, Default::default())),
        };
        let (filter, report, model, cut) = match (result, foretold) {
            (Ok((filter, report)), Ok((model, cut))) => (filter, report, model, cut),
            (Err(error), Err(refusal)) if Refusal::of(&error) == Some(refusal) => {
                return Ok((Outcome::ResizeRefused, Effect::Nothing));
            }
            (result, foretold) => {
                let (result, foretold) = (result.map(|_| ()), foretold.map(|_| ()));
                return fail(format!("the result is {result:?}, not {foretold:?}"));
            }
        };
        self.same_contents(&filter, &model)?;
        if double {
            let report = (report.extended, report.shortened, report.resolved);
            expect("the report", report, (cut.extended, cut.shortened, 0))?;
        }
        self.adopt(filter, model);
        let effect = match cut.shortened {
            0 => Effect::Nothing,
            _ => Effect::More(None),
        };
        Ok((
            if double {
                Outcome::Double
            } else {
                Outcome::Halve
            },
            effect,
        ))
    }

    /// Goes on with the union of the filter and another one that has learnt as well.
    pub(super) fn merge(&mut self, key: usize) -> Step {
        let dice = self.dice(key);
        let source = &mut Source::from_seed(dice);
        let mut other = self.sibling();
        let mut moved = Ok(());
        for _ in 0..OTHER_MOVES {
            moved = moved.and_then(|()| other.step(source).map(|_| ()));
        }
        self.keys = std::mem::take(&mut other.keys);
        if let Err(Stop::Failed(what)) = moved {
            return fail(format!("in the other filter, {}: {what}", other.last));
        }
        let mut filters = [&self.filter, &other.filter];
        let mut models = [&self.model, &other.model];
        if dice % 2 == 0 {
            filters.reverse();
            models.reverse();
        }
        let foretold = Model::union(&models, self.setting.geometry());
        let result = match dice % 3 {
            0 => AdaptiveFilter::merge(filters),
            _ => Merge::of(filters).build(),
        };
        let (filter, model) = match (result, foretold) {
            (Ok(filter), Ok((model, _))) => (filter, model),
            (Err(error), Err(refusal)) if Refusal::of(&error) == Some(refusal) => {
                return Ok((Outcome::MergeRefused, Effect::Nothing));
            }
            (result, foretold) => {
                let (result, foretold) = (result.map(|_| ()), foretold.map(|_| ()));
                return fail(format!("the result is {result:?}, not {foretold:?}"));
            }
        };
        self.same_contents(&filter, &model)?;
        for (i, key) in self.keys.iter().enumerate() {
            let any = (filters.iter()).any(|filter| filter.contains_hashed(&key.keyed()));
            if filter.contains_hashed(&key.keyed()) != any {
                return fail(format!("the answer for key {i} is not what one input said"));
            }
        }
        let ghosts = self.filter.ghosts() + other.filter.ghosts();
        expect("the ghosts of both", filter.ghosts(), ghosts)?;
        self.adopt(filter, model);
        self.members.extend(other.members);
        Ok((Outcome::Merge, Effect::More(None)))
    }

    /// The members in hash order.
    fn in_order(&self) -> Vec<usize> {
        let mut members: Vec<usize> = self.members.keys().copied().collect();
        members.sort_by_key(|&key| self.keys[key].words[0]);
        members
    }

    /// The digits of all members of a minirun.
    fn members_of(&self, minirun: u64) -> Vec<&[u64]> {
        let members = self.members.keys().copied();
        let here: Vec<usize> = members
            .filter(|&key| self.minirun(key) == minirun)
            .collect();
        digits(&self.keys, &here)
    }

    /// Goes on with the filter built anew from its keys: in the same geometry, at a multiple of
    /// the ids, or back where the game began.
    pub(super) fn rebuild(&mut self, key: usize) -> Step {
        let dice = self.dice(key);
        let now = self.setting;
        let mut target = now;
        match dice % 4 {
            _ if now != self.base => target = self.base,
            0 => {}
            1 => target.slots *= 2,
            2 => target.slots *= 3,
            _ => target.remainder_bits += 1,
        }
        let Ok(into) = builder(target).build() else {
            // Ids or slots of too many bits.
            return self.compare();
        };
        let mut order = self.in_order();
        if !order.is_empty() {
            // One of them twice, which makes no difference.
            let at = dice as usize % order.len();
            order.insert(at, order[at]);
        }
        let (old, new) = (now.geometry().ids(), into.geometry().ids());
        let (filter, report) = match self.filter.rebuild(into, self.owned(&order)) {
            Ok(done) => done,
            Err(Error::Full { .. }) if target != now => {
                return Ok((Outcome::ResizeRefused, Effect::Nothing));
            }
            // Keys that never met before may be the same but for their homes.
            Err(Error::Inseparable) if new % old != 0 => {
                return Ok((Outcome::ResizeRefused, Effect::Nothing));
            }
            Err(error) => return fail(format!("it can't be rebuilt: {error}")),
        };
        let kept = match self.model.rebuilt(|id| self.members_of(id)) {
            Ok(kept) => kept,
            Err(refusal) => return fail(format!("the model has lost a key: {refusal:?}")),
        };
        let members = self.members.len() as u64;
        let ghosts = self.model.ghosts();
        let stay = if old % new == 0 { ghosts } else { 0 };
        let learnt = match new % old {
            0 => Learnt::Everything,
            _ => Learnt::Extensions,
        };
        expect("what was kept", report.learnt, learnt)?;
        expect("members, one by one", report.members, members)?;
        expect("those with extensions", report.extended, kept.extended())?;
        expect("those that were not there", report.added, 0)?;
        let surplus = self.model.live() - members;
        expect("the surplus that went", report.dropped, surplus)?;
        expect("the ghosts that stayed", report.ghosts, stay)?;
        let gone = ghosts - stay;
        expect("the ghosts that went", report.ghosts_dropped, gone)?;
        if target == now && !kept.is_ambiguous() {
            self.same_contents(&filter, &kept)?;
        }
        let found = Model::of(&filter, now.value_bits);
        self.same_contents(&filter, &found)?;
        expect("the ghosts", found.ghosts(), stay)?;
        self.adopt(filter, found);
        self.is_right()?;
        if learnt == Learnt::Everything {
            Ok((Outcome::Rebuild, Effect::Less(None)))
        } else {
            Ok((Outcome::RebuildSmaller, Effect::Anything))
        }
    }

    /// Every member has a fingerprint of its own, nobody else has one, and no count or value
    /// is ambiguous.
    fn is_right(&self) -> Result<(), Stop> {
        let alone = match self.model.rebuilt(|id| self.members_of(id)) {
            Ok(alone) => alone,
            Err(_) => return fail("a member has no fingerprint"),
        };
        let members = self.members.len() as u64;
        expect("fingerprints with a key", alone.live(), members)?;
        expect("fingerprints", self.model.live(), members)?;
        expect("ambiguous", self.model.is_ambiguous(), false)
    }

    /// A bulk load of all members makes the filter that inserting them one by one makes.
    pub(super) fn bulk_load(&mut self) -> Step {
        let order = self.in_order();
        let mut model = Model::new(self.setting.geometry(), self.setting.value_bits);
        let mut foretold = Ok(());
        for (i, &key) in order.iter().enumerate() {
            let minirun = self.minirun(key);
            let before = order[..i].iter().copied();
            let near: Vec<usize> = before.filter(|&k| self.minirun(k) == minirun).collect();
            let (near, own) = (digits(&self.keys, &near), &self.keys[key].digits);
            let (count, value) = self.members[&key];
            let inserted = model.insert_with(minirun, own, count, value, &near);
            if let Err(refusal) = inserted {
                foretold = Err(refusal);
                break;
            }
        }
        let entries = order.iter().map(|key| {
            let (count, value) = self.members[key];
            (self.hashed(*key), count, value)
        });
        match (
            builder(self.setting).build_from_sorted_entries(entries),
            foretold,
        ) {
            (Ok(loaded), Ok(())) => {
                self.same_contents(&loaded, &model)?;
                for (&key, &member) in &self.members {
                    let entry = loaded.entry_hashed(&self.hashed(key));
                    let entry = entry.map(|entry| (entry.count, entry.value));
                    expect("a loaded entry", entry, Some(member))?;
                }
            }
            // One by one they are refused at some other figure.
            (Err(Error::Full { .. }), Err(Refusal::Full { .. })) => {}
            (result, foretold) => {
                let result = result.map(|_| ());
                return fail(format!("the result is {result:?}, not {foretold:?}"));
            }
        }
        Ok((Outcome::BulkLoad, Effect::Nothing))
    }

    /// A batch of insertions is insertions one by one, up to the first that is refused.
    pub(super) fn insert_batch(&mut self, key: usize) -> Step {
        let dice = self.dice(key);
        let (count, stride) = (1 + dice % 7, 1 + (dice >> 8) % 9);
        let place = |i| (key + (i * stride) as usize) % self.keys.len();
        let list: Vec<usize> = (0..count).map(place).collect();
        let mut foretold = (0, None);
        for &key in &list {
            let minirun = self.minirun(key);
            match self.model.insert(minirun, &self.keys[key].digits, 0) {
                Ok(_) => foretold.0 += 1,
                Err(refusal) => {
                    foretold.1 = Some(refusal);
                    break;
                }
            }
        }
        let keys = &self.keys;
        let batch = list.iter().map(|&key| &keys[key].bytes[..]);
        let result = match self.filter.insert_batch(batch) {
            Ok(()) => (count, None),
            Err(Interrupted { inserted, error }) => match Refusal::of(&error) {
                Some(refusal) => (inserted, Some(refusal)),
                None => return fail(format!("an error that must not happen: {error}")),
            },
        };
        expect("what came of a batch", result, foretold)?;
        for &key in &list[..foretold.0 as usize] {
            self.foretell(self.minirun(key));
            self.members.insert(key, (1, 0));
        }
        self.refusals += u64::from(matches!(foretold.1, Some(Refusal::Full { .. })));
        let outcome = match foretold.1 {
            None => Outcome::InsertBatch,
            Some(_) => Outcome::InsertBatchInterrupted,
        };
        Ok((outcome, Effect::More(None)))
    }

    /// Batches of questions are answered as foretold, in all four ways.
    pub(super) fn compare_batches(&self) -> Result<(), Stop> {
        let bytes: Vec<&[u8]> = self.keys.iter().map(|key| &key.bytes[..]).collect();
        let hashed: Vec<Hashed<'_>> = (0..self.keys.len()).map(|key| self.hashed(key)).collect();
        let answers: Vec<bool> = self.foretold.iter().map(Option::is_some).collect();
        let places = answers.iter().zip(&self.keys).map(|(&found, key)| {
            let minirun = Minirun::from_id(key.minirun);
            found.then_some(minirun)
        });
        let places: Vec<Option<Minirun>> = places.collect();
        let (found, by_hash) = (
            self.filter.contains_batch(&bytes),
            self.filter.contains_batch_hashed(&hashed),
        );
        expect("`contains_batch`", &found, &answers)?;
        expect("`contains_batch_hashed`", &by_hash, &answers)?;
        let (found, by_hash) = (
            self.filter.lookup_batch(&bytes),
            self.filter.lookup_batch_hashed(&hashed),
        );
        expect("`lookup_batch`", &found, &places)?;
        expect("`lookup_batch_hashed`", &by_hash, &places)
    }
}
