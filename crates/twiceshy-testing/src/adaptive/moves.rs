//! The moves of the game: one operation each, on the filter and on the model.

use std::fmt;

use super::game::{Effect, Game, Step};
use super::model::Refusal;
use super::outcomes::Outcome;
use super::universe::ChosenKey;
use crate::source::Source;
use crate::stop::{Stop, expect, fail};
use twiceshy::hash::Hashed;
use twiceshy::{Error, Inserted, Leave, Minirun, Removed};

impl Game {
    /// Is a result the one foretold?
    fn agree<T: PartialEq + fmt::Debug>(
        &mut self,
        result: Result<T, Error>,
        foretold: Result<T, Refusal>,
    ) -> Result<Result<T, Refusal>, Stop> {
        let result = match result {
            Ok(done) => Ok(done),
            Err(error) => match Refusal::of(&error) {
                Some(refusal) => Err(refusal),
                None => return fail(format!("an error that must not happen: {error}")),
            },
        };
        if matches!(result, Err(Refusal::Full { .. })) {
            self.refusals += 1;
        }
        if result == foretold {
            Ok(result)
        } else {
            fail(format!("the result is {result:?}, not {foretold:?}"))
        }
    }

    /// The model has changed in one minirun: what does it say now?
    pub(super) fn foretell(&mut self, minirun: u64) {
        for (key, foretold) in self.keys.iter().zip(&mut self.foretold) {
            if key.minirun == minirun {
                *foretold = self.model.entry(minirun, &key.digits);
            }
        }
        let prints = self.model.minirun(minirun);
        self.crowd = self.crowd.max(prints.len());
        let longest = prints.iter().map(|print| print.digits.len()).max();
        self.longest = self.longest.max(longest.unwrap_or(0));
    }

    /// The filter has taken `keys` for all of a minirun, so they are.
    fn enroll(&mut self, minirun: u64, keys: &[usize]) {
        let all = &self.keys;
        self.members
            .retain(|key, _| all[*key].minirun != minirun || keys.contains(key));
        for &key in keys {
            if !self.is_member(key) {
                let entry = self.foretold[key].expect("a key with a fingerprint matches it");
                self.members.insert(key, entry);
            }
        }
    }

    pub(super) fn insert(&mut self, key: usize) -> Step {
        self.last.key = Some(key);
        let minirun = self.minirun(key);
        let foretold = self.model.insert(minirun, &self.keys[key].digits, 0);
        // Half of the time by its bytes.
        let result = if self.steps % 2 == 0 {
            self.filter.insert(&self.keys[key].bytes[..])
        } else {
            let ChosenKey { words, .. } = &self.keys[key];
            self.filter.insert_hashed(&Hashed::from_words(words))
        };
        self.inserted(key, 0, result, foretold)
    }

    pub(super) fn insert_value(&mut self, key: usize, value: u64) -> Step {
        self.last.key = Some(key);
        let minirun = self.minirun(key);
        let foretold = self.model.insert(minirun, &self.keys[key].digits, value);
        let hashed = self.hashed(key).into_owned();
        let result = self.filter.insert_value(&hashed, value);
        self.inserted(key, value, result, foretold)
    }

    fn inserted(
        &mut self,
        key: usize,
        value: u64,
        result: Result<Inserted, Error>,
        foretold: Result<Inserted, Refusal>,
    ) -> Step {
        let outcome = match self.agree(result, foretold)? {
            Ok(Inserted::Present) => return fail("nobody said that it was present"),
            Ok(Inserted::New) if self.is_member(key) => Outcome::InsertSurplus,
            Ok(Inserted::New) => Outcome::Insert,
            Ok(Inserted::Revived) => Outcome::InsertRevived,
            Err(Refusal::Full { .. }) => return Ok((Outcome::InsertFull, Effect::Nothing)),
            Err(Refusal::NeedsKeys(_)) => return Ok((Outcome::InsertNeedsKeys, Effect::Nothing)),
            Err(_) => return Ok((Outcome::InsertImpossible, Effect::Nothing)),
        };
        self.foretell(self.minirun(key));
        self.members.insert(key, (1, value));
        Ok((outcome, Effect::More(Some(key))))
    }

    pub(super) fn insert_with(&mut self, key: usize, source: &mut Source<'_>) -> Step {
        self.last.key = Some(key);
        let count = match source.below(16)? {
            0 => 0,
            count @ 1..6 if self.counts => count,
            6 if self.counts => 1 << self.setting.remainder_bits,
            7 if self.counts => u64::MAX,
            8 if self.counts => 255,
            _ => 1,
        };
        let highest = (1 << self.setting.value_bits) - 1;
        let value = match source.below(16)? {
            15 => highest + 1,
            value => value & highest,
        };
        let minirun = self.minirun(key);
        let mut list = self.list(minirun, source)?;
        if self.steps % 4 != 0 {
            list.retain(|&other| other != key);
        }
        let set = self
            .model
            .check_carried(count, value)
            .and_then(|()| self.as_set(minirun, &list));
        let foretold = match &set {
            Err(refusal) => Err(*refusal),
            Ok(set) if set.contains(&key) => Ok(Inserted::Present),
            Ok(set) => {
                let keys = digits(&self.keys, set);
                let digits = &self.keys[key].digits;
                self.model.insert_with(minirun, digits, count, value, &keys)
            }
        };
        let hashed: Vec<Hashed<'static>> = self.owned(&list);
        let of_key = self.hashed(key).into_owned();
        let result = self.filter.insert_with(&of_key, count, value, &hashed);
        let outcome = match self.agree(result, foretold)? {
            Ok(Inserted::Present) => return Ok((Outcome::InsertWithPresent, Effect::Nothing)),
            Ok(Inserted::New) => Outcome::InsertWith,
            Ok(Inserted::Revived) => Outcome::InsertWithRevived,
            Err(refusal) => {
                let outcome = match refusal {
                    Refusal::Full { .. } => Outcome::InsertWithFull,
                    Refusal::Inseparable => Outcome::InsertWithInseparable,
                    Refusal::Geometry => Outcome::InsertImpossible,
                    _ => Outcome::InsertWithMismatch,
                };
                return Ok((outcome, Effect::Nothing));
            }
        };
        self.foretell(minirun);
        // A key that was a member but not in the list has lost what it had.
        self.members.remove(&key);
        self.members.insert(key, (count, value));
        let mut set = set.expect("it was accepted");
        set.push(key);
        self.enroll(minirun, &set);
        Ok((outcome, Effect::Anything))
    }

    pub(super) fn owned(&self, list: &[usize]) -> Vec<Hashed<'static>> {
        list.iter()
            .map(|&key| self.hashed(key).into_owned())
            .collect()
    }

    pub(super) fn adapt(&mut self, query: usize, source: &mut Source<'_>) -> Step {
        self.last.key = Some(query);
        // Now and then the wrong minirun.
        let minirun = match source.below(32)? {
            0 => self.minirun(self.steps % self.keys.len()),
            _ => self.minirun(query),
        };
        let list = self.list(minirun, source)?;
        let set = if minirun == self.minirun(query) {
            self.as_set(minirun, &list)
        } else {
            Err(Refusal::Mismatch)
        };
        let set = set.and_then(|set| match set.contains(&query) {
            true => Err(Refusal::Mismatch),
            false => Ok(set),
        });
        let foretold = set.clone().and_then(|set| {
            let keys = digits(&self.keys, &set);
            self.model.adapt(minirun, &self.keys[query].digits, &keys)
        });
        let hashed = self.owned(&list);
        let of_query = self.hashed(query).into_owned();
        let result = self
            .filter
            .adapt(&of_query, Minirun::from_id(minirun), &hashed);
        let result = result.map(|adapted| (adapted.extended, adapted.dropped));
        let outcome = match self.agree(result, foretold)? {
            Ok((0, 0)) => Outcome::AdaptNothing,
            Ok((_, 1..)) => Outcome::AdaptDropped,
            Ok((1, _)) => Outcome::Adapt,
            Ok(_) => Outcome::AdaptSeveral,
            Err(refusal) => {
                let outcome = match refusal {
                    Refusal::Full { .. } => Outcome::AdaptFull,
                    Refusal::Inseparable => Outcome::AdaptInseparable,
                    _ if list.contains(&query) => Outcome::AdaptMember,
                    _ => Outcome::AdaptMismatch,
                };
                return Ok((outcome, Effect::Nothing));
            }
        };
        self.foretell(minirun);
        let set = set.expect("it was accepted");
        self.enroll(minirun, &set);
        Ok((outcome, Effect::Less(Some(query))))
    }

    pub(super) fn remove(&mut self, key: usize, source: &mut Source<'_>) -> Step {
        self.last.key = Some(key);
        let leave = source.pick(&[Leave::Nothing, Leave::Ghost])?;
        let minirun = self.minirun(key);
        let list = self.list(minirun, source)?;
        let set = self.as_set(minirun, &list);
        let foretold = set.clone().and_then(|set| {
            let removed = set.iter().position(|&other| other == key);
            let keys = digits(&self.keys, &set);
            let removed = removed.ok_or(Refusal::Mismatch)?;
            self.model.remove(minirun, removed, &keys, leave)
        });
        let hashed = self.owned(&list);
        let of_key = self.hashed(key).into_owned();
        let result = self.filter.remove(&of_key, &hashed, leave);
        let outcome = match self.agree(result, foretold)? {
            Ok(()) if leave == Leave::Ghost => Outcome::RemoveToGhost,
            Ok(()) => Outcome::Remove,
            Err(Refusal::Full { .. }) => return Ok((Outcome::RemoveFull, Effect::Nothing)),
            Err(_) => return Ok((Outcome::RemoveMismatch, Effect::Nothing)),
        };
        self.foretell(minirun);
        let mut set = set.expect("it was accepted");
        set.retain(|&other| other != key);
        self.enroll(minirun, &set);
        Ok((outcome, Effect::Less(None)))
    }

    pub(super) fn remove_known(&mut self, key: usize) -> Step {
        self.last.key = Some(key);
        let minirun = self.minirun(key);
        let digits = &self.keys[key].digits;
        let mut model = self.model.clone();
        let foretold = model.remove_known(minirun, digits);
        if foretold == Ok(Removed::One) && !self.is_member(key) {
            // It would take another's: its name is its warning.
            return self.ask(key);
        }
        self.model = model;
        let result = if self.steps % 2 == 0 {
            self.filter.remove_known_member(&self.keys[key].bytes[..])
        } else {
            let hashed = self.hashed(key).into_owned();
            self.filter.remove_known_member_hashed(&hashed)
        };
        let outcome = match self.agree(result, foretold)? {
            Ok(Removed::One) => Outcome::RemoveKnown,
            Ok(Removed::NotFound) => return Ok((Outcome::RemoveKnownNotFound, Effect::Nothing)),
            Err(_) => return Ok((Outcome::RemoveKnownNeedsKeys, Effect::Nothing)),
        };
        self.foretell(minirun);
        self.members.remove(&key);
        // Others of the minirun may be like the one that is gone.
        let gone = self.foretold[key].is_none().then_some(key);
        Ok((outcome, Effect::Less(gone)))
    }

    pub(super) fn shorten(&mut self, key: usize, source: &mut Source<'_>) -> Step {
        self.last.key = Some(key);
        let minirun = self.minirun(key);
        let list = self.list(minirun, source)?;
        // Every so many keys from some place on, members hardly ever among them.
        let (every, from) = (1 + source.below(5)? as usize, source.below(8)? as usize);
        let all = (0..self.keys.len()).skip(from).step_by(every);
        let keep = |&other: &usize| self.steps % 16 == 0 || !self.is_member(other);
        let against: Vec<usize> = all.filter(keep).collect();
        let set = self.as_set(minirun, &list);
        let near: Vec<usize> = against
            .iter()
            .copied()
            .filter(|&other| self.minirun(other) == minirun)
            .collect();
        let foretold = set.clone().and_then(|set| {
            if near.iter().any(|other| set.contains(other)) {
                return Err(Refusal::Mismatch);
            }
            let keys = digits(&self.keys, &set);
            let near = digits(&self.keys, &near);
            self.model.shorten(minirun, &keys, &near)
        });
        let used = self.filter.load();
        let result = {
            let hashed = self.owned(&list);
            let against = self.owned(&against);
            self.filter
                .shorten(Minirun::from_id(minirun), &hashed, &against)
        };
        let outcome = match self.agree(result, foretold)? {
            Ok(()) if self.filter.load() < used => Outcome::Shorten,
            Ok(()) => Outcome::ShortenNothing,
            Err(Refusal::Inseparable) => return Ok((Outcome::ShortenInseparable, Effect::Nothing)),
            Err(_) => return Ok((Outcome::ShortenMismatch, Effect::Nothing)),
        };
        self.foretell(minirun);
        let set = set.expect("it was accepted");
        self.enroll(minirun, &set);
        for other in near {
            // What was told apart stays told apart.
            let now = self.filter.contains_hashed(&self.hashed(other));
            if now && !self.found[other] {
                return fail(format!("key {other} was to be told apart and no longer is"));
            }
        }
        // Surplus may have been dropped, which takes away.
        Ok((outcome, Effect::Anything))
    }

    pub(super) fn ask(&mut self, key: usize) -> Step {
        self.last.key = Some(key);
        self.look_closely(key)?;
        let outcome = match self.foretold[key] {
            Some(_) => Outcome::Contains,
            None => Outcome::ContainsNot,
        };
        Ok((outcome, Effect::Nothing))
    }

    pub(super) fn compare(&self) -> Step {
        for key in 0..self.keys.len() {
            self.look_closely(key)?;
        }
        self.compare_batches()?;
        let stats = self.filter.stats();
        expect("`Stats::items`", stats.items, self.model.live())?;
        Ok((Outcome::Compare, Effect::Nothing))
    }

    /// Goes on with a copy; what happens to the original does not matter to it.
    pub(super) fn change_over(&mut self, key: usize) -> Step {
        let copy = self.filter.clone();
        let _ = self.filter.insert_hashed(&self.keys[key].stream());
        self.filter.clear();
        self.filter = copy;
        Ok((Outcome::Clone, Effect::Nothing))
    }

    pub(super) fn clear(&mut self) -> Step {
        self.filter.clear();
        self.model.clear();
        self.members.clear();
        self.foretold.fill(None);
        Ok((Outcome::Clear, Effect::Less(None)))
    }
}

pub(super) fn digits<'k>(keys: &'k [ChosenKey], chosen: &[usize]) -> Vec<&'k [u64]> {
    chosen.iter().map(|&key| &keys[key].digits[..]).collect()
}
