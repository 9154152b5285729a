//! Members that are replaced while filters learn (figure 8 of the paper). Panels `rate`: the share
//! of mistakes among the queries of somebody else by the same law, always the same ones; `bits` per key that learning
//! took. Places: percent of the queries; one sample for each seed.

use anyhow::{Result, ensure};
use serde::Deserialize;

use super::super::bench::Bench;
use super::source::Source;
use crate::sets::Shape;
use crate::workloads::churn::Churn;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    log2_slots: u32,
    load: f64,
    bits: u32,
    queries: u64,
    /// Places along the stream.
    checkpoints: u64,
    /// Members are replaced after so many of them.
    every: u64,
    /// Queries of somebody else at each of them.
    probes: u64,
}

pub(super) fn run(bench: &mut Bench<'_>) -> Result<()> {
    let parameters: Parameters = bench.parameters()?;
    let (sets, seeds) = (bench.sets()?, bench.seeds().to_vec());
    let workloads = bench.experiment.workloads.clone();
    let total = seeds.len() * workloads.len();
    for (i, &seed) in seeds.iter().enumerate() {
        for (j, workload) in workloads.iter().enumerate() {
            let shape = Shape {
                slots: 1 << parameters.log2_slots,
                load: parameters.load,
                bits: parameters.bits,
                seed,
            };
            let Some(source) = Source::open(bench, workload, seed)? else {
                continue;
            };
            let mut filters = Vec::new();
            for entry in &sets {
                ensure!(entry.removes, "{} can't remove", entry.name);
                let mut set = (entry.build)(&shape)?;
                for i in 0..shape.keys() {
                    source.member(i, |key| set.insert(key))?;
                }
                let used = set.space().used_bits;
                filters.push((entry.name, set, used));
            }
            let mut churn = Churn::new(shape.keys(), Churn::SHARE, seed);
            let mut queries = source.queries(seed)?;
            let mut others = source.queries(seed ^ 0x6f74_6865)?;
            let probes = source.strangers(&mut *others, parameters.probes);
            for checkpoint in 1..=parameters.checkpoints {
                let each = parameters.queries / parameters.checkpoints;
                let strangers = source.strangers(&mut *queries, each);
                let wave = (checkpoint % parameters.every == 0
                    && checkpoint < parameters.checkpoints)
                    .then(|| churn.wave());
                let x = 100.0 * checkpoint as f64 / parameters.checkpoints as f64;
                for (name, set, used) in &mut filters {
                    if let Some(wave) = &wave {
                        for &old in &wave.leave {
                            source.member(old, |key| set.remove(key))?;
                        }
                        for &new in &wave.enter {
                            source.member(new, |key| set.insert(key))?;
                        }
                        // Who looks right after it sees what the new members have done.
                    } else {
                        for key in strangers.iter() {
                            set.ask_stranger(key)?;
                        }
                    }
                    let wrong = probes.iter().filter(|key| set.contains(key)).count();
                    let rate = wrong as f64 / probes.len() as f64;
                    bench.note("rate", name, x, rate);
                    let bits = (set.space().used_bits - *used) / shape.keys() as f64;
                    bench.note("bits", name, x, bits);
                }
                let done = (i * workloads.len() + j) as f64;
                bench.progress((done + x / 100.0) / total as f64);
            }
        }
    }
    Ok(())
}
