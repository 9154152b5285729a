//! The thesis's adversary, who keeps what the filter gets wrong, against |Q|/|S|.
//!
//! Panels: `queue-10`, `queue-15`, … have |Q|/|S| at the start of each round but the first, one
//! panel for each initial |Q|/|S|; `element` has the share of the keys that were wrong at least
//! once in the last round and `overall` that of its queries, in percent and against the initial
//! |Q|/|S|.

use anyhow::{Context, Result};
use serde::Deserialize;

use super::equal_space::{Cells, Tally};
use crate::experiments::bench::Bench;
use crate::filters::Set;
use crate::workloads::Keys;
use crate::workloads::rounds::Rounds;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// |S|.
    members: u32,
    /// Initial |Q|/|S|: one place each.
    ratios: Vec<u32>,
    subrounds: u32,
    /// Rounds at most.
    most: u32,
    /// The adversary gives up when |Q|/|S| is at most this.
    give_up: f64,
    cells: Cells,
}

pub(super) fn run(bench: &mut Bench<'_>) -> Result<()> {
    let parameters: Parameters = bench.parameters()?;
    let sets = bench.filters()?;
    let seeds = bench.seeds_of_rounds()?;
    let (mut done, total) = (0, seeds.len() * parameters.ratios.len() * sets.len());
    for seed in seeds {
        let keys = Keys::new(seed);
        for &ratio in &parameters.ratios {
            for entry in &sets {
                let all = (0..parameters.members).map(|i| keys.member(i.into()).to_le_bytes());
                let mut set = parameters.cells.fill(entry, seed, all)?;
                let (adversary, tally) = play(&parameters, ratio, set.as_mut(), keys)?;
                tally.tell(bench, entry.name);
                let panel = format!("queue-{ratio}");
                let last = adversary.history.last().context("no round was played")?;
                for round in 1..parameters.most {
                    // Who has given up is left with what they have.
                    let played = adversary.history.get(round as usize);
                    let queue = played.map_or(last.survivors, |round| round.queue);
                    let queue = queue as f64 / f64::from(parameters.members);
                    bench.note(&panel, entry.name, f64::from(round + 1), queue);
                }
                let x = f64::from(ratio);
                bench.note("element", entry.name, x, 100.0 * last.element_fpr());
                bench.note("overall", entry.name, x, 100.0 * last.overall_fpr());
                done += 1;
                bench.step(done, total);
            }
        }
    }
    Ok(())
}

fn play(
    parameters: &Parameters,
    ratio: u32,
    set: &mut dyn Set,
    keys: Keys,
) -> Result<(Rounds, Tally)> {
    let queue = u64::from(parameters.members) * u64::from(ratio);
    let mut adversary = Rounds::new(queue, parameters.subrounds, parameters.most);
    adversary.give_up = (parameters.give_up * f64::from(parameters.members)) as u64;
    let mut tally = Tally::default();
    while let Some(number) = adversary.ask() {
        if tally.ask(set, &keys.stranger(number).to_le_bytes())? {
            adversary.hear_wrong();
        }
    }
    Ok((adversary, tally))
}
