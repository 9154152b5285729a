//! What a filter asks of the map of its keys while it is filled (table 1 of the paper).
//!
//! Panels `inserts`, `updates` and `reads`, for each key; places: log₂ of the slots.

use anyhow::Result;
use serde::Deserialize;

use super::super::bench::Bench;
use crate::compare::workload::Workload;
use crate::sets::Shape;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    log2_slots: Vec<u32>,
    load: f64,
    bits: u32,
}

pub(super) fn run(bench: &mut Bench<'_>) -> Result<()> {
    let parameters: Parameters = bench.parameters()?;
    let (sets, seeds) = (bench.sets()?, bench.seeds().to_vec());
    let total = seeds.len() * parameters.log2_slots.len() * sets.len();
    let mut done = 0;
    for &seed in &seeds {
        for &log2_slots in &parameters.log2_slots {
            let workload = Workload {
                log2_slots,
                load: parameters.load,
                adapted: 0.0,
                seed,
            };
            let shape = Shape {
                slots: workload.slots(),
                load: parameters.load,
                bits: parameters.bits,
                seed,
            };
            for entry in &sets {
                let mut set = (entry.build)(&shape)?;
                for i in 0..shape.keys() {
                    set.insert(&workload.member(i).to_le_bytes())?;
                }
                let accesses = set.accesses();
                for (panel, count) in [
                    ("inserts", accesses.inserts),
                    ("updates", accesses.updates),
                    ("reads", accesses.reads),
                ] {
                    let each = count as f64 / shape.keys() as f64;
                    bench.note(panel, entry.name, f64::from(log2_slots), each);
                }
                done += 1;
                bench.step(done, total);
            }
        }
    }
    Ok(())
}
