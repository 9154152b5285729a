//! Throughput of bare filters: what [`compare`](crate::compare) measures, in millions a second.
//!
//! A panel for each operation of the declaration's `workloads`, and one place: the log₂ of the
//! slots. Each round is one sample, and all filters take part in it side by side.
//!
//! `zipf` is measured here: all of them are asked for the same strangers by Zipf's law, and those
//! that learn do, with their keys at hand and on the clock.

use std::rc::Rc;

use anyhow::{Context, Result};
use clap::ValueEnum;
use indicatif::ProgressBar;
use serde::Deserialize;

use super::super::bench::Bench;
use crate::compare::filters::Entry;
use crate::compare::measure;
use crate::compare::operation::Operation;
use crate::compare::workload::{Workload, time};
use crate::compare::zipf::Stream;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// One place each.
    log2_slots: Vec<u32>,
    load: f64,
}

const ZIPF: &str = "zipf";

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
    let has_zipf = bench.experiment.workloads.iter().any(|name| name == ZIPF);
    let operations: Vec<Operation> = names
        .filter(|name| *name != ZIPF)
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
        if has_zipf {
            zipf(bench, &workload, &entries)?;
        }
        bench.step(i + 1, sizes);
    }
    Ok(())
}

fn zipf(bench: &mut Bench<'_>, workload: &Workload, entries: &[&'static Entry]) -> Result<()> {
    let stream = Stream::new(workload);
    let mut filters = Vec::new();
    for entry in entries {
        let mut filter = (entry.build)(workload)?;
        if let Some((learner, learns)) = filter.learner().zip(entry.learns.as_ref()) {
            learner.meet(Rc::new((learns.members)(workload)?));
        }
        for i in 0..workload.members() {
            filter.insert(workload.member(i))?;
        }
        filter.seal()?;
        filters.push((entry.name, filter));
    }
    // Each round asks a part of the same stream, so the first has the most to learn.
    let rounds = bench.rounds() as u64;
    for round in 0..rounds {
        let (from, to) = (
            round * workload.draws() / rounds,
            (round + 1) * workload.draws() / rounds,
        );
        for (name, filter) in &mut filters {
            let asked = time(
                from..to,
                |i| workload.ranked(stream.rank(i)),
                |keys| filter.ask_strangers(keys),
            )?;
            let x = f64::from(workload.log2_slots);
            bench.note(ZIPF, short_name(name), x, 1e3 / asked.ns_per_op());
            let wrong = asked.count as f64 / asked.keys as f64;
            bench.note("zipf rate", short_name(name), x, wrong);
        }
        filters.rotate_left(1);
    }
    Ok(())
}
