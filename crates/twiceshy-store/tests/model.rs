//! Random operations against a map in memory: every engine, both layouts, all policies, tiny
//! filters that grow and rotate in the middle of everything, reopened at any time.

#![allow(clippy::unwrap_used)] // here, a panic is the message

mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use support::front::Front;
use support::guarded::{Indexed, Listed};
use support::share;
use twiceshy::filters::adaptive::Leave;
use twiceshy::sets::policy::Policy;
use twiceshy_store::engine::{Fjall, InMemory, Lmdb, Redb};
use twiceshy_store::files::Directory;
use twiceshy_store::{
    Durability, Error, FilterChoice, Merged, Split, Store, StoreBuilder, WhenFull,
};
use twiceshy_testing::{Exhausted, Source};

/// What happened, so that a test that tests nothing is noticed.
#[derive(Debug, Default)]
struct Seen {
    operations: u64,
    opened: u64,
    grows: u64,
    rotations: u64,
    full: u64,
    false_positives: u64,
    adaptations: u64,
    deleted: u64,
}

struct Game<'g, F: Front> {
    make: &'g dyn Fn() -> F::Engine,
    folder: &'g Path,
    choices: Choices,
    store: Option<F>,
    model: BTreeMap<Vec<u8>, Vec<u8>>,
    seen: Seen,
}

#[derive(Clone, Copy, Debug)]
struct Choices {
    capacity: u64,
    shards: usize,
    fpr: f64,
    policy: Policy,
    when_full: WhenFull,
    filter: FilterChoice,
    leave: Leave,
    durability: Durability,
}

impl Choices {
    fn draw(source: &mut Source<'_>, durability: Durability) -> Result<Self, Exhausted> {
        Ok(Choices {
            capacity: source.pick(&[1, 20, 100])?,
            shards: source.pick(&[1, 4, 16])?,
            fpr: source.pick(&[0.5, 0.25, 0.06])?,
            policy: source.pick(&[
                Policy::Always,
                Policy::Always,
                Policy::AfterRepeats(2),
                Policy::Never,
            ])?,
            when_full: source.pick(&[WhenFull::Grow, WhenFull::Rotate, WhenFull::Refuse])?,
            filter: source.pick(&[
                FilterChoice::Adaptive,
                FilterChoice::Adaptive,
                FilterChoice::Adaptive,
                FilterChoice::Plain,
                FilterChoice::None,
            ])?,
            leave: source.pick(&[Leave::Nothing, Leave::Ghost])?,
            durability,
        })
    }
}

impl<F: Front> Game<'_, F> {
    fn open(&mut self) {
        let c = &self.choices;
        let builder = StoreBuilder::new()
            .capacity(c.capacity)
            .shards(c.shards)
            .fpr(c.fpr)
            .policy(c.policy)
            .when_full(c.when_full)
            .filter(c.filter)
            .ghosts(c.leave)
            .durability(c.durability);
        let files = Directory::new(self.folder).unwrap();
        self.store = Some(F::open(builder, (self.make)(), files).unwrap());
        self.seen.opened += 1;
    }

    fn store(&self) -> &F {
        self.store.as_ref().unwrap()
    }

    fn play(&mut self, operations: u64, source: &mut Source<'_>) -> Result<(), Exhausted> {
        self.open();
        for _ in 0..operations {
            self.step(source)?;
            self.seen.operations += 1;
        }
        self.check_all();
        self.count();
        Ok(())
    }

    fn step(&mut self, source: &mut Source<'_>) -> Result<(), Exhausted> {
        match source.below(64)? {
            0..=24 => self.get(key(source)?),
            25..=40 => {
                let (key, value) = (key(source)?, value(source)?);
                let result = self.store().put(&key, value.clone());
                self.expect_put(result, &key, value);
            }
            41..=43 => {
                let (key, value) = (key(source)?, value(source)?);
                // The caller may be wrong; without a filter, that is noticed too late for this test.
                let has_filter = self.choices.filter != FilterChoice::None;
                if has_filter || !self.model.contains_key(&key) {
                    let result = self.store().insert_new(&key, value.clone());
                    self.expect_put(result, &key, value);
                }
            }
            44..=51 => {
                let key = key(source)?;
                let was_there = self.model.remove(&key).is_some();
                assert_eq!(self.store().delete(&key).unwrap(), was_there);
                self.seen.deleted += u64::from(was_there);
            }
            52..=55 => self.batch(source)?,
            56 => self.store().checkpoint().unwrap(),
            57 => self.reopen(source)?,
            58 => self.store().rotate().unwrap(),
            59 => {
                if source.one_in(4)? {
                    self.store().finish_rotation().unwrap();
                }
            }
            _ => self.check_some(source)?,
        }
        let records = self.model.len() as u64;
        assert_eq!(self.store().counted().unwrap_or(records), records);
        Ok(())
    }

    fn get(&mut self, key: Vec<u8>) {
        assert_eq!(
            self.store().get(&key).unwrap(),
            self.model.get(&key).cloned()
        );
    }

    fn expect_put(&mut self, result: Result<(), Error>, key: &[u8], value: Vec<u8>) {
        match result {
            Ok(()) => {
                self.model.insert(key.to_vec(), value);
            }
            Err(Error::Full { .. }) if self.choices.when_full == WhenFull::Refuse => {
                assert!(!self.model.contains_key(key), "replacing needs no room");
                self.seen.full += 1;
            }
            Err(error) => panic!("{error}"),
        }
    }

    fn batch(&mut self, source: &mut Source<'_>) -> Result<(), Exhausted> {
        let mut writes = Vec::new();
        let mut after = self.model.clone();
        for _ in 0..source.below(40)? {
            let key = key(source)?;
            if source.one_in(3)? {
                writes.push((key.clone(), None));
                after.remove(&key);
            } else {
                let value = value(source)?;
                writes.push((key.clone(), Some(value.clone())));
                after.insert(key, value);
            }
        }
        let durability = source.one_in(2)?.then_some(Durability::Buffered);
        match self.store().write(&writes, durability) {
            Ok(()) => self.model = after,
            Err(Error::Full { .. }) if self.choices.when_full == WhenFull::Refuse => {
                self.seen.full += 1;
            }
            Err(error) => panic!("{error}"),
        }
        Ok(())
    }

    /// Closes the store or just drops it, loses or damages a file now and then, and opens it.
    fn reopen(&mut self, source: &mut Source<'_>) -> Result<(), Exhausted> {
        self.count();
        let store = self.store.take().unwrap();
        if source.one_in(2)? {
            store.checkpoint().unwrap();
            drop(store);
        } else {
            store.sync().unwrap();
            drop(store);
        }
        if source.one_in(8)? {
            self.damage(source)?;
        }
        self.open();
        self.check_all();
        Ok(())
    }

    fn damage(&self, source: &mut Source<'_>) -> Result<(), Exhausted> {
        let name = source.pick(&["filter", "mistakes.0", "mistakes.1"])?;
        let path = self.folder.join(name);
        let Ok(mut bytes) = std::fs::read(&path) else {
            return Ok(());
        };
        match source.below(3)? {
            0 => {
                std::fs::remove_file(&path).unwrap();
                return Ok(());
            }
            1 => bytes.truncate(source.below(bytes.len() as u64 + 1)? as usize),
            _ if bytes.is_empty() => {}
            _ => {
                let at = source.below(bytes.len() as u64)? as usize;
                bytes[at] ^= 1 << source.below(8)?;
            }
        }
        std::fs::write(&path, bytes).unwrap();
        Ok(())
    }

    fn check_some(&mut self, source: &mut Source<'_>) -> Result<(), Exhausted> {
        if source.one_in(8)? {
            self.check_all();
        }
        Ok(())
    }

    fn check_all(&self) {
        let store = self.store();
        assert_eq!(store.verify().unwrap(), self.model.len() as u64);
        assert_eq!(store.contents(), self.model);
        for (key, value) in &self.model {
            assert_eq!(store.get(key).unwrap().as_ref(), Some(value));
        }
    }

    fn count(&mut self) {
        let stats = self.store().stats();
        self.seen.grows += stats.grows;
        self.seen.rotations += stats.rotations;
        self.seen.false_positives += stats.false_positives;
        self.seen.adaptations += stats.adaptations;
    }
}

/// Few different keys, so that they meet again.
fn key(source: &mut Source<'_>) -> Result<Vec<u8>, Exhausted> {
    let number = source.below(600)?;
    Ok(format!("key{number}").into_bytes())
}

fn value(source: &mut Source<'_>) -> Result<Vec<u8>, Exhausted> {
    let length = source.pick(&[0, 1, 9, 300])?;
    Ok(vec![source.below(256)? as u8; length])
}

/// Plays games with an engine that `make` opens in a folder, again and again.
fn games<F: Front>(
    make: impl Fn(&Path) -> Box<dyn Fn() -> F::Engine>,
    durability: Durability,
    games: u64,
    operations: u64,
) -> Seen {
    let mut seen = Seen::default();
    let games = (games / share()).max(2);
    for seed in 0..games {
        let source = &mut Source::from_seed(seed);
        let folder = tempfile::tempdir().unwrap();
        let mut game = Game::<F> {
            make: &*make(folder.path()),
            folder: &folder.path().join("files"),
            choices: Choices::draw(source, durability).unwrap(),
            store: None,
            model: BTreeMap::new(),
            seen: std::mem::take(&mut seen),
        };
        let choices = format!("seed {seed}: {:?}", game.choices);
        let told = Told(&choices);
        game.play(operations, source).unwrap();
        std::mem::forget(told);
        seen = game.seen;
    }
    println!("{seen:?}");
    seen
}

/// Says which game was being played when a test fails.
struct Told<'c>(&'c str);

impl Drop for Told<'_> {
    fn drop(&mut self) {
        eprintln!("in the game of {}", self.0);
    }
}

fn in_memory(_folder: &Path) -> Box<dyn Fn() -> Arc<InMemory>> {
    let engine = Arc::new(InMemory::new());
    Box::new(move || Arc::clone(&engine))
}

fn redb(folder: &Path) -> Box<dyn Fn() -> Redb> {
    let path = folder.join("data.redb");
    Box::new(move || Redb::create_or_open(&path).unwrap())
}

fn fjall(folder: &Path) -> Box<dyn Fn() -> Fjall> {
    let path = folder.join("fjall");
    Box::new(move || Fjall::open(&path).unwrap())
}

fn lmdb(folder: &Path) -> Box<dyn Fn() -> Lmdb> {
    let path = folder.join("lmdb");
    Box::new(move || Lmdb::open(&path, 1 << 26).unwrap())
}

fn assert_everything_happened(seen: &Seen, rotations: u64) {
    if share() > 1 {
        return;
    }
    let enough = [
        (seen.opened, 100),
        (seen.grows, 20),
        (seen.rotations, rotations),
        (seen.full, 20),
        (seen.false_positives, 500),
        (seen.adaptations, 100),
        (seen.deleted, 1_000),
    ];
    assert!(enough.iter().all(|(seen, least)| seen >= least), "{seen:?}");
}

#[test]
fn merged_in_memory() {
    let seen = games::<Store<Arc<InMemory>, Merged>>(in_memory, Durability::Sync, 120, 1_500);
    assert_everything_happened(&seen, 20);
}

#[test]
fn split_in_memory() {
    let seen = games::<Store<Arc<InMemory>, Split>>(in_memory, Durability::Sync, 120, 1_500);
    assert_everything_happened(&seen, 20);
}

/// A guard keeps its seed.
#[test]
fn a_guard_in_memory() {
    let seen = games::<Listed<Arc<InMemory>>>(in_memory, Durability::Sync, 120, 1_500);
    assert_everything_happened(&seen, 0);
    let seen = games::<Indexed<Arc<InMemory>>>(in_memory, Durability::Sync, 120, 1_500);
    assert_everything_happened(&seen, 0);
}

#[test]
fn a_guard_in_redb() {
    games::<Indexed<Redb>>(redb, Durability::Buffered, 6, 800);
}

#[test]
fn merged_in_redb() {
    games::<Store<Redb, Merged>>(redb, Durability::Buffered, 12, 800);
}

#[test]
fn split_in_redb() {
    games::<Store<Redb, Split>>(redb, Durability::Buffered, 12, 800);
}

#[test]
fn merged_in_fjall() {
    games::<Store<Fjall, Merged>>(fjall, Durability::Buffered, 6, 600);
}

#[test]
fn split_in_fjall() {
    games::<Store<Fjall, Split>>(fjall, Durability::Buffered, 6, 600);
}

#[test]
fn merged_in_lmdb() {
    games::<Store<Lmdb, Merged>>(lmdb, Durability::Buffered, 6, 600);
}

#[test]
fn split_in_lmdb() {
    games::<Store<Lmdb, Split>>(lmdb, Durability::Buffered, 6, 600);
}
