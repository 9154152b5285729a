//! `twiceshy list diff`: what changed between two versions.

use std::path::PathBuf;

use anyhow::bail;
use indicatif::{HumanBytes, HumanCount};
use serde::Serialize;
use twiceshy::lists::delta::{self, Ships, Why};

use crate::exit::{Outcome, Status};
use crate::files;
use crate::shell::Shell;

/// Make a delta that turns one version of a list into another
///
/// Small if both have the same seed and size: build the new one with `--like` the old one, or
/// make it with `list update`.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The version that others have
    old: PathBuf,
    /// The version that they shall have
    new: PathBuf,
    /// The delta to write; `-` is standard output
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
    /// Make a delta also where it is the whole new file
    #[arg(long)]
    whole: bool,
}

const EXAMPLES: &str = "\
Examples:
  twiceshy list build --yes y2.txt --no n2.txt --like v1.list --out v2.list
  twiceshy list diff v1.list v2.list --out v1-v2.delta
  twiceshy list apply v1.list v1-v2.delta --out v2.list";

#[derive(Serialize)]
struct Report {
    out: String,
    bytes: u64,
    new_bytes: u64,
    dropped: Option<u64>,
    added: Option<u64>,
    whole: bool,
}

pub(crate) fn run(args: &Args, shell: &Shell) -> Outcome<Status> {
    files::refuse_to_replace(&args.out, [args.old.as_path(), &args.new])?;
    let (old, new) = (
        super::read_verified(&args.old)?,
        super::read_verified(&args.new)?,
    );
    let delta = delta::diff(&old, &new).map_err(|error| files::explain(&args.new, error))?;
    if delta.ships() == Ships::Whole(Why::Foreign) && !args.whole {
        bail!(
            "{} and {} differ in seed or size, so a delta would be the whole new file; build the \
             new one with `twiceshy list build --like {}`, or say `--whole`",
            args.old.display(),
            args.new.display(),
            args.old.display()
        );
    }
    files::replace(&args.out, |file| file.write_all(delta.as_bytes()))?;
    let (dropped, added) = match delta.ships() {
        Ships::Changes { dropped, added } => (Some(dropped), Some(added)),
        Ships::Whole(_) => (None, None),
    };
    let report = Report {
        out: args.out.display().to_string(),
        bytes: delta.as_bytes().len() as u64,
        new_bytes: new.len() as u64,
        dropped,
        added,
        whole: dropped.is_none(),
    };
    shell.print_written(&args.out, &report, || {
        let what = match (dropped, added) {
            (Some(dropped), Some(added)) => {
                let (dropped, added) = (HumanCount(dropped), HumanCount(added));
                format!("{dropped} fingerprints go, {added} come")
            }
            _ => "the whole new file".into(),
        };
        let (size, whole) = (HumanBytes(report.bytes), HumanBytes(report.new_bytes));
        format!("wrote {}: {what}, {size} in place of {whole}", report.out)
    })?;
    Ok(Status::Success)
}
