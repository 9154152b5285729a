//! `twiceshy filter merge`: one filter of several.

use std::path::PathBuf;

use serde::Serialize;
use twiceshy::Error;
use twiceshy::any::AnyFilter;

use crate::exit::{Outcome, Status};
use crate::files;
use crate::numbers::{bytes, count, one_in};
use crate::shell::Shell;

/// Make one filter of several, without their keys
///
/// They must have the same kind, hash, seed and size: build the second and later ones with
/// `--like` the first. Counts add up.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The filter files
    #[arg(required = true, value_name = "FILTER")]
    filters: Vec<PathBuf>,
    /// The filter file to write; `-` is standard output
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  twiceshy filter build --input monday.txt --out monday.filter
  twiceshy filter build --like monday.filter --input tuesday.txt --out tuesday.filter
  twiceshy filter merge monday.filter tuesday.filter --out both.filter";

#[derive(Serialize)]
struct Report {
    out: String,
    merged: usize,
    items: u64,
    slots: u64,
    bytes: u64,
    expected_fpr: f64,
}

pub(crate) fn run(args: &Args, shell: &Shell) -> Outcome<Status> {
    let filters: Vec<AnyFilter> = args
        .filters
        .iter()
        .map(|path| super::open(path))
        .collect::<Outcome<_>>()?;
    let merged = shell.busy("merging", || AnyFilter::merge(&filters));
    let merged = merged.map_err(|error| {
        let first = args.filters[0].display();
        match error {
            Error::Merge { reason } => anyhow::anyhow!(
                "these filters can't be merged: {}; build the others with `twiceshy filter build \
                 --like {first}`",
                name(reason, &args.filters)
            ),
            other => other.into(),
        }
    })?;
    files::replace(&args.out, |file| merged.write_to(file))?;
    let (info, stats) = (merged.info(), merged.stats());
    let report = Report {
        out: args.out.display().to_string(),
        merged: filters.len(),
        items: stats.items,
        slots: stats.slots,
        bytes: info.file_bytes,
        expected_fpr: stats.expected_fpr,
    };
    if !files::is_stdout(&args.out) {
        shell.print(&report, || {
            let (items, size) = (count(report.items, "item"), bytes(report.bytes));
            let wrong = one_in(report.expected_fpr);
            format!(
                "wrote {}: {items}, {size}, wrong for {wrong} other keys",
                report.out
            )
        })?;
    }
    Ok(Status::Success)
}

/// The library counts filters; people know them by their names.
fn name(mut reason: String, filters: &[PathBuf]) -> String {
    for (i, path) in filters.iter().enumerate().rev() {
        let path = path.display().to_string();
        reason = reason.replace(&format!("filter {i} "), &format!("{path} "));
    }
    // What comes next says it better.
    reason.replace("; rebuild one of them with its keys", "")
}
