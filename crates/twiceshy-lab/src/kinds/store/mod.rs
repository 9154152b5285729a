//! A store in front of real databases, with several filters and with none: what `store` measures.
//!
//! `filters` are what stands in front of the database ([`Front`]); the stores are always filled first, and
//! [`Part`]s say what is measured besides. Places are the engines, but for panels of one engine, whose
//! names begin with its name, `E, …`.
//!
//! | panel | figures |
//! | --- | --- |
//! | `inserts`, `inserts at 81 to 90%` | a second, in commits of 1000, each asking first whether its key is there |
//! | `E, inserts by load` | the same, against the load of the filter |
//! | `writes a put`, `reads a put` | of the engine, while they are filled |
//! | `inserts, one a commit`, `insert_new`, `reads an insert_new` | part `singles`, at 90% load |
//! | `misses` | part `misses`: lookups of strangers a second |
//! | `misses, 100 µs a read` | part `delayed`: the same on a slow disk |
//! | `threads` | part `threads`: lookups a second |
//! | `opening`, `rebuild` | part `opening`: milliseconds a million keys; keys a second |
//! | `E, D`, `E, D, reads` | part `adversary`: lookups a second and engine reads each, against the percentage of hostile ones; `D` is the [disk](adversary) |
//! | `pauses` | part `pauses`: milliseconds of the longest call |
//!
//! | module | what is in it |
//! | --- | --- |
//! | [`data`] | the records, and keys that are not there |
//! | [`engines`] | the databases, and how a store is opened on one |
//! | [`subject`] | what is done to a store |
//! | [`inserts`], [`misses`], [`adversary`], [`opening`], [`pauses`] | the parts |
//! | [`cells`] | keys in the places of an adaptive cuckoo filter's fingerprints |
//! | [`profile`] | lookups for tools that count instructions |

mod adversary;
mod cells;
mod data;
pub(crate) mod engines;
mod inserts;
mod misses;
mod opening;
mod pauses;
pub(crate) mod profile;
mod subject;

use std::fs;
use std::path::PathBuf;

use anyhow::Result;
use serde::Deserialize;

use crate::experiments::bench::Bench;
use data::Data;
use engines::{Database, Front, Opened, Reads, Setup};

/// What is measured beside the filling of the stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Part {
    Singles,
    Misses,
    Delayed,
    Threads,
    Opening,
    Adversary,
    Pauses,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    keys: u64,
    value_bytes: usize,
    engines: Vec<String>,
    parts: Vec<Part>,
}

/// What all parts need to know, for one engine.
struct Lab<'l, 'b> {
    bench: &'l mut Bench<'b>,
    data: Data,
    database: &'static Database,
    /// What stands in front of it.
    fronts: Vec<Front>,
    root: PathBuf,
}

/// Is it something that can stand in front of a database?
pub(super) fn is_front(name: &str) -> Result<()> {
    Front::by_name(name).map(drop)
}

pub(super) fn run(bench: &mut Bench<'_>) -> Result<()> {
    let parameters: Parameters = bench.parameters()?;
    let names = bench.experiment.filters.iter();
    let fronts: Vec<Front> = names
        .map(|name| Front::by_name(name))
        .collect::<Result<_>>()?;
    let steps = parameters.engines.len() * (parameters.parts.len() + 1);
    let mut done = 0;
    for engine in &parameters.engines {
        let database = Database::by_name(engine)?;
        let root = bench.scratch.join(engine.replace(' ', "-"));
        fs::create_dir_all(&root)?;
        let mut lab = Lab {
            bench,
            data: Data {
                keys: parameters.keys,
                value_bytes: parameters.value_bytes,
            },
            database,
            fronts: database.fronts_of(&fronts),
            root,
        };
        inserts::fill(&mut lab)?;
        for &part in &parameters.parts {
            done += 1;
            lab.bench.step(done, steps);
            if !database.is_measured(part) {
                continue;
            }
            match part {
                Part::Singles => inserts::singles(&mut lab)?,
                Part::Misses => misses::run(&mut lab)?,
                Part::Delayed => misses::delayed(&mut lab)?,
                Part::Threads => misses::threads(&mut lab)?,
                Part::Opening => opening::run(&mut lab)?,
                Part::Adversary => adversary::run(&mut lab)?,
                Part::Pauses => pauses::run(&mut lab)?,
            }
        }
        // Make room for the next one.
        fs::remove_dir_all(&lab.root)?;
        done += 1;
        bench.step(done, steps);
    }
    Ok(())
}

impl Lab<'_, '_> {
    /// How often a part is measured.
    fn rounds(&self) -> u64 {
        self.bench.rounds() as u64
    }

    /// Notes a figure of this engine.
    fn note(&mut self, panel: &str, series: &str, sample: f64) {
        self.bench.note(panel, series, self.database.name, sample);
    }

    /// Notes a figure at a place of a panel of this engine's own.
    fn note_at(&mut self, panel: &str, series: &str, x: f64, sample: f64) {
        let panel = format!("{}, {panel}", self.database.name);
        self.bench.note(&panel, series, x, sample);
    }

    /// A store whose filter is 90% full of these records, on a cache of so many bytes.
    fn setup(&self, cache: u64) -> Setup {
        Setup {
            capacity: self.data.capacity(),
            shards: self.data.shards(),
            // Less than some pages is no cache at all.
            cache: cache.max(64 << 10),
        }
    }

    /// With a cache for an eighth of the records: where nothing else is said.
    fn usual(&self) -> Setup {
        self.setup(self.data.bytes() / 8)
    }

    /// The directory of a store.
    fn folder(&self, front: Front) -> PathBuf {
        self.root.join(front.name().replace([' ', ','], "-"))
    }

    fn open(&self, front: Front, setup: &Setup, reads: Reads) -> Result<Opened> {
        (self.database.open)(&self.folder(front), front, setup, reads)
    }

    /// All stores, as usual.
    fn open_all(&self) -> Result<Vec<(Front, Opened)>> {
        let open = |&front| Ok((front, self.open(front, &self.usual(), Reads::AsTheyAre)?));
        let stores = self.fronts.iter().filter(|front| front.is_store());
        stores.map(open).collect()
    }
}
