//! False positives over time on keys that people made.
//!
//! The workload is a set of `cargo xtask data`; if that was not fetched, nothing is measured and the
//! report says what to run. Panels: `wrong`, the wrong answers for each million queries so far, against
//! their number; `total`, the same when all were asked; `space` in bits a key.

use anyhow::{Context, Result};
use serde::Deserialize;

use super::equal_space::{Cells, Tally};
use crate::experiments::bench::Bench;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// Members at most; which of them, is up to the seed.
    members: u32,
    queries: u64,
    cells: Cells,
}

/// The first place, and another for each doubling of the queries.
const FIRST: u64 = 1_000;

pub(super) fn run(bench: &mut Bench<'_>) -> Result<()> {
    let parameters: Parameters = bench.parameters()?;
    let workload = bench.workload()?;
    let sets = bench.filters()?;
    let seeds = bench.seeds_of_rounds()?;
    let (mut done, total) = (0, seeds.len() * sets.len());
    for seed in seeds {
        let Some(source) = bench.source(&workload, seed)? else {
            return Ok(());
        };
        let (all, strangers) = source.sizes().context("these keys are no real ones")?;
        let members = u32::try_from(all)?.min(parameters.members);
        bench.remark(format!(
            "{members} of {all} members, {strangers} strangers to ask for"
        ));
        for entry in &sets {
            let all = (0..members).map(|i| source.member(i.into(), <[u8]>::to_vec));
            let mut set = parameters.cells.fill(entry, seed, all)?;
            let (mut tally, mut next) = (Tally::default(), FIRST);
            for number in source.queries(seed)? {
                source.stranger(number, |key| tally.ask(set.as_mut(), key))?;
                if tally.asked == next || tally.asked == parameters.queries {
                    let rate = tally.fpr() * 1e6;
                    bench.note("wrong", entry.name, tally.asked as f64, rate);
                    next *= 2;
                }
                if tally.asked == parameters.queries {
                    break;
                }
            }
            tally.tell(bench, entry.name);
            bench.note("total", entry.name, "all queries", tally.fpr() * 1e6);
            let bits = set.space().bytes as f64 * 8.0 / f64::from(members);
            bench.note("space", entry.name, "all queries", bits);
            done += 1;
            bench.step(done, total);
        }
    }
    Ok(())
}
