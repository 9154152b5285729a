//! `twiceshy store stats`: how a store is doing.

use std::fs;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use indicatif::{HumanBytes, HumanCount};
use serde::Serialize;

use super::place::{self, Choices};
use crate::exit::{Outcome, Status};
use crate::numbers::{one_in, percent};
use crate::shell::Shell;

/// Say how large a store and its filter are
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The store
    path: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  twiceshy store stats shop.db
  twiceshy store stats shop.db --json";

#[derive(Serialize)]
struct Report<'a> {
    records: u64,
    #[serde(flatten)]
    choices: &'a Choices,
    filter_bytes: u64,
    filter_load: f64,
    bits_per_record: Option<f64>,
    disk_bytes: u64,
}

pub(crate) fn run(args: &Args, shell: &Shell) -> Outcome<Status> {
    let opened = place::open(&args.path, shell)?;
    let stats = opened.store.stats();
    let choices = opened.choices.clone();
    opened.close_after_reading()?;
    let bits = stats.filter_bytes as f64 * 8.0 / stats.records as f64;
    let report = Report {
        records: stats.records,
        choices: &choices,
        filter_bytes: stats.filter_bytes,
        filter_load: stats.load,
        bits_per_record: bits.is_finite().then_some(bits),
        disk_bytes: disk_bytes(&args.path),
    };
    shell.print(&report, || {
        let mut lines = vec![
            ("records", HumanCount(report.records).to_string()),
            ("engine", value_name(choices.engine)),
            ("layout", value_name(choices.layout)),
            ("filter", value_name(choices.filter)),
            (
                "wrong at first for",
                format!("{} absent keys at most", one_in(choices.fpr)),
            ),
            (
                "filter in memory",
                HumanBytes(report.filter_bytes).to_string(),
            ),
            ("filter load", percent(report.filter_load)),
        ];
        // While it is nearly empty, the figure says nothing.
        if let Some(bits) = report.bits_per_record
            && report.filter_load > 0.1
        {
            lines.push(("bits a record", format!("{bits:.1}")));
        }
        lines.push(("on disk", HumanBytes(report.disk_bytes).to_string()));
        crate::table::pairs(&lines)
    })?;
    Ok(Status::Success)
}

/// What a value is called on the command line.
fn value_name(value: impl ValueEnum) -> String {
    let value = value.to_possible_value();
    value.map_or_else(String::new, |value| value.get_name().to_owned())
}

/// Bytes of all files below a directory.
pub(super) fn disk_bytes(path: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(path) else {
        return 0;
    };
    let size = |entry: fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => disk_bytes(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    };
    entries.flatten().map(size).sum()
}
