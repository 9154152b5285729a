//! `twiceshy filter verify`: is a file sound, and does it know its keys?

use std::path::PathBuf;

use anyhow::bail;
use serde::Serialize;

use crate::exit::{Outcome, Status};
use crate::keys::{FormatArgs, Input};
use crate::numbers::count;
use crate::shell::Shell;

/// Check that a filter file is sound
///
/// Every byte against the checksum, and every invariant of the table. With `--input`, also that
/// the filter says "maybe" for all these keys.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The filter file
    filter: PathBuf,
    /// Keys that must be members; `-` is standard input
    #[arg(long, short, value_name = "FILE")]
    input: Option<PathBuf>,
    #[command(flatten)]
    format: FormatArgs,
}

const EXAMPLES: &str = "\
Examples:
  twiceshy filter verify words.filter
  twiceshy filter verify words.filter --input words.txt";

#[derive(Serialize)]
struct Report {
    sound: bool,
    kind: String,
    items: u64,
    keys_checked: u64,
}

pub(crate) fn run(args: &Args, shell: &Shell) -> Outcome<Status> {
    let filter = super::open(&args.filter)?;
    let (mut keys, mut missing) = (0, 0);
    if let Some(path) = &args.input {
        let mut lines = Input::open(path, shell)?.lines_with_bar("verifying", shell);
        while let Some(line) = lines.next_key(args.format.format)? {
            keys += 1;
            missing += u64::from(!filter.contains(line.key));
        }
    }
    if missing > 0 {
        bail!(
            "{} is sound, but says \"no\" for {missing} of these {}; it was built from others, or \
             with another `--format`",
            args.filter.display(),
            count(keys, "key")
        );
    }
    let info = filter.info();
    let report = Report {
        sound: true,
        kind: info.kind.to_string(),
        items: filter.stats().items,
        keys_checked: keys,
    };
    shell.print(&report, || {
        let items = count(report.items, "item");
        let known = match args.input {
            Some(_) => format!(", and it knows {}", count(keys, "key")),
            None => String::new(),
        };
        format!("sound: {} filter of {items}{known}", report.kind)
    })?;
    Ok(Status::Success)
}
