//! False positives on a stream of queries, against how many different ones there are for each
//! member: the papers' |A|/|S|.
//!
//! The stream is the same for all; the smaller the set, the more of its queries there are for
//! each member. Panels: `wrong`, wrong answers for each million queries; `lead`, a filter's rate
//! divided by the least of the others'; `space` in bits a key. Series: the filters; places: |A|/|S|.

use std::collections::HashSet;

use anyhow::{Result, ensure};
use serde::Deserialize;

use super::equal_space::{Cells, Tally};
use crate::experiments::bench::Bench;
use crate::workloads::{self, Keys};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    queries: usize,
    /// |A|/|S|: one place each.
    ratios: Vec<f64>,
    cells: Cells,
}

/// Whose lead over the others is judged.
const LEADERS: [&str; 2] = ["telescoping", "adaptive"];

/// Ours, which the papers could not compare with.
const OURS: &str = "adaptive";

pub(super) fn run(bench: &mut Bench<'_>) -> Result<()> {
    let parameters: Parameters = bench.parameters()?;
    let sets = bench.filters()?;
    let seeds = bench.seeds_of_rounds()?;
    let workload = bench.workload()?;
    let (mut done, total) = (0, seeds.len() * parameters.ratios.len() * sets.len());
    for (round, seed) in seeds.into_iter().enumerate() {
        let stream = ask(&workload, seed, parameters.queries)?;
        let different = stream.iter().collect::<HashSet<_>>().len();
        let repeats = stream.len() as f64 / different as f64;
        if round == 0 {
            bench.remark(format!(
                "with seed {seed} there are {different} different queries, {repeats:.1} times each"
            ));
        }
        let keys = Keys::new(seed);
        for &ratio in &parameters.ratios {
            let members = (different as f64 / ratio) as u32;
            ensure!(members >= 100, "too few members at {ratio}");
            let mut shares = Vec::new();
            for entry in &sets {
                let all = (0..members).map(|i| keys.member(i.into()).to_le_bytes());
                let mut set = parameters.cells.fill(entry, seed, all)?;
                let mut tally = Tally::default();
                for &number in &stream {
                    tally.ask(set.as_mut(), &keys.stranger(number).to_le_bytes())?;
                }
                bench.note("wrong", entry.name, ratio, tally.fpr() * 1e6);
                if round == 0 {
                    let bits = set.space().bytes as f64 * 8.0 / f64::from(members);
                    bench.note("space", entry.name, ratio, bits);
                }
                tally.tell(bench, entry.name);
                shares.push((entry.name, tally.fpr()));
                done += 1;
                bench.step(done, total);
            }
            for leader in LEADERS {
                if let Some(lead) = lead(&shares, leader) {
                    bench.note("lead", leader, ratio, lead);
                }
            }
        }
    }
    Ok(())
}

/// The numbers that a workload asks for.
fn ask(workload: &str, seed: u64, queries: usize) -> Result<Vec<u64>> {
    Ok(workloads::open(workload, seed)?.take(queries).collect())
}

/// A filter's share divided by the least of the others'. The papers' filters are compared with
/// each other, ours with all of them.
fn lead(shares: &[(&str, f64)], leader: &str) -> Option<f64> {
    let (_, share) = shares.iter().find(|(name, _)| *name == leader)?;
    let others = shares.iter().filter(|(name, _)| {
        *name != leader && !name.starts_with(OURS) && !name.starts_with("telescoping,")
    });
    let least = others.map(|(_, share)| *share).reduce(f64::min)?;
    (least > 0.0).then(|| share / least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lead_is_over_the_best_of_the_others() {
        let shares = [
            ("telescoping", 0.02),
            ("swapping", 0.04),
            ("adaptive", 0.01),
        ];
        assert_eq!(lead(&shares, "telescoping"), Some(0.5));
        assert_eq!(lead(&shares, "adaptive"), Some(0.5));
        assert_eq!(lead(&shares[..1], "telescoping"), None);
        assert_eq!(lead(&shares, "cuckoo"), None);
    }
}
