//! What filters do with a table, against a list of runs, with every set of instructions.
//!
//! The runs are sorted. After each verb every table must be, to the byte, what a
//! [`Writer`] makes of the list: that one moves nothing.

use super::model::{Lane, Made, Model, Random, Stored, Tag, Unended};
use super::{PLACES, Quotients, Where, bytes, options, share, written};
use crate::bits::{Cpu, mask_below};
use crate::error::Error;
use crate::table::*;

/// A change to a table.
#[derive(Clone, Debug)]
enum Verb {
    Insert(Fingerprint),
    Extend(Fingerprint, Slot<Tag>),
    /// If there are so many.
    Remove(Fingerprint, Option<u32>),
    /// So many slots of the run from so many behind its start on are replaced.
    Replace(u64, u64, u64, Vec<Slot<Tag>>),
}

/// What a table says to it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Said {
    Put(Put),
    Extended(bool),
    Taken(Taken),
    Replaced(Result<(), Error>),
}

impl Verb {
    fn apply<S: Made>(&self, table: &mut Table<S>) -> Said {
        match *self {
            Verb::Insert(to) => Said::Put(table.insert(to)),
            Verb::Extend(to, digit) => Said::Extended(table.extend(to, digit)),
            Verb::Remove(from, None) => Said::Taken(table.remove_any(from)),
            Verb::Remove(from, Some(count)) => Said::Taken(table.remove_one_of(from, count)),
            Verb::Replace(quotient, from, count, ref new) => {
                let run = table.run(quotient);
                let old = run.start + from..run.start + from + count;
                Said::Replaced(table.replace(run, old, new))
            }
        }
    }
}

/// Tables, one for each set of instructions, and their model.
struct Play<S: Made> {
    tables: Vec<(Cpu, Table<S>)>,
    model: Model,
    options: TableOptions,
    random: Random,
    quotients: Quotients,
    /// How often slots were refused, counters were in the way, fingerprints of one slot were removed, or
    /// were not because there were more or fewer, and fingerprints were extended.
    full: u64,
    counted: u64,
    removed: u64,
    unclear: u64,
    extended: u64,
}

impl<S: Made> Play<S> {
    fn new(options: TableOptions, place: Where, seed: u64) -> Self {
        let mut random = Random(seed);
        let quotients = Quotients::new(options.quotients, place, &mut random);
        let table = |cpu| (cpu, Table::new(options).unwrap().with_cpu(cpu));
        Play {
            tables: Cpu::all().into_iter().map(table).collect(),
            model: Model::new(options.quotients),
            options,
            random,
            quotients,
            full: 0,
            counted: 0,
            removed: 0,
            unclear: 0,
            extended: 0,
        }
    }

    /// Does it in every table; all say the same.
    fn apply(&mut self, verb: &Verb) -> Said {
        let mut said = None;
        for (cpu, table) in &mut self.tables {
            let this = verb.apply(table);
            let said = said.get_or_insert_with(|| this.clone());
            assert_eq!(*said, this, "{cpu:?}, {verb:?}");
        }
        said.expect("there are instructions")
    }

    /// Is every table what the model says?
    fn check(&self, verb: &Verb) {
        let expected = written::<S>(&self.model, self.options).unwrap();
        for (cpu, table) in &self.tables {
            assert!(bytes(table) == bytes(&expected), "{cpu:?}, {verb:?}");
            assert_eq!(table.used(), self.model.used(), "{cpu:?}, {verb:?}");
        }
    }

    /// A fingerprint, one that is there in most cases if `known`.
    fn fingerprint(&mut self, known: bool) -> Fingerprint {
        let quotient = self.quotients.next(&mut self.random);
        let bits = self.options.slot_bits - self.options.ignored_bits;
        // Some miniruns are long.
        let mut remainder = self.random.word() & mask_below(bits);
        if self.random.one_in(3) {
            remainder &= 3;
        }
        let run = &self.model.runs[quotient as usize];
        if known && !run.is_empty() && !self.random.one_in(8) {
            let i = self.random.below(run.len() as u64) as usize;
            remainder = run[i].home.0 >> self.options.ignored_bits;
        }
        Fingerprint {
            quotient,
            remainder,
        }
    }

    /// Which fingerprints of the run are the minirun.
    fn minirun(&self, fingerprint: Fingerprint) -> std::ops::Range<usize> {
        let run = &self.model.runs[fingerprint.quotient as usize];
        let remainder = |one: &Stored| one.home.0 >> self.options.ignored_bits;
        let start = run.partition_point(|one| remainder(one) < fingerprint.remainder);
        let end = run.partition_point(|one| remainder(one) <= fingerprint.remainder);
        start..end
    }

    /// Are so many slots free behind a run?
    fn has_room(&self, quotient: u64, count: u64) -> bool {
        let layout = self.model.layout(self.tables[0].1.slots());
        let behind = &layout.slots[layout.runs[quotient as usize].end as usize..];
        behind.iter().filter(|slot| slot.is_none()).count() as u64 >= count
    }

    fn insert(&mut self) {
        let fingerprint = self.fingerprint(false);
        let minirun = self.minirun(fingerprint);
        if self.options.ignored_bits > 0 || S::TAGGED && !minirun.is_empty() {
            // Where equal slots are not alike, it matters which comes first.
            return self.replace();
        }
        let quotient = fingerprint.quotient;
        let has_room = self.has_room(quotient, 1);
        let run = &mut self.model.runs[quotient as usize];
        let mut tails = run[minirun.clone()].iter().flat_map(|one| &one.tail);
        let expected = if tails.any(|digit| digit.runend) {
            self.counted += 1;
            Put::Counted
        } else if has_room {
            let home = (fingerprint.remainder, Tag::default());
            let tail = Vec::new();
            run.insert(minirun.start, Stored { home, tail });
            Put::Done
        } else {
            self.full += 1;
            Put::Full
        };
        let verb = Verb::Insert(fingerprint);
        assert_eq!(self.apply(&verb), Said::Put(expected), "{verb:?}");
        self.check(&verb);
    }

    fn extend(&mut self) {
        if !S::MARKS {
            return;
        }
        let fingerprint = self.fingerprint(true);
        let digit = self.digit();
        let minirun = self.minirun(fingerprint);
        let has_room = self.has_room(fingerprint.quotient, 1);
        let run = &mut self.model.runs[fingerprint.quotient as usize];
        let can = has_room && minirun.len() == 1 && run[minirun.start].tail.is_empty();
        if can {
            run[minirun.start].tail.push(digit);
            self.extended += 1;
        }
        let verb = Verb::Extend(fingerprint, digit);
        assert_eq!(self.apply(&verb), Said::Extended(can), "{verb:?}");
        self.check(&verb);
    }

    fn remove(&mut self) {
        let fingerprint = self.fingerprint(true);
        let minirun = self.minirun(fingerprint);
        let count = minirun.len() as u32;
        let of = match self.random.below(4) {
            0 => None,
            1 => Some(1 + self.random.below(3) as u32),
            _ => Some(count.max(1)),
        };
        let run = &mut self.model.runs[fingerprint.quotient as usize];
        let any_longer = run[minirun.clone()].iter().any(|one| !one.tail.is_empty());
        let expected = if minirun.is_empty() {
            Taken::NotFound
        } else if any_longer || of.is_some_and(|of| of != count) {
            self.unclear += 1;
            Taken::Unclear
        } else {
            run.remove(minirun.start);
            self.removed += 1;
            Taken::One
        };
        let verb = Verb::Remove(fingerprint, of);
        assert_eq!(self.apply(&verb), Said::Taken(expected), "{verb:?}");
        self.check(&verb);
    }

    /// What goes behind another slot of a fingerprint.
    fn digit(&mut self) -> Slot<Tag> {
        let word = self.random.word();
        Slot {
            value: word & mask_below(self.options.slot_bits),
            runend: S::MARKED_RUNENDS && word >> 61 == 0,
            item: S::item(Mark::GoesOn, word),
        }
    }

    /// Fingerprints of a minirun, those of one slot first.
    fn prints(&mut self, remainder: u64, most: u64) -> Vec<Stored> {
        let count = self.random.below(most + 1);
        let mut prints = Vec::new();
        for _ in 0..count {
            let ignored = self.random.word() & mask_below(self.options.ignored_bits);
            let value = remainder << self.options.ignored_bits | ignored;
            let item = S::item(Mark::Last, self.random.word());
            let digits = match S::MARKS {
                true => self.random.below(12).saturating_sub(8),
                false => 0,
            };
            let tail = (0..digits).map(|_| self.digit()).collect();
            let home = (value, item);
            prints.push(Stored { home, tail });
        }
        prints.sort_by_key(|one| !one.tail.is_empty());
        prints
    }

    /// Replaces a minirun, or a whole run, by other fingerprints.
    fn replace(&mut self) {
        let known = self.random.one_in(2);
        let fingerprint = self.fingerprint(known);
        let quotient = fingerprint.quotient;
        let (old, new) = if self.random.one_in(12) {
            let bits = self.options.slot_bits - self.options.ignored_bits;
            let most = 1 << self.random.below(6);
            let mut new = Vec::new();
            for remainder in [0, 1, 2, 3, mask_below(bits)] {
                if remainder <= mask_below(bits) && (remainder < mask_below(bits) || bits > 2) {
                    new.extend(self.prints(remainder, most));
                }
            }
            (0..self.model.runs[quotient as usize].len(), new)
        } else {
            let new = self.prints(fingerprint.remainder, 3);
            (self.minirun(fingerprint), new)
        };
        let run = &self.model.runs[quotient as usize];
        let slots = |prints: &[Stored]| prints.iter().map(Stored::slots).sum::<u64>();
        let (from, had, have) = (
            slots(&run[..old.start]),
            slots(&run[old.clone()]),
            slots(&new),
        );
        // Runend bits of the last slots do not matter.
        let nothing = self.random.one_in(2);
        let content = new.iter().flat_map(|one| one.content(nothing)).collect();
        let expected = if have > had && !self.has_room(quotient, have - had) {
            self.full += 1;
            let (used, slots) = (self.model.used(), self.tables[0].1.slots());
            Err(Error::Full { used, slots })
        } else {
            self.model.runs[quotient as usize].splice(old, new);
            Ok(())
        };
        let verb = Verb::Replace(quotient, from, had, content);
        assert_eq!(self.apply(&verb), Said::Replaced(expected), "{verb:?}");
        self.check(&verb);
    }

    /// Up to a load in per cent, or until nothing more fits, some back and forth there, and down again.
    fn play(&mut self, load: u64, steps: u64) {
        let target = self.options.quotients * load / 100;
        let full = self.full;
        // Where all is in one run of few remainders, replacing them takes as much as it brings.
        for _ in 0..4 * target {
            if self.model.used() >= target || self.full >= full + 3 {
                break;
            }
            match self.random.below(8) {
                0 => self.replace(),
                1 => self.extend(),
                _ => self.insert(),
            }
        }
        for _ in 0..steps {
            match self.random.below(8) {
                0..3 => self.insert(),
                3..6 => self.remove(),
                6 => self.extend(),
                _ => self.replace(),
            }
        }
        for _ in 0..steps {
            self.remove();
        }
        for quotient in 0..self.options.quotients {
            let slots = self.model.runs[quotient as usize].iter().map(Stored::slots);
            let verb = Verb::Replace(quotient, 0, slots.sum(), Vec::new());
            assert_eq!(self.apply(&verb), Said::Replaced(Ok(())));
            self.model.runs[quotient as usize].clear();
            self.check(&verb);
        }
    }
}

/// All places at several geometries and loads.
fn against_the_model<S: Made>() {
    let geometries = [(1, 1, 0), (64, 9, 0), (65, 2, 1), (200, 31, 2), (330, 8, 0)];
    let steps = 400 / share::divisor().min(8) as u64;
    let [
        mut full,
        mut counted,
        mut removed,
        mut unclear,
        mut extended,
    ] = [0; 5];
    for (quotients, bits, ignored) in geometries {
        for place in PLACES {
            let mut play = Play::<S>::new(options(quotients, bits, ignored), place, quotients);
            for load in [40, 90, 140] {
                play.play(load, steps);
            }
            full += play.full;
            counted += play.counted;
            removed += play.removed;
            unclear += play.unclear;
            extended += play.extended;
        }
    }
    let all = [full, counted, removed, unclear, extended];
    assert!(removed > 5 * steps && unclear > steps, "{all:?}");
    // A share of the cases may be too few to fill a table.
    assert!(full > 10 || share::divisor() > 1, "{all:?}");
    assert_eq!(counted > steps / 4, S::MARKED_RUNENDS, "{all:?}");
    assert_eq!(extended > steps, S::MARKS, "{all:?}");
}

#[test]
fn bare_slots_follow_the_model() {
    against_the_model::<Lane<false, false>>();
    against_the_model::<Lane<false, false, 64>>();
}

#[test]
fn tagged_slots_follow_the_model() {
    against_the_model::<Lane<false, true>>();
    against_the_model::<Lane<false, true, 64>>();
}

#[test]
fn marked_slots_follow_the_model() {
    against_the_model::<Lane<true, false>>();
    against_the_model::<Lane<true, false, 64>>();
}

#[test]
fn extended_slots_follow_the_model() {
    against_the_model::<Unended>();
    against_the_model::<Unended<64>>();
}
