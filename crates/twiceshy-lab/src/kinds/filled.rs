//! Filled filters, before anything is learnt: their space and error, and what filling them has asked of
//! the map of their keys.
//!
//! Panels: `bits` per key and `error`, as −log₂ of the share of strangers taken for members, against the
//! bits that are asked for; `inserts`, `updates` and `reads` of the map, for each key, against log₂ of the
//! slots.

use anyhow::Result;
use serde::Deserialize;

use crate::experiments::bench::Bench;
use crate::filters::Shape;
use crate::workloads::Keys;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    log2_slots: Vec<u32>,
    load: f64,
    /// −log₂ of the wanted error.
    bits: Vec<u32>,
    /// Strangers to ask for.
    #[serde(default)]
    queries: u64,
}

pub(super) fn run(bench: &mut Bench<'_>) -> Result<()> {
    let parameters: Parameters = bench.parameters()?;
    let (entries, seeds) = (bench.filters()?, bench.seeds().to_vec());
    let (sizes, bits) = (&parameters.log2_slots, &parameters.bits);
    let total = seeds.len() * sizes.len() * bits.len() * entries.len();
    let mut done = 0;
    for &seed in &seeds {
        let keys = Keys::new(seed);
        for (log2_slots, bits) in sizes
            .iter()
            .flat_map(|&size| bits.iter().map(move |&b| (size, b)))
        {
            let shape = Shape {
                slots: 1 << log2_slots,
                load: parameters.load,
                bits,
                seed,
            };
            for entry in &entries {
                let mut set = entry.set(&shape)?;
                for i in 0..shape.keys() {
                    set.insert(&keys.member(i).to_le_bytes())?;
                }
                let each = |count: f64| count / shape.keys() as f64;
                let (asked, size) = (f64::from(bits), f64::from(log2_slots));
                bench.note(
                    "bits",
                    entry.name,
                    asked,
                    each(set.space().bytes as f64 * 8.0),
                );
                if parameters.queries > 0 {
                    let stranger = |i: u64| keys.stranger(i).to_le_bytes();
                    let wrong = (0..parameters.queries).filter(|&i| set.contains(&stranger(i)));
                    // None at all is half a one.
                    let wrong = (wrong.count() as f64).max(0.5) / parameters.queries as f64;
                    bench.note("error", entry.name, asked, -wrong.log2());
                }
                let accesses = set.accesses();
                for (panel, count) in [
                    ("inserts", accesses.inserts),
                    ("updates", accesses.updates),
                    ("reads", accesses.reads),
                ] {
                    bench.note(panel, entry.name, size, each(count as f64));
                }
                done += 1;
                bench.step(done, total);
            }
        }
    }
    Ok(())
}
