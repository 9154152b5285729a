//! `compare`: our filters beside those of other crates.

use anyhow::Result;
use clap::builder::PossibleValuesParser;
use clap::value_parser;
use serde::Serialize;

use crate::filters::{self, Operation};
use crate::run::{One, run_one};

/// Time our filters beside those of other crates
///
/// All run interleaved in one process, pinned to one core, on uniform 64-bit keys at a
/// false-positive rate of 2^-9. The tables have medians and the middle half of the rounds, and how many
/// times as long as another filter's each time is; trust a ratio near 1 only over 15 rounds or more. What is
/// not chosen here is declared in experiments/compare.toml. The defaults take about a minute.
#[derive(clap::Args, Debug, Serialize)]
pub(crate) struct Args {
    /// Filters of 2^LOG2_SLOTS slots [default: 22]
    #[arg(long, value_delimiter = ',', value_parser = value_parser!(u32).range(8..=32))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    log2_slots: Vec<u32>,

    /// The share of the slots to fill, 0.1 to 0.95; `insert_85_90` is the last 0.05 of it [default: 0.9]
    #[arg(long, value_parser = parse_load)]
    load: Option<f64>,

    /// The share of the items, up to 0.05, that adaptive filters have adapted to false
    /// positives before they are timed at `insert_85_90`, queries and `remove` [default: 0]
    #[arg(long, value_name = "FRACTION", value_parser = parse_adapted)]
    adapted: Option<f64>,

    /// Chooses the keys, and the filters' hash functions where they can be chosen [default: 1]
    #[arg(long)]
    seed: Option<u64>,

    /// How often everything is measured [default: 5]
    #[arg(long, value_parser = value_parser!(u32).range(1..))]
    rounds: Option<u32>,

    /// Only these filters [default: all that are declared]
    #[arg(long, value_name = "NAME", num_args = 1.., value_parser = timed_filters())]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    filters: Vec<String>,

    /// Only these operations, and what they are compared with [default: all]
    #[arg(long, value_name = "NAME", value_delimiter = ',', num_args = 1..)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    operations: Vec<Operation>,

    #[command(flatten)]
    #[serde(skip)]
    one: One,
}

/// The names of the filters that can be timed.
pub(crate) fn timed_filters() -> PossibleValuesParser {
    let timed = filters::ALL.iter().filter(|entry| entry.is_timed());
    PossibleValuesParser::new(timed.map(|entry| entry.name))
}

pub(crate) fn parse_load(text: &str) -> Result<f64, String> {
    match text.parse() {
        // Above 0.95 `qfilter` refuses.
        Ok(load) if (0.1..=0.95).contains(&load) => Ok(load),
        _ => Err("a number from 0.1 to 0.95 is wanted".to_owned()),
    }
}

pub(crate) fn parse_adapted(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(adapted) if (0.0..=0.05).contains(&adapted) => Ok(adapted),
        _ => Err("a number from 0 to 0.05 is wanted".to_owned()),
    }
}

/// Measures, and shows what came out.
pub(crate) fn run(args: &Args) -> Result<()> {
    run_one("compare", &args.one, toml::Table::try_from(args)?).map(drop)
}
