//! `profile`: one operation of one filter, for tools that count instructions.

use anyhow::{Result, bail, ensure};

use crate::compare::filters::Entry;
use crate::compare::operation::Operation;
use crate::compare::workload::Workload;
use crate::compare::{SizeArgs, filter_parser};

/// Do one operation exactly COUNT times, for callgrind and its like
///
/// The filter is filled first (not at all for `insert`, which does the first COUNT of the
/// fill; to 5 points below the load for `insert_85_90`), and all keys are made beforehand,
/// the same number whatever COUNT is. So the set-up costs the same in two runs that differ
/// only in COUNT, and the difference of their instruction counts, divided by that of their
/// COUNTs, is the cost of one operation:
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
    #[arg(long, value_parser = filter_parser())]
    filter: &'static Entry,

    /// Which operation
    #[arg(long)]
    operation: Operation,

    /// How many times
    #[arg(long)]
    count: u64,

    #[command(flatten)]
    size: SizeArgs,
}

/// Sets up, then does it.
pub(crate) fn run(args: &Args) -> Result<()> {
    let workload = Workload::from(args.size);
    if !args.filter.can(args.operation) {
        bail!("{} has no {}", args.filter.name, args.operation.name());
    }

    // What must be in the filter before, and the keys to work on.
    let (members, late) = (workload.members(), workload.members_before_last_points());
    let queries = workload.queries();
    let (filled, keys): (u64, Vec<u64>) = match args.operation {
        Operation::Insert => (0, (0..members).map(|i| workload.member(i)).collect()),
        Operation::Insert8590 => (late, (late..members).map(|i| workload.member(i)).collect()),
        Operation::QueryHit => {
            let keys = (0..queries).map(|i| workload.random_member(i));
            (members, keys.collect())
        }
        Operation::QueryMiss => (
            members,
            (0..queries).map(|i| workload.stranger(i)).collect(),
        ),
        Operation::Remove => (
            members,
            (0..members).map(workload.removed_member()).collect(),
        ),
    };
    ensure!(
        args.count <= keys.len() as u64,
        "at this size {} can be done {} times at most",
        args.operation.name(),
        keys.len()
    );
    let mut filter = (args.filter.build)(&workload)?;
    for i in 0..filled {
        filter.insert(workload.member(i))?;
    }
    if filled == members {
        filter.seal()?;
    }

    let keys = &keys[..args.count as usize];
    let answer = match args.operation {
        Operation::Insert | Operation::Insert8590 => {
            let inserted = filter.insert_all(keys)?;
            filter.seal()?;
            inserted
        }
        Operation::QueryHit | Operation::QueryMiss => filter.contains_all(keys),
        Operation::Remove => filter.remove_all(keys),
    };
    println!(
        "{} {} {}: {answer} yes",
        args.count,
        args.filter.name,
        args.operation.name()
    );
    Ok(())
}
