//! `twiceshy filter info`: what is in a file?

use std::path::PathBuf;

use indicatif::{HumanBytes, HumanCount};

use super::report::Figures;
use crate::exit::{Outcome, Status};
use crate::numbers::{one_in, percent};
use crate::shell::Shell;
use crate::table;

/// Say what a filter file holds
///
/// Reads and verifies all of it.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The filter file
    filter: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  twiceshy filter info words.filter
  twiceshy filter info words.filter --json | jq .expected_fpr";

pub(crate) fn run(args: &Args, shell: &Shell) -> Outcome<Status> {
    let filter = super::open(&args.filter)?;
    let report = Figures::of(&filter);
    shell.print(&report, || {
        let mut lines = vec![
            ("kind", report.kind.clone()),
            ("hash", report.hash.clone()),
            ("items", HumanCount(report.items).to_string()),
        ];
        if report.fingerprints != report.items {
            lines.push((
                "different ones",
                HumanCount(report.fingerprints).to_string(),
            ));
        }
        if report.ghosts > 0 {
            lines.push(("ghosts", HumanCount(report.ghosts).to_string()));
        }
        lines.push(("slots", HumanCount(report.slots).to_string()));
        lines.push(("load", percent(report.load)));
        if report.remainder_bits > 0 {
            lines.push(("remainder bits", report.remainder_bits.to_string()));
        }
        if report.value_bits > 0 {
            lines.push(("value or selector bits", report.value_bits.to_string()));
        }
        lines.push(("file", HumanBytes(report.bytes).to_string()));
        if let Some(bits) = report.bits_per_item {
            lines.push(("bits an item", format!("{bits:.1}")));
        }
        lines.push((
            "wrong for",
            format!("{} other keys", one_in(report.expected_fpr)),
        ));
        table::pairs(&lines)
    })?;
    Ok(Status::Success)
}
