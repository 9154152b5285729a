//! Throughput against the load factor, of bare filters.
//!
//! All are filled side by side, from one load to the next; at each, they are asked for the
//! queries of a workload, none of which is a member. Panels: `insert`, the millions of keys a
//! second while the filter went from the load before to this one, and `query`, the millions of
//! queries a second at this load. Each round is one sample.

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::super::bench::Bench;
use crate::compare::filters;
use crate::compare::workload::{Workload, time};
use crate::workloads::{self, Keys};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    log2_slots: u32,
    /// One place each.
    loads: Vec<f64>,
    /// Who asks, with what is particular to this scale.
    workload: String,
    queries: u64,
}

/// Filters as they are called in charts, and in [`compare`](crate::compare).
const NAMES: [(&str, &str); 6] = [
    ("adaptive", "twiceshy-adaptive/xxh3"),
    ("quotient", "twiceshy-plain/xxh3"),
    ("telescoping", "twiceshy-telescoping/xxh3"),
    ("telescoping, uncoded", "twiceshy-telescoping-plain/xxh3"),
    ("extension", "twiceshy-extension/xxh3"),
    ("vacuum", "twiceshy-vacuum/xxh3"),
];

pub(super) fn run(bench: &mut Bench<'_>) -> Result<()> {
    let parameters: Parameters = bench.parameters()?;
    let mut entries = Vec::new();
    for name in &bench.experiment.filters {
        let known = NAMES.iter().find(|(short, _)| short == name);
        let known = known.with_context(|| format!("{name} is not timed by load"))?;
        let entry = filters::by_name(known.1);
        entries.push((known.0, entry.with_context(|| format!("no {}", known.1))?));
    }
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
    let mut asking = workloads::open(&parameters.workload, seed)?;
    let numbers = (0..parameters.queries).map_while(|_| asking.next());
    let numbers: Vec<u32> = numbers.map(u32::try_from).collect::<Result<_, _>>()?;
    let keys = Keys::new(seed);

    let (mut done, total) = (0, rounds * parameters.loads.len());
    for _ in 0..rounds {
        let mut filters = Vec::new();
        for (name, entry) in &entries {
            filters.push((*name, (entry.build)(&workload)?));
        }
        let mut before = 0;
        for &load in &parameters.loads {
            let members = ((load * workload.slots() as f64) as u64).min(workload.members());
            for (name, filter) in &mut filters {
                let insert = |chunk: &[u64]| filter.insert_all(chunk);
                let inserted = time(before..members, |i| workload.member(i), insert)?;
                bench.note("insert", name, load, 1e3 / inserted.ns_per_op());
            }
            for (name, filter) in &mut filters {
                let stranger = |i: u64| keys.stranger(numbers[i as usize].into());
                let asked = numbers.len() as u64;
                let ask = |numbers| time(numbers, stranger, |chunk| Ok(filter.contains_all(chunk)));
                // Others have used the caches meanwhile.
                ask(0..asked / 8)?;
                let asked = ask(0..asked)?;
                bench.note("query", name, load, 1e3 / asked.ns_per_op());
            }
            before = members;
            done += 1;
            bench.step(done, total);
        }
    }
    Ok(())
}
