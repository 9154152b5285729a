//! What a user sees: answers, errors that say what to do, files that come and go.

#![allow(clippy::unwrap_used)] // here, a panic is the message

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use twiceshy::hash::Seed;
use twiceshy::sets::policy::Policy;
use twiceshy_store::engine::{Changes, Counting, InMemory, Lmdb, Redb, Table};
use twiceshy_store::files::{Directory, NoFiles};
use twiceshy_store::{
    Batch, Durability, Engine, Error, FilterChoice, Layout, Merged, Split, Store, StoreBuilder,
    WhenFull,
};

fn message<T>(result: Result<T, Error>) -> String {
    match result {
        Ok(_) => panic!("must fail"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn records_come_and_go() {
    fn run<L: Layout>(store: &Store<InMemory, L>) {
        assert!(store.is_empty());
        store.put("a", "1").unwrap();
        store.put("a", "2").unwrap();
        store.insert_new(b"b", vec![0; 1 << 20]).unwrap();
        store.put("", "the empty key").unwrap();
        assert_eq!(store.len(), 3);
        assert_eq!(store.get("a").unwrap(), Some(b"2".to_vec()));
        assert_eq!(store.get_with("b", <[u8]>::len).unwrap(), Some(1 << 20));
        assert_eq!(store.get("").unwrap(), Some(b"the empty key".to_vec()));
        assert!(store.delete("a").unwrap());
        assert!(!store.delete("a").unwrap());
        assert!(!store.contains("a").unwrap());
        store.verify().unwrap();
        // The last word on a key counts, and an iterator sees the moment when it was made.
        let before = store.iter().unwrap();
        let mut batch = Batch::new();
        batch.put("c", "1").delete("c").put("d", "1").put("d", "2");
        batch.durability(Durability::Buffered);
        assert_eq!((batch.len(), batch.is_empty()), (2, false));
        store.write(batch).unwrap();
        store.write(Batch::new()).unwrap();
        assert_eq!(before.count(), 2);
        assert_eq!(store.get("d").unwrap(), Some(b"2".to_vec()));
        assert_eq!(store.len(), 3);
    }
    run(&Store::in_memory().unwrap());
    let split = StoreBuilder::new().layout::<Split>();
    run(&split.open(InMemory::new(), NoFiles).unwrap());
}

#[test]
fn ranges_are_in_key_order() {
    let store = StoreBuilder::new()
        .layout::<Split>()
        .open(InMemory::new(), NoFiles)
        .unwrap();
    let mut batch = Batch::new();
    for key in 0..2_000_u32 {
        batch.put(format!("{key:04}"), key.to_le_bytes());
    }
    store.write(batch).unwrap();
    let keys = |from: &str, to: &str| -> Vec<Vec<u8>> {
        let range = store.range(from..to).unwrap();
        range.map(|record| record.unwrap().0).collect()
    };
    let expected: Vec<_> = (37..1_512)
        .map(|key| format!("{key:04}").into_bytes())
        .collect();
    assert_eq!(keys("0037", "1512"), expected);
    assert!(keys("9", "1").is_empty());
    assert_eq!(store.range::<&str>(..).unwrap().count(), 2_000);
    assert_eq!(store.range("1999"..="1999").unwrap().count(), 1);
}

#[test]
fn keys_that_are_too_long_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Lmdb::open(folder.path(), 1 << 24).unwrap();
    let store = StoreBuilder::new().open(engine, NoFiles).unwrap();
    let longest = store.max_key_len();
    store.put(vec![7; longest], "fits").unwrap();
    assert!(store.contains(vec![7; longest]).unwrap());
    let error = message(store.put(vec![7; longest + 1], "does not"));
    assert!(
        error.contains("too long for") && error.contains("digest"),
        "{error}"
    );
    // One that can't be there is not there.
    assert!(!store.contains(vec![7; longest + 1]).unwrap());
    assert_eq!(store.len(), 1);
}

#[test]
fn foreign_databases_are_left_alone() {
    let engine = Arc::new(InMemory::new());
    let mut changes = Changes::new();
    changes.put(Table::Records, "somebody", "else's");
    engine.write(&changes, Durability::Sync).unwrap();
    let error = message(StoreBuilder::new().open(Arc::clone(&engine), NoFiles));
    assert!(error.contains("an engine of its own"), "{error}");

    let engine = Arc::new(InMemory::new());
    drop(
        StoreBuilder::new()
            .open(Arc::clone(&engine), NoFiles)
            .unwrap(),
    );
    let split = StoreBuilder::new().layout::<Split>();
    let error = message(split.open(Arc::clone(&engine), NoFiles));
    assert!(error.contains("open it with the other one"), "{error}");
    let mut changes = Changes::new();
    changes.put(Table::Meta, "format", [9, 0, 1]);
    engine.write(&changes, Durability::Sync).unwrap();
    let error = message(StoreBuilder::new().open(engine, NoFiles));
    assert!(error.contains("format 9"), "{error}");
}

#[test]
fn impossible_choices_say_what_would_do() {
    let open = |builder: StoreBuilder| message(builder.open(InMemory::new(), NoFiles));
    assert!(open(StoreBuilder::new().shards(3)).contains("power of two"));
    assert!(open(StoreBuilder::new().fpr(2.0)).contains("between 0 and 1"));
}

#[test]
fn a_store_that_may_not_grow_refuses_and_loses_nothing() {
    let store = StoreBuilder::new()
        .capacity(100)
        .shards(2)
        .when_full(WhenFull::Refuse)
        .open(InMemory::new(), NoFiles)
        .unwrap();
    let mut stored = 0;
    let error = loop {
        match store.put(format!("key{stored}"), "value") {
            Ok(()) => stored += 1,
            Err(error) => break error,
        }
    };
    assert!(stored >= 100, "{stored}");
    assert!(matches!(error, Error::Full { records } if records == stored));
    assert!(error.to_string().contains("WhenFull::Grow"), "{error}");
    store.put("key0", "replaced").unwrap();
    assert_eq!(store.verify().unwrap().records, stored);
}

/// Opens in a folder, counts the keys that were scanned for it, and what it still knows.
fn open_in(folder: &std::path::Path, shards: usize) -> (Store<Counting<Redb>>, u64) {
    let scanned = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&scanned);
    let engine = Counting::new(Redb::create_or_open(folder.join("data")).unwrap());
    let store = StoreBuilder::new()
        .capacity(1_000)
        .fpr(0.05)
        .shards(shards)
        .seed(Seed::from_u64(3))
        .durability(Durability::Buffered)
        .on_progress(move |progress| {
            assert!((0.0..=1.0).contains(&progress.done));
            seen.store(progress.records, Relaxed);
        })
        .open(engine, Directory::new(folder).unwrap())
        .unwrap();
    let scanned = scanned.load(Relaxed);
    (store, scanned)
}

fn mistakes<E: Engine, L: Layout>(store: &Store<E, L>) -> u64 {
    let before = store.stats().false_positives;
    for key in 0..5_000 {
        assert_eq!(store.get(format!("stranger{key}")).unwrap(), None);
    }
    store.stats().false_positives - before
}

#[test]
fn what_was_learnt_outlives_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let (store, _) = open_in(folder.path(), 8);
    let mut batch = Batch::new();
    for key in 0..1_000 {
        batch.put(format!("key{key}"), "value");
    }
    store.write(batch).unwrap();
    assert!(mistakes(&store) > 20);
    assert_eq!(mistakes(&store), 0);
    // Closed: nothing is scanned, everything is known.
    store.close().unwrap();
    let (store, scanned) = open_in(folder.path(), 8);
    assert_eq!((scanned, mistakes(&store)), (0, 0));
    // A crash after further writes: all keys are scanned, and yet everything is known, from
    // the stale file.
    store.put("another", "record").unwrap();
    store.sync().unwrap();
    drop(store);
    let (store, scanned) = open_in(folder.path(), 8);
    assert_eq!(scanned, 1_001);
    let after_crash = mistakes(&store);
    assert!(
        after_crash <= 5,
        "only what the new key brought: {after_crash}"
    );
    assert_eq!(mistakes(&store), 0);
    // A crash before any file was saved, with the journal alone; and no file at all.
    drop(store);
    std::fs::remove_file(folder.path().join("filter")).unwrap();
    let (store, scanned) = open_in(folder.path(), 8);
    assert_eq!(scanned, 1_001);
    assert!(
        mistakes(&store) > 20,
        "the journal had only the last lessons"
    );
    drop(store);
    let (store, _) = open_in(folder.path(), 8);
    assert_eq!(mistakes(&store), 0, "the journal has them all");
    // Other measures: the file is of no use, and is not used.
    store.close().unwrap();
    let (store, scanned) = open_in(folder.path(), 16);
    assert_eq!(scanned, 1_001);
    mistakes(&store);
    assert_eq!(mistakes(&store), 0);
    store.verify().unwrap();
}

#[test]
fn damaged_and_foreign_files_are_never_trusted() {
    let folder = tempfile::tempdir().unwrap();
    let (store, _) = open_in(folder.path(), 1);
    for key in 0..200 {
        store.put(format!("key{key}"), "value").unwrap();
    }
    store.close().unwrap();
    let filter = folder.path().join("filter");
    let good = std::fs::read(&filter).unwrap();
    let other = tempfile::tempdir().unwrap();
    let (store, _) = open_in(other.path(), 1);
    store.close().unwrap();
    let foreign = std::fs::read(other.path().join("filter")).unwrap();
    let mut files = vec![foreign, vec![], good[..good.len() / 2].to_vec()];
    for at in (0..good.len()).step_by(97) {
        let mut bytes = good.clone();
        bytes[at] ^= 4;
        files.push(bytes);
    }
    for bytes in files {
        std::fs::write(&filter, &bytes).unwrap();
        let (store, scanned) = open_in(folder.path(), 1);
        assert_eq!(scanned, 200);
        store.verify().unwrap();
    }
    std::fs::write(&filter, &good).unwrap();
    let (store, scanned) = open_in(folder.path(), 1);
    assert_eq!(scanned, 0);
    // An older copy of its own file, after a write.
    store.put("new", "record").unwrap();
    store.close().unwrap();
    std::fs::write(&filter, &good).unwrap();
    let (store, scanned) = open_in(folder.path(), 1);
    assert_eq!(scanned, 201);
    assert!(store.contains("new").unwrap());
    store.verify().unwrap();
}

#[test]
fn statistics_add_up() {
    let store = StoreBuilder::new()
        .fpr(0.1)
        .seed(Seed::from_u64(1))
        .open(InMemory::new(), NoFiles)
        .unwrap();
    let mut batch = Batch::new();
    for key in 0..50_000 {
        batch.insert_new(format!("key{key}"), "value");
    }
    store.write(batch).unwrap();
    let found = mistakes(&store);
    for key in 0..100 {
        store.get(format!("key{key}")).unwrap();
    }
    let stats = store.stats();
    assert_eq!(stats.records, 50_000);
    assert_eq!(stats.lookups, 5_100);
    assert_eq!(stats.verified_hits, 100);
    assert_eq!(stats.false_positives, found);
    assert_eq!(stats.adaptations, found);
    assert_eq!(stats.filter_negatives + found, 5_000);
    assert_eq!(stats.engine_reads_avoided, stats.filter_negatives);
    assert!((stats.observed_fpr - found as f64 / 5_000.0).abs() < 1e-9);
    assert!(stats.load > 0.3 && stats.load < 1.0 && stats.filter_bytes > 40_000);
    let page = stats.to_string();
    assert!(
        page.contains("50000") && page.contains("false positives"),
        "{page}"
    );
    // Counts outlive a change of seed.
    store.rotate().unwrap();
    store.finish_rotation().unwrap();
    assert_eq!(store.stats().lookups, 5_100);
    assert_eq!(store.stats().rotations, 1);
    let none = StoreBuilder::new()
        .filter(FilterChoice::None)
        .open(InMemory::new(), NoFiles)
        .unwrap();
    assert_eq!(mistakes(&none), 0, "no filter, no mistakes");
    assert_eq!(none.stats().filter_bytes, 0);
}

/// A key that is said to be new and is not: it is counted once, and has one fingerprint.
#[test]
fn a_promise_that_is_broken_leaves_no_wrong_count() {
    fn run<L: Layout>(choice: FilterChoice) {
        let store = StoreBuilder::new()
            .filter(choice)
            .layout::<L>()
            .open(InMemory::new(), NoFiles)
            .unwrap();
        for key in 0..200 {
            store.put(format!("key{key}"), "old").unwrap();
        }
        let before = store.stats();
        let mut batch = Batch::new();
        for key in 100..300 {
            match key % 2 {
                0 => drop(batch.insert_new(format!("key{key}"), "new")),
                _ => store.insert_new(format!("key{key}"), "new").unwrap(),
            }
        }
        store.write(batch).unwrap();
        assert_eq!(
            store.stats().lookups,
            before.lookups,
            "no lookups of the caller's"
        );
        if choice == FilterChoice::None {
            store.checkpoint().unwrap(); // nobody could know before
        } else {
            let fingerprints = store.stats().load / before.load * 200.0;
            assert_eq!(fingerprints.round(), 300.0);
        }
        assert_eq!(store.len(), 300);
        assert_eq!(store.verify().unwrap().records, 300);
        assert_eq!(store.get("key150").unwrap(), Some(b"new".to_vec()));
    }
    for choice in [
        FilterChoice::Adaptive,
        FilterChoice::Plain,
        FilterChoice::None,
    ] {
        run::<Merged>(choice);
        run::<Split>(choice);
    }
}

/// `AfterRepeats(2)`: the first mistake at a minirun is let be, the second is fixed.
#[test]
fn policies_decide_when_to_learn() {
    let with = |policy| {
        let store = StoreBuilder::new()
            .fpr(0.1)
            .capacity(10_000)
            .seed(Seed::from_u64(1))
            .policy(policy)
            .open(InMemory::new(), NoFiles)
            .unwrap();
        let mut batch = Batch::new();
        for key in 0..10_000 {
            batch.insert_new(format!("key{key}"), "value");
        }
        store.write(batch).unwrap();
        (0..4).map(|_| mistakes(&store)).collect::<Vec<_>>()
    };
    let always = with(Policy::Always);
    assert!(always[0] > 100 && always[1..] == [0, 0, 0], "{always:?}");
    let twice = with(Policy::AfterRepeats(2));
    assert!(twice[0] > 100 && twice[1] > 0 && twice[3] < 10, "{twice:?}");
    let never = with(Policy::Never);
    assert!(
        never[0] > 100 && never[1..].iter().all(|&again| again == never[0]),
        "{never:?}"
    );
}

/// What was learnt by a patient policy is learnt again after a crash, at once.
#[test]
fn a_patient_policy_recalls_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let open = || {
        let engine = Redb::create_or_open(folder.path().join("data")).unwrap();
        StoreBuilder::new()
            .capacity(1_000)
            .fpr(0.05)
            .policy(Policy::AfterRepeats(2))
            .durability(Durability::Buffered)
            .open(engine, Directory::new(folder.path()).unwrap())
            .unwrap()
    };
    let store = open();
    let mut batch = Batch::new();
    for key in 0..1_000 {
        batch.put(format!("key{key}"), "value");
    }
    store.write(batch).unwrap();
    store.sync().unwrap();
    while mistakes(&store) > 0 {}
    drop(store);
    assert_eq!(mistakes(&open()), 0);
}

/// A full filter changes its seed, once, and goes on with room for more.
#[test]
fn a_full_filter_changes_its_seed_once() {
    let store = StoreBuilder::new()
        .capacity(1_000)
        .shards(4)
        .when_full(WhenFull::Rotate)
        .open(InMemory::new(), NoFiles)
        .unwrap();
    let mut puts = 0;
    let mut put = || {
        puts += 1;
        store.put(format!("key{puts}"), "value").unwrap();
    };
    while store.stats().rotations == 0 {
        put();
    }
    for _ in 0..30 {
        put();
    }
    assert_eq!((store.stats().rotations, store.is_rotating()), (1, false));
    assert_eq!(store.verify().unwrap().records, puts);
}

#[test]
fn a_store_is_shared_among_threads() {
    fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<Store<Redb, Merged>>();
    is_send_and_sync::<Store<Lmdb, Split>>();
    is_send_and_sync::<Mutex<Store<InMemory>>>();
}
