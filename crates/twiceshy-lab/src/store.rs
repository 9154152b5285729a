//! `store`: the store in front of real databases, with the adaptive filter, with a plain one and with
//! none.

use anyhow::Result;
use clap::builder::PossibleValuesParser;
use clap::value_parser;
use serde::Serialize;

use crate::kinds::store::engines::DATABASES;
use crate::kinds::store::profile;
use crate::run::{One, run_one};

/// Measure the store in front of redb, fjall and LMDB
///
/// Stores with the adaptive filter, with a plain one and with none take turns on the same
/// records: inserts, lookups that miss, an attacker who repeats the filter's mistakes, opening
/// after a close and after a crash, the longest pauses, two threads. Ratios are medians over
/// those turns, so they hold on a busy machine too; absolute figures want a quiet one. The
/// engine's cache holds an eighth of the records unless a figure says otherwise; LMDB has none of
/// its own and reads the system's page cache. What is not chosen here is declared in
/// experiments/store.toml. The defaults take some minutes and 2 GB of disk.
/// (fjall keeps up to 64 MB in memory whatever its cache: fewer records never meet its filters.)
#[derive(clap::Args, Debug, Serialize)]
pub(crate) struct Args {
    /// Records [default: 500000]
    #[arg(long, value_parser = value_parser!(u64).range(1000..=1 << 32))]
    keys: Option<u64>,

    /// Bytes of each value; a key has 16 [default: 180]
    #[arg(long)]
    value_bytes: Option<usize>,

    /// On which databases [default: all]
    #[arg(long = "engine", value_name = "NAME", value_parser = engines())]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    engines: Vec<String>,

    /// How often everything but the filling is measured [default: 5]
    #[arg(long, value_parser = value_parser!(u32).range(1..))]
    rounds: Option<u32>,

    /// Measure nothing: fill a store in memory and look COUNT strangers up, for callgrind. Two
    /// runs that differ in COUNT differ by the cost of those lookups
    #[arg(long, value_name = "COUNT")]
    #[serde(skip)]
    profile: Option<u64>,

    #[command(flatten)]
    #[serde(skip)]
    one: One,
}

fn engines() -> PossibleValuesParser {
    PossibleValuesParser::new(DATABASES.iter().map(|database| database.name))
}

pub(crate) fn run(args: &Args) -> Result<()> {
    if let Some(count) = args.profile {
        let (keys, value_bytes) = (
            args.keys.unwrap_or(500_000),
            args.value_bytes.unwrap_or(180),
        );
        return profile::run(keys, value_bytes, count);
    }
    run_one("store", &args.one, toml::Table::try_from(args)?).map(drop)
}
