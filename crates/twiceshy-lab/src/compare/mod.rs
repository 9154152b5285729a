//! `compare`: our filters beside those of other crates, in one process.
//!
//! | module | what is in it |
//! | --- | --- |
//! | [`operation`] | what is timed |
//! | [`filters`] | what it is timed on, an adapter for each crate |
//! | [`workload`] | the keys, and the clock |
//! | [`zipf`] | keys of different popularity |
//! | [`measure`] | rounds, and what a filter does in one |
//! | [`learning`] | what it does in one if it can learn |
//! | [`batch`] | what it does with many keys in a call |
//! | [`bulk`] | what it does to be built at once, from keys or from two others |
//! | [`mod@file`] | how its file is opened |
//! | [`members`] | the keys that it takes to learn |
//! | [`summary`], [`report`] | medians, and the rows made of them |
//! | [`table`] | the rows on the screen |
//! | [`pin`] | one core, and a check that it was ours |

mod batch;
mod bulk;
mod file;
pub(crate) mod filters;
pub(crate) mod learning;
pub(crate) mod measure;
pub(crate) mod members;
pub(crate) mod operation;
pub(crate) mod pin;
mod report;
pub(crate) mod summary;
mod table;
pub(crate) mod workload;
pub(crate) mod zipf;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use indicatif::{ProgressBar, ProgressStyle};

use filters::Entry;
use operation::Operation;
use pin::Core;
use table::Table;
use workload::Workload;

/// Time our filters beside those of other crates
///
/// All run interleaved in one process, pinned to one core, on uniform 64-bit keys at a
/// false-positive rate of 2^-9. The table has medians and spread; trust a ratio near 1
/// only over 15 rounds or more. The defaults take about a minute.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    size: SizeArgs,

    /// How often everything is measured
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    /// Only these filters [default: all]
    #[arg(long, value_delimiter = ',', value_parser = filter_parser())]
    filters: Vec<&'static Entry>,

    /// Only these operations [default: all]
    #[arg(long, value_delimiter = ',')]
    operations: Vec<Operation>,

    /// Write the figures to this file, too, as an array of JSON objects
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// How large, how full, and which keys.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(crate) struct SizeArgs {
    /// Filters of 2^LOG2_SLOTS slots
    #[arg(long, default_value_t = 22, value_parser = clap::value_parser!(u32).range(8..=32))]
    log2_slots: u32,

    /// The share of the slots to fill; `insert_85_90` is the last 0.05 of it
    #[arg(long, default_value_t = 0.9, value_parser = parse_load)]
    load: f64,

    /// The share of the items, up to 0.05, that adaptive filters have adapted to false
    /// positives before they are timed at `insert_85_90`, queries and `remove`
    #[arg(long, default_value_t = 0.0, value_name = "FRACTION", value_parser = parse_adapted)]
    adapted: f64,

    /// Chooses the keys, and the filters' hash functions where they can be chosen
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl From<SizeArgs> for Workload {
    fn from(args: SizeArgs) -> Self {
        Workload {
            log2_slots: args.log2_slots,
            load: args.load,
            adapted: args.adapted,
            seed: args.seed,
        }
    }
}

/// Takes the name of a filter.
pub(crate) fn filter_parser() -> impl TypedValueParser<Value = &'static Entry> {
    PossibleValuesParser::new(filters::ALL.iter().map(|entry| entry.name))
        .try_map(|name| filters::by_name(&name).ok_or("no such filter"))
}

fn parse_load(text: &str) -> Result<f64, String> {
    match text.parse() {
        // Above 0.95 `qfilter` refuses.
        Ok(load) if (0.1..=0.95).contains(&load) => Ok(load),
        _ => Err("a number from 0.1 to 0.95 is wanted".to_owned()),
    }
}

fn parse_adapted(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(adapted) if (0.0..=0.05).contains(&adapted) => Ok(adapted),
        _ => Err("a number from 0 to 0.05 is wanted".to_owned()),
    }
}

/// Measures, and shows what came out.
pub(crate) fn run(args: &Args) -> Result<()> {
    // Opened first: a bad path should not cost an hour of measuring.
    let json = args.json.as_ref().map(|path| {
        let file = File::create(path);
        file.with_context(|| format!("can't write {}", path.display()))
    });
    let json = json.transpose()?;

    let workload = Workload::from(args.size);
    let entries: Vec<&'static Entry> = filters::ALL
        .iter()
        .filter(|entry| {
            args.filters.is_empty() || args.filters.iter().any(|e| e.name == entry.name)
        })
        .collect();
    let operations: Vec<Operation> = Operation::ALL
        .iter()
        .copied()
        .filter(|op| args.operations.is_empty() || args.operations.contains(op))
        .collect();

    let core = Core::pin();
    let progress = progress_bar();
    let rounds = args.rounds as usize;
    let records = measure::measure(&workload, rounds, &entries, &operations, &progress)?;
    progress.finish_and_clear();
    core.warn_if_shared();

    let rows = report::rows(&workload, &records, &operations);
    let table = Table {
        workload: &workload,
        rounds,
        operations: &operations,
        rows: &rows,
    };
    print!("{table}");
    if let Some(file) = json {
        let mut file = BufWriter::new(file);
        serde_json::to_writer_pretty(&mut file, &rows)?;
        writeln!(file)?;
        file.flush()?;
    }
    Ok(())
}

/// A bar with the time left on standard error; invisible unless that is a terminal.
///
/// It moves between timed stretches only, and has no thread of its own: that would
/// share the core with the measurement.
fn progress_bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {percent:>3}%  {msg}, {eta} left");
    let bar = ProgressBar::no_length();
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

#[cfg(test)]
mod tests;
