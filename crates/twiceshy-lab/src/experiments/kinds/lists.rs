//! Space of YES/NO lists at every ratio of their lengths (figure 9 of the paper): what
//! [`lists`](crate::lists) measures. Panels `rate`, where keys on neither list are answered YES
//! with at most a given rate, and `bare`, where nothing is promised for them.

use anyhow::Result;
use serde::Deserialize;

use super::super::bench::Bench;
use crate::lists::space::measure;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// Of both lists together.
    keys: u64,
    /// −log₂ of the rate.
    bits: i32,
}

pub(super) fn run(bench: &mut Bench<'_>) -> Result<()> {
    let Parameters { keys, bits } = bench.parameters()?;
    for row in measure(keys, 0.5_f64.powi(bits))? {
        let x = f64::from(row.log2_ratio);
        for (panel, series, bits) in [
            ("rate", "yes/no list", Some(row.ours)),
            ("rate", "bloom cascade", Some(row.cascade)),
            ("rate", "integrated xor", Some(row.integrated_xor)),
            ("rate", "bloomier", Some(row.bloomier)),
            ("rate", "lower bound", Some(row.lower_bound)),
            ("bare", "yes/no list", Some(row.ours_bare)),
            ("bare", "bloom cascade", Some(row.cascade_bare)),
            ("bare", "rust_cascade", row.rust_cascade),
            ("bare", "clubcard", Some(row.clubcard)),
        ] {
            if let Some(bits) = bits {
                bench.note(panel, series, x, bits);
            }
        }
    }
    Ok(())
}
