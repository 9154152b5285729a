//! `lists`: YES/NO lists beside those of other crates.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::value_parser;
use serde::Serialize;

use crate::drawn::chart::Chart;
use crate::kinds::lists::Part;
use crate::run::{One, run_one};

/// Measure YES/NO lists: space at every ratio, speed, deltas
///
/// The space at every ratio is figure 9 of the paper: both lists together have a million keys, the ratio
/// of their lengths goes from 2^-8 to 2^8. What is not chosen here is declared in
/// experiments/lists.toml. The defaults take about two minutes.
#[derive(clap::Args, Debug, Serialize)]
pub(crate) struct Args {
    /// Keys of both lists together [default: 1000000]
    #[arg(long, value_parser = value_parser!(u64).range(1_000..))]
    keys: Option<u64>,

    /// The rate for keys on neither list is 2^-FPR_BITS [default: 9]
    #[arg(long = "fpr-bits", value_name = "FPR_BITS", value_parser = value_parser!(u32).range(1..=24))]
    bits: Option<u32>,

    /// How often times are measured [default: 5]
    #[arg(long, value_parser = value_parser!(u32).range(1..))]
    rounds: Option<u32>,

    /// Only these parts [default: all]
    #[arg(long = "only", value_name = "PART", value_delimiter = ',')]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<Part>,

    /// Draw the space at every ratio to this file
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    svg: Option<PathBuf>,

    #[command(flatten)]
    #[serde(skip)]
    one: One,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let (experiment, outcome) = run_one("lists", &args.one, toml::Table::try_from(args)?)?;
    if let Some(path) = &args.svg {
        let panel = experiment.panel("space").context("no panel to draw")?;
        let chart = Chart::of(panel, &outcome).context("nothing to draw")?;
        fs::write(path, chart.standalone())
            .with_context(|| format!("can't write {}", path.display()))?;
    }
    Ok(())
}
