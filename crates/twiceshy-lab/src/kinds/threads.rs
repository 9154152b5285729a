//! Threads (figure 4 of the paper), with what there is here: a sharded filter that any number of
//! threads may fill at once ([`Guard`]), filters of one thread each that
//! are merged, a bulk load, and lookups in one shared filter. Panels `inserts` and `lookups`, in
//! millions a second; places: threads.

use std::convert::Infallible;
use std::ops::RangeInclusive;
use std::thread;
use std::time::Instant;

use anyhow::{Result, ensure};
use serde::Deserialize;
use twiceshy::hash::{Seed, Sip13};
use twiceshy::{AdaptiveFilter, Builder, Filter, ReverseMap};
use twiceshy_store::{Guard, StoreBuilder};

use crate::experiments::bench::Bench;
use crate::timed::{CHUNK, Workload};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    log2_slots: u32,
    load: f64,
    threads: Vec<usize>,
}

/// Stands for the caller's own database, which has the keys: nothing is kept here.
struct Elsewhere;

impl ReverseMap for Elsewhere {
    type Error = Infallible;

    fn keys(&self, _: RangeInclusive<u64>, _: impl FnMut(u64, &[u8])) -> Result<(), Infallible> {
        Ok(())
    }

    fn insert(&mut self, _: u64, _: &[u8]) -> Result<bool, Infallible> {
        Ok(true)
    }

    fn remove(&mut self, _: u64, _: &[u8]) -> Result<bool, Infallible> {
        Ok(true)
    }
}

pub(super) fn run(bench: &mut Bench<'_>) -> Result<()> {
    let parameters: Parameters = bench.parameters()?;
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let workload = Workload {
        log2_slots: parameters.log2_slots,
        load: parameters.load,
        adapted: 0.0,
        seed: bench.seed(),
    };
    let members: Vec<u64> = (0..workload.members())
        .map(|i| workload.member(i))
        .collect();
    let strangers: Vec<u64> = (0..workload.members())
        .map(|i| workload.stranger(i))
        .collect();
    let shared = builder(&workload).build_from(&members)?;
    let rounds = bench.rounds();
    // The first round warms up.
    for round in 0..=rounds {
        for &threads in &parameters.threads {
            if threads > cores {
                bench.remark(format!(
                    "{threads} threads were left out: there are {cores} cores."
                ));
                continue;
            }
            let x = threads as f64;
            let mut note = |panel: &str, series: &str, seconds: f64| {
                if round > 0 {
                    let millions = members.len() as f64 / seconds / 1e6;
                    bench.note(panel, series, x, millions);
                }
            };
            note(
                "inserts",
                "sharded",
                fill_sharded(&workload, &members, threads)?,
            );
            note(
                "inserts",
                "one each, merged",
                fill_apart(&workload, &members, threads)?,
            );
            let start = Instant::now();
            let loaded = builder(&workload).threads(threads).build_from(&members)?;
            note("inserts", "bulk load", start.elapsed().as_secs_f64());
            ensure!(loaded.len() == members.len() as u64, "a member was lost");
            let seconds = in_parts(&strangers, threads, |_, keys| {
                let found = keys.iter().filter(|&key| shared.contains(key)).count();
                std::hint::black_box(found);
                Ok(())
            })?;
            note("lookups", "one by one", seconds);
            let seconds = in_parts(&strangers, threads, |_, keys| {
                let mut found = Vec::with_capacity(CHUNK);
                for keys in keys.chunks(CHUNK) {
                    shared.contains_batch_into(keys, &mut found);
                    std::hint::black_box(&found);
                }
                Ok(())
            })?;
            note("lookups", "in batches", seconds);
        }
        bench.step(round + 1, rounds + 1);
    }
    Ok(())
}

fn builder(workload: &Workload) -> Builder<AdaptiveFilter<Sip13>> {
    AdaptiveFilter::builder()
        .slots(workload.slots())
        .remainder_bits(9)
        .seed(Seed::from_u64(workload.seed))
}

/// Gives each thread its part of the keys; how many seconds until the last is done?
fn in_parts(
    keys: &[u64],
    threads: usize,
    work: impl Fn(usize, &[u64]) -> Result<()> + Sync,
) -> Result<f64> {
    let cores = core_affinity::get_core_ids().unwrap_or_default();
    let start = Instant::now();
    thread::scope(|scope| {
        let parts = keys.chunks(keys.len().div_ceil(threads)).enumerate();
        let threads: Vec<_> = parts
            .map(|(i, keys)| {
                let (core, work) = (cores.get(i).copied(), &work);
                scope.spawn(move || {
                    core.map(core_affinity::set_for_current);
                    work(i, keys)
                })
            })
            .collect();
        let done = threads
            .into_iter()
            .map(|thread| thread.join().expect("no panic"));
        done.collect::<Result<()>>()
    })?;
    Ok(start.elapsed().as_secs_f64())
}

fn fill_sharded(workload: &Workload, keys: &[u64], threads: usize) -> Result<f64> {
    let capacity = (workload.slots() as f64 * 0.95) as u64;
    let guard: Guard<Elsewhere> = StoreBuilder::new()
        .capacity(capacity)
        .seed(Seed::from_u64(workload.seed))
        .guard(Elsewhere)?;
    let seconds = in_parts(keys, threads, |_, keys| {
        for key in keys {
            guard.inserted(key.to_le_bytes())?;
        }
        Ok(())
    })?;
    ensure!(guard.len() == keys.len() as u64, "a member was lost");
    Ok(seconds)
}

fn fill_apart(workload: &Workload, keys: &[u64], threads: usize) -> Result<f64> {
    let filters: Vec<_> = (0..threads)
        .map(|_| Ok(std::sync::Mutex::new(builder(workload).build()?)))
        .collect::<Result<_>>()?;
    let seconds = in_parts(keys, threads, |i, keys| {
        let mut filter = filters[i].lock().expect("no panic");
        for key in keys {
            filter.insert(key)?;
        }
        Ok(())
    })?;
    if threads == 1 {
        return Ok(seconds);
    }
    let start = Instant::now();
    let filters: Vec<_> = filters
        .into_iter()
        .map(|filter| filter.into_inner().expect("no panic"))
        .collect();
    let merged = AdaptiveFilter::merge(&filters)?;
    ensure!(merged.len() == keys.len() as u64, "a member was lost");
    Ok(seconds + start.elapsed().as_secs_f64())
}
