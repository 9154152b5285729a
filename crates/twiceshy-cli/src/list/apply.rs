//! `twiceshy list apply`: a version and a delta make the next.

use std::path::PathBuf;

use indicatif::HumanBytes;
use serde::Serialize;
use twiceshy::Error;
use twiceshy::lists::delta;

use crate::exit::{Outcome, Status};
use crate::files;
use crate::shell::Shell;

/// Apply a delta to a list
///
/// The result is the new version to the byte, or an error. OUT may be the list itself.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The list file
    list: PathBuf,
    /// The delta that `list diff` or `list update --delta` has made
    delta: PathBuf,
    /// The list file to write; `-` is standard output
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  twiceshy list apply block.list today.delta --out block.list";

#[derive(Serialize)]
struct Report {
    out: String,
    bytes: u64,
}

pub(crate) fn run(args: &Args, shell: &Shell) -> Outcome<Status> {
    files::refuse_to_replace(&args.out, [args.delta.as_path()])?;
    let (list, delta) = (
        super::read_verified(&args.list)?,
        super::read_delta(&args.delta)?,
    );
    let new = delta::apply(&list, &delta).map_err(|error| match error {
        // This one speaks of the delta and says what to do.
        Error::Delta { .. } => error.into(),
        error => files::explain(&args.delta, error),
    })?;
    files::replace(&args.out, |file| file.write_all(&new))?;
    let report = Report {
        out: args.out.display().to_string(),
        bytes: new.len() as u64,
    };
    shell.print_written(&args.out, &report, || {
        format!(
            "wrote {}: {}, by a delta of {}",
            report.out,
            HumanBytes(report.bytes),
            HumanBytes(delta.len() as u64)
        )
    })?;
    Ok(Status::Success)
}
