//! Three stores with the same records, and how they fare.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;

use crate::exit::Outcome;
use twiceshy::hash::Seed;
use twiceshy_store::engine::{Counting, Redb};
use twiceshy_store::files::Directory;
use twiceshy_store::{Batch, Durability, FilterChoice, Store, StoreBuilder};

use super::traffic::{Hostile, Key, Lookup, key};

/// Bytes of a record's value.
pub(super) const VALUE_BYTES: usize = 100;
/// Bytes of each database's own cache: a small part of the records, as it is where they don't
/// fit in memory.
const CACHE: usize = 16 << 20;
/// Records in a commit while the first store is filled.
const BATCH: u64 = 20_000;
/// The file of a store's records.
const FILE: &str = "data.redb";

/// What stands in front of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Front {
    Nothing,
    Plain,
    Adaptive,
}

impl Front {
    pub(super) const ALL: [Front; 3] = [Front::Nothing, Front::Plain, Front::Adaptive];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Front::Nothing => "no filter",
            Front::Plain => "plain quotient filter",
            Front::Adaptive => "adaptive filter",
        }
    }

    const fn choice(self) -> FilterChoice {
        match self {
            Front::Nothing => FilterChoice::None,
            Front::Plain => FilterChoice::Plain,
            Front::Adaptive => FilterChoice::Adaptive,
        }
    }
}

type DemoStore = Store<Counting<Redb>>;

/// A store, its attacker, and what has come of them so far.
pub(super) struct Contestant {
    pub(super) front: Front,
    store: DemoStore,
    attacker: Hostile,
    /// Keys that were mistaken for records.
    mistaken: HashSet<Key>,
    pub(super) result: Tally,
    /// Each turn's own.
    pub(super) turns: Vec<Tally>,
}

/// What is counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) lookups: u64,
    pub(super) found: u64,
    pub(super) reads: u64,
    pub(super) false_positives: u64,
    pub(super) repeated: u64,
    pub(super) time: Duration,
}

impl Tally {
    pub(super) fn per_second(&self) -> f64 {
        self.lookups as f64 / self.time.as_secs_f64().max(1e-9)
    }

    pub(super) fn reads_per_million(&self) -> f64 {
        self.reads as f64 / self.lookups.max(1) as f64 * 1e6
    }

    /// All of these together.
    pub(super) fn sum(tallies: &[Tally]) -> Self {
        let mut sum = Tally::default();
        tallies.iter().for_each(|tally| sum.add(tally));
        sum
    }

    fn add(&mut self, other: &Tally) {
        self.lookups += other.lookups;
        self.found += other.found;
        self.reads += other.reads;
        self.false_positives += other.false_positives;
        self.repeated += other.repeated;
        self.time += other.time;
    }
}

/// Fills a database with so many records and makes a copy of it for each contestant. `filled` hears
/// of every commit, and may end it.
pub(super) fn prepare(
    root: &Path,
    records: u64,
    seed: u64,
    filled: impl Fn(u64) -> Outcome<()>,
) -> Outcome<Vec<Contestant>> {
    let first = root.join("records");
    let store = open(&first, Front::Nothing, records)?;
    for from in (0..records).step_by(BATCH as usize) {
        let mut batch = Batch::new();
        for i in from..records.min(from + BATCH) {
            batch.insert_new(key(i), value(i));
        }
        let count = batch.len() as u64;
        store.write(batch).context("can't write the records")?;
        filled(count)?;
    }
    store.close().context("can't close the filled database")?;

    let contestants = Front::ALL.into_iter().map(|front| {
        let folder = root.join(front.name().replace(' ', "-"));
        fs::create_dir_all(&folder)?;
        fs::copy(first.join(FILE), folder.join(FILE)).context("can't copy the records")?;
        Ok(Contestant {
            front,
            store: open(&folder, front, records)?,
            attacker: Hostile::new(records, seed),
            mistaken: HashSet::new(),
            result: Tally::default(),
            turns: Vec::new(),
        })
    });
    let contestants: Outcome<Vec<_>> = contestants.collect();
    fs::remove_dir_all(&first)?;
    contestants
}

fn open(folder: &Path, front: Front, records: u64) -> Outcome<DemoStore> {
    fs::create_dir_all(folder)?;
    let engine = Redb::with_cache(folder.join(FILE), CACHE)?;
    let builder = StoreBuilder::new()
        .capacity(records)
        .durability(Durability::Buffered)
        // The same mistakes on every machine. A store of your own should leave the seed random.
        .seed(Seed::from_u64(1))
        .filter(front.choice());
    Ok(builder.open(Counting::new(engine), Directory::new(folder)?)?)
}

/// The value of a record: something to read.
fn value(i: u64) -> Vec<u8> {
    let mut value = format!("{{\"id\":{i},\"name\":\"user {i}\"}}").into_bytes();
    value.resize(VALUE_BYTES, b' ');
    value
}

impl Contestant {
    /// Answers these lookups, and counts.
    pub(super) fn serve(&mut self, lookups: &[Lookup]) -> Outcome<()> {
        let mut turn = Tally {
            lookups: lookups.len() as u64,
            ..Tally::default()
        };
        let counts = || self.store.engine().counts().reads();
        let mut reads = counts();
        let first = reads;
        let start = Instant::now();
        for lookup in lookups {
            let key = match lookup {
                Lookup::Of(key) => *key,
                Lookup::Hostile => self.attacker.ask(),
            };
            let is_there = self.store.get_with(key, |_| ())?.is_some();
            let now = counts();
            let was_in_vain = !is_there && now > reads;
            reads = now;
            turn.found += u64::from(is_there);
            if was_in_vain && self.front != Front::Nothing {
                turn.false_positives += 1;
                turn.repeated += u64::from(!self.mistaken.insert(key));
            }
            if *lookup == Lookup::Hostile {
                self.attacker.hear(&key, was_in_vain);
            }
        }
        turn.time = start.elapsed();
        turn.reads = reads - first;
        self.result.add(&turn);
        self.turns.push(turn);
        Ok(())
    }

    /// Bytes of its filter.
    pub(super) fn filter_bytes(&self) -> u64 {
        self.store.stats().filter_bytes
    }
}
