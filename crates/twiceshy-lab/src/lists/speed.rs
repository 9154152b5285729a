//! Queries, builds and changes, against the adaptive filter and the reverse map alone.

use std::hint::black_box;
use std::time::Instant;

use anyhow::Result;
use twiceshy::hash::{Seed, Sip13, StreamHash, Xxh3};
use twiceshy::lists::{BuildList, Cascade, IntegratedXor, List, StaticYesNo, YesNo, YesNoList};
use twiceshy::sets::reverse_map::MemoryMap;
use twiceshy::{AdaptiveFilter, AdaptiveSet, ReverseMap};

use super::{key, keys, peers};
use crate::compare::pin::Core;
use crate::compare::summary::Summary;

/// NO keys for each YES key in the measured lists.
const RATIO: u64 = 9;

pub(super) fn run(total: u64, fpr: f64, rounds: u32) -> Result<()> {
    let core = Core::pin();
    let n = total / (1 + RATIO);
    let (yes, no) = keys(n, total - n);
    println!(
        "\nSpeed, {n} YES and {} NO keys at a rate of {fpr}, medians of {rounds} rounds on one core",
        total - n
    );
    println!("  ns a query: YES keys, NO keys, keys on neither list");
    queries::<Xxh3>("xxh3", &yes, &no, fpr, rounds)?;
    queries::<Sip13>("sip", &yes, &no, fpr, rounds)?;
    peers(&yes, &no, fpr, rounds)?;
    println!("  ns a key of both lists: builds");
    builds(&yes, &no, fpr, rounds)?;
    println!("  ns a key: changes of a dynamic list in memory, interleaved with their parts");
    changes(&yes, &no, fpr, rounds)?;
    core.warn_if_shared();
    Ok(())
}

/// Nanoseconds for each key.
fn time<T>(keys: &[u64], mut each: impl FnMut(&u64) -> T) -> f64 {
    let start = Instant::now();
    for key in keys {
        black_box(each(key));
    }
    start.elapsed().as_nanos() as f64 / keys.len().max(1) as f64
}

fn median(samples: &[f64]) -> f64 {
    Summary::of(samples.iter().copied()).map_or(f64::NAN, |summary| summary.median)
}

/// Queries in random order: those of a list in hash order would stay in one cache line.
fn questions(keys: &[u64]) -> Vec<u64> {
    let count = keys.len().max(1) as u64;
    (0..(1 << 20).min(4 * count))
        .map(|i| keys[(key(i) % count) as usize])
        .collect()
}

/// The list beside adaptive filters of the same YES keys that were told of every mistake on the NO
/// keys: one nearly as full as the list, and one as roomy as they come.
fn queries<H: StreamHash>(
    hash: &str,
    yes: &[u64],
    no: &[u64],
    fpr: f64,
    rounds: u32,
) -> Result<()> {
    let seed = Seed::from_u64(1);
    let list = StaticYesNo::builder()
        .hash::<H>()
        .fpr(fpr)
        .seed(seed)
        .build(yes, no)?;
    let bits = list.geometry().remainder_bits();
    let used = list.stats().used_slots;
    let adapted = |load: f64| -> Result<AdaptiveFilter<H>> {
        let builder = AdaptiveFilter::builder().hash::<H>().seed(seed);
        let slots = (used as f64 / load).ceil() as u64;
        let mut set = AdaptiveSet::from_builder(builder.slots(slots).remainder_bits(bits))?;
        for key in yes {
            set.insert(key)?;
        }
        for key in no {
            set.report_false_positive(key)?;
        }
        Ok(set.filter().clone())
    };
    let (full, roomy) = (adapted(0.995)?, adapted(0.94)?);
    let asked = [
        questions(yes),
        questions(no),
        (0..1 << 20).map(|i| key(i | 1 << 42)).collect(),
    ];
    let mut samples = [[(); 3]; 3].map(|row| row.map(|()| Vec::new()));
    for _ in 0..rounds {
        for (which, keys) in asked.iter().enumerate() {
            samples[0][which].push(time(keys, |key| list.contains(key)));
            samples[1][which].push(time(keys, |key| full.contains(key)));
            samples[2][which].push(time(keys, |key| roomy.contains(key)));
        }
    }
    let names = [
        format!("static list, {hash}, load {:.3}", list.load()),
        format!("adaptive, {hash}, load {:.3}", full.load()),
        format!("adaptive, {hash}, load {:.3}", roomy.load()),
    ];
    for (name, row) in names.iter().zip(&samples) {
        let figures = row.each_ref().map(|samples| median(samples));
        let ratios: Vec<f64> = (0..3)
            .map(|i| median(&samples[0][i]) / figures[i])
            .collect();
        println!(
            "    {name:<34}{:>7.1}{:>7.1}{:>7.1}   the list takes {:.2}, {:.2}, {:.2} times as long",
            figures[0], figures[1], figures[2], ratios[0], ratios[1], ratios[2]
        );
    }
    Ok(())
}

fn peers(yes: &[u64], no: &[u64], fpr: f64, rounds: u32) -> Result<()> {
    let cascade = <Cascade>::build_seeded(yes, no, fpr, Seed::from_u64(1))?;
    let ixor = <IntegratedXor>::build_seeded(yes, no, fpr, Seed::from_u64(1))?;
    let card = peers::clubcard(yes, no);
    let asked = [
        questions(yes),
        questions(no),
        (0..1 << 20).map(|i| key(i | 1 << 42)).collect(),
    ];
    type Ask<'l> = (&'static str, Box<dyn Fn(&u64) -> bool + 'l>);
    let lists: [Ask<'_>; 3] = [
        (
            "our cascade, sip",
            Box::new(|key| cascade.answer(key).is_yes()),
        ),
        (
            "our integrated xor, sip",
            Box::new(|key| ixor.answer(key).is_yes()),
        ),
        (
            "clubcard, mixer",
            Box::new(|&key| peers::clubcard_contains(&card, key)),
        ),
    ];
    for (name, ask) in &lists {
        let figures = asked.each_ref().map(|keys: &Vec<u64>| {
            let samples: Vec<f64> = (0..rounds).map(|_| time(keys, ask)).collect();
            median(&samples)
        });
        println!(
            "    {name:<34}{:>7.1}{:>7.1}{:>7.1}",
            figures[0], figures[1], figures[2]
        );
    }
    let strangers = asked[2].iter();
    let wrong = strangers.filter(|key| lists[2].1(key)).count() as f64 / asked[2].len() as f64;
    println!("    (clubcard says YES to {wrong:.4} of the keys on neither list)");
    Ok(())
}

fn builds(yes: &[u64], no: &[u64], fpr: f64, rounds: u32) -> Result<()> {
    let total = (yes.len() + no.len()) as f64;
    let seed = Seed::from_u64(1);
    let mut samples = [const { Vec::new() }; 4];
    let builder = StaticYesNo::builder().fpr(fpr).seed(seed);
    let with_xxh3 = builder.clone().hash::<Xxh3>();
    for _ in 0..rounds {
        let mut clock = |which: usize, build: &dyn Fn() -> Result<u64>| -> Result<()> {
            let start = Instant::now();
            black_box(build()?);
            samples[which].push(start.elapsed().as_nanos() as f64 / total);
            Ok(())
        };
        clock(0, &|| Ok(builder.build(yes, no)?.bytes()))?;
        clock(1, &|| Ok(with_xxh3.build(yes, no)?.bytes()))?;
        clock(2, &|| {
            Ok(<Cascade>::build_seeded(yes, no, fpr, seed)?.bytes())
        })?;
        clock(3, &|| {
            Ok(u64::from(peers::clubcard_contains(
                &peers::clubcard(yes, no),
                yes[0],
            )))
        })?;
    }
    for (name, samples) in [
        "static list, sip",
        "static list, xxh3",
        "our cascade, sip",
        "clubcard",
    ]
    .iter()
    .zip(&samples)
    {
        let ns = median(samples);
        println!(
            "    {name:<34}{ns:>7.1}   {:.1} million keys a second",
            1e3 / ns
        );
    }
    Ok(())
}

fn changes(yes: &[u64], no: &[u64], fpr: f64, rounds: u32) -> Result<()> {
    let seed = Seed::from_u64(1);
    let (n, m) = (yes.len() as u64, no.len() as u64);
    let mut samples = [const { Vec::new() }; 6];
    for _ in 0..rounds {
        let map = MemoryMap::default();
        let mut list = YesNo::<MemoryMap>::with_map(map, n, m, fpr, seed)?;
        let geometry = list.filter().geometry();
        // The parts: a filter alone, and a map of the same entries.
        let builder = AdaptiveFilter::builder().seed(seed).slots(geometry.slots());
        let mut filter = builder.remainder_bits(geometry.remainder_bits()).build()?;
        let mut map = MemoryMap::default();
        let entry = |key: &u64| [&b"Y"[..], &key.to_le_bytes()].concat();
        // First most of both lists, untimed; then the rest, one part after the other.
        let (yes, last_yes) = yes.split_at(yes.len() / 10 * 9);
        let (no, last_no) = no.split_at(no.len() / 10 * 9);
        for (keys, which) in [(yes, List::Yes), (no, List::No)] {
            for key in keys {
                list.add(key, which)?;
                let h0 = filter.hash(key).h0();
                map.insert(h0, &entry(key))?;
                if which == List::Yes {
                    filter.insert(key)?;
                }
            }
        }
        samples[0].push(time(last_yes, |key| list.add(key, List::Yes)));
        samples[1].push(time(last_no, |key| list.add(key, List::No)));
        samples[2].push(time(last_no, |key| list.remove(key)));
        samples[3].push(time(last_yes, |key| filter.insert(key)));
        samples[4].push(time(last_yes, |key| {
            let h0 = filter.hash(key).h0();
            let mut found = 0;
            let range = geometry.hash_range(geometry.id(h0));
            map.keys(range, |_, key| found += key.len()).map(|()| found)
        }));
        samples[5].push(time(last_yes, |key| {
            map.insert(filter.hash(key).h0(), &entry(key))
        }));
    }
    let ns = samples.each_ref().map(|samples| median(samples));
    let parts = ns[3] + ns[4];
    for (name, ns) in ["add to Y", "add to N", "remove from N"].iter().zip(ns) {
        println!(
            "    {name:<34}{ns:>7.0}   {:.2} times insert and read",
            ns / parts
        );
    }
    for (name, ns) in ["filter insert", "reverse-map read", "reverse-map write"]
        .iter()
        .zip(&ns[3..])
    {
        println!("    {name:<34}{ns:>7.0}");
    }
    Ok(())
}
