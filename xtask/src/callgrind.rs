//! `cargo xtask callgrind`: instructions per operation, a number that noise on the
//! machine can't move.
//!
//! The lab's `profile` command prepares a filter and then runs one operation a given
//! number of times. Preparation costs the same whatever that number is, so a run
//! with none, taken off a run with `n`, leaves the instructions of `n` operations.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::workspace::{LAB, Workspace};
use crate::{Result, command};

/// What to count.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A filter as the lab names it; may be given more than once.
    #[arg(long = "filter", value_name = "NAME", default_values_t = FILTERS.map(String::from))]
    filters: Vec<String>,
    /// An operation as the lab names it; may be given more than once.
    #[arg(long = "operation", value_name = "OP", default_values_t = OPERATIONS.map(String::from))]
    operations: Vec<String>,
    /// The size of the table, as a power of two.
    #[arg(long, default_value_t = 18, value_parser = clap::value_parser!(u32).range(8..=32))]
    log2_slots: u32,
    /// How many operations to average over [default: as many as `compare` would time,
    /// a quarter of the slots for queries]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// The share of the items that adaptive filters have adapted beforehand, as in the lab.
    #[arg(long, value_name = "FRACTION", default_value_t = 0.0)]
    adapted: f64,
}

const FILTERS: [&str; 5] = [
    "quotient",
    "quotient/sip",
    "adaptive",
    "adaptive/sip",
    "qfilter",
];
const OPERATIONS: [&str; 6] = [
    "query_hit",
    "query_miss",
    "insert",
    "insert_85_90",
    "adapt",
    "remove",
];

/// Only filters that learn can adapt.
fn can(filter: &str, operation: &str) -> bool {
    operation != "adapt" || filter.contains("adaptive")
}

/// How often to run an operation on a table that is, or will be, 90% full: once a member for
/// `insert` and all that makes a whole filter, the last 5% for `insert_85_90`, one member in
/// 16 for `remove`, one slot in 100 for `adapt`.
fn default_count(operation: &str, slots: u64) -> u64 {
    let members = slots * 9 / 10;
    match operation {
        "insert" | "insert_batch" | "bulk_load" | "bulk_load_sorted" | "merge" | "load_file" => {
            members
        }
        "insert_85_90" => slots / 20,
        "adapt" => (slots / 100).clamp(1, 20_000),
        "remove" => members / 16,
        _ => slots / 4,
    }
}

pub(crate) fn run(args: &Args) -> Result {
    if !command::succeeds(Command::new("valgrind").arg("--version")) {
        return Err(
            "valgrind is needed to count instructions and was not found; \
                    install it with the system's package manager"
                .into(),
        );
    }
    let workspace = Workspace::load()?;
    let lab = build_lab(&workspace)?;
    let slots = 1 << args.log2_slots;

    print!(
        "\ninstructions per operation, 2^{} slots\n{:<23}",
        args.log2_slots, ""
    );
    for operation in &args.operations {
        print!(" {operation:>12}");
    }
    println!();
    for filter in &args.filters {
        // A row appears when it is whole, so that an error can't tear it.
        let mut row = format!("{filter:<23}");
        for operation in &args.operations {
            if !can(filter, operation) {
                row += &format!(" {:>12}", "-");
                continue;
            }
            let count = args.count.unwrap_or(default_count(operation, slots));
            let collect = |count| collected(&workspace, &lab, args, filter, operation, count);
            let (without, with) = (collect(0)?, collect(count)?);
            let per_operation = (with as f64 - without as f64) / count as f64;
            row += &format!(" {per_operation:>12.1}");
        }
        println!("{row}");
    }
    Ok(())
}

/// Builds the release lab and returns the path of its program.
fn build_lab(workspace: &Workspace) -> Result<PathBuf> {
    let mut cargo = workspace.cargo(&format!("build --release -p {LAB}"));
    command::announce(&cargo);
    let messages = command::stdout(cargo.arg("--message-format=json-render-diagnostics"))?;
    let mut programs = messages.lines().filter_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        let is_lab = message["target"]["name"] == LAB;
        let program = message["executable"].as_str().filter(|_| is_lab)?;
        Some(PathBuf::from(program))
    });
    Ok(programs.next().ok_or("cargo built no lab program")?)
}

/// The instructions of one whole run of the lab.
fn collected(
    workspace: &Workspace,
    lab: &Path,
    args: &Args,
    filter: &str,
    operation: &str,
    count: u64,
) -> Result<u64> {
    let mut valgrind = workspace.command("valgrind");
    valgrind
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(lab)
        .args(["profile", "--filter", filter, "--operation", operation])
        .args(["--log2-slots", &args.log2_slots.to_string()])
        .args(["--adapted", &args.adapted.to_string()])
        .args(["--count", &count.to_string()]);
    let report = command::stderr(&mut valgrind)?;
    Ok(total(&report).ok_or("callgrind's report has no line `Collected :`")?)
}

/// Finds `==123== Collected : 126545` in callgrind's report.
fn total(report: &str) -> Option<u64> {
    let (_, rest) = report.split_once("Collected :")?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::total;

    #[test]
    fn the_total_is_read_from_the_report() {
        let report = "==3603== Events    : Ir\n==3603== Collected : 126545\n==3603== \n";
        assert_eq!(total(report), Some(126_545));
        assert_eq!(total("==3603== Events    : Ir\n"), None);
    }
}
