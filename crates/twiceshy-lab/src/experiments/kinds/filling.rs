//! Inserts of a store while its filter fills (figure 5 of the paper).
//!
//! Stores with no filter, with a plain and with the adaptive one, and an adaptive cuckoo filter
//! over the same database are filled side by side, a step each in turn. Panels: the engines;
//! places: the load at the end of a twentieth, with the rates of its steps as samples.

use std::fs;
use std::time::Instant;

use anyhow::{Result, bail};
use serde::Deserialize;

use super::super::bench::Bench;
use crate::store::cells::CuckooStore;
use crate::store::data::Data;
use crate::store::engines::{Front, Kind, OnLmdb, OnRedb, Setup, folder, open};
use crate::store::subject::Write;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    keys: u64,
    value_bytes: usize,
    engines: Vec<String>,
    /// Bytes of the engine's cache for each byte of the records.
    cache: f64,
}

/// Steps of one place, and places.
const STEPS: u64 = 5;
const PLACES: u64 = 18;

/// Records in a commit.
const BATCH: usize = 1000;

const CUCKOO: &str = "swapping";

pub(super) fn run(bench: &mut Bench<'_>) -> Result<()> {
    let parameters: Parameters = bench.parameters()?;
    for (i, engine) in parameters.engines.iter().enumerate() {
        match &**engine {
            "redb" => fill::<OnRedb>(bench, &parameters, i)?,
            "lmdb" => fill::<OnLmdb>(bench, &parameters, i)?,
            _ => bail!("there is no engine {engine:?} here"),
        }
    }
    Ok(())
}

fn fill<K: Kind>(bench: &mut Bench<'_>, parameters: &Parameters, turn: usize) -> Result<()> {
    let data = Data {
        keys: parameters.keys,
        value_bytes: parameters.value_bytes,
    };
    let setup = Setup {
        capacity: data.capacity(),
        shards: data.shards(),
        cache: ((data.bytes() as f64 * parameters.cache) as u64).max(64 << 10),
    };
    let root = bench.scratch.join(K::NAME);
    let mut stores = Vec::new();
    for front in [Front::Adaptive, Front::Plain, Front::None] {
        let opened = open::<K>(&folder::<K>(&root, front), front, &setup)?;
        stores.push((front, opened.subject));
    }
    let cells = root.join("cells");
    fs::create_dir_all(&cells)?;
    let mut cuckoo = CuckooStore::new(K::open(&cells, setup.cache)?, data.keys)?;

    let steps = STEPS * PLACES;
    for step in 0..steps {
        let (from, to) = (step * data.keys / steps, (step + 1) * data.keys / steps);
        let place = (step / STEPS + 1) as f64 / PLACES as f64 * 0.9;
        let place = (place * 1000.0).round() / 1000.0;
        for turn in 0..=stores.len() {
            let which = (turn + step as usize) % (stores.len() + 1);
            let start = Instant::now();
            let name = match stores.get(which) {
                Some((front, store)) => {
                    store.insert(data, from..to, BATCH, Write::Put)?;
                    store.sync()?;
                    name(*front)
                }
                None => {
                    cuckoo.insert(data, from..to, BATCH)?;
                    CUCKOO
                }
            };
            let rate = (to - from) as f64 / start.elapsed().as_secs_f64();
            bench.note(K::NAME, name, place, rate);
        }
        let done = (turn as u64 * steps + step + 1) as usize;
        bench.step(done, steps as usize * parameters.engines.len());
    }
    drop((stores, cuckoo));
    Ok(fs::remove_dir_all(&root)?)
}

/// The names that these have in the other experiments.
fn name(front: Front) -> &'static str {
    match front {
        Front::Plain => "quotient",
        front => front.name(),
    }
}
