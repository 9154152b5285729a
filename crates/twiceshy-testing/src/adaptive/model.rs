//! The adaptive filter as lists: what it must hold and answer, computed the slow way.
//!
//! Nothing here knows that prefixes are nested or disjoint. Fingerprints are paired with
//! keys by augmenting paths, as in any bipartite graph, and what is kept of them is the
//! definition: the longest ones for which a pairing with all keys exists.

mod union;

use std::collections::BTreeMap;

pub use self::union::Cut;
use twiceshy::sizing::spare_slots;
use twiceshy::{Error, Geometry, Inserted, Leave, Removed};

/// A stored fingerprint without its home. In the order of the table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stored {
    /// The extension.
    pub digits: Vec<u64>,
    /// The value.
    pub value: u64,
    /// The count; zero for a ghost.
    pub count: u64,
}

impl Stored {
    fn is_ghost(&self) -> bool {
        self.count == 0
    }

    fn starts(&self, key: &[u64]) -> bool {
        key.starts_with(&self.digits)
    }

    /// A home slot, a slot a digit, and the digits of a count that is not one.
    fn slots(&self, width: u32) -> u64 {
        let counter = match self.count {
            0 => 1,
            1 => 0,
            count => u64::from((64 - count.leading_zeros()).div_ceil(width)),
        };
        1 + self.digits.len() as u64 + counter
    }

    /// Appends digits of `own` until this is no prefix of `other`.
    fn part(&mut self, own: &[u64], other: &[u64]) -> Result<(), Refusal> {
        while self.starts(other) {
            let next = own.get(self.digits.len()).ok_or(Refusal::Inseparable)?;
            self.digits.push(*next);
        }
        Ok(())
    }
}

/// The errors of a filter that can be foretold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// [`Error::Full`] with these figures.
    Full {
        /// Used slots.
        used: u64,
        /// All slots.
        slots: u64,
    },
    /// [`Error::Mismatch`].
    Mismatch,
    /// [`Error::NeedsKeys`] with this minirun.
    NeedsKeys(u64),
    /// [`Error::Inseparable`].
    Inseparable,
    /// [`Error::Geometry`].
    Geometry,
    /// [`Error::Merge`].
    Merge,
}

impl Refusal {
    /// What an error is to the model; `None` if it must not happen.
    #[must_use]
    pub fn of(error: &Error) -> Option<Self> {
        Some(match *error {
            Error::Full { used, slots } => Refusal::Full { used, slots },
            Error::Mismatch { .. } => Refusal::Mismatch,
            Error::NeedsKeys { minirun } => Refusal::NeedsKeys(minirun.id()),
            Error::Inseparable => Refusal::Inseparable,
            Error::Geometry { .. } => Refusal::Geometry,
            Error::Merge { .. } => Refusal::Merge,
            _ => return None,
        })
    }
}

/// Fingerprints that were lengthened and dropped by an adaptation.
pub type Changes = (u64, u64);

/// All fingerprints of a filter, by minirun.
#[derive(Clone, Debug)]
pub struct Model {
    geometry: Geometry,
    value_bits: u32,
    width: u32,
    miniruns: BTreeMap<u64, Vec<Stored>>,
    /// Used slots of each quotient.
    used: BTreeMap<u64, u64>,
}

impl Model {
    /// An empty filter.
    #[must_use]
    pub fn new(geometry: Geometry, value_bits: u32) -> Self {
        Model {
            geometry,
            value_bits,
            width: geometry.remainder_bits() + value_bits,
            miniruns: BTreeMap::new(),
            used: BTreeMap::new(),
        }
    }

    /// The fingerprints of a minirun, in order.
    #[must_use]
    pub fn minirun(&self, id: u64) -> &[Stored] {
        self.miniruns.get(&id).map_or(&[], Vec::as_slice)
    }

    /// Count and value of the first fingerprint that matches a key.
    #[must_use]
    pub fn entry(&self, minirun: u64, key: &[u64]) -> Option<(u64, u64)> {
        let mut prints = self.minirun(minirun).iter();
        let first = prints.find(|print| !print.is_ghost() && print.starts(key))?;
        Some((first.count, first.value))
    }

    /// Live fingerprints.
    #[must_use]
    pub fn live(&self) -> u64 {
        self.count(|print| !print.is_ghost())
    }

    /// Ghosts.
    #[must_use]
    pub fn ghosts(&self) -> u64 {
        self.count(Stored::is_ghost)
    }

    fn count(&self, kind: impl Fn(&Stored) -> bool) -> u64 {
        let all = self.miniruns.values().flatten();
        all.filter(|print| kind(print)).count() as u64
    }

    /// Used slots.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.used.values().sum()
    }

    /// All slots.
    #[must_use]
    pub fn slots(&self) -> u64 {
        let quotients = self.geometry.slots();
        (quotients + spare_slots(quotients)).next_multiple_of(64)
    }

    /// Removes everything.
    pub fn clear(&mut self) {
        self.miniruns.clear();
        self.used.clear();
    }

    /// Replaces a minirun, if the last run still ends inside the table.
    fn commit(&mut self, id: u64, mut prints: Vec<Stored>) -> Result<(), Refusal> {
        let slots = |prints: &[Stored]| prints.iter().map(|p| p.slots(self.width)).sum::<u64>();
        let quotient = self.geometry.fingerprint_of(id).quotient;
        let (before, after) = (slots(self.minirun(id)), slots(&prints));
        let mut used = self.used.clone();
        let of_quotient = used.entry(quotient).or_default();
        *of_quotient = *of_quotient - before + after;
        if *of_quotient == 0 {
            used.remove(&quotient);
        }
        let end = used
            .iter()
            .fold(0, |end, (&quotient, used)| quotient.max(end) + used);
        if after > before && end > self.slots() {
            return Err(Refusal::Full {
                used: self.used(),
                slots: self.slots(),
            });
        }
        prints.sort();
        self.used = used;
        if prints.is_empty() {
            self.miniruns.remove(&id);
        } else {
            self.miniruns.insert(id, prints);
        }
        Ok(())
    }

    fn check_value(&self, value: u64) -> Result<(), Refusal> {
        let fits = value < 1 << self.value_bits;
        if fits { Ok(()) } else { Err(Refusal::Geometry) }
    }

    /// Adds a key without looking at others.
    ///
    /// # Errors
    /// As the filter.
    pub fn insert(&mut self, id: u64, key: &[u64], value: u64) -> Result<Inserted, Refusal> {
        self.check_value(value)?;
        let mut prints = self.minirun(id).to_vec();
        let carries = |print: &Stored| {
            let valued = self.value_bits > 0 && !print.is_ghost();
            valued || print.count > 1
        };
        if prints.iter().any(carries) {
            return Err(Refusal::NeedsKeys(id));
        }
        let ghost = longest(&prints, |print| print.is_ghost() && print.starts(key));
        let digits = match ghost {
            Some(ghost) => prints.remove(ghost).digits,
            None => vec![],
        };
        #[rustfmt::skip]
        prints.push(Stored { digits, value, count: 1 });
        self.commit(id, prints)?;
        Ok(insertion(ghost))
    }

    /// Adds a key that is none of `keys`, and tells apart what must be.
    ///
    /// # Errors
    /// As the filter.
    pub fn insert_with(
        &mut self,
        id: u64,
        key: &[u64],
        count: u64,
        value: u64,
        keys: &[&[u64]],
    ) -> Result<Inserted, Refusal> {
        let (mut kept, ghosts) = self.paired(id, keys)?;
        let mut ghosts: Vec<Stored> = ghosts;
        let ghost = longest(&ghosts, |print| print.starts(key));
        let digits = ghost.map_or(vec![], |ghost| ghosts.remove(ghost).digits);
        #[rustfmt::skip]
        let mut new = Stored { digits, value, count };
        for (print, own) in &mut kept {
            if must_part(print, &new) {
                print.part(own, key)?;
                new.part(key, own)?;
            }
        }
        let mut after: Vec<Stored> = kept.into_iter().map(|(print, _)| print).collect();
        after.extend(ghosts);
        after.push(new);
        self.commit(id, after)?;
        Ok(insertion(ghost))
    }

    /// What [`insert_with`](Self::insert_with) checks before it looks at keys.
    ///
    /// # Errors
    /// As the filter.
    pub fn check_carried(&self, count: u64, value: u64) -> Result<(), Refusal> {
        self.check_value(value)?;
        if count == 0 {
            Err(Refusal::Geometry)
        } else {
            Ok(())
        }
    }

    /// Fixes a query that is none of `keys`.
    ///
    /// # Errors
    /// As the filter.
    pub fn adapt(&mut self, id: u64, query: &[u64], keys: &[&[u64]]) -> Result<Changes, Refusal> {
        let (kept, ghosts) = self.paired(id, keys)?;
        let dropped = (self.minirun(id).len() - kept.len() - ghosts.len()) as u64;
        let mut extended = 0;
        let mut after = ghosts;
        for (mut print, own) in kept {
            extended += u64::from(print.starts(query));
            print.part(own, query)?;
            after.push(print);
        }
        if (extended, dropped) != (0, 0) {
            self.commit(id, after)?;
        }
        Ok((extended, dropped))
    }

    /// Removes one of `keys`.
    ///
    /// # Errors
    /// As the filter.
    pub fn remove(
        &mut self,
        id: u64,
        removed: usize,
        keys: &[&[u64]],
        leave: Leave,
    ) -> Result<(), Refusal> {
        self.paired(id, keys)?;
        let mut others = keys.to_vec();
        let key = others.remove(removed);
        let (kept, mut after) = self.paired(id, &others)?;
        let mut left = self.minirun(id).to_vec();
        left.retain(|print| !print.is_ghost());
        for (print, _) in kept {
            let at = left.iter().position(|other| *other == print);
            left.remove(at.expect("what is kept was there"));
            after.push(print);
        }
        if leave == Leave::Ghost {
            let ghost = longest(&left, |print| print.starts(key));
            let mut ghost = left.remove(ghost.expect("the removed key had one"));
            ghost.count = 0;
            after.push(ghost);
        }
        self.commit(id, after)
    }

    /// Removes the one fingerprint that a key starts with, or one of several if they are alike.
    ///
    /// # Errors
    /// As the filter.
    pub fn remove_known(&mut self, id: u64, key: &[u64]) -> Result<Removed, Refusal> {
        let matches = |print: &Stored| !print.is_ghost() && print.starts(key);
        let (mut matching, mut after): (Vec<_>, Vec<_>) =
            self.minirun(id).iter().cloned().partition(matches);
        let Some(gone) = matching.pop() else {
            return Ok(Removed::NotFound);
        };
        if matching.iter().any(|print| *print != gone) {
            return Err(Refusal::NeedsKeys(id));
        }
        after.append(&mut matching);
        self.commit(id, after)?;
        Ok(Removed::One)
    }

    /// Drops digits that are needed neither against `against`, none of which is one of
    /// `keys`, nor to keep apart what must be.
    ///
    /// # Errors
    /// As the filter.
    pub fn shorten(&mut self, id: u64, keys: &[&[u64]], against: &[&[u64]]) -> Result<(), Refusal> {
        let (kept, mut after) = self.paired(id, keys)?;
        if keys.iter().any(|key| against.contains(key)) {
            return Err(Refusal::Inseparable);
        }
        for (i, (print, _)) in kept.iter().enumerate() {
            let apart = kept
                .iter()
                .enumerate()
                .filter(|(j, (other, _))| *j != i && must_part(print, other));
            let others = apart
                .map(|(_, (_, own))| *own)
                .chain(against.iter().copied());
            let others: Vec<&[u64]> = others.collect();
            // The shortest start of it that matches none that the whole does not match;
            // but if the whole matches one of them, nothing is dropped.
            let mut short = Stored {
                digits: vec![],
                ..print.clone()
            };
            if others.iter().any(|other| print.starts(other)) {
                short = print.clone();
            }
            for &digit in &print.digits[short.digits.len()..] {
                if !others.iter().any(|other| short.starts(other)) {
                    break;
                }
                short.digits.push(digit);
            }
            after.push(short);
        }
        self.commit(id, after)
    }

    /// The live fingerprints that have a key, each with it, and the ghosts.
    #[expect(
        clippy::type_complexity,
        reason = "two lists, named where they are used"
    )]
    fn paired<'k>(
        &self,
        id: u64,
        keys: &[&'k [u64]],
    ) -> Result<(Vec<(Stored, &'k [u64])>, Vec<Stored>), Refusal> {
        let (ghosts, mut live): (Vec<_>, Vec<_>) =
            self.minirun(id).iter().cloned().partition(Stored::is_ghost);
        live.sort_by_key(|print| std::cmp::Reverse(print.digits.len()));
        let mut paths = Paths {
            prints: &live,
            keys,
            print_of: vec![None; keys.len()],
        };
        for print in 0..live.len() {
            paths.augment(print, &mut vec![false; keys.len()]);
        }
        let mut kept = vec![];
        for (print, &key) in paths.print_of.iter().zip(keys) {
            kept.push((live[print.ok_or(Refusal::Mismatch)?].clone(), key));
        }
        Ok((kept, ghosts))
    }
}

/// A matching of fingerprints and keys, in the making.
struct Paths<'m, 'k> {
    prints: &'m [Stored],
    keys: &'m [&'k [u64]],
    print_of: Vec<Option<usize>>,
}

impl Paths<'_, '_> {
    /// Gives a fingerprint a key; others may have to change theirs. A fingerprint that has
    /// a key keeps one.
    fn augment(&mut self, print: usize, seen: &mut [bool]) -> bool {
        for key in (0..self.keys.len()).rev() {
            if seen[key] || !self.prints[print].starts(self.keys[key]) {
                continue;
            }
            seen[key] = true;
            let free = match self.print_of[key] {
                None => true,
                Some(other) => self.augment(other, seen),
            };
            if free {
                self.print_of[key] = Some(print);
                return true;
            }
        }
        false
    }
}

fn insertion(ghost: Option<usize>) -> Inserted {
    match ghost {
        Some(_) => Inserted::Revived,
        None => Inserted::New,
    }
}

fn must_part(a: &Stored, b: &Stored) -> bool {
    a.value != b.value || a.count > 1 || b.count > 1
}

fn longest(prints: &[Stored], which: impl Fn(&Stored) -> bool) -> Option<usize> {
    let all = (0..prints.len()).filter(|&i| which(&prints[i]));
    all.max_by_key(|&i| prints[i].digits.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Source;

    /// The lengths, longest first, of the best choice of fingerprints that all keys can be
    /// paired with; tries every pairing.
    fn best(prints: &[Stored], keys: &[&[u64]]) -> Option<Vec<usize>> {
        let Some((key, others)) = keys.split_first() else {
            return Some(vec![]);
        };
        let mut found: Option<Vec<usize>> = None;
        for (i, print) in prints.iter().enumerate() {
            if print.is_ghost() || !print.starts(key) {
                continue;
            }
            let rest = [&prints[..i], &prints[i + 1..]].concat();
            if let Some(mut lengths) = best(&rest, others) {
                lengths.push(print.digits.len());
                lengths.sort_by_key(|&length| std::cmp::Reverse(length));
                found = found.max(Some(lengths));
            }
        }
        found
    }

    #[test]
    fn pairings_are_the_best_of_all() {
        let geometry = Geometry::new(10, 4).unwrap();
        let source = &mut Source::from_seed(1);
        let (mut some, mut none) = (0, 0);
        for _ in 0..20_000 {
            let mut digits = |longest: u64| -> Vec<u64> {
                let length = source.below(longest + 1).unwrap();
                (0..length).map(|_| source.below(2).unwrap()).collect()
            };
            let mut prints: Vec<Stored> = (0..5)
                .map(|_| Stored {
                    digits: digits(3),
                    value: 0,
                    count: 1,
                })
                .collect();
            let keys: Vec<Vec<u64>> = (0..4)
                .map(|_| [digits(4), vec![0; 4]].concat()[..4].to_vec())
                .collect();
            prints[0].count = source.below(2).unwrap();
            prints.truncate(1 + source.below(5).unwrap() as usize);
            let keys: Vec<&[u64]> = keys.iter().map(|key| &key[..]).collect();
            let keys = &keys[..source.below(5).unwrap() as usize];
            let mut model = Model::new(geometry, 0);
            model.commit(3, prints.clone()).unwrap();
            let lengths = model.paired(3, keys).ok().map(|(kept, ghosts)| {
                assert!(kept.iter().all(|(print, key)| print.starts(key)));
                assert_eq!(ghosts.len() as u64, model.ghosts());
                let mut lengths: Vec<_> = kept.iter().map(|kept| kept.0.digits.len()).collect();
                lengths.sort_by_key(|&length| std::cmp::Reverse(length));
                lengths
            });
            assert_eq!(lengths, best(&prints, keys), "{prints:?} {keys:?}");
            match lengths {
                Some(_) => some += 1,
                None => none += 1,
            }
        }
        assert!(some > 3_000 && none > 3_000, "{some} {none}");
    }
}
