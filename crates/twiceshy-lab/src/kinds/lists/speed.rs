//! Queries, builds and changes, against the adaptive filter and the reverse map alone. All figures are
//! nanoseconds: `queries`, against where the key is; `builds`, a key of both lists; `changes`, of a dynamic
//! list in memory, interleaved with their parts.

use std::hint::black_box;
use std::time::Instant;

use anyhow::Result;
use twiceshy::hash::{Seed, Sip13, StreamHash, Xxh3};
use twiceshy::lists::{BuildList, Cascade, IntegratedXor, List, StaticYesNo, YesNo, YesNoList};
use twiceshy::sets::reverse_map::MemoryMap;
use twiceshy::{AdaptiveFilter, AdaptiveSet, ReverseMap};

use super::{key, keys, peers};
use crate::experiments::bench::Bench;

/// NO keys for each YES key in the measured lists.
const RATIO: u64 = 9;

pub(super) fn run(bench: &mut Bench<'_>, total: u64, fpr: f64) -> Result<()> {
    let n = total / (1 + RATIO);
    let (yes, no) = keys(n, total - n);
    queries::<Xxh3>(bench, "xxh3", &yes, &no, fpr)?;
    queries::<Sip13>(bench, "sip", &yes, &no, fpr)?;
    peers(bench, &yes, &no, fpr)?;
    builds(bench, &yes, &no, fpr)?;
    changes(bench, &yes, &no, fpr)
}

/// Nanoseconds for each key.
fn time<T>(keys: &[u64], mut each: impl FnMut(&u64) -> T) -> f64 {
    let start = Instant::now();
    for key in keys {
        black_box(each(key));
    }
    start.elapsed().as_nanos() as f64 / keys.len().max(1) as f64
}

/// Queries in random order: those of a list in hash order would stay in one cache line.
fn questions(keys: &[u64]) -> Vec<u64> {
    let count = keys.len().max(1) as u64;
    (0..(1 << 20).min(4 * count))
        .map(|i| keys[(key(i) % count) as usize])
        .collect()
}

/// A list by its name, and how long it takes for a key of these.
type Asked<'l> = (String, Box<dyn Fn(&[u64]) -> f64 + 'l>);

/// Asks all lists in turn for keys of both lists and of neither.
fn ask(bench: &mut Bench<'_>, yes: &[u64], no: &[u64], lists: &[Asked<'_>]) {
    let neither: Vec<u64> = (0..1 << 20).map(|i| key(i | 1 << 42)).collect();
    let asked = [
        ("YES", questions(yes)),
        ("NO", questions(no)),
        ("neither", neither),
    ];
    for _ in 0..bench.rounds() {
        for (place, keys) in &asked {
            for (name, time) in lists {
                bench.note("queries", name, *place, time(keys));
            }
        }
    }
}

/// The list beside adaptive filters of the same YES keys that were told of every mistake on the NO
/// keys: one nearly as full as the list, and one as roomy as they come.
fn queries<H: StreamHash>(
    bench: &mut Bench<'_>,
    hash: &str,
    yes: &[u64],
    no: &[u64],
    fpr: f64,
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
    let lists: [Asked<'_>; 3] = [
        (
            format!("static list, {hash}"),
            Box::new(|keys| time(keys, |key| list.contains(key))),
        ),
        (
            format!("adaptive, nearly full, {hash}"),
            Box::new(|keys| time(keys, |key| full.contains(key))),
        ),
        (
            format!("adaptive, roomy, {hash}"),
            Box::new(|keys| time(keys, |key| roomy.contains(key))),
        ),
    ];
    ask(bench, yes, no, &lists);
    Ok(())
}

fn peers(bench: &mut Bench<'_>, yes: &[u64], no: &[u64], fpr: f64) -> Result<()> {
    let seed = Seed::from_u64(1);
    let cascade = <Cascade>::build_seeded(yes, no, fpr, seed)?;
    let ixor = <IntegratedXor>::build_seeded(yes, no, fpr, seed)?;
    let card = peers::clubcard(yes, no);
    let lists: [Asked<'_>; 3] = [
        (
            "our cascade, sip".to_owned(),
            Box::new(|keys| time(keys, |key| cascade.answer(key).is_yes())),
        ),
        (
            "our integrated xor, sip".to_owned(),
            Box::new(|keys| time(keys, |key| ixor.answer(key).is_yes())),
        ),
        (
            "clubcard, mixer".to_owned(),
            Box::new(|keys| time(keys, |&key| peers::clubcard_contains(&card, key))),
        ),
    ];
    ask(bench, yes, no, &lists);
    Ok(())
}

fn builds(bench: &mut Bench<'_>, yes: &[u64], no: &[u64], fpr: f64) -> Result<()> {
    let total = (yes.len() + no.len()) as f64;
    let seed = Seed::from_u64(1);
    let builder = StaticYesNo::builder().fpr(fpr).seed(seed);
    let with_xxh3 = builder.clone().hash::<Xxh3>();
    for _ in 0..bench.rounds() {
        let mut clock = |list: &str, build: &dyn Fn() -> Result<u64>| -> Result<()> {
            let start = Instant::now();
            black_box(build()?);
            let ns = start.elapsed().as_nanos() as f64 / total;
            bench.note("builds", list, "a key", ns);
            Ok(())
        };
        clock("static list, sip", &|| Ok(builder.build(yes, no)?.bytes()))?;
        clock("static list, xxh3", &|| {
            Ok(with_xxh3.build(yes, no)?.bytes())
        })?;
        clock("our cascade, sip", &|| {
            Ok(<Cascade>::build_seeded(yes, no, fpr, seed)?.bytes())
        })?;
        clock("clubcard", &|| {
            let card = peers::clubcard(yes, no);
            Ok(u64::from(peers::clubcard_contains(&card, yes[0])))
        })?;
    }
    Ok(())
}

fn changes(bench: &mut Bench<'_>, yes: &[u64], no: &[u64], fpr: f64) -> Result<()> {
    let seed = Seed::from_u64(1);
    let (n, m) = (yes.len() as u64, no.len() as u64);
    for _ in 0..bench.rounds() {
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
        let mut note = |what: &str, ns: f64| bench.note("changes", what, "a key", ns);
        note("add to Y", time(last_yes, |key| list.add(key, List::Yes)));
        note("add to N", time(last_no, |key| list.add(key, List::No)));
        note("remove from N", time(last_no, |key| list.remove(key)));
        let insert = time(last_yes, |key| filter.insert(key));
        note("filter insert", insert);
        let read = time(last_yes, |key| {
            let h0 = filter.hash(key).h0();
            let mut found = 0;
            let range = geometry.hash_range(geometry.id(h0));
            map.keys(range, |_, key| found += key.len()).map(|()| found)
        });
        note("reverse-map read", read);
        note("insert and read", insert + read);
        let write = time(last_yes, |key| {
            map.insert(filter.hash(key).h0(), &entry(key))
        });
        note("reverse-map write", write);
    }
    Ok(())
}
