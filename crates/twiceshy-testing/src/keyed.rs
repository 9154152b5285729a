//! The game of the filters that share a block's code: telescoping and extension.
//!
//! A [`KeyedSet`] at a tiny geometry is played against the set of keys that it must have. The
//! keys come from a pool whose hash streams are drawn from very few values and lie in a few
//! neighbouring runs around the end of a block, so that members and strangers share
//! remainders at many selectors, runs reach over blocks, and codes are full most of the time.
//! After every operation
//!
//! - the filter's invariants hold, and its length is that of the model;
//! - all keys of every run can be paired with its slots, so every member is found;
//! - what was fixed is answered "no", unless the report says that it is not fixed, and it may
//!   say so only where nothing could be done: the streams are the same as far as a code can
//!   tell them apart, or what was asked for is more than a block holds;
//! - an error has changed no member's answer.
//!
//! Now and then the filter is written to a file and read back, byte for byte the same.

use std::collections::BTreeSet;

use crate::adaptive::universe::Chosen;
use crate::source::{Exhausted, GOLDEN, Source, mix};
use crate::stop::{Stop, expect, fail};
use twiceshy::filters::coded::{CodedFilter, Overflow, Symbols};
use twiceshy::hash::{Hashed, Seed};
use twiceshy::sets::{KeyedSet, Learner, MemoryMap, ReverseMap};
use twiceshy::{
    Adapted, Error, ExtensionFilter, Inserted, PlainTelescopingFilter, Removed, Reported,
    TelescopingFilter,
};
use twiceshy::{Buildable, Builder, Geometry};

/// Which filter plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Player {
    /// [`TelescopingFilter`] with its code.
    Telescoping(Overflow),
    /// [`PlainTelescopingFilter`].
    PlainTelescoping,
    /// [`ExtensionFilter`].
    Extension(Overflow),
}

/// All of them.
pub const PLAYERS: [Player; 5] = [
    Player::Telescoping(Overflow::Keep),
    Player::Telescoping(Overflow::Rebuild),
    Player::PlainTelescoping,
    Player::Extension(Overflow::Keep),
    Player::Extension(Overflow::Rebuild),
];

/// How often things happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Operations in all.
    pub operations: u64,
    /// Keys that were inserted.
    pub inserted: u64,
    /// Insertions that found no slot.
    pub full: u64,
    /// Members that were removed.
    pub removed: u64,
    /// Mistakes that were reported.
    pub fixed: u64,
    /// Mistakes that could not be fixed.
    pub unfixed: u64,
    /// Fingerprints that lost what they had learnt.
    pub forgotten: u64,
    /// Files that were read back.
    pub reloaded: u64,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.operations += other.operations;
        self.inserted += other.inserted;
        self.full += other.full;
        self.removed += other.removed;
        self.fixed += other.fixed;
        self.unfixed += other.unfixed;
        self.forgotten += other.forgotten;
        self.reloaded += other.reloaded;
    }
}

/// What the game needs beyond the common traits.
trait Plays: Learner<MemoryMap, Error = Error> + Clone {
    fn geometry(&self) -> Geometry;
    fn reload(&self) -> Result<Self, String>;
}

impl<S: Symbols> Plays for CodedFilter<S, Chosen> {
    fn geometry(&self) -> Geometry {
        self.geometry()
    }

    fn reload(&self) -> Result<Self, String> {
        let bytes = self.to_bytes();
        let filter = Self::from_bytes(&bytes).map_err(|error| error.to_string())?;
        if filter.to_bytes() != bytes {
            return Err("a file is not written as it was read".to_owned());
        }
        Ok(filter.with_overflow(self.overflow()))
    }
}

/// Plays `operations` operations, or as many as the source has choices for.
///
/// # Errors
/// What went wrong, and at which operation.
pub fn run(player: Player, source: &mut Source<'_>, operations: u64) -> Result<Tally, String> {
    let measures = |source: &mut Source<'_>| -> Result<_, Exhausted> {
        let slots = source.pick(&[1, 20, 64, 65, 100, 130, 200])?;
        let bits = source.pick(&[1, 2, 3, 3, 4, 5, 8, 8, 16, 50])?;
        Ok((slots, bits, source.word()?))
    };
    let Ok((slots, bits, seed)) = measures(source) else {
        return Ok(Tally::default());
    };
    fn built<F: Buildable>(slots: u64, bits: u32) -> F {
        Builder::<F>::new()
            .slots(slots)
            .remainder_bits(bits)
            .seed(Seed::from_u64(0))
            .build()
            .expect("a small filter")
    }
    match player {
        Player::Telescoping(overflow) => {
            let filter = built::<TelescopingFilter<Chosen>>(slots, bits);
            play(filter.with_overflow(overflow), seed, source, operations)
        }
        Player::PlainTelescoping => {
            let filter = built::<PlainTelescopingFilter<Chosen>>(slots, bits);
            play(filter, seed, source, operations)
        }
        Player::Extension(overflow) => {
            let filter = built::<ExtensionFilter<Chosen>>(slots, bits);
            play(filter.with_overflow(overflow), seed, source, operations)
        }
    }
    .map_err(|error| format!("{player:?}, {slots} slots, {bits} bits: {error}"))
}

fn play<F: Plays>(
    filter: F,
    seed: u64,
    source: &mut Source<'_>,
    operations: u64,
) -> Result<Tally, String> {
    let pool = pool(&filter.geometry(), seed);
    let mut game = Game {
        set: KeyedSet::from_parts(filter, MemoryMap::default()).expect("both are empty"),
        members: BTreeSet::new(),
        pool,
        tally: Tally::default(),
    };
    // Some begin full.
    let begin = match source.below(3) {
        Ok(0) => game.pool.len(),
        _ => 0,
    };
    for at in 0..begin {
        let key = game.pool[at].clone();
        if let Err(Stop::Failed(what)) = game.insert(&key) {
            return Err(format!("key {at}: {what}"));
        }
    }
    for number in 0..operations {
        match game.step(source) {
            Ok(()) => game.tally.operations += 1,
            Err(Stop::Exhausted) => break,
            Err(Stop::Failed(what)) => return Err(format!("operation {number}: {what}")),
        }
    }
    Ok(game.tally)
}

/// Keys that are hard to tell apart.
fn pool(geometry: &Geometry, mut seed: u64) -> Vec<Vec<u8>> {
    let mut draw = |end: u64| {
        seed = seed.wrapping_add(GOLDEN);
        mix(seed) % end
    };
    let last = geometry.slots() - 1;
    let runs = [1, 4, 20, 60, 120][draw(5) as usize];
    let first = match draw(3) {
        0 => 0,
        1 => 58.min(last),
        _ => last.saturating_sub(runs),
    };
    let values = [2, 3, 200][draw(3) as usize];
    let words: Vec<u64> = (0..5).map(|_| draw(u64::MAX)).collect();
    let count = [20, 60, 150, 400][draw(4) as usize];
    let keys = (0..count).map(|_| {
        let quotient = (first + draw(runs)).min(last);
        let remainders = 1 << geometry.remainder_bits().min(20);
        let remainder = draw(values) % remainders;
        let id = quotient << geometry.remainder_bits() | remainder;
        let range = geometry.hash_range(id);
        let inside = range.end() - range.start();
        let h0 = range.start() + draw(3) * (inside / 2);
        let mut key = h0.to_le_bytes().to_vec();
        for _ in 0..3 {
            // One of a few words, or one that parts from it late.
            let word = words[draw(5) as usize];
            let late = u64::from(draw(4) == 0) << draw(64);
            key.extend((word ^ late).to_le_bytes());
        }
        key
    });
    let distinct: BTreeSet<Vec<u8>> = keys.collect();
    distinct.into_iter().collect()
}

struct Game<F> {
    set: KeyedSet<F>,
    members: BTreeSet<Vec<u8>>,
    pool: Vec<Vec<u8>>,
    tally: Tally,
}

impl<F: Plays> Game<F> {
    fn step(&mut self, source: &mut Source<'_>) -> Result<(), Stop> {
        let key = self.pool[source.below(self.pool.len() as u64)? as usize].clone();
        match source.below(16)? {
            0..=3 => self.insert(&key)?,
            4 => self.remove(&key)?,
            5 => self.reload(source)?,
            6 => self.look(&key)?,
            _ => self.report(&key)?,
        }
        if let Err(violation) = self.set.check_invariants() {
            return fail(format!("{violation}"));
        }
        expect(
            "the number of keys",
            self.set.len(),
            self.members.len() as u64,
        )
    }

    fn insert(&mut self, key: &[u8]) -> Result<(), Stop> {
        let is_new = !self.members.contains(key);
        match self.set.insert(key) {
            Ok(inserted) => {
                expect("inserted", inserted == Inserted::New, is_new)?;
                self.members.insert(key.to_vec());
                self.tally.inserted += u64::from(is_new);
                Ok(())
            }
            Err(Error::Full { .. }) => {
                self.tally.full += 1;
                Ok(())
            }
            Err(error) => fail(format!("inserting: {error}")),
        }
    }

    fn remove(&mut self, key: &[u8]) -> Result<(), Stop> {
        let is_member = self.members.remove(key);
        match self.set.remove(key) {
            Ok(removed) => {
                let removed = removed == Removed::One;
                self.tally.removed += u64::from(removed);
                expect("removed", removed, is_member)
            }
            Err(error) => fail(format!("removing: {error}")),
        }
    }

    fn look(&self, key: &[u8]) -> Result<(), Stop> {
        let filter = self.set.filter();
        let hashed = filter.hash(key);
        let found = self.set.contains(key);
        expect("the hashed answer", filter.contains_hashed(&hashed), found)?;
        if self.members.contains(key) && !found {
            return fail("a member is answered \"no\"");
        }
        Ok(())
    }

    fn report(&mut self, key: &[u8]) -> Result<(), Stop> {
        let found = self.set.contains(key);
        let is_member = self.members.contains(key);
        match self.set.report_false_positive(key) {
            Ok(Reported::NotPositive) => expect("the answer", (found, is_member), (false, false)),
            Ok(Reported::Member) => expect("a member", (found, is_member), (true, true)),
            Ok(Reported::Waiting) => fail("it waits without a policy"),
            Ok(Reported::Fixed(fixed)) => {
                expect("a mistake", (found, is_member), (true, false))?;
                self.fixed(key, fixed)
            }
            other => fail(format!("fixing: {other:?}")),
        }
    }

    fn fixed(&mut self, key: &[u8], fixed: Adapted) -> Result<(), Stop> {
        self.tally.fixed += 1;
        self.tally.forgotten += fixed.forgotten;
        self.tally.unfixed += u64::from(fixed.unfixed > 0);
        expect("still wrong", self.set.contains(key), fixed.unfixed > 0)?;
        if fixed.unfixed == 0 || fixed.forgotten > 0 {
            return Ok(());
        }
        // Nothing was given up for it: some member must be like the query.
        let filter = self.set.filter();
        let query = filter.hash(key);
        let id = |key: &Hashed<'_>| filter.geometry().id(key.h0());
        let bits = filter.geometry().remainder_bits();
        let alike = self.members.iter().any(|member| {
            let member = filter.hash(&member[..]);
            let common = member.common_bits(&query, 8);
            id(&member) == id(&query) && common >= u64::from(7 * bits.min(3))
        });
        match alike {
            true => Ok(()),
            false => fail("a mistake was not fixed, though there was room"),
        }
    }

    fn reload(&mut self, source: &mut Source<'_>) -> Result<(), Stop> {
        if !source.one_in(8)? {
            return Ok(());
        }
        match self.set.filter().reload() {
            Ok(filter) => {
                let mut keys = MemoryMap::default();
                for key in self.set.iter() {
                    keys.insert(filter.hash(key).h0(), key).expect("in memory");
                }
                match KeyedSet::from_parts(filter, keys) {
                    Ok(set) => self.set = set,
                    Err(error) => return fail(format!("the filter of a file: {error}")),
                }
                self.tally.reloaded += 1;
                Ok(())
            }
            Err(error) => fail(format!("a file: {error}")),
        }
    }
}
