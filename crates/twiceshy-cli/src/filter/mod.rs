//! `twiceshy filter`: filter files of every kind.

mod build;
mod convert;
mod info;
mod intake;
mod kind;
mod merge;
mod query;
mod recent;
mod report;
mod spool;
mod verify;
mod weighted;

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::Context;
use clap::Subcommand;
use twiceshy::any::AnyFilter;

use crate::exit::{OrHint, Outcome, Status};
use crate::files;
use crate::shell::Shell;

/// Filter files: sets that answer "maybe" or "no", and never "no" for a member
#[derive(clap::Args, Debug)]
#[command(arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  twiceshy filter build --kind plain --fpr 0.001 --input words.txt --out words.filter
  twiceshy filter query words.filter hello
  twiceshy filter info words.filter";

#[derive(Debug, Subcommand)]
enum Command {
    Build(build::Args),
    Query(query::Args),
    Info(info::Args),
    Merge(merge::Args),
    Convert(convert::Args),
    Verify(verify::Args),
}

pub(crate) fn run(args: &Args, shell: &Shell) -> Outcome<Status> {
    match &args.command {
        Command::Build(args) => build::run(args, shell),
        Command::Query(args) => query::run(args, shell),
        Command::Info(args) => info::run(args, shell),
        Command::Merge(args) => merge::run(args, shell),
        Command::Convert(args) => convert::run(args, shell),
        Command::Verify(args) => verify::run(args, shell),
    }
}

/// The filter in a file, whatever it is, all of it verified.
fn open(path: &Path) -> Outcome<AnyFilter> {
    let name = path.display();
    let file = File::open(path)
        .with_context(|| format!("can't open {name}"))
        .or_hint(|| "`twiceshy filter build` makes such a file".into())?;
    let length = files::length(&file);
    let filter = AnyFilter::read_from(BufReader::with_capacity(1 << 18, file));
    let filter = filter.map_err(|error| files::explain(path, error))?;
    files::check_length(path, length, filter.info().file_bytes)?;
    Ok(filter)
}
