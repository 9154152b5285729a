//! False positives over time on keys that people made.
//!
//! The workload is the name of a set of `cargo xtask data`; if that was not fetched, nothing is
//! measured and the report says what to run. Panels: `wrong`, the wrong answers for each million
//! queries so far, against their number; `total`, the same when all were asked; `space` in bits a
//! key.

use anyhow::{Context, Result};
use serde::Deserialize;

use super::super::bench::Bench;
use super::equal_space::{Cells, Tally, seeds};
use crate::workloads::Queries;
use crate::workloads::real::{self, RealSet};

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
    let name = bench.experiment.workloads.first();
    let name = name
        .context("the workload must name a set of real keys")?
        .clone();
    if let Some(command) = real::missing(&name)? {
        let note =
            format!("Left out: its keys are not there. Run `{command}` and then this again.");
        eprintln!("{}: {note}", bench.experiment.name);
        bench.remark(note);
        return Ok(());
    }
    let sets = bench.sets()?;
    let seeds = seeds(bench)?;
    let (mut done, total) = (0, seeds.len() * sets.len());
    for seed in seeds {
        let keys = RealSet::load(&name, seed)?;
        let (all, strangers) = keys.sizes();
        let members = u32::try_from(all)?.min(parameters.members);
        bench.remark(format!(
            "{members} of {all} members, {strangers} strangers to ask for"
        ));
        for entry in &sets {
            let all = (0..members).map(|i| keys.member(i.into()).as_bytes());
            let mut set = parameters.cells.fill(entry, seed, all)?;
            let mut asking = keys.queries(seed);
            let (mut tally, mut next) = (Tally::default(), FIRST);
            while let Some(number) = asking.next() {
                tally.ask(set.as_mut(), keys.stranger(number).as_bytes())?;
                if tally.asked == next || tally.asked == parameters.queries {
                    let rate = tally.fpr() * 1e6;
                    bench.note("wrong", entry.name, tally.asked as f64, rate);
                    next *= 2;
                }
                if tally.asked == parameters.queries {
                    break;
                }
            }
            if let Some(remark) = tally.remark(entry.name) {
                bench.remark(remark);
            }
            bench.note("total", entry.name, "all queries", tally.fpr() * 1e6);
            let bits = set.space().bytes as f64 * 8.0 / f64::from(members);
            bench.note("space", entry.name, "all queries", bits);
            done += 1;
            bench.step(done, total);
        }
    }
    Ok(())
}
