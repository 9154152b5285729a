//! Throughput of bare filters: what [`compare`](crate::compare) measures, in millions a second.
//!
//! A panel for each operation of the declaration's `workloads`, and one place: the log₂ of the
//! slots. Each round is one sample, and all filters take part in it side by side.

use anyhow::{Context, Result};
use clap::ValueEnum;
use indicatif::ProgressBar;
use serde::Deserialize;

use super::super::bench::Bench;
use crate::compare::measure;
use crate::compare::operation::Operation;
use crate::compare::workload::Workload;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// One place each.
    log2_slots: Vec<u32>,
    load: f64,
}

/// The name of a filter of `compare` in the experiments: `twiceshy-adaptive/xxh3` is `adaptive`.
pub(super) fn short_name(name: &'static str) -> &'static str {
    let name = name.strip_prefix("twiceshy-").unwrap_or(name);
    match name.strip_suffix("/xxh3").unwrap_or(name) {
        "plain" => "quotient",
        "telescoping-plain" => "telescoping, uncoded",
        name => name,
    }
}

pub(super) fn run(bench: &mut Bench<'_>) -> Result<()> {
    let parameters: Parameters = bench.parameters()?;
    let entries = bench.contenders()?;
    let names = bench.experiment.workloads.iter();
    let operations: Vec<Operation> = names
        .map(|name| {
            let operation = Operation::from_str(name, false).ok();
            operation.with_context(|| format!("there is no operation {name:?}"))
        })
        .collect::<Result<_>>()?;
    let (rounds, sizes) = (bench.rounds(), parameters.log2_slots.len());
    for (i, &log2_slots) in parameters.log2_slots.iter().enumerate() {
        let workload = Workload {
            log2_slots,
            load: parameters.load,
            adapted: 0.0,
            seed: bench.seed(),
        };
        let records = measure::measure(
            &workload,
            rounds,
            &entries,
            &operations,
            &ProgressBar::hidden(),
        )?;
        for record in &records {
            for &operation in &operations {
                for sample in record.samples(operation) {
                    let millions = 1e3 / sample.ns_per_op;
                    let x = f64::from(log2_slots);
                    bench.note(operation.name(), short_name(record.entry.name), x, millions);
                }
            }
        }
        bench.step(i + 1, sizes);
    }
    Ok(())
}
