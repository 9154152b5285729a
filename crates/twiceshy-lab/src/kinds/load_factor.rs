//! Throughput against the load factor, of bare filters.
//!
//! All are filled side by side, from one load to the next; at each, they are asked for the
//! queries of a workload, none of which is a member. Panels: `insert`, the millions of keys a
//! second while the filter went from the load before to this one, and `query`, the millions of
//! queries a second at this load. Each round is one sample: the median of its slices, so that
//! another program that has the core for a moment is in one of them and not in the figure.

use std::ops::Range;

use anyhow::{Result, ensure};
use serde::Deserialize;

use crate::experiments::bench::Bench;
use crate::experiments::outcome::median;
use crate::timed::{Workload, time};
use crate::workloads::{self, Keys};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    log2_slots: u32,
    /// One place each.
    loads: Vec<f64>,
    queries: u64,
}

pub(super) fn run(bench: &mut Bench<'_>) -> Result<()> {
    let parameters: Parameters = bench.parameters()?;
    let entries = bench.filters()?;
    let (rounds, seed) = (bench.rounds(), bench.seed());
    let fullest = parameters.loads.iter().copied().fold(0.0, f64::max);
    ensure!(fullest <= 0.95, "no filter is filled beyond 0.95");
    let workload = Workload {
        log2_slots: parameters.log2_slots,
        load: fullest,
        adapted: 0.0,
        seed,
    };
    // Drawn before, not on the clock.
    let asking = workloads::open(&bench.workload()?, seed)?;
    let numbers = asking.take(usize::try_from(parameters.queries)?);
    let numbers: Vec<u32> = numbers.map(u32::try_from).collect::<Result<_, _>>()?;
    let keys = Keys::new(seed);

    let (mut done, total) = (0, rounds * parameters.loads.len());
    for round in 0..rounds {
        let mut filters = Vec::new();
        for entry in &entries {
            filters.push((entry.name, entry.contender(&workload)?));
        }
        // Nobody is always the first.
        filters.rotate_left(round % entries.len());
        let mut before = 0;
        for &load in &parameters.loads {
            let members = ((load * workload.slots() as f64) as u64).min(workload.members());
            for (name, filter) in &mut filters {
                let insert = |chunk: &[u64]| filter.insert_all(chunk);
                let rate = rate(before..members, |i| workload.member(i), insert)?;
                bench.note("insert", name, load, rate);
            }
            for (name, filter) in &mut filters {
                let stranger = |i: u64| keys.stranger(numbers[i as usize].into());
                let asked = numbers.len() as u64;
                let ask = |chunk: &[u64]| Ok(filter.contains_all(chunk));
                // Others have used the caches meanwhile.
                time(0..asked / 8, stranger, ask)?;
                bench.note("query", name, load, rate(0..asked, stranger, ask)?);
            }
            before = members;
            done += 1;
            bench.step(done, total);
        }
    }
    Ok(())
}

/// Parts of a sample.
const SLICES: u64 = 15;

/// Millions of keys a second, in the median slice.
fn rate(
    numbers: Range<u64>,
    key: impl Fn(u64) -> u64,
    mut operation: impl FnMut(&[u64]) -> Result<u64>,
) -> Result<f64> {
    let count = numbers.end - numbers.start;
    let at = |slice| numbers.start + count * slice / SLICES;
    let mut rates = Vec::new();
    for slice in 0..SLICES {
        let timing = time(at(slice)..at(slice + 1), &key, &mut operation)?;
        rates.push(1e3 / timing.ns_per_op());
    }
    Ok(median(rates))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_in_one_slice() {
        let mut seen = Vec::new();
        let keep = |keys: &[u64]| {
            seen.extend_from_slice(keys);
            Ok(0)
        };
        assert!(rate(7..1_000, |i| i, keep).unwrap() > 0.0);
        assert!(seen.into_iter().eq(7..1_000));
    }
}
