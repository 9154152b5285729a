//! What keeps whom waiting: saving the filter is work of writers and of those who ask for it, never
//! of a lookup, and the statistics say how long anybody was kept.

#![allow(clippy::unwrap_used)] // here, a panic is the message

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use twiceshy::hash::Seed;
use twiceshy_store::engine::InMemory;
use twiceshy_store::files::Files;
use twiceshy_store::{Batch, Store, StoreBuilder, WhenFull};
use twiceshy_store_testing::{Cut, LossyFiles};

/// How long it takes to save a file.
const SAVING: Duration = Duration::from_millis(60);

/// Files on a slow disk, which counts those that are saved.
#[derive(Clone)]
struct Slow {
    files: LossyFiles,
    saved: Arc<AtomicU64>,
}

impl Files for Slow {
    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        self.files.read(name)
    }

    fn replace(&self, name: &str, contents: &[u8]) -> io::Result<()> {
        self.saved.fetch_add(1, Relaxed);
        thread::sleep(SAVING);
        self.files.replace(name, contents)
    }

    fn append(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.files.append(name, bytes)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.files.remove(name)
    }
}

fn open() -> (Store<InMemory>, Slow) {
    let files = Slow {
        files: LossyFiles::new(Cut::new()),
        saved: Arc::default(),
    };
    let builder = StoreBuilder::new()
        .capacity(8_000)
        .shards(4)
        .fpr(0.5)
        .seed(Seed::from_u64(1))
        .when_full(WhenFull::Refuse);
    let store = builder.open(InMemory::new(), files.clone()).unwrap();
    let mut batch = Batch::new();
    for key in 0..4_000 {
        batch.insert_new(format!("key{key}"), "value");
    }
    store.write(batch).unwrap();
    (store, files)
}

#[test]
fn only_who_writes_saves_what_lookups_have_learnt() {
    let (store, files) = open();
    // Long queries fill the journal soon.
    let padding = "x".repeat(4_000);
    let bytes = |lessons: u64| lessons * 4_000;
    let mut number = 0;
    while bytes(store.stats().adaptations) < 5 << 20 {
        number += 1;
        assert!(
            !store
                .contains(format!("stranger{number}{padding}"))
                .unwrap()
        );
    }
    assert_eq!(files.saved.load(Relaxed), 0);
    assert!(files.read("mistakes.0").unwrap().unwrap().len() > 5 << 20);

    store.put("key1", "other").unwrap();
    assert_eq!(files.saved.load(Relaxed), 1);
    assert_eq!(files.read("mistakes.0").unwrap(), None, "the filter has it");
    let stats = store.stats();
    assert!(stats.longest_pause >= SAVING, "{stats}");
    assert!(stats.longest_step < stats.longest_pause, "{stats}");
    // Once.
    store.put("key1", "another").unwrap();
    assert_eq!(files.saved.load(Relaxed), 1);
}

#[test]
fn all_pauses_are_counted() {
    let (store, _) = open();
    assert!(store.stats().longest_pause < SAVING);
    store.checkpoint().unwrap();
    let pause = store.stats().longest_pause;
    assert!(pause >= SAVING, "{pause:?}");
    assert_eq!(store.stats().longest_step, Duration::ZERO);
    store.rotate().unwrap();
    let stats = store.stats();
    assert!(stats.longest_step > Duration::ZERO, "{stats}");
    assert!(stats.longest_pause >= stats.longest_step, "{stats}");
}
