//! `twiceshy store delete`: records that are to be gone.

use std::path::PathBuf;

use anyhow::anyhow;

use super::place;
use crate::exit::{self, OrHint, Outcome, Status};
use crate::keys::{Questions, Reply};
use crate::numbers::count;
use crate::shell::Shell;

/// Delete records
///
/// Prints `key<TAB>deleted` or `key<TAB>absent`. Each is gone for good when its line is printed.
/// Ends with 1 if the one key that was an argument is absent, and with 2 if nobody reads the answers
/// any more: keys may be left then.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The store
    path: PathBuf,
    #[command(flatten)]
    questions: Questions,
}

const EXAMPLES: &str = "\
Examples:
  twiceshy store delete shop.db 4711
  twiceshy store delete shop.db --input cancelled.txt";

pub(crate) fn run(args: &Args, shell: &Shell) -> Outcome<Status> {
    let asked = args.questions.open(shell)?;
    let opened = place::open(&args.path, shell)?;
    let mut deleted = 0;
    let status = asked.answer(shell, |key| {
        let was_there = opened.store.delete(key)?;
        deleted += u64::from(was_there);
        Ok(Reply::new(was_there, "deleted", "absent"))
    });
    let status = status.map_err(|error| match exit::is_broken_pipe(&error) {
        // Not the quiet end of a pipe: records may be left.
        true => anyhow!("nobody reads the answers any more"),
        false => error,
    });
    exit::both(status, opened.close()).or_hint(|| {
        let deleted = count(deleted, "record");
        format!("{deleted} of this run are gone; delete the rest again")
    })
}
