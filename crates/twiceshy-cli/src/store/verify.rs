//! `twiceshy store verify`: is everything as it must be?

use std::path::PathBuf;

use serde::Serialize;

use super::place;
use crate::exit::{OrHint, Outcome, Status};
use crate::numbers::count;
use crate::shell::Shell;

/// Check all records and the whole filter
///
/// Does the filter know every record, does everything stand where it should, do the counts
/// agree?
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The store
    path: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  twiceshy store verify shop.db && echo sound";

#[derive(Serialize)]
struct Report {
    sound: bool,
    records: u64,
}

pub(crate) fn run(args: &Args, shell: &Shell) -> Outcome<Status> {
    let opened = place::open(&args.path, shell)?;
    let verified = shell.busy("verifying", || opened.store.verify());
    let verified = verified.or_hint(|| {
        "`twiceshy store scan` still prints what can be read, for a new store".into()
    })?;
    opened.close_after_reading()?;
    let records = verified.records;
    shell.print(
        &Report {
            sound: true,
            records,
        },
        || {
            let records = count(records, "record");
            format!("sound: {records}, and the filter knows them all")
        },
    )?;
    Ok(Status::Success)
}
