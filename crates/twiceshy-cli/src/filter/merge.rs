//! `twiceshy filter merge`: one filter of several.

use std::path::PathBuf;

use twiceshy::Error;
use twiceshy::any::AnyFilter;

use super::report::{self, Source};
use crate::exit::{Outcome, Status};
use crate::files;
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
    let from = Source::Filters(filters.len());
    report::print(&args.out, from, &merged, shell)?;
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
