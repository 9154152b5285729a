//! `twiceshy list`: lists that are exact on what must never be wrong.
//!
//! A list file holds no keys. What changes it needs them, so `build` keeps them in a second file
//! beside it, which stays at home when the list is shipped; see [`keys`].

mod apply;
mod build;
mod diff;
mod info;
mod keys;
mod query;
mod update;

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, bail};
use clap::Subcommand;
use twiceshy::any::AnyList;

use crate::exit::{OrHint, Outcome, Status};
use crate::files;
use crate::shell::Shell;

/// YES/NO lists: exact on two lists of keys, small for all others
///
/// Every key of the YES list is answered "yes" and every key of the NO list "no"; of all other
/// keys at most the share P is answered "yes".
#[derive(clap::Args, Debug)]
#[command(arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  twiceshy list build --yes blocked.txt --no never-block.txt --fpr 0.01 --out block.list
  twiceshy list query block.list phish.example
  twiceshy list update block.list --add-yes new.txt --delta block.delta";

#[derive(Debug, Subcommand)]
enum Command {
    Build(build::Args),
    Query(query::Args),
    Update(update::Args),
    Diff(diff::Args),
    Apply(apply::Args),
    Info(info::Args),
}

pub(crate) fn run(args: &Args, shell: &Shell) -> Outcome<Status> {
    match &args.command {
        Command::Build(args) => build::run(args, shell),
        Command::Query(args) => query::run(args, shell),
        Command::Update(args) => update::run(args, shell),
        Command::Diff(args) => diff::run(args, shell),
        Command::Apply(args) => apply::run(args, shell),
        Command::Info(args) => info::run(args, shell),
    }
}

/// The list in a file, whatever it is, all of it verified.
fn open(path: &Path) -> Outcome<AnyList> {
    let name = path.display();
    let file = File::open(path)
        .with_context(|| format!("can't open {name}"))
        .or_hint(|| "`twiceshy list build` makes such a file".into())?;
    verify(path, BufReader::with_capacity(1 << 18, file))
}

/// The bytes of a list file, all of them verified.
fn read_list(path: &Path) -> Outcome<Vec<u8>> {
    let bytes = read(path)?;
    verify(path, &bytes[..])?;
    Ok(bytes)
}

fn verify(path: &Path, mut list: impl BufRead) -> Outcome<AnyList> {
    if list
        .fill_buf()
        .is_ok_and(|start| start.starts_with(b"twsdelta"))
    {
        bail!(
            "{} is a delta between lists; `twiceshy list apply` makes a list with it",
            path.display()
        );
    }
    AnyList::read_from(list).map_err(|error| files::explain(path, error))
}

/// The bytes of a list or a delta.
fn read(path: &Path) -> Outcome<Vec<u8>> {
    fs::read(path)
        .with_context(|| format!("can't read {}", path.display()))
        .or_hint(|| "check the path".into())
}
