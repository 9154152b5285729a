//! Ways to get a filled filter (table 5 of the paper): one by one, by merging two of half the
//! size, or at once from sorted keys. Panel `time`, in microseconds for each key.

use std::time::Instant;

use anyhow::Result;
use serde::Deserialize;

use super::operations::measure::measure;
use crate::experiments::bench::Bench;
use crate::filters::Operation;
use crate::timed::Workload;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    log2_slots: u32,
    load: f64,
}

const PANEL: &str = "time";

/// What is measured of a filter, and its place.
const WHOLE: [(Operation, &str); 4] = [
    (Operation::Insert, "insert into a filter"),
    (Operation::Merge, "merge two halves"),
    (Operation::BulkLoadSorted, "bulk load, sorted"),
    (Operation::BulkLoad, "bulk load, any order"),
];

/// The same of one of half the size.
const HALF: [(Operation, &str); 1] = [(Operation::Insert, "insert into one of half the size")];

pub(super) fn run(bench: &mut Bench<'_>) -> Result<()> {
    let Parameters { log2_slots, load } = bench.parameters()?;
    let entries = bench.filters()?;
    let rounds = bench.rounds();
    let whole = Workload {
        log2_slots,
        load,
        adapted: 0.0,
        seed: bench.seed(),
    };
    let half = Workload {
        log2_slots: log2_slots - 1,
        ..whole
    };
    let members: Vec<u64> = (0..whole.members()).map(|i| whole.member(i)).collect();
    for round in 0..rounds {
        for (workload, places) in [(&whole, &WHOLE[..]), (&half, &HALF)] {
            let operations: Vec<Operation> = places.iter().map(|place| place.0).collect();
            let mut hear = |filter: &'static str, what: &str, figure: f64, _: f64| {
                let place = places.iter().find(|place| place.0.to_string() == what);
                if let Some((_, place)) = place {
                    bench.note(PANEL, filter, *place, figure / 1e3);
                }
            };
            measure(workload, 1, &entries, &operations, &mut hear)?;
        }
        for entry in &entries {
            let (filter, mut keys) = (entry.contender(&whole)?, members.clone());
            if filter.can(Operation::BulkLoadSorted) {
                let start = Instant::now();
                filter.sort_by_hash(&mut keys);
                let time = start.elapsed().as_secs_f64() * 1e6 / keys.len() as f64;
                bench.note(PANEL, entry.name, "sort in hash order", time);
            }
        }
        bench.step(round + 1, rounds);
    }
    Ok(())
}
