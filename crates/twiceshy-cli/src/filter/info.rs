//! `twiceshy filter info`: what is in a file?

use std::path::PathBuf;

use serde::Serialize;

use crate::exit::{Outcome, Status};
use crate::numbers::{bytes, grouped, one_in, percent};
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

#[derive(Serialize)]
struct Report {
    kind: String,
    kind_code: u8,
    hash: String,
    version: u16,
    items: u64,
    fingerprints: u64,
    ghosts: u64,
    slots: u64,
    used_slots: u64,
    load: f64,
    remainder_bits: u32,
    value_bits: u32,
    bytes: u64,
    bits_per_item: Option<f64>,
    expected_fpr: f64,
}

pub(crate) fn run(args: &Args, shell: &Shell) -> Outcome<Status> {
    let filter = super::open(&args.filter)?;
    let (info, stats) = (filter.info(), filter.stats());
    let report = Report {
        kind: info.kind.to_string(),
        kind_code: info.kind.code(),
        hash: info.hash.to_string(),
        version: info.version,
        items: stats.items,
        fingerprints: info.fingerprints,
        ghosts: info.ghosts,
        slots: stats.slots,
        used_slots: stats.used_slots,
        load: stats.load,
        remainder_bits: stats.remainder_bits,
        value_bits: info.value_bits,
        bytes: info.file_bytes,
        bits_per_item: stats
            .bits_per_item
            .is_finite()
            .then_some(stats.bits_per_item),
        expected_fpr: stats.expected_fpr,
    };
    shell.print(&report, || {
        let mut lines = vec![
            ("kind", report.kind.clone()),
            ("hash", report.hash.clone()),
            ("items", grouped(report.items)),
        ];
        if report.fingerprints != report.items {
            lines.push(("different ones", grouped(report.fingerprints)));
        }
        if report.ghosts > 0 {
            lines.push(("ghosts", grouped(report.ghosts)));
        }
        lines.push(("slots", grouped(report.slots)));
        lines.push(("load", percent(report.load)));
        if report.remainder_bits > 0 {
            lines.push(("remainder bits", report.remainder_bits.to_string()));
        }
        if report.value_bits > 0 {
            lines.push(("value or selector bits", report.value_bits.to_string()));
        }
        lines.push(("file", bytes(report.bytes)));
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
