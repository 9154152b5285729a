//! `twiceshy filter query`: may these keys be members?

use std::path::PathBuf;

use crate::exit::{Outcome, Status};
use crate::keys::{Questions, Reply};
use crate::shell::Shell;

/// Ask a filter for keys
///
/// Prints `key<TAB>maybe` or `key<TAB>no`. "no" is certain; "maybe" is wrong for a few other
/// keys. Ends with 1 if the answer for the one key that was an argument is "no".
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The filter file
    filter: PathBuf,
    #[command(flatten)]
    questions: Questions,
}

const EXAMPLES: &str = "\
Examples:
  twiceshy filter query words.filter hello
  twiceshy filter query words.filter --input more.txt | grep -c maybe
  seq 100 | twiceshy filter query ids.filter --format u64 --json";

pub(crate) fn run(args: &Args, shell: &Shell) -> Outcome<Status> {
    let open = || super::open(&args.filter);
    let (status, _) = args.questions.answer(shell, open, |filter, key| {
        Ok(Reply::new(filter.contains(key), "maybe", "no"))
    })?;
    Ok(status)
}
