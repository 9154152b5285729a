//! `profile`: one operation of one filter, for tools that count instructions.

use anyhow::{Context, Result, bail, ensure};

use crate::compare::{parse_adapted, parse_load, timed_filters};
use crate::filters::members::Mistake;
use crate::filters::{self, Contender, Operation, Order, Trust};
use crate::kinds::operations::learning::{Lore, adapt_before, mistakes_to_fix};
use crate::kinds::operations::zipf::Stream;
use crate::timed::{CHUNK, Workload};

/// Do one operation exactly COUNT times, for callgrind and its like
///
/// The filter is filled first (not at all for `insert`, `insert_batch` and bulk loads, which
/// take the first COUNT of the keys; to 5 points below the load for `insert_85_90`), all
/// keys are made beforehand, and so are `adapt`'s false positives, the two filters that
/// `merge` takes and the file that `load_file` opens, the same whatever COUNT is. So the
/// set-up costs the same in two runs that differ only in COUNT, and the difference of
/// their instruction counts, divided by that of their COUNTs, is the cost of one operation.
/// `merge` and `load_file` take all items or none: COUNT is the number of members or 0.
///
///   for n in 0 10000; do
///     valgrind --tool=callgrind --callgrind-out-file=/dev/null \
///       target/release/twiceshy-lab profile --log2-slots 18 \
///       --filter qfilter --operation query_hit --count $n 2>&1 | grep Collected
///   done
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// Which filter
    #[arg(long, value_parser = timed_filters())]
    filter: String,

    /// Which operation
    #[arg(long)]
    operation: Operation,

    /// How many times
    #[arg(long)]
    count: u64,

    /// Filters of 2^LOG2_SLOTS slots
    #[arg(long, default_value_t = 22, value_parser = clap::value_parser!(u32).range(8..=32))]
    log2_slots: u32,

    /// The share of the slots to fill; `insert_85_90` is the last 0.05 of it
    #[arg(long, default_value_t = 0.9, value_parser = parse_load)]
    load: f64,

    /// The share of the items, up to 0.05, that adaptive filters have adapted before
    #[arg(long, default_value_t = 0.0, value_name = "FRACTION", value_parser = parse_adapted)]
    adapted: f64,

    /// Chooses the keys, and the filters' hash functions where they can be chosen
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Sets up, then does it.
pub(crate) fn run(args: &Args) -> Result<()> {
    let operation = args.operation;
    let workload = Workload {
        log2_slots: args.log2_slots,
        load: args.load,
        adapted: args.adapted,
        seed: args.seed,
    };
    let mut filter = filters::by_name(&args.filter)?.contender(&workload)?;
    if !filter.can(operation) {
        bail!("{} has no {operation}", args.filter);
    }
    let mut keys = keys(&workload, operation);
    if operation == Operation::BulkLoadSorted {
        filter.sort_by_hash(&mut keys);
    }
    let lore = fill(filter.as_mut(), args, &workload)?;
    let mistakes = match (operation, filter.learner(), &lore) {
        (Operation::Adapt, Some(learner), Some(lore)) => {
            let queries = mistakes_to_fix(learner, &workload).into_iter();
            let mistake = |query| lore.members.mistake(query, workload.members());
            queries.map(mistake).collect()
        }
        _ => Vec::<Mistake>::new(),
    };
    if operation == Operation::ZipfAgain {
        filter.ask_strangers(&keys)?;
    }

    let count = usize::try_from(args.count)?;
    let most = keys.len().max(mistakes.len());
    ensure!(
        count <= most,
        "at this size {operation} can be done {most} times at most",
    );
    let all_or_none = [Operation::Merge, Operation::LoadFile].contains(&operation);
    ensure!(
        !all_or_none || count == 0 || count == most,
        "at this size {operation} can be done {most} times or not at all",
    );
    let answer = match operation {
        Operation::Insert | Operation::Insert8590 => {
            let inserted = filter.insert_all(&keys[..count])?;
            filter.seal()?;
            inserted
        }
        Operation::InsertBatch => in_chunks(&keys[..count], |keys| filter.insert_batch(keys))?,
        Operation::QueryHit | Operation::QueryMiss => filter.contains_all(&keys[..count]),
        Operation::QueryHitBatch | Operation::QueryMissBatch => {
            let mut found = Vec::with_capacity(CHUNK);
            in_chunks(&keys[..count], |keys| {
                filter.contains_batch(keys, &mut found)
            })?
        }
        Operation::Adapt => filter
            .learner()
            .context("the filter can't adapt")?
            .adapt_all(&mistakes[..count])?,
        Operation::Zipf | Operation::ZipfAgain => filter.ask_strangers(&keys[..count])?,
        Operation::Remove => filter.remove_all(&keys[..count]),
        Operation::BulkLoad => bulk_load(filter.as_ref(), &keys[..count], Order::Any)?,
        Operation::BulkLoadSorted => bulk_load(filter.as_ref(), &keys[..count], Order::ByHash)?,
        Operation::Merge => merge(filter.as_ref(), &keys, count)?,
        Operation::LoadFile => load_file(filter.as_ref(), count)?,
    };
    println!("{count} {} {operation}: {answer} yes", args.filter);
    Ok(())
}

/// Hands on as many keys at a time as `compare` does.
fn in_chunks(keys: &[u64], mut each: impl FnMut(&[u64]) -> Result<u64>) -> Result<u64> {
    keys.chunks(CHUNK).map(&mut each).sum()
}

/// Merges two filters with half of the keys each, unless `count` is zero; how many keys?
fn merge(filter: &dyn Contender, keys: &[u64], count: usize) -> Result<u64> {
    let mut merge = filter.to_merge(keys.split_at(keys.len() / 2).into())?;
    if count > 0 {
        merge()?;
    }
    Ok(count as u64)
}

/// Opens the filter's file, unless `count` is zero; how many items?
fn load_file(filter: &dyn Contender, count: usize) -> Result<u64> {
    let file = filter.to_file()?;
    if count == 0 {
        return Ok(0);
    }
    filter.open(&file, Trust::Nothing)
}

/// Builds a filter of the same size from the keys; how many?
fn bulk_load(filter: &dyn Contender, keys: &[u64], order: Order) -> Result<u64> {
    filter.bulk_load(keys, order)?;
    Ok(keys.len() as u64)
}

/// The keys to work on; none for `adapt`, which takes more than keys.
fn keys(workload: &Workload, operation: Operation) -> Vec<u64> {
    let (members, late) = (workload.members(), workload.members_before_last_points());
    let queries = workload.queries();
    match operation {
        Operation::Insert
        | Operation::InsertBatch
        | Operation::BulkLoad
        | Operation::BulkLoadSorted
        | Operation::Merge
        | Operation::LoadFile => (0..members).map(|i| workload.member(i)).collect(),
        Operation::Insert8590 => (late..members).map(|i| workload.member(i)).collect(),
        Operation::QueryHit | Operation::QueryHitBatch => {
            (0..queries).map(|i| workload.random_member(i)).collect()
        }
        Operation::QueryMiss | Operation::QueryMissBatch => {
            (0..queries).map(|i| workload.stranger(i)).collect()
        }
        Operation::Adapt => Vec::new(),
        Operation::Zipf | Operation::ZipfAgain => {
            let stream = Stream::new(workload);
            let draws = 0..workload.draws();
            draws.map(|i| workload.ranked(stream.rank(i))).collect()
        }
        Operation::Remove => (0..members).map(workload.removed_member()).collect(),
    }
}

/// Puts in what must be there before, and gives back what helps the filter to learn if it
/// needs that.
fn fill(filter: &mut dyn Contender, args: &Args, workload: &Workload) -> Result<Option<Lore>> {
    let (members, late) = (workload.members(), workload.members_before_last_points());
    let to_learn = workload.adapted > 0.0 || args.operation.needs_members();
    let lore = match filter.learner() {
        Some(learner) if to_learn => Some(Lore::new(learner.members(workload)?)),
        _ => None,
    };
    if let Some((learner, lore)) = filter.learner().zip(lore.as_ref()) {
        learner.meet(lore.members.clone());
    }
    let from_nothing = [
        Operation::Insert,
        Operation::InsertBatch,
        Operation::BulkLoad,
        Operation::BulkLoadSorted,
        Operation::Merge,
    ];
    if from_nothing.contains(&args.operation) {
        return Ok(lore);
    }
    for i in 0..late {
        filter.insert(workload.member(i))?;
    }
    if let Some((learner, lore)) = filter.learner().zip(lore.as_ref()) {
        adapt_before(learner, workload, lore, late)?;
    }
    if args.operation != Operation::Insert8590 {
        for i in late..members {
            filter.insert(workload.member(i))?;
        }
        filter.seal()?;
    }
    Ok(lore)
}

#[cfg(test)]
mod tests {
    use clap::{Args as _, Command, FromArgMatches, ValueEnum};

    use super::*;

    fn profile(filter: &str, operation: Operation, count: u64) -> Result<()> {
        let command = Args::augment_args(Command::new("profile"));
        let matches = command.try_get_matches_from([
            "profile",
            "--log2-slots=10",
            &format!("--filter={filter}"),
            &format!("--operation={operation}"),
            &format!("--count={count}"),
        ])?;
        run(&Args::from_arg_matches(&matches)?)
    }

    #[test]
    fn every_operation_can_be_profiled() {
        let filter = "adaptive";
        let all = Workload {
            log2_slots: 10,
            load: 0.9,
            adapted: 0.0,
            seed: 1,
        }
        .members();
        for &operation in Operation::value_variants() {
            profile(filter, operation, 0).unwrap();
            let count = match operation {
                Operation::Insert8590 | Operation::Adapt => 5,
                _ => all,
            };
            profile(filter, operation, count).unwrap();
        }
    }

    #[test]
    fn what_cannot_be_done_is_said() {
        let says = |filter, operation, count| {
            let error = profile(filter, operation, count).unwrap_err();
            error.to_string()
        };
        let ours = "quotient/sip";
        assert_eq!(
            says("qfilter", Operation::InsertBatch, 0),
            "qfilter has no insert_batch"
        );
        assert!(says(ours, Operation::Insert, 2000).ends_with("done 921 times at most"));
        assert!(says(ours, Operation::Merge, 5).ends_with("done 921 times or not at all"));
    }
}
