//! The suite: all operations interleaved, every answer compared, every invariant checked.
//!
//! A table that is filled and emptied at random hovers half full, where nothing happens.
//! So a run drifts between three modes, each of which favours some operations:
//!
//! ```text
//!        ┌───────────► filling ────── full, or long enough ──────┐
//!        │                                                       ▼
//!     draining ◄──────────────── long enough ──────────────── churning
//! ```
//!
//! Filling goes on until insertions are refused, so tables do get full, to the last slot
//! that the hashes can reach; churning stays there; draining goes down to nothing.
//!
//! One operation in 177 goes through the whole filter: it is saved and loaded, doubled or
//! halved, divided in two and merged, loaded anew from all its hashes, or takes a batch. The run
//! goes on with what came of it, in whatever geometry that has; the oracle does not notice, as
//! minirun ids stay.

mod whole;

use std::fmt;

use crate::hashes::{Hashes, Shape, hash_of};
use crate::oracle::Oracle;
use crate::report::{Kind, Report};
use crate::source::{Exhausted, Source, weigh};
use crate::stop::{Stop, expect, fail};
use crate::subject::{Exactness, Subject};
use twiceshy::hash::Hashed;
use twiceshy::{Error, Geometry, Inserted, Removed};

/// Plays `operations` operations on an empty filter, or as many as the source has choices
/// for, with hashes whose [`Shape`] changes now and then.
///
/// # Errors
/// What differed from the oracle or which invariant did not hold, and after which
/// operation.
pub fn run<S: Subject>(
    subject: S,
    source: &mut Source<'_>,
    operations: u64,
) -> Result<Report, String> {
    play(subject, None, source, operations)
}

/// [`run`] with hashes of one shape.
///
/// # Errors
/// As [`run`].
pub fn run_shaped<S: Subject>(
    subject: S,
    shape: Shape,
    source: &mut Source<'_>,
    operations: u64,
) -> Result<Report, String> {
    play(subject, Some(shape), source, operations)
}

fn play<S: Subject>(
    subject: S,
    shape: Option<Shape>,
    source: &mut Source<'_>,
    operations: u64,
) -> Result<Report, String> {
    if !subject.is_empty() {
        return Err("the filter must be empty".to_owned());
    }
    let mut report = Report::new();
    let Ok(mut game) = Game::new(subject, shape, source) else {
        return Ok(report);
    };
    for number in 0..operations {
        match game.step(source) {
            Ok(kind) => report.record(kind, game.oracle.len()),
            Err(Stop::Exhausted) => break,
            Err(Stop::Failed(what)) => {
                return Err(format!("operation {number}, {}: {what}", game.last));
            }
        }
    }
    match game.compare() {
        Err(Stop::Failed(what)) => Err(format!("at the end, after {}: {what}", game.last)),
        _ => Ok(report),
    }
}

/// What to do next.
#[derive(Clone, Copy, Debug)]
enum Op {
    Insert,
    InsertOnce,
    RemoveMember,
    RemoveAny,
    Contains,
    Compare,
    Clone,
    Clear,
    InsertBatch,
    Reload,
    Resize,
    Merge,
    BulkLoad,
}

/// A draw for an operation has 16 bits. Most of them, less those beyond the last multiple of a
/// thousand, are shared out by [`Mode::weights`].
const DRAWS: u64 = 1 << 16;
const COMMON: u64 = DRAWS / 1_000 * 1_000;

/// What the rest is for, one draw in 122: operations that go through the whole filter.
const WHOLE: [(Op, u32); 6] = [
    (Op::InsertBatch, 100),
    (Op::Reload, 90),
    (Op::Resize, 80),
    (Op::Merge, 50),
    (Op::BulkLoad, 50),
    (Op::Compare, 166),
];

#[derive(Clone, Copy, Debug)]
enum Mode {
    Filling,
    Churning,
    Draining,
}

impl Mode {
    /// How often in a thousand each operation comes.
    fn weights(self) -> [(Op, u32); 8] {
        let [insert, once, member, any, contains] = match self {
            Mode::Filling => [700, 80, 40, 30, 120],
            Mode::Churning => [300, 60, 320, 80, 210],
            Mode::Draining => [60, 20, 610, 60, 220],
        };
        [
            (Op::Insert, insert),
            (Op::InsertOnce, once),
            (Op::RemoveMember, member),
            (Op::RemoveAny, any),
            (Op::Contains, contains),
            (Op::Compare, 15),
            (Op::Clone, 14),
            (Op::Clear, 1),
        ]
    }
}

/// The last operation, for messages.
struct Last {
    op: Op,
    h0: Option<u64>,
    geometry: Geometry,
}

impl fmt::Display for Last {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.op)?;
        let Some(h0) = self.h0 else { return Ok(()) };
        let at = self.geometry.fingerprint(h0);
        let (quotient, remainder) = (at.quotient, at.remainder);
        write!(f, " {h0:#x} (quotient {quotient}, remainder {remainder})")
    }
}

/// A filter and its oracle.
struct Game<S> {
    subject: S,
    oracle: Oracle,
    geometry: Geometry,
    shape: Option<Shape>,
    hashes: Hashes,
    /// How often the slots have been doubled, less how often they have been halved.
    doublings: i32,
    /// Operations since it was last tried to.
    away: u64,
    mode: Mode,
    /// Operations left in this mode.
    patience: u64,
    /// Insertions refused in this mode.
    refusals: u32,
    last: Last,
}

impl<S: Subject> Game<S> {
    fn new(subject: S, shape: Option<Shape>, source: &mut Source<'_>) -> Result<Self, Exhausted> {
        let geometry = subject.geometry();
        let first = match shape {
            Some(shape) => shape,
            None => source.pick(&Shape::ALL)?,
        };
        Ok(Game {
            subject,
            oracle: Oracle::new(),
            geometry,
            shape,
            hashes: Hashes::new(geometry, first, source)?,
            doublings: 0,
            away: 0,
            mode: Mode::Filling,
            // The first time for as long as it takes.
            patience: longest_patience(&geometry),
            refusals: 0,
            last: Last {
                op: Op::Compare,
                h0: None,
                geometry,
            },
        })
    }

    /// One operation and all that must hold after it. All choices are made before anything
    /// changes.
    fn step(&mut self, source: &mut Source<'_>) -> Result<Kind, Stop> {
        self.drift(source)?;
        self.away += 1;
        let op = match source.below(DRAWS)? {
            _ if self.is_overdue() => Op::Resize,
            draw @ COMMON.. => weigh(&WHOLE, draw - COMMON),
            draw => weigh(&self.mode.weights(), draw % 1_000),
        };
        self.last.op = op;
        self.last.h0 = None;
        let kind = match op {
            Op::Insert => {
                let h0 = self.hashes.next(source)?;
                self.insert(h0)
            }
            Op::InsertOnce => {
                let h0 = self.hashes.next(source)?;
                self.insert_once(h0)
            }
            Op::RemoveMember => match self.member(source)? {
                Some(h0) => self.remove(h0),
                None => self.contains(source.word()?),
            },
            Op::RemoveAny if S::EXACTNESS != Exactness::OneSided => {
                let h0 = self.outsider(source)?;
                self.remove(h0)
            }
            Op::RemoveAny | Op::Contains => {
                let h0 = self.anyone(source)?;
                self.contains(h0)
            }
            Op::Compare => self.compare(),
            Op::Clone => {
                let h0 = self.hashes.next(source)?;
                self.change_over(h0)
            }
            // Rarely, or no table would ever be full.
            Op::Clear if source.one_in(4)? => self.clear(),
            Op::Clear => self.compare(),
            Op::InsertBatch => self.insert_batch(source),
            Op::Reload => self.reload(source),
            Op::Resize => self.resize(source),
            Op::Merge => self.merge(source),
            Op::BulkLoad => self.bulk_load(source),
        }?;
        if let Err(violation) = self.subject.check() {
            return fail(violation);
        }
        expect("the length", self.subject.len(), self.oracle.len())?;
        Ok(kind)
    }

    /// Goes on to the next mode when it is time.
    fn drift(&mut self, source: &mut Source<'_>) -> Result<(), Exhausted> {
        self.patience = self.patience.saturating_sub(1);
        self.mode = match self.mode {
            Mode::Filling if self.refusals > 2 || self.patience == 0 => Mode::Churning,
            Mode::Churning if self.patience == 0 => Mode::Draining,
            Mode::Draining if self.oracle.is_empty() || self.patience == 0 => Mode::Filling,
            _ => return Ok(()),
        };
        self.refusals = 0;
        self.patience = 1 + source.below(longest_patience(&self.geometry))?;
        let shape = match self.shape {
            Some(shape) => shape,
            None => source.pick(&Shape::ALL)?,
        };
        self.hashes = Hashes::new(self.geometry, shape, source)?;
        Ok(())
    }

    /// What the oracle knows a hash by.
    fn key(&self, h0: u64) -> u64 {
        match S::EXACTNESS {
            Exactness::OneSided => h0,
            Exactness::Multiset | Exactness::Set => self.geometry.id(h0),
        }
    }

    /// A hash that the oracle knows by `key`.
    fn hash_of(&self, key: u64, source: &mut Source<'_>) -> Result<u64, Exhausted> {
        match S::EXACTNESS {
            Exactness::OneSided => Ok(key),
            Exactness::Multiset | Exactness::Set => hash_of(&self.geometry, key, source),
        }
    }

    /// The hash of some member.
    fn member(&self, source: &mut Source<'_>) -> Result<Option<u64>, Exhausted> {
        let near = self.key(source.word()?);
        match self.oracle.member_near(near) {
            Some(key) => self.hash_of(key, source).map(Some),
            None => Ok(None),
        }
    }

    /// The hash of something that is probably no member but close to some.
    fn outsider(&mut self, source: &mut Source<'_>) -> Result<u64, Exhausted> {
        let h0 = self.hashes.next(source)?;
        let id = self.key(h0);
        let above = (id..self.geometry.ids()).take(16);
        let mut absent = above.filter(|&id| !self.oracle.contains(id));
        let id = absent.next().unwrap_or(id);
        self.hash_of(id, source)
    }

    /// The hash of a member, of a neighbour of one, or any that fits the shape.
    fn anyone(&mut self, source: &mut Source<'_>) -> Result<u64, Exhausted> {
        let choice = source.below(3)?;
        let Some(member) = self.member(source)? else {
            return self.hashes.next(source);
        };
        Ok(match choice {
            0 => self.hashes.next(source)?,
            1 => member,
            _ => {
                let range = self.geometry.hash_range(self.geometry.id(member));
                let above = range.end().checked_add(1);
                above.unwrap_or_else(|| range.start() - 1)
            }
        })
    }

    /// Is there room for `h0`? `None` if only the filter knows.
    fn has_room(&self, h0: u64) -> Option<bool> {
        let slots = self.subject.slots()?;
        let id = self.geometry.id(h0);
        Some(self.oracle.has_room(&self.geometry, slots, id))
    }

    fn insert(&mut self, h0: u64) -> Result<Kind, Stop> {
        self.last.h0 = Some(h0);
        let key = self.key(h0);
        let present = S::EXACTNESS == Exactness::Set && self.oracle.contains(key);
        let expected = if present {
            Some(true)
        } else {
            self.has_room(h0)
        };
        match self.subject.insert_hashed(&Hashed::from_h0(h0)) {
            Ok(()) if expected == Some(false) => fail("there was no room for it"),
            Ok(()) => {
                if !present {
                    self.oracle.insert(key);
                }
                expect("its membership", self.found(h0), true)?;
                Ok(Kind::Insert)
            }
            Err(error) => {
                self.refused(error, expected)?;
                Ok(Kind::InsertFull)
            }
        }
    }

    fn insert_once(&mut self, h0: u64) -> Result<Kind, Stop> {
        self.last.h0 = Some(h0);
        let key = self.key(h0);
        let present = self.oracle.contains(key);
        let expected = if present {
            Some(true)
        } else {
            self.has_room(h0)
        };
        let Some(result) = self.subject.insert_once(&Hashed::from_h0(h0)) else {
            return self.contains(h0);
        };
        match result {
            Ok(_) if expected == Some(false) => fail("there was no room for it"),
            Ok(inserted) => {
                // A one-sided filter may take something else for it.
                if inserted == Inserted::New || S::EXACTNESS != Exactness::OneSided {
                    expect("new", inserted == Inserted::New, !present)?;
                }
                expect("its membership", self.found(h0), true)?;
                if inserted == Inserted::New {
                    self.oracle.insert(key);
                    Ok(Kind::InsertOnce)
                } else {
                    Ok(Kind::InsertOncePresent)
                }
            }
            Err(error) => {
                self.refused(error, expected)?;
                Ok(Kind::InsertOnceFull)
            }
        }
    }

    /// An insertion has failed: for the right reason, and nothing has changed?
    fn refused(&mut self, error: Error, expected: Option<bool>) -> Result<(), Stop> {
        self.refusals += 1;
        let Error::Full { used, slots } = error else {
            return fail(format!("the error is not `Full` but: {error}"));
        };
        if expected == Some(true) {
            return fail("there was room for it");
        }
        if let Some(all) = self.subject.slots() {
            let expected = (self.oracle.len(), all);
            expect("`Full { used, slots }`", (used, slots), expected)?;
        }
        self.compare_ids()
    }

    fn remove(&mut self, h0: u64) -> Result<Kind, Stop> {
        self.last.h0 = Some(h0);
        let key = self.key(h0);
        let present = self.oracle.contains(key);
        let removed = match self.subject.forget(&Hashed::from_h0(h0)) {
            None => return self.contains(h0),
            Some(Err(error)) => return fail(format!("a removal failed: {error}")),
            Some(Ok(removed)) => removed,
        };
        expect("removed", removed == Removed::One, present)?;
        self.oracle.remove(key);
        if S::EXACTNESS != Exactness::OneSided {
            expect("its membership", self.found(h0), self.oracle.contains(key))?;
        }
        Ok(if present {
            Kind::Remove
        } else {
            Kind::RemoveMissing
        })
    }

    fn found(&self, h0: u64) -> bool {
        self.subject.contains_hashed(&Hashed::from_h0(h0))
    }

    fn contains(&mut self, h0: u64) -> Result<Kind, Stop> {
        self.last.h0 = Some(h0);
        let (found, member) = (self.found(h0), self.oracle.contains(self.key(h0)));
        if member || S::EXACTNESS != Exactness::OneSided {
            expect("its membership", found, member)?;
        }
        Ok(if found {
            Kind::Contains
        } else {
            Kind::ContainsNot
        })
    }

    /// All that the filter holds is what the oracle holds.
    fn compare_ids(&self) -> Result<(), Stop> {
        expect("the length", self.subject.len(), self.oracle.len())?;
        match self.subject.ids() {
            Some(found) if S::EXACTNESS != Exactness::OneSided => {
                if self.oracle.iter().eq(found.iter().copied()) {
                    return Ok(());
                }
                let expected: Vec<u64> = self.oracle.iter().collect();
                expect("the list of minirun ids", found, expected)
            }
            _ => Ok(()),
        }
    }

    /// The contents, each member asked for, and the statistics.
    fn compare(&self) -> Result<Kind, Stop> {
        self.compare_ids()?;
        for key in self.oracle.iter() {
            let h0 = match S::EXACTNESS {
                Exactness::OneSided => key,
                Exactness::Multiset | Exactness::Set => *self.geometry.hash_range(key).start(),
            };
            if !self.found(h0) {
                return fail(format!("the member {h0:#x} is not found"));
            }
        }
        self.compare_batch()?;
        let stats = self.subject.stats();
        let len = self.oracle.len();
        expect("empty", self.subject.is_empty(), len == 0)?;
        expect("the number of items in the statistics", stats.items, len)?;
        if self.subject.slots().is_some() {
            expect("the number of used slots", stats.used_slots, len)?;
            let longest = self.oracle.longest_cluster(&self.geometry);
            expect("the longest cluster", stats.longest_cluster, longest)?;
        }
        Ok(Kind::Compare)
    }

    /// A batch of questions about every member and its neighbour is answered as one by one.
    fn compare_batch(&self) -> Result<(), Stop> {
        let keys = self.members_and_neighbours();
        let one_by_one = keys.iter().map(|key| self.subject.contains_hashed(key));
        let expected: Vec<bool> = one_by_one.collect();
        expect(
            "a batch of answers",
            self.subject.contains_batch_hashed(&keys),
            expected,
        )
    }

    fn members_and_neighbours(&self) -> Vec<Hashed<'static>> {
        let members = self.oracle.iter().map(|key| match S::EXACTNESS {
            Exactness::OneSided => key,
            Exactness::Multiset | Exactness::Set => *self.geometry.hash_range(key).end(),
        });
        let hashes = members.flat_map(|h0| [h0, h0.wrapping_add(1)]);
        hashes.map(Hashed::from_h0).collect()
    }

    /// Goes on with a copy, and changes the original to see that the copy is one.
    fn change_over(&mut self, h0: u64) -> Result<Kind, Stop> {
        self.last.h0 = Some(h0);
        let copy = self.subject.clone();
        let mut original = std::mem::replace(&mut self.subject, copy);
        let key = Hashed::from_h0(h0);
        // Either shows if the two share anything; neither need be possible.
        let _ = original.insert_hashed(&key);
        let _ = original.forget_all();
        drop(original);
        self.compare()?;
        Ok(Kind::Clone)
    }

    fn clear(&mut self) -> Result<Kind, Stop> {
        if self.subject.forget_all().is_none() {
            return self.compare();
        }
        self.oracle.clear();
        self.compare()?;
        Ok(Kind::Clear)
    }
}

/// Long enough to fill a table with its spare slots, at the rate at which filling inserts.
fn longest_patience(geometry: &Geometry) -> u64 {
    4 * geometry.slots() + 512
}
