//! Threads that put, get, delete, learn, grow and rotate, with a check of each key's history.
//!
//! Each key has one writer, which numbers its versions: even ones are there, odd ones are
//! deleted. Before a write it announces the number, after it confirms it. Whoever reads a key
//! notes the number confirmed before and the one announced after: what was read must lie
//! between the two. That is linearisability, key by key: a store of registers has no other
//! constraints.

#![allow(clippy::unwrap_used)] // here, a panic is the message

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::thread;

use twiceshy_store::engine::{InMemory, Redb};
use twiceshy_store::files::NoFiles;
use twiceshy_store::{
    Batch, Durability, Engine, FilterChoice, Layout, Merged, Split, Store, StoreBuilder, WhenFull,
};
use twiceshy_testing::Source;

const KEYS: u64 = 512;

#[derive(Default)]
struct History {
    announced: AtomicU64,
    confirmed: AtomicU64,
}

fn name(key: u64) -> Vec<u8> {
    format!("key {key}").into_bytes()
}

struct Ground<'g, E, L> {
    store: &'g Store<E, L>,
    histories: &'g [History],
    stop: &'g AtomicBool,
}

impl<E: Engine, L: Layout> Ground<'_, E, L> {
    /// Writes the keys whose number leaves the remainder `me`.
    fn write(&self, me: u64, writers: u64, rounds: u64) {
        let source = &mut Source::from_seed(me);
        for _ in 0..rounds {
            let first = source.below(KEYS / writers).unwrap() * writers + me;
            let count = source.pick(&[1, 1, 1, 6]).unwrap();
            let mut batch = Batch::new();
            let keys: Vec<u64> = (0..count).map(|i| (first + i * writers) % KEYS).collect();
            for &key in &keys {
                let history = &self.histories[key as usize];
                let version = history.announced.load(SeqCst) + 1;
                history.announced.store(version, SeqCst);
                match version % 2 {
                    0 => batch.put(name(key), version.to_le_bytes()),
                    _ => batch.delete(name(key)),
                };
            }
            self.store.write(batch).unwrap();
            for key in keys {
                let history = &self.histories[key as usize];
                history
                    .confirmed
                    .store(history.announced.load(SeqCst), SeqCst);
            }
        }
    }

    /// Reads all keys, and many that are never there, until the writers stop.
    fn read(&self, me: u64) -> u64 {
        let source = &mut Source::from_seed(1_000 + me);
        let mut reads = 0;
        while !self.stop.load(SeqCst) {
            let key = source.below(KEYS).unwrap();
            let history = &self.histories[key as usize];
            let from = history.confirmed.load(SeqCst);
            let found = self.store.get(name(key)).unwrap();
            let to = history.announced.load(SeqCst);
            match found {
                Some(value) => {
                    let version = u64::from_le_bytes(value.try_into().unwrap());
                    assert!(
                        version % 2 == 0 && (from..=to).contains(&version),
                        "{version}"
                    );
                }
                None => assert!(from < to || from % 2 == 1, "key {key} is lost at {from}"),
            }
            let stranger = source.below(20_000).unwrap();
            assert_eq!(
                self.store.get(format!("stranger {stranger}")).unwrap(),
                None
            );
            if me == 0 && source.one_in(5_000).unwrap() {
                self.store.rotate().unwrap();
            }
            if me == 0 && source.one_in(20_000).unwrap() {
                self.store.checkpoint().unwrap();
            }
            reads += 1;
        }
        reads
    }
}

fn run<E: Engine, L: Layout>(engine: E, threads: u64, rounds: u64, choice: FilterChoice) {
    let store = StoreBuilder::new()
        .capacity(16)
        .shards(4)
        .fpr(0.1)
        .filter(choice)
        .when_full(WhenFull::Grow)
        .durability(Durability::Buffered)
        .layout::<L>()
        .open(engine, NoFiles)
        .unwrap();
    // Version 1: not there.
    let histories: Vec<History> = (0..KEYS).map(|_| History::default()).collect();
    for history in &histories {
        history.announced.store(1, SeqCst);
        history.confirmed.store(1, SeqCst);
    }
    let stop = AtomicBool::new(false);
    let ground = Ground {
        store: &store,
        histories: &histories,
        stop: &stop,
    };
    let writers = threads / 2;
    thread::scope(|scope| {
        let ground = &ground;
        let readers: Vec<_> = (0..threads - writers)
            .map(|me| scope.spawn(move || ground.read(me)))
            .collect();
        let written: Vec<_> = (0..writers)
            .map(|me| scope.spawn(move || ground.write(me, writers, rounds)))
            .collect();
        let written: Vec<_> = written.into_iter().map(|writer| writer.join()).collect();
        stop.store(true, SeqCst);
        let reads: u64 = readers
            .into_iter()
            .map(|reader| reader.join().unwrap())
            .sum();
        written.into_iter().for_each(|writer| writer.unwrap());
        println!("{threads} threads, {reads} reads, {:?}", store.stats());
    });
    store.finish_rotation().unwrap();
    store.verify().unwrap();
    for (key, history) in (0..).zip(&histories) {
        let version = history.confirmed.load(SeqCst);
        let expected = (version % 2 == 0).then(|| version.to_le_bytes().to_vec());
        assert_eq!(store.get(name(key)).unwrap(), expected);
    }
    if choice == FilterChoice::Adaptive {
        assert!(store.stats().grows > 0);
    }
}

fn rounds() -> u64 {
    let share = std::env::var("TWICESHY_TEST_SHARE");
    let share = share.ok().and_then(|share| share.parse().ok()).unwrap_or(1);
    12_000 / share
}

#[test]
fn two_threads() {
    run::<_, Merged>(InMemory::new(), 2, rounds(), FilterChoice::Adaptive);
    run::<_, Split>(InMemory::new(), 2, rounds(), FilterChoice::Adaptive);
}

#[test]
fn eight_threads() {
    run::<_, Merged>(InMemory::new(), 8, rounds() / 4, FilterChoice::Adaptive);
    run::<_, Split>(InMemory::new(), 8, rounds() / 4, FilterChoice::Adaptive);
    run::<_, Merged>(InMemory::new(), 8, rounds() / 4, FilterChoice::Plain);
}

#[test]
fn eight_threads_on_redb() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Redb::create_or_open(folder.path().join("data.redb")).unwrap();
    run::<_, Merged>(engine, 8, rounds() / 40, FilterChoice::Adaptive);
}
