//! Bits per key and error of filled filters, before anything is learnt.
//!
//! Panels: `bits` per key, `error` as −log₂ of the share of strangers taken for members; series:
//! the filters; places: the bits that they are asked for.

use anyhow::Result;
use serde::Deserialize;

use super::super::bench::Bench;
use crate::compare::workload::Workload;
use crate::sets::Shape;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    log2_slots: u32,
    load: f64,
    /// −log₂ of the wanted error.
    bits: Vec<u32>,
    /// Strangers to ask for.
    queries: u64,
}

pub(super) fn run(bench: &mut Bench<'_>) -> Result<()> {
    let parameters: Parameters = bench.parameters()?;
    let sets = bench.sets()?;
    let seeds = bench.seeds().to_vec();
    let total = seeds.len() * parameters.bits.len() * sets.len();
    let mut done = 0;
    for &seed in &seeds {
        let workload = Workload {
            log2_slots: parameters.log2_slots,
            load: parameters.load,
            adapted: 0.0,
            seed,
        };
        for &bits in &parameters.bits {
            let shape = Shape {
                slots: workload.slots(),
                load: parameters.load,
                bits,
                seed,
            };
            for entry in &sets {
                let mut set = (entry.build)(&shape)?;
                for i in 0..shape.keys() {
                    set.insert(&workload.member(i).to_le_bytes())?;
                }
                let stranger = |i: u64| workload.stranger(i).to_le_bytes();
                let wrong = (0..parameters.queries).filter(|&i| set.contains(&stranger(i)));
                // None at all is half a one.
                let wrong = (wrong.count() as f64).max(0.5) / parameters.queries as f64;
                let space = set.space().bytes as f64 * 8.0 / shape.keys() as f64;
                let asked = f64::from(bits);
                bench.note("bits", entry.name, asked, space);
                bench.note("error", entry.name, asked, -wrong.log2());
                done += 1;
                bench.step(done, total);
            }
        }
    }
    Ok(())
}
