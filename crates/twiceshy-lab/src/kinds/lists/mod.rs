//! YES/NO lists beside those of other crates: what `lists` measures.
//!
//! | module | what is in it |
//! | --- | --- |
//! | [`space`] | bits per YES key at every ratio of the lists (figure 9 of the paper) |
//! | [`peers`] | the crates `rust_cascade` and `clubcard` |
//! | [`speed`] | queries, builds, changes |
//! | [`deltas`] | bits per changed entry |

mod deltas;
mod peers;
mod space;
mod speed;

use anyhow::Result;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::experiments::bench::Bench;
use crate::workloads::random::mix;

/// What can be measured of lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Part {
    Space,
    Speed,
    Deltas,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// Of both lists together.
    keys: u64,
    /// −log₂ of the rate for keys on neither list.
    bits: i32,
    parts: Vec<Part>,
}

pub(super) fn run(bench: &mut Bench<'_>) -> Result<()> {
    let Parameters { keys, bits, parts } = bench.parameters()?;
    let fpr = 0.5_f64.powi(bits);
    for (i, part) in parts.iter().enumerate() {
        match part {
            Part::Space => space::run(bench, keys, fpr)?,
            Part::Speed => speed::run(bench, keys, fpr)?,
            Part::Deltas => deltas::run(bench, keys, fpr)?,
        }
        bench.step(i + 1, parts.len());
    }
    Ok(())
}

/// Key number `i`: different for different numbers, and without pattern.
fn key(i: u64) -> u64 {
    mix(i.wrapping_add(0x9e37_79b9_7f4a_7c15))
}

/// Keys of the YES list, and of the NO list, in that many.
fn keys(yes: u64, no: u64) -> (Vec<u64>, Vec<u64>) {
    let yes = (0..yes).map(key).collect();
    let no = (0..no).map(|i| key(i | 1 << 40)).collect();
    (yes, no)
}
