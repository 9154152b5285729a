//! Ways to get a filled filter (table 5 of the paper): one by one, by merging two of half the
//! size, or at once from sorted keys. Panel `time`, in microseconds for each key.

use std::time::Instant;

use anyhow::Result;
use indicatif::ProgressBar;
use serde::Deserialize;

use super::super::bench::Bench;
use super::micro::short_name;
use crate::compare::measure;
use crate::compare::operation::Operation;
use crate::compare::workload::Workload;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    log2_slots: u32,
    load: f64,
}

const PANEL: &str = "time";

pub(super) fn run(bench: &mut Bench<'_>) -> Result<()> {
    let Parameters { log2_slots, load } = bench.parameters()?;
    let entries = bench.contenders()?;
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
    let places = [
        (&whole, Operation::Insert, "insert into a filter"),
        (&half, Operation::Insert, "insert into one of half the size"),
        (&whole, Operation::Merge, "merge two halves"),
        (&whole, Operation::BulkLoadSorted, "bulk load, sorted"),
        (&whole, Operation::BulkLoad, "bulk load, any order"),
    ];
    let members: Vec<u64> = (0..whole.members()).map(|i| whole.member(i)).collect();
    for round in 0..rounds {
        let hidden = ProgressBar::hidden();
        let all = [
            Operation::Insert,
            Operation::Merge,
            Operation::BulkLoad,
            Operation::BulkLoadSorted,
        ];
        let measured = [
            (
                &whole,
                measure::measure(&whole, 1, &entries, &all, &hidden)?,
            ),
            (
                &half,
                measure::measure(&half, 1, &entries, &all[..1], &hidden)?,
            ),
        ];
        for (workload, operation, place) in places {
            let records = measured
                .iter()
                .filter(|(size, _)| std::ptr::eq(*size, workload));
            for record in records.flat_map(|(_, records)| records) {
                for sample in record.samples(operation) {
                    let name = short_name(record.entry.name);
                    bench.note(PANEL, name, place, sample.ns_per_op / 1e3);
                }
            }
        }
        for entry in entries.iter().filter(|entry| entry.ours) {
            let (filter, mut keys) = ((entry.build)(&whole)?, members.clone());
            let start = Instant::now();
            filter.sort_by_hash(&mut keys);
            let time = start.elapsed().as_secs_f64() * 1e6 / keys.len() as f64;
            bench.note(PANEL, short_name(entry.name), "sort in hash order", time);
        }
        bench.step(round + 1, rounds);
    }
    Ok(())
}
