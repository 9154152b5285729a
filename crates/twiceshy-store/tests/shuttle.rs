//! The protocol of the shards under a model checker, which tries thousands of orders in which
//! threads may take its locks. The code is the store's own; only the locks are the checker's.
//!
//! ```sh
//! RUSTFLAGS="--cfg twiceshy_shuttle" cargo test -p twiceshy-store --no-default-features \
//!     --test shuttle --target-dir target/shuttle
//! ```
//!
//! `cargo xtask test --only shuttle` does that. Without the flag there is nothing in here.

#![cfg(twiceshy_shuttle)]
#![allow(clippy::unwrap_used)] // here, a panic is the message

mod support;

use std::sync::Arc;

use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::{Config, Runner, thread};
use support::front::Front;
use support::guarded::Indexed;
use twiceshy::hash::{Hashed, Seed, Sip13};
use twiceshy_store::engine::{Changes, Engine, EngineError, InMemory, InMemorySnapshot};
use twiceshy_store::files::NoFiles;
use twiceshy_store::{Batch, Durability, Layout, Merged, Split, Store, StoreBuilder};

type Tiny<L> = Arc<Store<Yielding, L>>;

/// An engine in whose calls other threads get their chance: real ones take their time.
#[derive(Default)]
struct Yielding(InMemory);

impl Engine for Yielding {
    type Snapshot<'e> = InMemorySnapshot;

    fn snapshot(&self) -> Result<InMemorySnapshot, EngineError> {
        thread::yield_now();
        let snapshot = self.0.snapshot();
        thread::yield_now();
        snapshot
    }

    fn write(&self, changes: &Changes, durability: Durability) -> Result<(), EngineError> {
        thread::yield_now();
        let result = self.0.write(changes, durability);
        thread::yield_now();
        result
    }

    fn sync(&self) -> Result<(), EngineError> {
        self.0.sync()
    }

    fn max_key_len(&self) -> usize {
        self.0.max_key_len()
    }

    fn name(&self) -> &'static str {
        "yielding"
    }
}

/// One shard, or two, of a few slots with remainders of one bit: everything collides.
fn tiny<L: Layout>(shards: usize) -> Tiny<L> {
    let store = StoreBuilder::new()
        .capacity(1)
        .shards(shards)
        .fpr(0.5)
        .seed(Seed::from_u64(1))
        .layout::<L>()
        .open(Yielding::default(), NoFiles)
        .unwrap();
    // One commit: what comes before the threads are few steps for the checker.
    let mut batch = Batch::new();
    for key in 0..8 {
        batch.insert_new(name(key), "old");
    }
    store.write(batch).unwrap();
    Arc::new(store)
}

fn name(key: u64) -> Vec<u8> {
    format!("key{key}").into_bytes()
}

/// Asks for strangers, so that the filter learns, and for keys that stay.
fn ask<L: Layout>(store: &Tiny<L>, from: u64) {
    for key in from..from + 3 {
        assert_eq!(store.get(format!("stranger{key}")).unwrap(), None);
        assert!(store.contains(name(key % 2)).unwrap(), "a member is lost");
    }
}

fn finish<L: Layout>(store: &Tiny<L>, there: &[u64], gone: &[u64]) {
    store.finish_rotation().unwrap();
    store.verify().unwrap();
    for &key in there {
        assert!(store.contains(name(key)).unwrap(), "key {key} is lost");
    }
    for &key in gone {
        assert!(!store.contains(name(key)).unwrap());
    }
    // Once everything is at rest, no mistake is made twice.
    for key in 0..32 {
        let stranger = format!("stranger{key}");
        assert_eq!(store.get(&stranger).unwrap(), None);
    }
    let before = store.stats().false_positives;
    for key in 0..32 {
        let stranger = format!("stranger{key}");
        assert_eq!(store.get(&stranger).unwrap(), None);
    }
    assert_eq!(store.stats().false_positives, before);
}

fn check(scenario: impl Fn() + Send + Sync + Copy + 'static) {
    check_more(scenario, 1);
}

/// The checker's threads have 32 KiB of stack unless told; a shard is built with filters by value.
fn config() -> Config {
    let mut config = Config::new();
    config.stack_size = 256 << 10;
    config
}

fn check_more(scenario: impl Fn() + Send + Sync + Copy + 'static, times: usize) {
    let share = std::env::var("TWICESHY_TEST_SHARE");
    let share: usize = share.ok().and_then(|share| share.parse().ok()).unwrap_or(1);
    let orders = times * 1_200 / share;
    Runner::new(RandomScheduler::new(orders), config()).run(scenario);
    Runner::new(PctScheduler::new(3, orders), config()).run(scenario);
}

/// Delete against adapt: the keys that were read may be out of date.
#[test]
fn deletes_against_lessons() {
    fn run<L: Layout>() {
        let store = tiny::<L>(1);
        let threads = [
            thread::spawn({
                let store = Arc::clone(&store);
                move || {
                    for key in [2, 3, 4] {
                        assert!(store.delete(name(key)).unwrap());
                    }
                }
            }),
            thread::spawn({
                let store = Arc::clone(&store);
                move || ask(&store, 0)
            }),
            thread::spawn({
                let store = Arc::clone(&store);
                move || ask(&store, 1)
            }),
        ];
        for thread in threads {
            thread.join().unwrap();
        }
        finish(&store, &[0, 1, 5, 6, 7], &[2, 3, 4]);
    }
    check(run::<Merged>);
    check(run::<Split>);
}

/// Put against grow and adapt: a key whose commit is under way is in no list yet.
#[test]
fn puts_against_growth_and_lessons() {
    fn run<L: Layout>() {
        let store = tiny::<L>(2);
        let threads = [
            thread::spawn({
                let store = Arc::clone(&store);
                move || {
                    for key in 10..16 {
                        store.put(name(key), "new").unwrap();
                        assert!(store.contains(name(key)).unwrap(), "a put is lost");
                    }
                }
            }),
            thread::spawn({
                let store = Arc::clone(&store);
                move || {
                    let mut batch = Batch::new();
                    for key in 20..26 {
                        batch.put(name(key), "new");
                    }
                    batch.delete(name(7));
                    store.write(batch).unwrap();
                }
            }),
            thread::spawn({
                let store = Arc::clone(&store);
                move || ask(&store, 0)
            }),
        ];
        for thread in threads {
            thread.join().unwrap();
        }
        let there: Vec<u64> = (0..7).chain(10..16).chain(20..26).collect();
        finish(&store, &there, &[7]);
    }
    check(run::<Merged>);
    check(run::<Split>);
}

/// Everything against a change of seed: records are here or there, never nowhere.
#[test]
fn rotation_against_everything() {
    fn run<L: Layout>() {
        let store = tiny::<L>(2);
        let threads = [
            thread::spawn({
                let store = Arc::clone(&store);
                move || {
                    store.rotate().unwrap();
                    store.finish_rotation().unwrap();
                }
            }),
            thread::spawn({
                let store = Arc::clone(&store);
                move || {
                    store.put(name(10), "new").unwrap();
                    assert!(store.contains(name(10)).unwrap(), "a put is lost");
                    assert!(store.delete(name(3)).unwrap());
                    assert!(!store.contains(name(3)).unwrap());
                }
            }),
            thread::spawn({
                let store = Arc::clone(&store);
                move || ask(&store, 0)
            }),
        ];
        for thread in threads {
            thread.join().unwrap();
        }
        finish(&store, &[0, 1, 2, 4, 5, 6, 7, 10], &[3]);
    }
    check(run::<Merged>);
    check(run::<Split>);
}

/// Three keys whose hashes start with the same byte: one minirun, in filters as small as these.
fn neighbours() -> [Vec<u8>; 3] {
    let first_byte = |key: &Vec<u8>| {
        let seed = Seed::from_u64(1);
        Hashed::from_bytes::<Sip13>(&seed, key).h0() >> 56
    };
    let found: Vec<_> = (0..)
        .map(|number| format!("neighbour{number}").into_bytes())
        .filter(|key| first_byte(key) == 77)
        .take(3)
        .collect();
    found.try_into().unwrap()
}

/// The minirun gets a new key after its keys were read: a lesson with the old list would take
/// the new key's fingerprint for surplus.
#[test]
fn a_put_into_a_minirun_that_is_being_learnt() {
    fn run<L: Layout>() {
        let store = tiny::<L>(1);
        let [member, new, stranger] = neighbours();
        store.insert_new(&member, "old").unwrap();
        let putter = thread::spawn({
            let (store, new) = (Arc::clone(&store), new.clone());
            move || store.insert_new(&new, "new").unwrap()
        });
        let asker = thread::spawn({
            let (store, stranger) = (Arc::clone(&store), stranger.clone());
            move || assert!(!store.contains(&stranger).unwrap())
        });
        putter.join().unwrap();
        asker.join().unwrap();
        assert!(store.contains(&member).unwrap(), "a member is lost");
        assert!(store.contains(&new).unwrap(), "a put is lost");
        store.verify().unwrap();
    }
    // Two threads have to be stopped at the right moments, each of a few dozen.
    check_more(run::<Merged>, 8);
    check_more(run::<Split>, 8);
}

/// A false positive found while another has the turn is learnt by that one: nobody makes the
/// mistake again.
#[test]
fn a_lesson_that_was_left_is_learnt() {
    fn run() {
        let store = tiny::<Merged>(1);
        let [member, _, stranger] = neighbours();
        store.put(&member, "old").unwrap();
        let threads = [0, 1].map(|me| {
            let (store, stranger) = (Arc::clone(&store), stranger.clone());
            thread::spawn(move || {
                if me == 0 {
                    store.put(name(3), "again").unwrap();
                    store.put(name(4), "again").unwrap();
                } else {
                    assert!(!store.contains(&stranger).unwrap());
                }
            })
        });
        for thread in threads {
            thread.join().unwrap();
        }
        let before = store.stats().false_positives;
        assert!(before > 0, "the stranger shares a fingerprint");
        assert!(!store.contains(&stranger).unwrap());
        assert_eq!(
            store.stats().false_positives,
            before,
            "a mistake is made twice"
        );
    }
    check(run);
}

/// A checkpoint in the middle: whoever writes waits at the gate.
#[test]
fn checkpoints_against_writers() {
    fn run() {
        let store = tiny::<Merged>(1);
        let threads = [
            thread::spawn({
                let store = Arc::clone(&store);
                move || store.checkpoint().unwrap()
            }),
            thread::spawn({
                let store = Arc::clone(&store);
                move || {
                    store.put(name(10), "new").unwrap();
                    store.delete(name(2)).unwrap();
                }
            }),
            thread::spawn({
                let store = Arc::clone(&store);
                move || ask(&store, 0)
            }),
        ];
        for thread in threads {
            thread.join().unwrap();
        }
        finish(&store, &[0, 1, 3, 4, 5, 6, 7, 10], &[2]);
    }
    check(run);
}

/// A guard beside rows that nobody has to list: insertions, deletions and lessons.
#[test]
fn a_guard_among_threads() {
    type Tiny = Arc<Indexed<Yielding>>;
    fn ask(guarded: &Tiny) {
        for key in 0..3 {
            assert!(
                !guarded
                    .contains(format!("stranger{key}").as_bytes())
                    .unwrap()
            );
            assert!(
                guarded.contains(&name(key % 2)).unwrap(),
                "a member is lost"
            );
        }
    }
    fn run() {
        let builder = StoreBuilder::new().capacity(1).shards(1).fpr(0.5);
        let builder = builder.seed(Seed::from_u64(1));
        let guarded: Tiny = Arc::new(Front::open(builder, Yielding::default(), NoFiles).unwrap());
        let writes: Vec<_> = (0..8)
            .map(|key| (name(key), Some(b"old".to_vec())))
            .collect();
        guarded.write(&writes, None).unwrap();
        let threads = [
            thread::spawn({
                let guarded = Arc::clone(&guarded);
                move || {
                    for key in 10..13 {
                        guarded.put(&name(key), b"new".to_vec()).unwrap();
                        assert!(guarded.contains(&name(key)).unwrap(), "a put is lost");
                    }
                }
            }),
            thread::spawn({
                let guarded = Arc::clone(&guarded);
                move || assert!(guarded.delete(&name(3)).unwrap())
            }),
            thread::spawn({
                let guarded = Arc::clone(&guarded);
                move || ask(&guarded)
            }),
        ];
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(guarded.verify().unwrap(), 10);
        ask(&guarded);
        let before = guarded.stats().false_positives;
        ask(&guarded);
        assert_eq!(
            guarded.stats().false_positives,
            before,
            "a mistake is made twice"
        );
    }
    check(run);
}
