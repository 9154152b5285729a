//! An engine, or the files beside it, that fail at every operation of a script.
//!
//! Each call must return an error that says so, or succeed; nothing may panic. A commit that
//! failed has been made or not, and the store can't know before it looks. Whichever it is: when
//! the engine works again, all lookups must be right at once, `verify` must find everything in
//! order, and so must the next process.

#![allow(clippy::unwrap_used)] // here, a panic is the message

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use support::front::Front;
use support::guarded::{Indexed, Listed};
use support::{Model, Operation, check, key, share, stranger};
use twiceshy::hash::Seed;
use twiceshy_store::engine::{Changes, EngineError, InMemory, InMemorySnapshot};
use twiceshy_store::{Durability, Engine, Error, Merged, Split, Store, StoreBuilder, WhenFull};
use twiceshy_store_testing::{Cut, FailedWrite, Failing, LossyFiles};
use twiceshy_testing::Source;

fn draw(source: &mut Source<'_>, number: usize) -> Operation {
    match source.below(100).unwrap() {
        0..=41 => Operation::draw_write(source, 120, 60, &format!("new{number}")),
        42..=45 => Operation::Checkpoint,
        46..=48 => Operation::Rotate,
        49 => Operation::FinishRotation,
        _ => Operation::Ask(source.below(300).unwrap()),
    }
}

/// A checkpoint is followed by writes and the end of the process.
fn script(seed: u64, count: usize) -> Vec<Operation> {
    let mut source = Source::from_seed(seed);
    let mut script: Vec<_> = (0..count).map(|n| draw(&mut source, n)).collect();
    script.push(Operation::Checkpoint);
    for number in 0..3 {
        script.push(Operation::InsertNew(
            format!("last{number}").into(),
            b"last".to_vec(),
        ));
    }
    script
}

/// How long the engine fails.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Outage {
    /// For one operation of the engine.
    Operation,
    /// For as long as it takes to do so many operations of the store.
    Steps(usize),
}

type Broken = Failing<Arc<InMemory>>;

struct Game<F> {
    engine: Arc<InMemory>,
    files: LossyFiles,
    cut: Cut,
    failed: FailedWrite,
    when_full: WhenFull,
    store: Option<F>,
    model: Model,
    what: String,
    seen: Seen,
}

/// What happened, so that a test that tests nothing is noticed.
#[derive(Debug, Default)]
struct Seen {
    runs: u64,
    errors: u64,
    failed_writes: u64,
    /// Of those.
    made: u64,
    files_errors: u64,
    failures_without_an_error: u64,
}

impl<F: Front<Engine = Broken>> Game<F> {
    fn new(cut: &Cut, failed: FailedWrite, when_full: WhenFull, seen: Seen) -> Self {
        Game {
            engine: Arc::new(InMemory::new()),
            files: LossyFiles::new(Cut::new()),
            cut: cut.clone(),
            failed,
            when_full,
            store: None,
            model: Model::new(),
            what: String::new(),
            seen,
        }
    }

    fn open(&mut self) -> Result<(), Error> {
        self.store = None;
        let engine = Failing::new(Arc::clone(&self.engine), self.cut.clone(), self.failed);
        let builder = StoreBuilder::new()
            .capacity(1)
            .shards(4)
            .fpr(0.5)
            .seed(Seed::from_bytes([1; 16]))
            .when_full(self.when_full);
        let store = F::open(builder, engine, self.files.clone())?;
        self.store = Some(store);
        Ok(())
    }

    fn store(&self) -> &F {
        self.store.as_ref().unwrap()
    }

    fn step(&mut self, operation: &Operation) {
        let mut after = self.model.clone();
        operation.apply(&mut after);
        let result = operation.clone().perform(self.store());
        let truth = F::truth(&self.engine);
        let what = &self.what;
        match result {
            Ok(()) => assert!(truth == after, "{what}: {operation:?} was not done"),
            Err(error) => {
                let what = format!("{what}, {operation:?}: {error}");
                self.expect(&error, &what);
                let unclear = after != self.model;
                self.seen.failed_writes += u64::from(unclear);
                if unclear && truth == after {
                    assert_eq!(self.failed, FailedWrite::Applied, "{what}");
                    self.seen.made += 1;
                } else {
                    assert!(truth == self.model, "{what}: half of it was done");
                }
            }
        }
        self.model = truth;
    }

    fn expect(&mut self, error: &Error, what: &str) {
        assert!(error.to_string().contains("an injected failure"), "{what}");
        match error {
            Error::Engine(_) => self.seen.errors += 1,
            Error::Files { .. } => self.seen.files_errors += 1,
            _ => panic!("{what}"),
        }
    }

    /// Right or an error, whether the engine works or not.
    fn look(&mut self, source: &mut Source<'_>) {
        for _ in 0..2 {
            let key = key(source.below(120).unwrap());
            match self.store().get(&key) {
                Ok(found) => assert_eq!(found.as_ref(), self.model.get(&key), "{}", self.what),
                Err(error) => self.expect(&error, "a lookup"),
            }
        }
    }

    fn play(&mut self, script: &[Operation], outage: Outage) {
        let source = &mut Source::from_seed(1);
        let mut is_over = false;
        let mut left = match outage {
            Outage::Operation => 0,
            Outage::Steps(steps) => steps,
        };
        if let Err(error) = self.open() {
            self.expect(&error, "opening");
            self.cut.never();
            is_over = true;
            self.open().unwrap();
        }
        for operation in script {
            let errors = self.seen.errors;
            self.step(operation);
            self.look(source);
            if is_over || !self.cut.has_failed() {
                continue;
            }
            if left > 0 {
                left -= 1;
                continue;
            }
            self.cut.never();
            is_over = true;
            self.seen.failures_without_an_error += u64::from(self.seen.errors == errors);
            // What is in doubt still is: nobody may learn anything wrong.
            for number in 300..400 {
                assert!(!self.store().contains(&stranger(number)).unwrap());
            }
            check(self.store(), &self.model, &self.what);
        }
        self.cut.never();
        self.end();
    }

    /// The process ends without a word; the next one finds everything.
    fn end(&mut self) {
        self.open().unwrap();
        check(self.store(), &self.model, &format!("{}, again", self.what));
        self.store().checkpoint().unwrap();
        self.open().unwrap();
        check(self.store(), &self.model, &format!("{}, saved", self.what));
    }
}

/// Fails a script at every operation of its engine.
fn fail_everywhere<F: Front<Engine = Broken>>(when_full: WhenFull, seed: u64) {
    let script = script(seed, 90);
    let cut = Cut::new();
    let mut game = Game::<F>::new(&cut, FailedWrite::NotApplied, when_full, Seen::default());
    game.play(&script, Outage::Operation);
    // Reading everything at the end is no part of it.
    let mut game = Game::<F>::new(&cut, FailedWrite::NotApplied, when_full, Seen::default());
    cut.never();
    game.open().unwrap();
    for operation in &script {
        game.step(operation);
        game.look(&mut Source::from_seed(1));
    }
    let operations = cut.operations();
    assert!(operations > 200, "{operations}");
    let stats = game.store().stats();
    println!("{operations} operations, {stats}");

    let mut seen = Seen::default();
    for failed in [FailedWrite::NotApplied, FailedWrite::Applied] {
        for outage in [Outage::Operation, Outage::Steps(0), Outage::Steps(6)] {
            for k in (0..operations).step_by(share() as usize) {
                let mut game = Game::<F>::new(&cut, failed, when_full, seen);
                game.what = format!("seed {seed}, {failed:?}, {outage:?} from {k}");
                match outage {
                    Outage::Operation => cut.at(k),
                    Outage::Steps(_) => cut.from(k),
                }
                game.play(&script, outage);
                seen = game.seen;
                seen.runs += 1;
            }
        }
    }
    println!("{seen:?}");
    assert!(seen.errors > seen.runs / 2, "{seen:?}");
    assert!(seen.made > 50 / share(), "{seen:?}");
    assert!(seen.failures_without_an_error > 20 / share(), "{seen:?}");
}

#[test]
fn merged_survives_every_failure() {
    fail_everywhere::<Store<Broken, Merged>>(WhenFull::Grow, 1);
}

#[test]
fn split_survives_every_failure() {
    fail_everywhere::<Store<Broken, Split>>(WhenFull::Grow, 2);
}

#[test]
fn merged_rotates_through_every_failure() {
    fail_everywhere::<Store<Broken, Merged>>(WhenFull::Rotate, 3);
}

#[test]
fn a_guard_survives_every_failure_of_its_map() {
    fail_everywhere::<Listed<Broken>>(WhenFull::Grow, 1);
}

#[test]
fn a_guard_survives_every_failure_of_the_database() {
    fail_everywhere::<Indexed<Broken>>(WhenFull::Grow, 2);
}

/// Fails a script at every operation of the files: once, and from there on. Only checkpoints
/// may notice, and nothing is lost.
#[test]
fn files_may_fail_anywhere() {
    let engine_cut = Cut::new();
    let script = script(4, 200);
    let game = |files_cut: &Cut, seen| {
        let mut game = Game::<Store<Broken, Merged>>::new(
            &engine_cut,
            FailedWrite::NotApplied,
            WhenFull::Grow,
            seen,
        );
        game.files = LossyFiles::new(files_cut.clone());
        game
    };
    let cut = Cut::new();
    let mut whole = game(&cut, Seen::default());
    whole.play(&script, Outage::Operation);
    let operations = cut.operations();
    assert!(operations > 50, "{operations}");
    let mut seen = Seen::default();
    for k in (0..operations).step_by(share() as usize) {
        for once in [true, false] {
            let mut game = game(&cut, seen);
            game.what = format!("files fail at {k}, once: {once}");
            match once {
                true => cut.at(k),
                false => cut.from(k),
            }
            game.open().unwrap();
            for operation in &script {
                let errors = game.seen.files_errors;
                game.step(operation);
                let is_checkpoint = matches!(operation, Operation::Checkpoint);
                assert!(game.seen.files_errors == errors || is_checkpoint);
            }
            // Opening needs no files, whatever becomes of them.
            game.open().unwrap();
            check(game.store(), &game.model, &game.what);
            cut.never();
            game.end();
            seen = game.seen;
            seen.runs += 1;
        }
    }
    println!("{seen:?}");
    assert_eq!(seen.errors, 0);
    assert!(seen.files_errors > seen.runs, "{seen:?}");
}

/// Every operation of an engine fails once while a shard grows, a few hundred keys at a time: the
/// step is taken again, and the shard has grown at the end.
#[test]
fn a_step_of_growing_that_failed_is_taken_again() {
    let cut = Cut::new();
    let grow = || {
        let engine = Failing::new(InMemory::new(), cut.clone(), FailedWrite::NotApplied);
        let builder = StoreBuilder::new().capacity(2_000).shards(1).fpr(0.1);
        let builder = builder.seed(Seed::from_u64(1)).layout::<Merged>();
        let store = builder.open(engine, LossyFiles::new(Cut::new())).unwrap();
        let mut model = Model::new();
        let bytes = store.stats().filter_bytes;
        let mut number = 0;
        while store.stats().filter_bytes == bytes {
            store.insert_new(key(number), "value").unwrap();
            model.insert(key(number), b"value".to_vec());
            number += 1;
        }
        (store, model, number)
    };
    let mut failed = 0;
    for k in 0..50 {
        cut.never();
        let (store, mut model, first) = grow();
        cut.at(k);
        for number in first..first + 40 {
            // One that failed is put again.
            while store.insert_new(key(number), "value").is_err() {}
            model.insert(key(number), b"value".to_vec());
            if let Ok(found) = store.contains(stranger(number)) {
                assert!(!found);
            }
        }
        failed += u64::from(cut.has_failed());
        assert_eq!(store.stats().grows, 1, "failed at {k}");
        check(&store, &model, &format!("failed at {k}"));
    }
    assert_eq!(failed, 50);
}

/// Tables on a disk that can be full: they are read as ever.
#[derive(Default)]
struct Full {
    engine: InMemory,
    is_full: AtomicBool,
}

impl Engine for Full {
    type Snapshot<'e> = InMemorySnapshot;

    fn snapshot(&self) -> Result<InMemorySnapshot, EngineError> {
        self.engine.snapshot()
    }

    fn write(&self, changes: &Changes, durability: Durability) -> Result<(), EngineError> {
        match self.is_full.load(Ordering::Relaxed) {
            true => Err(EngineError::new("full", "committing", "no space left")),
            false => self.engine.write(changes, durability),
        }
    }

    fn sync(&self) -> Result<(), EngineError> {
        self.engine.sync()
    }

    fn max_key_len(&self) -> usize {
        self.engine.max_key_len()
    }

    fn name(&self) -> &'static str {
        "full"
    }
}

/// Those who try again and again on a full disk don't fill the memory as well.
#[test]
fn a_full_disk_does_not_make_the_filter_grow() {
    let engine = Arc::new(Full::default());
    let builder = StoreBuilder::new().capacity(1_000).shards(1);
    let store = builder
        .layout::<Merged>()
        .open(Arc::clone(&engine), LossyFiles::new(Cut::new()));
    let store = store.unwrap();
    let mut model = Model::new();
    for number in 0..900 {
        store.put(key(number), "value").unwrap();
        model.insert(key(number), b"value".to_vec());
    }
    store.rotate().unwrap(); // a part of it
    assert!(store.is_rotating());
    let before = store.stats().filter_bytes;
    engine.is_full.store(true, Ordering::Relaxed);
    for number in 0..20_000 {
        let (key, is_delete) = (key(number % 2_000), number % 5 == 0);
        let result = match is_delete {
            true => store.delete(&key).map(drop),
            false => store.put(&key, "other"),
        };
        // Nothing to delete is nothing to commit.
        assert!(result.is_err() || is_delete && !model.contains_key(&key));
    }
    assert_eq!(store.stats().filter_bytes, before);
    engine.is_full.store(false, Ordering::Relaxed);
    check(&store, &model, "full");
    store.put(key(1), "value").unwrap();
    store.finish_rotation().unwrap();
    check(&store, &model, "no longer full");
}
