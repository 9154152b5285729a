//! The measurement: rounds, steps and their order.
//!
//! A machine's speed drifts by tens of per cent over seconds, so filters are only
//! compared with what ran beside them. In each round every filter is built afresh
//! and then takes one [`Step`] after the other, all filters the same step before the
//! next begins; who goes first rotates. What is asked for is the same in every round:
//! rounds repeat the measurement, not the experiment.

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use indicatif::ProgressBar;

use super::filters::{Contender, Entry};
use super::operation::Operation;
use super::workload::{Workload, time};

/// One operation of one filter in one round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    pub(crate) ns_per_op: f64,
    /// Strangers that were taken for members, where there were strangers.
    pub(crate) false_positives: Option<u64>,
}

/// All that was measured of one filter.
pub(crate) struct Record {
    pub(crate) entry: &'static Entry,
    /// In the filled filter.
    pub(crate) bits_per_item: f64,
    /// One sample per round.
    pub(crate) samples: BTreeMap<Operation, Vec<Sample>>,
}

impl Record {
    /// The samples of an operation; none if the filter lacks it.
    pub(crate) fn samples(&self, operation: Operation) -> &[Sample] {
        self.samples.get(&operation).map_or(&[], Vec::as_slice)
    }

    fn add(&mut self, operation: Operation, ns_per_op: f64, false_positives: Option<u64>) {
        if self.entry.can(operation) {
            self.samples.entry(operation).or_default().push(Sample {
                ns_per_op,
                false_positives,
            });
        }
    }
}

/// A stretch of work that yields the samples of one or more operations.
struct Step {
    yields: &'static [Operation],
    /// Calls to the filter, for the progress bar.
    calls: fn(&Workload) -> u64,
    run: fn(&mut dyn Contender, &Workload, &mut Record) -> Result<()>,
}

/// Every round takes the first step, and of the others those that somebody asked for.
const STEPS: &[Step] = &[
    Step {
        yields: &[Operation::Insert, Operation::Insert8590],
        calls: Workload::members,
        run: fill,
    },
    Step {
        yields: &[Operation::QueryHit, Operation::QueryMiss],
        calls: |workload| 2 * workload.queries(),
        run: query,
    },
    Step {
        yields: &[Operation::Remove],
        calls: Workload::removals,
        run: remove,
    },
];

/// Measures `entries` at (at least) `operations`, `rounds` times.
pub(crate) fn measure(
    workload: &Workload,
    rounds: usize,
    entries: &[&'static Entry],
    operations: &[Operation],
    progress: &ProgressBar,
) -> Result<Vec<Record>> {
    let steps: Vec<&Step> = STEPS
        .iter()
        .enumerate()
        .filter(|(i, step)| *i == 0 || step.yields.iter().any(|op| operations.contains(op)))
        .map(|(_, step)| step)
        .collect();
    let calls: u64 = steps.iter().map(|step| (step.calls)(workload)).sum();
    progress.set_length(calls * (rounds * entries.len()) as u64);

    let mut records: Vec<Record> = entries
        .iter()
        .map(|entry| Record {
            entry,
            bits_per_item: f64::NAN,
            samples: BTreeMap::new(),
        })
        .collect();
    for round in 0..rounds {
        progress.set_message(format!("round {} of {rounds}", round + 1));
        records.rotate_left(usize::from(round > 0));
        run_round(workload, &steps, &mut records, progress)?;
    }
    // Back into the order that was asked for.
    records.sort_by_key(|record| entries.iter().position(|e| e.name == record.entry.name));
    Ok(records)
}

fn run_round(
    workload: &Workload,
    steps: &[&Step],
    records: &mut [Record],
    progress: &ProgressBar,
) -> Result<()> {
    let mut filters: Vec<Option<Box<dyn Contender>>> = records.iter().map(|_| None).collect();
    for step in steps {
        for (record, filter) in records.iter_mut().zip(&mut filters) {
            let entry = record.entry;
            if step.yields.iter().any(|&operation| entry.can(operation)) {
                // Built when its turn comes: some need much memory until they are filled.
                let filter = match filter {
                    Some(filter) => filter,
                    None => filter.insert((entry.build)(workload).context(entry.name)?),
                };
                (step.run)(filter.as_mut(), workload, record).context(entry.name)?;
            }
            progress.inc((step.calls)(workload));
        }
    }
    Ok(())
}

fn fill(filter: &mut dyn Contender, workload: &Workload, record: &mut Record) -> Result<()> {
    let (late, end) = (workload.members_before_last_points(), workload.members());
    let first = time(
        0..late,
        |i| workload.member(i),
        |keys| filter.insert_all(keys),
    )?;
    let last = time(
        late..end,
        |i| workload.member(i),
        |keys| filter.insert_all(keys),
    )?;
    let start = Instant::now();
    filter.seal()?;
    let whole = first.elapsed + last.elapsed + start.elapsed();

    record.add(
        Operation::Insert,
        whole.as_nanos() as f64 / end as f64,
        None,
    );
    record.add(Operation::Insert8590, last.ns_per_op(), None);
    record.bits_per_item = filter.bytes() as f64 * 8.0 / end as f64;
    Ok(())
}

fn query(filter: &mut dyn Contender, workload: &Workload, record: &mut Record) -> Result<()> {
    let (cold, end) = (workload.warm_up(), workload.queries());
    let hit = |i| workload.random_member(i);
    let miss = |i| workload.stranger(i);
    let mut ask = |keys: &[u64]| Ok(filter.contains_all(keys));

    time(end..end + cold, hit, &mut ask)?;
    let hits = time(0..end, hit, &mut ask)?;
    ensure!(
        hits.count == end,
        "{} of {end} queries for members were answered \"no\"",
        end - hits.count
    );
    let misses = time(0..end, miss, &mut ask)?;

    record.add(Operation::QueryHit, hits.ns_per_op(), None);
    record.add(Operation::QueryMiss, misses.ns_per_op(), Some(misses.count));
    Ok(())
}

fn remove(filter: &mut dyn Contender, workload: &Workload, record: &mut Record) -> Result<()> {
    let end = workload.removals();
    let removed = time(0..end, workload.removed_member(), |keys| {
        Ok(filter.remove_all(keys))
    })?;
    // A filter that keeps equal fingerprints once may miss one key in a thousand.
    ensure!(
        removed.count + end / 100 + 1 >= end,
        "{} of {end} members were not there to be removed",
        end - removed.count
    );
    record.add(Operation::Remove, removed.ns_per_op(), None);
    Ok(())
}
