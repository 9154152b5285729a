//! `twiceshy store scan`: all records, or a range of them.

use std::ffi::OsString;
use std::ops::Bound;
use std::path::PathBuf;

use anyhow::bail;

use super::place;
use crate::exit::{Outcome, Status};
use crate::keys::{self, Format, FormatArgs, Line};
use crate::shell::{Shell, Unit};

/// Print records: lines of `key<TAB>value`, as `put` takes them
///
/// In the order of their hashes, which says nothing; in the order of their keys if the store was
/// made with `--layout split`, which also has ranges.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The store
    path: PathBuf,
    /// The first key (needs `--layout split`)
    #[arg(long, value_name = "KEY")]
    from: Option<OsString>,
    /// The first key that is not wanted any more (needs `--layout split`)
    #[arg(long, value_name = "KEY")]
    to: Option<OsString>,
    /// Stop after so many records
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    #[command(flatten)]
    format: FormatArgs,
    /// How values are written
    #[arg(long, value_enum, default_value = "line", value_name = "FORMAT")]
    value_format: Format,
}

const EXAMPLES: &str = "\
Examples:
  twiceshy store scan shop.db > backup.tsv
  twiceshy store scan shop.db --from 2026-01 --to 2026-02 --limit 10
  twiceshy store scan old.db --format hex --value-format hex |
    twiceshy store put new.db --format hex --value-format hex";

pub(crate) fn run(args: &Args, shell: &Shell) -> Outcome<Status> {
    let format = args.format.format;
    let bound = |key: &Option<OsString>| -> Outcome<Option<Vec<u8>>> {
        key.as_deref()
            .map(|key| keys::argument(key, format))
            .transpose()
    };
    let (from, to) = (bound(&args.from)?, bound(&args.to)?);
    let opened = place::open(&args.path, shell)?;
    let records = if from.is_none() && to.is_none() {
        opened.store.iter()?
    } else {
        let from = from.map_or(Bound::Unbounded, Bound::Included);
        let to = to.map_or(Bound::Unbounded, Bound::Excluded);
        match opened.store.range((from, to))? {
            Some(records) => records,
            None => bail!(
                "this store has no ranges: its records are in the order of their hashes; make \
                 one with `twiceshy store create --layout split` and put the records there"
            ),
        }
    };
    let total = opened.store.len().min(args.limit.unwrap_or(u64::MAX));
    let printing = shell.while_printing();
    let bar = printing.progress("scanning", Unit::Things, Some(total));
    let mut out = shell.out();
    let (mut key, mut value) = (Vec::new(), Vec::new());
    for (i, record) in (0..args.limit.unwrap_or(u64::MAX)).zip(records) {
        let record = record?;
        key.clear();
        value.clear();
        format.encode(&record.0, &mut key)?;
        args.value_format.encode(&record.1, &mut value)?;
        if shell.is_json() {
            out.json(&Line {
                key: &key,
                answer: None,
                value: Some(&value),
            })?;
        } else {
            out.line(&[&key, &value])?;
        }
        if i % 1024 == 0 {
            bar.set(i);
        }
    }
    out.finish()?;
    opened.close_after_reading()?;
    Ok(Status::Success)
}
