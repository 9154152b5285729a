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
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use anyhow::{Context, bail};
use clap::Subcommand;
use twiceshy::any::{self, AnyList};
use twiceshy::file::HEADER_BYTES;

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
    let length = files::length(&file);
    let list = verify(path, BufReader::with_capacity(1 << 18, file))?;
    files::check_length(path, length, list.info().file_bytes)?;
    Ok(list)
}

/// The bytes of a list file, all of them verified.
fn read_verified(path: &Path) -> Outcome<Vec<u8>> {
    let bytes = read_list(path)?;
    verify(path, &bytes[..])?;
    Ok(bytes)
}

/// The bytes of a list file, as many as its header says.
fn read_list(path: &Path) -> Outcome<Vec<u8>> {
    read(path, |start, length| {
        refuse_delta(path, start)?;
        let info = any::peek(start).map_err(|error| files::explain(path, error))?;
        files::check_length(path, Some(length), info.file_bytes)
    })
}

fn verify(path: &Path, mut list: impl BufRead) -> Outcome<AnyList> {
    if let Ok(start) = list.fill_buf() {
        refuse_delta(path, start)?;
    }
    AnyList::read_from(list).map_err(|error| files::explain(path, error))
}

/// How a delta begins.
const DELTA: &[u8] = b"twsdelta";

fn refuse_delta(path: &Path, start: &[u8]) -> Outcome<()> {
    if start.starts_with(DELTA) {
        bail!(
            "{} is a delta between lists; `twiceshy list apply` makes a list with it",
            path.display()
        );
    }
    Ok(())
}

/// The bytes of a delta.
fn read_delta(path: &Path) -> Outcome<Vec<u8>> {
    read(path, |start, _| match start.starts_with(DELTA) {
        true => Ok(()),
        false => bail!(
            "{} is no delta; `twiceshy list diff` and `list update --delta` make them",
            path.display()
        ),
    })
}

/// The bytes of a regular file, if `check` finds nothing wrong with how it begins and how long it
/// is: what is another file may be large, and a device has no end.
fn read(path: &Path, check: impl FnOnce(&[u8], u64) -> Outcome<()>) -> Outcome<Vec<u8>> {
    let reading = || format!("can't read {}", path.display());
    let hint = || "check the path".into();
    // Asked before it is opened: whoever opens a pipe waits for the other end.
    let metadata = fs::metadata(path).with_context(reading).or_hint(hint)?;
    if !metadata.is_file() {
        bail!("{} is no regular file; give one", path.display());
    }
    let mut file = File::open(path).with_context(reading).or_hint(hint)?;
    let mut bytes = Vec::new();
    let start = (&mut file)
        .take(HEADER_BYTES as u64)
        .read_to_end(&mut bytes);
    start.with_context(reading)?;
    check(&bytes, metadata.len())?;
    file.take(metadata.len())
        .read_to_end(&mut bytes)
        .with_context(reading)?;
    Ok(bytes)
}
