//! `twiceshy list info`: what is in a file?

use std::path::PathBuf;

use indicatif::HumanBytes;
use serde::Serialize;
use twiceshy::file::FilterKind;
use twiceshy::lists::List;

use super::keys;
use crate::exit::{Outcome, Status};
use crate::numbers::{count, one_in, percent};
use crate::shell::Shell;
use crate::table;

/// Say what a list file holds
///
/// Reads and verifies all of it.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The list file
    list: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  twiceshy list info block.list
  twiceshy list info block.list --json";

#[derive(Serialize)]
struct Report {
    kind: String,
    kind_code: u8,
    hash: String,
    version: u16,
    yes: u64,
    no: u64,
    bytes: u64,
    bits_per_yes_key: Option<f64>,
    expected_fpr: f64,
    /// Of a static list: used slots per slot.
    load: Option<f64>,
    keys_beside: bool,
}

pub(crate) fn run(args: &Args, shell: &Shell) -> Outcome<Status> {
    let list = super::open(&args.list)?;
    let info = list.info();
    let (yes, no) = (list.len_of(List::Yes), list.len_of(List::No));
    let bits = info.file_bytes as f64 * 8.0 / yes as f64;
    let load = info.used_slots as f64 / info.geometry.slots() as f64;
    let report = Report {
        kind: info.kind.to_string(),
        kind_code: info.kind.code(),
        hash: info.hash.to_string(),
        version: info.version,
        yes,
        no,
        bytes: info.file_bytes,
        bits_per_yes_key: bits.is_finite().then_some(bits),
        expected_fpr: list.expected_fpr(),
        load: (info.kind == FilterKind::StaticYesNo).then_some(load),
        keys_beside: keys::path_of(&args.list).is_file(),
    };
    shell.print(&report, || {
        let mut lines = vec![
            ("kind", report.kind.clone()),
            ("hash", report.hash.clone()),
            ("answers yes for", count(yes, "key")),
            ("answers no for", count(no, "key")),
            ("others are yes for", one_in(report.expected_fpr)),
            ("file", HumanBytes(report.bytes).to_string()),
        ];
        if let Some(bits) = report.bits_per_yes_key {
            lines.push(("bits a yes key", format!("{bits:.1}")));
        }
        if let Some(load) = report.load {
            lines.push(("load", percent(load)));
        }
        let keys = if report.keys_beside {
            "beside it"
        } else {
            "not here"
        };
        lines.push(("keys for updates", keys.into()));
        table::pairs(&lines)
    })?;
    Ok(Status::Success)
}
