//! `twiceshy store delete`: records that are to be gone.

use std::path::PathBuf;

use super::place;
use crate::exit::{Outcome, Status};
use crate::keys::{Questions, Reply};
use crate::shell::Shell;

/// Delete records
///
/// Prints `key<TAB>deleted` or `key<TAB>absent`. Each is gone for good when its line is printed.
/// Ends with 1 if the one key that was an argument is absent.
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
    let open = || place::open(&args.path, shell);
    let (status, opened) = args.questions.answer(shell, open, |opened, key| {
        let was_there = opened.store.delete(key)?;
        Ok(Reply::new(was_there, "deleted", "absent"))
    })?;
    opened.close()?;
    Ok(status)
}
