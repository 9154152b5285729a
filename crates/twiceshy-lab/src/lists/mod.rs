//! `lists`: YES/NO lists beside those of other crates.
//!
//! | module | what is in it |
//! | --- | --- |
//! | [`space`] | bits per YES key at every ratio of the lists (figure 9 of the paper) |
//! | [`peers`] | the crates `rust_cascade` and `clubcard` |
//! | [`speed`] | queries, builds, changes |
//! | [`deltas`] | bits per changed entry |
//! | [`plot`] | the figure as SVG |

mod deltas;
mod peers;
mod plot;
pub(crate) mod space;
mod speed;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

/// Measure YES/NO lists: space at every ratio, speed, deltas
///
/// The space table is figure 9 of the paper: both lists together have a million keys, the ratio
/// of their lengths goes from 2^-8 to 2^8. The defaults take about two minutes.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Keys of both lists together
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1_000..))]
    keys: u64,

    /// The rate for keys on neither list is 2^-FPR_BITS
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=24))]
    fpr_bits: u32,

    /// How often times are measured
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    /// Only this part
    #[arg(long)]
    only: Option<Part>,

    /// Draw the space table to this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// Write the space table to this file, too, as an array of JSON objects
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    Space,
    Speed,
    Deltas,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let fpr = f64::from(args.fpr_bits).exp2().recip();
    let wanted = |part| args.only.is_none_or(|only| only == part);
    if wanted(Part::Space) {
        let rows = space::measure(args.keys, fpr)?;
        print!("{}", space::Table { rows: &rows, fpr });
        if let Some(path) = &args.svg {
            fs::write(path, plot::draw(&rows, fpr))
                .with_context(|| format!("can't write {}", path.display()))?;
        }
        if let Some(path) = &args.json {
            fs::write(path, serde_json::to_string_pretty(&rows)?)
                .with_context(|| format!("can't write {}", path.display()))?;
        }
    }
    if wanted(Part::Speed) {
        speed::run(args.keys, fpr, args.rounds)?;
    }
    if wanted(Part::Deltas) {
        deltas::run(args.keys, fpr)?;
    }
    Ok(())
}

/// Key number `i`: different for different numbers, and without pattern.
fn key(i: u64) -> u64 {
    let mut x = i.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Keys of the YES list, and of the NO list, in that many.
fn keys(yes: u64, no: u64) -> (Vec<u64>, Vec<u64>) {
    let yes = (0..yes).map(key).collect();
    let no = (0..no).map(|i| key(i | 1 << 40)).collect();
    (yes, no)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_runs_on_small_lists() {
        let rows = space::measure(4_000, 1.0 / 512.0).unwrap();
        assert_eq!(rows.len(), 17);
        let text = space::Table {
            rows: &rows,
            fpr: 1.0 / 512.0,
        };
        assert!(text.to_string().contains("2^-8"));
        let svg = plot::draw(&rows, 1.0 / 512.0);
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
        speed::run(4_000, 1.0 / 512.0, 1).unwrap();
        deltas::run(40_000, 1.0 / 512.0).unwrap();
    }
}
