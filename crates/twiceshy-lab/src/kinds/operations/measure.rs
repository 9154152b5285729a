//! The measurement: rounds, steps and their order.
//!
//! A machine's speed drifts by tens of per cent over seconds, so filters are only
//! compared with what ran beside them. In each round every filter is built afresh
//! and then takes one [`Step`] after the other, all filters the same step before the
//! next begins; who goes first rotates. What is asked for is the same in every round:
//! rounds repeat the measurement, not the experiment.

use std::cell::OnceCell;
use std::hint::black_box;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use super::learning::{self, Lore};
use super::zipf::Stream;
use super::{batch, bulk, file};
use crate::filters::{Contender, Entry, Operation};
use crate::timed::{Timing, Workload, time};

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

/// One filter throughout the rounds.
pub(super) struct Record {
    pub(super) entry: &'static Entry,
    /// What came of the step under way: the operation or what else was found, and a figure.
    figures: Vec<(String, f64)>,
    /// If the filter learns and has occasion to.
    pub(super) lore: Option<Lore>,
    /// The members in the order of their hashes, if they are asked for.
    pub(super) in_hash_order: OnceCell<Vec<u64>>,
    /// Strangers that were taken for members when they were asked for one by one.
    pub(super) alone: Option<u64>,
}

impl Record {
    /// Nanoseconds of an operation.
    pub(super) fn time(&mut self, operation: Operation, ns: f64) {
        self.figures.push((operation.to_string(), ns));
    }

    /// The time of an operation, and the share of the strangers that were taken for members.
    pub(super) fn asked(&mut self, operation: Operation, timing: &Timing) {
        self.time(operation, timing.ns_per_op());
        self.note(
            &format!("{operation} rate"),
            timing.count as f64 / timing.keys as f64,
        );
    }

    /// Something else.
    pub(super) fn note(&mut self, what: &str, figure: f64) {
        self.figures.push((what.to_owned(), figure));
    }
}

/// A stretch of work that yields the samples of one or more operations.
struct Step {
    yields: &'static [Operation],
    /// Calls to the filter, for the progress.
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

/// Who hears of every figure: of which filter, what it is, and how far the measurement is then.
pub(crate) type Hear<'h> = &'h mut dyn FnMut(&'static str, &str, f64, f64);

/// Measures `entries` at (at least) `operations`, `rounds` times.
pub(crate) fn measure(
    workload: &Workload,
    rounds: usize,
    entries: &[&'static Entry],
    operations: &[Operation],
    hear: Hear<'_>,
) -> Result<()> {
    let is_wanted = |op: &Operation| operations.contains(op);
    let steps: Vec<&Step> = STEPS
        .iter()
        .enumerate()
        .filter(|(i, step)| *i == 0 || step.yields.iter().any(is_wanted))
        .map(|(_, step)| step)
        .collect();
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
        let mut filter = entry.contender(workload)?;
        let learner = filter.learner().filter(|_| to_learn);
        let members = learner
            .map(|learner| learner.members(workload))
            .transpose()?;
        records.push(Record {
            entry,
            figures: Vec::new(),
            lore: members.map(Lore::new),
            in_hash_order: OnceCell::new(),
            alone: None,
        });
    }
    let calls = |steps: &[&Step]| steps.iter().map(|step| (step.calls)(workload)).sum::<u64>();
    let total = (calls(&steps) * (rounds * entries.len()) as u64) as f64;
    let mut done = 0;
    for round in 0..rounds {
        records.rotate_left(usize::from(round > 0));
        let mut filters: Vec<Box<dyn Contender>> = Vec::new();
        for step in &steps {
            for (i, record) in records.iter_mut().enumerate() {
                // Built when its turn comes: some need much memory until they are filled.
                if filters.len() == i {
                    filters.push(build(&setting, record).context(record.entry.name)?);
                }
                let filter = filters[i].as_mut();
                if step.yields.iter().any(|&operation| filter.can(operation)) {
                    (step.run)(filter, &setting, record).context(record.entry.name)?;
                }
                done += (step.calls)(workload);
                for (what, figure) in record.figures.drain(..) {
                    hear(record.entry.name, &what, figure, done as f64 / total);
                }
            }
        }
    }
    Ok(())
}

fn build(setting: &Setting, record: &Record) -> Result<Box<dyn Contender>> {
    let mut filter = record.entry.contender(&setting.workload)?;
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
    record.time(Operation::Insert, whole);
    if filter.can(Operation::Insert8590) {
        record.time(Operation::Insert8590, last.ns_per_op());
    }
    record.note("space", filter.bytes() as f64 * 8.0 / end as f64);
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

    record.time(Operation::QueryHit, hits.ns_per_op());
    record.asked(Operation::QueryMiss, &misses);
    record.alone = Some(misses.count);
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
    let may_miss = if record.entry.learns {
        0
    } else {
        end / 100 + 1
    };
    ensure!(
        removed.count + may_miss >= end,
        "{} of {end} members were not there to be removed",
        end - removed.count
    );
    record.time(Operation::Remove, removed.ns_per_op());
    Ok(())
}
