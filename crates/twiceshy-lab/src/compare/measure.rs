//! The measurement: rounds, steps and their order.
//!
//! A machine's speed drifts by tens of per cent over seconds, so filters are only
//! compared with what ran beside them. In each round every filter is built afresh
//! and then takes one [`Step`] after the other, all filters the same step before the
//! next begins; who goes first rotates. What is asked for is the same in every round:
//! rounds repeat the measurement, not the experiment.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use indicatif::ProgressBar;

use super::batch;
use super::bulk;
use super::file;
use super::filters::{Contender, Entry};
use super::learning::{self, Lore};
use super::operation::Operation;
use super::workload::{Workload, time};
use super::zipf::Stream;

/// What is the same in every round.
pub(super) struct Setting {
    pub(super) workload: Workload,
    stream: OnceCell<Stream>,
    members: OnceCell<Vec<u64>>,
    elsewhere: OnceCell<Vec<u8>>,
}

impl Setting {
    /// The draws by Zipf's law, made when they are first asked for.
    pub(super) fn stream(&self) -> &Stream {
        self.stream.get_or_init(|| Stream::new(&self.workload))
    }

    /// All members in one array, made when it is first asked for.
    pub(super) fn members(&self) -> &[u64] {
        let workload = &self.workload;
        let all = || (0..workload.members()).map(|i| workload.member(i));
        self.members.get_or_init(|| all().collect())
    }

    /// Reads so much that nothing else is left in the caches. Written, it would have to leave them later,
    /// on the clock, and memory that is given back keeps the system busy for a while.
    fn read_elsewhere(&self) {
        const BYTES: usize = 256 << 20;
        const LINE: usize = 64;
        let elsewhere = self.elsewhere.get_or_init(|| vec![1; BYTES]);
        let lines = black_box(elsewhere).iter().step_by(LINE);
        black_box(lines.map(|&byte| u64::from(byte)).sum::<u64>());
    }
}

/// One operation of one filter in one round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    pub(crate) ns_per_op: f64,
    /// Strangers that were taken for members, where there were strangers.
    pub(crate) false_positives: Option<u64>,
    /// Different strangers that were taken for members before the filter learnt, where
    /// some were asked for more than once.
    pub(crate) distinct_false_positives: Option<u64>,
    /// Bits of the slots that learning took.
    pub(crate) bits_added: Option<f64>,
    /// What is to be known of the file, where one was opened.
    pub(crate) opened: Option<Opened>,
}

/// A file that was opened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Opened {
    pub(crate) bytes: usize,
    /// The time to open it, whole, without verification.
    pub(crate) trusted_ns: f64,
}

impl Sample {
    /// A time and nothing else.
    pub(super) fn new(ns_per_op: f64) -> Self {
        Sample {
            ns_per_op,
            false_positives: None,
            distinct_false_positives: None,
            bits_added: None,
            opened: None,
        }
    }
}

/// All that was measured of one filter.
pub(crate) struct Record {
    pub(crate) entry: &'static Entry,
    /// In the filled filter.
    pub(crate) bits_per_item: f64,
    /// One sample per round.
    pub(crate) samples: BTreeMap<Operation, Vec<Sample>>,
    /// If the filter learns and has occasion to.
    pub(super) lore: Option<Lore>,
    /// The members in the order of their hashes, if they are asked for.
    pub(super) in_hash_order: OnceCell<Vec<u64>>,
}

impl Record {
    /// The samples of an operation; none if the filter lacks it.
    pub(crate) fn samples(&self, operation: Operation) -> &[Sample] {
        self.samples.get(&operation).map_or(&[], Vec::as_slice)
    }

    pub(super) fn add(&mut self, operation: Operation, sample: Sample) {
        if self.entry.can(operation) {
            self.samples.entry(operation).or_default().push(sample);
        }
    }
}

/// A stretch of work that yields the samples of one or more operations.
struct Step {
    yields: &'static [Operation],
    /// Calls to the filter, for the progress bar.
    calls: fn(&Workload) -> u64,
    run: fn(&mut dyn Contender, &Setting, &mut Record) -> Result<()>,
}

/// Every round takes the first step, and of the others those that somebody asked for or that
/// are needed to compare with. Copies aside, only the removal changes a filled filter.
const STEPS: &[Step] = &[
    Step {
        yields: &[Operation::Insert, Operation::Insert8590],
        calls: Workload::members,
        run: fill,
    },
    Step {
        yields: &[Operation::InsertBatch],
        calls: Workload::members,
        run: batch::insert,
    },
    Step {
        yields: &[Operation::QueryHit, Operation::QueryMiss],
        calls: |workload| 2 * workload.queries(),
        run: query,
    },
    Step {
        yields: &[Operation::QueryHitBatch, Operation::QueryMissBatch],
        calls: |workload| 2 * workload.queries(),
        run: batch::query,
    },
    Step {
        yields: &[Operation::LoadFile],
        calls: Workload::members,
        run: file::load,
    },
    Step {
        yields: &[Operation::Adapt],
        calls: Workload::adaptations,
        run: learning::adapt,
    },
    Step {
        yields: &[Operation::Zipf, Operation::ZipfAgain],
        calls: |workload| 2 * workload.draws(),
        run: learning::zipf,
    },
    Step {
        yields: &[Operation::Remove],
        calls: Workload::removals,
        run: remove,
    },
    Step {
        yields: &[Operation::BulkLoad],
        calls: Workload::members,
        run: bulk::any_order,
    },
    Step {
        yields: &[Operation::BulkLoadSorted],
        calls: Workload::members,
        run: bulk::hash_order,
    },
    Step {
        yields: &[Operation::Merge],
        calls: Workload::members,
        run: bulk::merge,
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
    let wanted = |op: &Operation| {
        let mut asked_for = operations.iter();
        asked_for.any(|asked| asked == op || asked.is_read_beside(*op))
    };
    let steps: Vec<&Step> = STEPS
        .iter()
        .enumerate()
        .filter(|(i, step)| *i == 0 || step.yields.iter().any(wanted))
        .map(|(_, step)| step)
        .collect();
    let calls: u64 = steps.iter().map(|step| (step.calls)(workload)).sum();
    progress.set_length(calls * (rounds * entries.len()) as u64);

    let setting = Setting {
        workload: *workload,
        stream: OnceCell::new(),
        members: OnceCell::new(),
        elsewhere: OnceCell::new(),
    };
    // Much memory and some time at large sizes: not for nothing.
    let to_learn = workload.adapted > 0.0 || operations.iter().any(|op| op.needs_members());
    let mut records = Vec::new();
    for &entry in entries {
        let learns = entry.learns.as_ref().filter(|_| to_learn);
        let members = learns
            .map(|learns| (learns.members)(workload))
            .transpose()?;
        records.push(Record {
            entry,
            bits_per_item: f64::NAN,
            samples: BTreeMap::new(),
            lore: members.map(Lore::new),
            in_hash_order: OnceCell::new(),
        });
    }
    for round in 0..rounds {
        progress.set_message(format!("round {} of {rounds}", round + 1));
        records.rotate_left(usize::from(round > 0));
        run_round(&setting, &steps, &mut records, progress)?;
    }
    // Back into the order that was asked for.
    records.sort_by_key(|record| entries.iter().position(|e| e.name == record.entry.name));
    Ok(records)
}

fn run_round(
    setting: &Setting,
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
                    None => filter.insert(build(setting, record).context(entry.name)?),
                };
                (step.run)(filter.as_mut(), setting, record).context(entry.name)?;
            }
            progress.inc((step.calls)(&setting.workload));
        }
    }
    Ok(())
}

fn build(setting: &Setting, record: &Record) -> Result<Box<dyn Contender>> {
    let mut filter = (record.entry.build)(&setting.workload)?;
    if let Some((learner, lore)) = filter.learner().zip(record.lore.as_ref()) {
        learner.meet(lore.members.clone());
    }
    Ok(filter)
}

fn fill(filter: &mut dyn Contender, setting: &Setting, record: &mut Record) -> Result<()> {
    let workload = &setting.workload;
    let (late, end) = (workload.members_before_last_points(), workload.members());
    let first = time(
        0..late,
        |i| workload.member(i),
        |keys| filter.insert_all(keys),
    )?;
    if let Some((learner, lore)) = filter.learner().zip(record.lore.as_ref()) {
        learning::adapt_before(learner, workload, lore, late)?;
    }
    if workload.adapted > 0.0 {
        level_caches(filter, setting, late)?;
    }
    let last = time(
        late..end,
        |i| workload.member(i),
        |keys| filter.insert_all(keys),
    )?;
    let start = Instant::now();
    filter.seal()?;
    let whole = first.elapsed + last.elapsed + start.elapsed();

    let whole = whole.as_nanos() as f64 / end as f64;
    record.add(Operation::Insert, Sample::new(whole));
    record.add(Operation::Insert8590, Sample::new(last.ns_per_op()));
    record.bits_per_item = filter.bytes() as f64 * 8.0 / end as f64;
    Ok(())
}

/// Gives every contender the same caches. Who has just learnt has been all over the keys, and its
/// table has been pushed out and only read since; the table of who learns nothing would be as the last
/// writes have left it. All of it comes back, as far as it fits: the insertions that follow are so few that
/// each would else meet lines for the first time.
fn level_caches(filter: &mut dyn Contender, setting: &Setting, members: u64) -> Result<()> {
    let workload = &setting.workload;
    setting.read_elsewhere();
    let member = |i| workload.member(i);
    time(0..members, member, |keys| Ok(filter.contains_all(keys)))?;
    Ok(())
}

/// Brings a filter back into the caches that the others used meanwhile.
fn warm_up(filter: &mut dyn Contender, workload: &Workload) -> Result<()> {
    let (first, count) = (workload.queries(), workload.warm_up());
    let asked = |i| workload.random_member(i);
    time(first..first + count, asked, |keys| {
        Ok(filter.contains_all(keys))
    })?;
    Ok(())
}

fn query(filter: &mut dyn Contender, setting: &Setting, record: &mut Record) -> Result<()> {
    let workload = &setting.workload;
    let end = workload.queries();
    warm_up(filter, workload)?;
    let hit = |i| workload.random_member(i);
    let miss = |i| workload.stranger(i);
    let mut ask = |keys: &[u64]| Ok(filter.contains_all(keys));

    let hits = time(0..end, hit, &mut ask)?;
    ensure!(
        hits.count == end,
        "{} of {end} queries for members were answered \"no\"",
        end - hits.count
    );
    let misses = time(0..end, miss, &mut ask)?;

    record.add(Operation::QueryHit, Sample::new(hits.ns_per_op()));
    let miss = Sample {
        false_positives: Some(misses.count),
        ..Sample::new(misses.ns_per_op())
    };
    record.add(Operation::QueryMiss, miss);
    Ok(())
}

fn remove(filter: &mut dyn Contender, setting: &Setting, record: &mut Record) -> Result<()> {
    let workload = &setting.workload;
    let end = workload.removals();
    warm_up(filter, workload)?;
    let removed = time(0..end, workload.removed_member(), |keys| {
        Ok(filter.remove_all(keys))
    })?;
    // A filter that keeps equal fingerprints once may miss one key in a thousand.
    let may_miss = match record.entry.learns {
        Some(_) => 0,
        None => end / 100 + 1,
    };
    ensure!(
        removed.count + may_miss >= end,
        "{} of {end} members were not there to be removed",
        end - removed.count
    );
    record.add(Operation::Remove, Sample::new(removed.ns_per_op()));
    Ok(())
}
