//! `twiceshy list query`: yes or no?

use std::path::PathBuf;

use crate::exit::{Outcome, Status};
use crate::keys::{Questions, Reply};
use crate::shell::Shell;

/// Ask a list for keys
///
/// Prints `key<TAB>yes` or `key<TAB>no`. Ends with 1 if the answer for the one key that was
/// an argument is "no".
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The list file
    list: PathBuf,
    #[command(flatten)]
    questions: Questions,
}

const EXAMPLES: &str = "\
Examples:
  twiceshy list query block.list phish.example
  twiceshy list query block.list --input visited.txt | grep 'yes$'";

pub(crate) fn run(args: &Args, shell: &Shell) -> Outcome<Status> {
    let asked = args.questions.open(shell)?;
    let list = super::open(&args.list)?;
    asked.answer(shell, |key| {
        Ok(Reply::new(list.answer(key).is_yes(), "yes", "no"))
    })
}
