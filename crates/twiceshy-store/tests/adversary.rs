//! The adversary of the paper's section 6.4: watches which lookups reach the engine, and replays
//! them. Judged by engine reads, exactly.

#![allow(clippy::unwrap_used)] // here, a panic is the message

use twiceshy::hash::Seed;
use twiceshy_store::engine::{Counting, InMemory};
use twiceshy_store::files::NoFiles;
use twiceshy_store::{Batch, FilterChoice, Layout, Merged, Split, Store, StoreBuilder};

type Watched<L> = Store<Counting<InMemory>, L>;

const MEMBERS: u64 = 20_000;
const FPR: f64 = 1.0 / 64.0;

fn filled<L: Layout>(choice: FilterChoice, seed: u64) -> Watched<L> {
    let store = StoreBuilder::new()
        .capacity(MEMBERS)
        .fpr(FPR)
        .filter(choice)
        .seed(Seed::from_u64(seed))
        .layout::<L>()
        .open(Counting::new(InMemory::new()), NoFiles)
        .unwrap();
    let opened = store.engine().counts().reads();
    let mut batch = Batch::new();
    for key in 0..MEMBERS {
        batch.insert_new(member(key), "value");
    }
    store.write(batch).unwrap();
    let read = store.engine().counts().reads() - opened;
    assert_eq!(read, 0, "insert_new reads nothing");
    store
}

fn member(key: u64) -> Vec<u8> {
    format!("member {key}").into_bytes()
}

fn stranger(key: u64) -> Vec<u8> {
    format!("stranger {key}").into_bytes()
}

/// Engine reads that a lookup makes.
fn reads<L: Layout>(store: &Watched<L>, key: &[u8]) -> u64 {
    let before = store.engine().counts().reads();
    assert_eq!(store.get(key).unwrap(), None);
    store.engine().counts().reads() - before
}

/// The strangers that reach the engine, as somebody who watches it sees them.
fn mistakes<L: Layout>(store: &Watched<L>, strangers: u64) -> Vec<Vec<u8>> {
    let keys = (0..strangers).map(stranger);
    keys.filter(|key| reads(store, key) > 0).collect()
}

#[test]
fn replays_add_no_reads_with_the_adaptive_filter() {
    fn run<L: Layout>() {
        let store = filled::<L>(FilterChoice::Adaptive, 1);
        let found = mistakes(&store, 50_000);
        assert!(found.len() > 300, "{}", found.len());
        let before = store.engine().counts();
        for _ in 0..20 {
            for key in &found {
                assert_eq!(store.get(key).unwrap(), None);
            }
        }
        assert_eq!(
            store.engine().counts(),
            before,
            "replays reached the engine"
        );
        assert_eq!(store.stats().repeated_false_positives, 0);
        // And it has forgotten no member.
        for key in 0..MEMBERS {
            assert!(store.contains(member(key)).unwrap());
        }
    }
    run::<Merged>();
    run::<Split>();
}

#[test]
fn replays_are_read_every_time_with_a_plain_filter() {
    let store = filled::<Merged>(FilterChoice::Plain, 1);
    let found = mistakes(&store, 50_000);
    let before = store.engine().counts().reads();
    for _ in 0..20 {
        for key in &found {
            assert_eq!(store.get(key).unwrap(), None);
        }
    }
    let reads = store.engine().counts().reads() - before;
    assert_eq!(reads, 20 * found.len() as u64);
    assert!(store.stats().repeated_false_positives > 0);
}

/// Whoever knows the code and all keys, but not the seed, runs a store of his own and finds out
/// which strangers it mistakes. Against another seed these do no better than chance: of `n`
/// strangers `n * fpr` are mistaken, at most `+ 6` standard deviations (one failure in 10^9 runs,
/// and the seeds are fixed).
#[test]
fn without_the_seed_an_attacker_does_no_better_than_chance() {
    let his = filled::<Merged>(FilterChoice::Adaptive, 7);
    let prepared = mistakes(&his, 400_000);
    let n = prepared.len() as f64;
    assert!(n > 3_000.0, "{n}");
    for seed in 100..104 {
        let ours = filled::<Merged>(FilterChoice::Adaptive, seed);
        let hits = prepared.iter().filter(|key| reads(&ours, key) > 0).count();
        let expected = n * FPR;
        assert!(
            (hits as f64) < expected + 6.0 * expected.sqrt(),
            "{hits} of {n}"
        );
    }
}

/// Table 1 of the paper: an insertion is one write, and reads only where the filter says
/// "maybe" of a key that is new; never if the caller knows that it is.
#[test]
fn an_insertion_is_one_write() {
    fn run<L: Layout>() {
        let store = filled::<L>(FilterChoice::Adaptive, 3);
        let before = store.engine().counts();
        let new = 20_000;
        for key in 0..new {
            store.put(format!("new {key}"), "value").unwrap();
        }
        let counts = store.engine().counts();
        assert_eq!(counts.commits - before.commits, new);
        let grows = store.stats().grows;
        let reads = counts.reads() - before.reads();
        // A growing filter reads its keys once, a few hundred at a time.
        let expected = 20_000.0 * FPR;
        let allowance = expected + 6.0 * expected.sqrt() + 600.0 * grows.max(1) as f64;
        assert!((reads as f64) < allowance, "{reads} reads, {grows} grows");
    }
    run::<Merged>();
    run::<Split>();
}

/// One range read for a merged lookup that the filter lets through, found or not.
#[test]
fn a_merged_lookup_reads_once_at_most() {
    let store = filled::<Merged>(FilterChoice::Adaptive, 5);
    for key in 0..2_000 {
        let before = store.engine().counts().reads();
        assert!(store.contains(member(key)).unwrap());
        assert_eq!(store.engine().counts().reads() - before, 1);
        assert!(reads(&store, &stranger(key)) <= 1);
    }
}
