//! What a process that ends without a word leaves to the next one, case by case.

#![allow(clippy::unwrap_used)] // here, a panic is the message

mod support;

use std::collections::BTreeSet;
use std::sync::Arc;

use support::front::Records;
use support::{Model, check, key, stranger};
use twiceshy::hash::Seed;
use twiceshy_store::engine::{Counting, InMemory};
use twiceshy_store::{Merged, Split, Store, StoreBuilder};
use twiceshy_store_testing::{Cut, LossyFiles};

/// What outlives a process.
struct Machine {
    engine: Arc<Counting<InMemory>>,
    files: LossyFiles,
    cut: Cut,
}

type Opened<L> = Store<Arc<Counting<InMemory>>, L>;

impl Machine {
    fn new() -> Self {
        let cut = Cut::new();
        Machine {
            engine: Arc::new(Counting::new(InMemory::new())),
            files: LossyFiles::new(cut.clone()),
            cut,
        }
    }

    fn open<L: Records>(&self, capacity: u64) -> Opened<L> {
        let builder = StoreBuilder::new()
            .capacity(capacity)
            .shards(1)
            .fpr(0.25)
            .seed(Seed::from_bytes([2; 16]))
            .layout();
        let engine = Arc::clone(&self.engine);
        builder.open(engine, self.files.clone()).unwrap()
    }
}

/// Asks for strangers. Which of them has the filter learnt from?
fn learn<L: Records>(store: &Opened<L>, strangers: u64) -> BTreeSet<u64> {
    let is_new = |&number: &u64| {
        let before = store.stats().adaptations;
        assert!(!store.contains(stranger(number)).unwrap());
        store.stats().adaptations > before
    };
    (0..strangers).filter(is_new).collect()
}

/// Reads of the engine for strangers that were learnt from.
fn repeated<L: Records>(store: &Opened<L>, learnt: &BTreeSet<u64>) -> u64 {
    let before = store.engine().counts().reads();
    for &number in learnt {
        assert!(!store.contains(stranger(number)).unwrap());
    }
    store.engine().counts().reads() - before
}

/// A lesson whose line in the journal fails half-way is lost in a crash; those before and after
/// it are not.
#[test]
fn a_torn_journal_costs_one_lesson() {
    let ask = |fails: u64| {
        let machine = Machine::new();
        let store = machine.open::<Merged>(100);
        for number in 0..90 {
            store.insert_new(key(number), "").unwrap();
        }
        machine.cut.at(fails);
        let learnt = learn(&store, 100);
        let appended = machine.cut.operations();
        machine.cut.never();
        drop(store);
        (appended, repeated(&machine.open::<Merged>(100), &learnt))
    };
    let (appended, again) = ask(u64::MAX);
    assert!(appended > 5, "{appended}");
    assert_eq!(again, 0);
    for k in 0..appended {
        let (_, again) = ask(k);
        assert!(again <= 1, "{again} mistakes again after line {k} failed");
    }
}

/// A filter that grows is saved in two halves, of which one can't be used after a crash.
#[test]
fn what_a_growing_filter_has_learnt_survives() {
    let machine = Machine::new();
    let store = machine.open::<Merged>(4_000);
    let bytes = store.stats().filter_bytes;
    let mut number = 0;
    while store.stats().filter_bytes == bytes {
        store.insert_new(key(number), "").unwrap();
        number += 1;
    }
    let learnt = learn(&store, 30);
    assert!(learnt.len() > 3, "{learnt:?}");
    assert_eq!(store.stats().grows, 0, "it still grows");
    store.checkpoint().unwrap();
    // Makes the image stale.
    store.put(key(0), "again").unwrap();
    drop(store);
    assert_eq!(repeated(&machine.open::<Merged>(4_000), &learnt), 0);
}

/// Half-way through a change of seed, what is left is crowded at the end of the old table.
fn opens_at_every_step_of_a_rotation<L: Records>() {
    let machine = Machine::new();
    let store = machine.open::<L>(1);
    let mut model = Model::new();
    for number in 0..2_000 {
        store.insert_new(key(number), "value").unwrap();
        model.insert(key(number), b"value".to_vec());
    }
    store.rotate().unwrap();
    drop(store);
    let mut steps = 0;
    loop {
        let store = machine.open::<L>(1);
        let what = format!("after {steps} steps");
        check(&store, &model, &what);
        if !store.is_rotating() {
            break;
        }
        // Asks for a step, as everyone does who writes.
        store.put(key(steps), "value").unwrap();
        steps += 1;
    }
    assert!(steps > 5, "{steps}");
}

#[test]
fn merged_opens_at_every_step_of_a_rotation() {
    opens_at_every_step_of_a_rotation::<Merged>();
}

#[test]
fn split_opens_at_every_step_of_a_rotation() {
    opens_at_every_step_of_a_rotation::<Split>();
}
