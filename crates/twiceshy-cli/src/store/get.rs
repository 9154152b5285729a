//! `twiceshy store get`: the values under keys.

use std::path::PathBuf;

use super::place;
use crate::exit::{self, Outcome, Status};
use crate::keys::{Format, Questions, Reply};
use crate::shell::Shell;

/// Look keys up
///
/// Prints `key<TAB>found<TAB>value` or `key<TAB>absent`, in the order in which they were asked.
/// Ends with 1 if the one key that was an argument is absent.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The store
    path: PathBuf,
    #[command(flatten)]
    questions: Questions,
    /// How values are written
    #[arg(long, value_enum, default_value = "line", value_name = "FORMAT")]
    value_format: Format,
}

const EXAMPLES: &str = "\
Examples:
  twiceshy store get shop.db 4711
  twiceshy store get shop.db --input ids.txt > found.tsv
  printf '00ff\\n' | twiceshy store get shop.db --format hex --value-format hex";

pub(crate) fn run(args: &Args, shell: &Shell) -> Outcome<Status> {
    let asked = args.questions.open(shell)?;
    let opened = place::open(&args.path, shell)?;
    let status = asked.answer(shell, |key| {
        let Some(value) = opened.store.get(key)? else {
            return Ok(Reply::new(false, "found", "absent"));
        };
        let mut text = Vec::new();
        args.value_format.encode(&value, &mut text)?;
        let mut reply = Reply::new(true, "found", "absent");
        reply.value = Some(text);
        Ok(reply)
    });
    exit::both(status, opened.close_after_reading())
}
