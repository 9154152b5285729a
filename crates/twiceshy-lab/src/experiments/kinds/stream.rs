//! A stream of queries for keys that are not there, and what filters make of it.
//!
//! Every query goes to the filter; a "maybe" costs a read of the database, which finds nothing;
//! then the filter is told. Panels, for each workload:
//!
//! | panel | figures |
//! | --- | --- |
//! | `W rate` | the share of mistakes among the queries of somebody else by the same law: always the same ones, from which nothing is learnt |
//! | `W online` | the share of mistakes among the queries of the stream since the last place: for streams whose keys go out of fashion |
//! | `W bits` | bits per key that learning took |
//! | `W reads` | database reads so far, for each million of queries of the whole stream |
//! | `W speed` | millions of queries a second, reads of a database in memory and learning included |
//! | `W space` | bits per key of the table |
//!
//! Places are queries so far, but for `speed` and `space`, where they are the workload. One sample
//! for each seed; filters of a seed take their turns side by side between two places, and each of
//! these turns is a sample of `speed`.

use std::collections::BTreeSet;
use std::time::Instant;

use anyhow::Result;
use serde::Deserialize;

use super::super::bench::Bench;
use super::source::{Source, Strangers, label};
use crate::sets::{Entry, Set, Shape};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    log2_slots: u32,
    load: f64,
    bits: u32,
    queries: u64,
    /// Places along the stream.
    checkpoints: u64,
    /// Queries of somebody else at each of them.
    probes: u64,
    /// Filters that don't learn are measured with so many bits more, too.
    plus: Vec<u32>,
}

/// A filter that takes part.
struct Runner {
    name: String,
    set: Box<dyn Set>,
    used_bits: f64,
    reads: u64,
}

pub(super) fn run(bench: &mut Bench<'_>) -> Result<()> {
    let parameters: Parameters = bench.parameters()?;
    let (sets, seeds) = (bench.sets()?, bench.seeds().to_vec());
    let workloads = bench.experiment.workloads.clone();
    let total = seeds.len() * workloads.len();
    for (i, workload) in workloads.iter().enumerate() {
        // Real keys take long to read: the same ones for every seed.
        let mut source = Source::open(bench, workload, bench.seed())?;
        for (j, &seed) in seeds.iter().enumerate() {
            let done = i * seeds.len() + j;
            if let Some(source) = &mut source {
                source.reseed(seed);
                let part = (done as f64 / total as f64, 1.0 / total as f64);
                one(
                    bench,
                    &parameters,
                    &sets,
                    source,
                    label(workload),
                    seed,
                    part,
                )?;
            }
            bench.step(done + 1, total);
        }
    }
    Ok(())
}

/// One workload with one seed; `part` says where in the experiment that is.
fn one(
    bench: &mut Bench<'_>,
    parameters: &Parameters,
    sets: &[&'static Entry],
    source: &Source,
    name: &str,
    seed: u64,
    part: (f64, f64),
) -> Result<()> {
    let shape = |plus: u32| Shape {
        slots: 1 << parameters.log2_slots,
        load: parameters.load,
        bits: parameters.bits + plus,
        seed,
    };
    let members = shape(0).keys();
    source.check(members)?;
    let mut runners = Vec::new();
    for entry in sets {
        let plus = if entry.learns {
            &[0][..]
        } else {
            &parameters.plus
        };
        for &plus in plus {
            runners.push(Runner::fill(entry, &shape(plus), plus, source)?);
        }
    }
    let add = |i| source.member(i, <[u8]>::to_vec);
    let database: BTreeSet<Vec<u8>> = (0..members).map(add).collect();

    let panel = |what: &str| format!("{name} {what}");
    let mut queries = source.queries(seed)?;
    let mut others = source.queries(seed ^ 0x6f74_6865)?;
    let probes = source.strangers(&mut *others, parameters.probes);
    let mut asked = 0;
    for checkpoint in 0..=parameters.checkpoints {
        if checkpoint > 0 {
            let until = checkpoint * parameters.queries / parameters.checkpoints;
            let strangers = source.strangers(&mut *queries, until - asked);
            asked += strangers.len();
            for runner in &mut runners {
                let before = runner.reads;
                let speed = runner.ask(&strangers, &database)?;
                bench.note(&panel("speed"), &runner.name, name, speed);
                let rate = (runner.reads - before) as f64 / strangers.len() as f64;
                bench.note(&panel("online"), &runner.name, asked as f64, rate);
            }
            // Whose turn is first makes no difference to counts, but to times.
            runners.rotate_left(1);
        }
        for runner in &runners {
            let x = asked as f64;
            if probes.len() > 0 {
                let wrong = probes.iter().filter(|key| runner.set.contains(key)).count();
                let rate = wrong as f64 / probes.len() as f64;
                bench.note(&panel("rate"), &runner.name, x, rate);
            }
            let bits = (runner.set.space().used_bits - runner.used_bits) / members as f64;
            bench.note(&panel("bits"), &runner.name, x, bits);
            let reads = runner.reads as f64 * 1e6 / parameters.queries as f64;
            bench.note(&panel("reads"), &runner.name, x, reads);
        }
        let share = checkpoint as f64 / parameters.checkpoints as f64;
        bench.progress(part.0 + part.1 * share);
    }
    for runner in &runners {
        let bits = runner.set.space().bytes as f64 * 8.0 / members as f64;
        bench.note(&panel("space"), &runner.name, name, bits);
    }
    Ok(())
}

impl Runner {
    fn fill(entry: &Entry, shape: &Shape, plus: u32, source: &Source) -> Result<Self> {
        let mut set = (entry.build)(shape)?;
        for i in 0..shape.keys() {
            source.member(i, |key| set.insert(key))?;
        }
        Ok(Runner {
            name: match plus {
                0 => entry.name.to_owned(),
                1 => format!("{} + 1 bit", entry.name),
                plus => format!("{} + {plus} bits", entry.name),
            },
            used_bits: set.space().used_bits,
            set,
            reads: 0,
        })
    }

    /// Asks for all of them; how many millions a second?
    fn ask(&mut self, strangers: &Strangers, database: &BTreeSet<Vec<u8>>) -> Result<f64> {
        let start = Instant::now();
        for key in strangers.iter() {
            // Nothing is reported that the database has.
            if self.set.contains(key) && !database.contains(key) {
                self.reads += 1;
                self.set.report(key)?;
            }
        }
        Ok(strangers.len() as f64 / start.elapsed().as_secs_f64() / 1e6)
    }
}
