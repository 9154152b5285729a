//! `twiceshy filter query`: may these keys be members?

use std::path::PathBuf;

use super::weighted::{self, Ask};
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
    /// Ask with all the hashes that popular keys have (weighted-bloom): right for these only
    #[arg(long)]
    popular: bool,
    #[command(flatten)]
    questions: Questions,
}

const EXAMPLES: &str = "\
Examples:
  twiceshy filter query words.filter hello
  twiceshy filter query words.filter --input more.txt | grep -c maybe
  seq 100 | twiceshy filter query ids.filter --format u64 --json";

pub(crate) fn run(args: &Args, shell: &Shell) -> Outcome<Status> {
    let asked = args.questions.open(shell)?;
    let contains = match args.popular {
        true => weighted::open_popular(&args.filter)?,
        false => {
            let filter = super::open(&args.filter)?;
            Box::new(move |key: &[u8]| filter.contains(key)) as Ask
        }
    };
    asked.answer(shell, |key| Ok(Reply::new(contains(key), "maybe", "no")))
}
