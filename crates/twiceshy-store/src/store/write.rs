//! Puts and deletes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use twiceshy::hash::Hashed;

use super::Store;
use crate::batch::{Batch, Deed};
use crate::builder::WhenFull;
use crate::engine::{Changes, Engine};
use crate::error::Error;
use crate::filter::FilterChoice;
use crate::generation::{Asked, Generation, Spot, Turn};
use crate::layout::Layout;
use crate::store::read::target;
use crate::{hash_order, meta};

/// What a batch did.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Applied {
    pub(super) deleted: u64,
}

/// A key of a batch, in the generation where its record is or shall be.
struct Task<'b> {
    turn: usize,
    spot: Spot<'b>,
    key: &'b [u8],
    deed: Deed,
    exists: bool,
    /// All keys of its minirun, if they were read: a delete needs them.
    minirun: Option<Vec<Vec<u8>>>,
}

impl<E: Engine, L: Layout> Store<E, L> {
    pub(super) fn apply(&self, batch: Batch) -> Result<Applied, Error> {
        let durability = batch.durability.unwrap_or(self.options.durability);
        for key in batch.deeds.keys() {
            self.check_len(key)?;
        }
        if batch.is_empty() {
            return Ok(Applied::default());
        }
        let (gate, turns, mut tasks) = loop {
            let gate = self.gate.read();
            let (turns, tasks) = self.take_turns(&batch);
            if !self.rotation.is_in_doubt() {
                break (gate, turns, tasks);
            }
            // Nobody knows where some records are. If the engine does not say, this fails.
            drop((turns, gate));
            self.resolve_doubt()?;
        };
        let result = self.apply_in_turn(&turns, &mut tasks, durability);
        let news = |turn| {
            let new = |task: &&Task<'_>| task.turn == turn && task.is_new();
            tasks.iter().filter(new).count() as u64
        };
        for (i, turn) in turns.into_iter().enumerate() {
            // Hand over more keys than have come, so that growing comes to an end.
            self.tend(&turn, news(i) / 64);
            self.settle(turn);
        }
        drop(gate);
        self.maintain();
        result
    }

    /// Takes the turns of all shards that the keys of a batch belong to: generations from old
    /// to new, in each the shards from low to high. Everyone does it in that order, so nobody
    /// waits in a circle.
    fn take_turns<'b>(&self, batch: &'b Batch) -> (Vec<Turn>, Vec<Task<'b>>) {
        let (mut turns, mut tasks) = (Vec::new(), Vec::new());
        let mut generation = self.current.load_full();
        let mut keys: Vec<(&'b Vec<u8>, &'b Deed)> = batch.deeds.iter().collect();
        loop {
            let mut by_shard = BTreeMap::<usize, Vec<_>>::new();
            for (key, deed) in keys {
                let spot = generation.spot(key);
                by_shard
                    .entry(spot.shard)
                    .or_default()
                    .push((spot, key, deed));
            }
            let mut moved = Vec::new();
            let mut next: Option<Arc<Generation>> = None;
            for (index, list) in by_shard {
                let turn = Turn::wait(&generation, index);
                let mut is_needed = false;
                for (spot, key, deed) in list {
                    // With the turn in hand, what has not moved stays.
                    if let Some(to) = turn.shard().moved(&spot.key) {
                        next = Some(to);
                        moved.push((key, deed));
                        continue;
                    }
                    is_needed = true;
                    tasks.push(Task {
                        turn: turns.len(),
                        spot,
                        key,
                        deed: deed.clone(),
                        exists: false,
                        minirun: None,
                    });
                }
                if is_needed {
                    turns.push(turn);
                } else {
                    self.settle(turn);
                }
            }
            match next {
                Some(next) => (generation, keys) = (next, moved),
                None => return (turns, tasks),
            }
        }
    }

    fn apply_in_turn(
        &self,
        turns: &[Turn],
        tasks: &mut [Task<'_>],
        durability: crate::Durability,
    ) -> Result<Applied, Error> {
        for task in &mut *tasks {
            self.look_up(&turns[task.turn], task)?;
        }
        self.check_room(turns, tasks)?;
        // Fingerprints first, the commit second: a committed key always has one.
        for (i, turn) in turns.iter().enumerate() {
            let news = |task: &&Task<'_>| task.turn == i && task.is_new();
            let news: Vec<_> = (tasks.iter().filter(news))
                .map(|task| &task.spot.key)
                .collect();
            self.add(turn, &news)?;
        }
        let mut changes = Changes::new();
        for task in &mut *tasks {
            let table = turns[task.turn].generation().table;
            let (h0, key, is_new) = (task.spot.h0, task.key, task.is_new());
            match std::mem::replace(&mut task.deed, Deed::Delete) {
                Deed::Put(value) => {
                    L::put(&mut changes, table, h0, key, value, is_new);
                    task.deed = Deed::Put(Vec::new());
                }
                Deed::InsertNew(value) => {
                    L::put(&mut changes, table, h0, key, value, is_new);
                    task.deed = Deed::InsertNew(Vec::new());
                }
                Deed::Delete if task.exists => L::delete(&mut changes, table, h0, key),
                Deed::Delete => {}
            }
        }
        if changes.is_empty() {
            return Ok(Applied::default());
        }
        let over = CommitOver(turns);
        let committed = self.commit(changes, durability);
        drop(over);
        match committed {
            Ok(()) => Ok(self.count(turns, tasks)),
            Err(error) => {
                self.find_out(turns, tasks);
                Err(error)
            }
        }
    }

    /// Counts what was committed, and takes the fingerprints of deleted keys away.
    fn count(&self, turns: &[Turn], tasks: &mut [Task<'_>]) -> Applied {
        let mut deleted = 0;
        for task in &*tasks {
            let counters = &turns[task.turn].shard().counters;
            if task.is_new() {
                counters.add_records(1);
            } else if task.is_gone() {
                counters.remove_records(1);
                deleted += 1;
            }
        }
        self.drop_prints(turns, tasks, Task::is_gone);
        Applied { deleted }
    }

    /// A commit has failed, and may have been made all the same. Looks which, so that counts
    /// and fingerprints are right in either case. If the engine does not even say that, surplus
    /// fingerprints stay, and records are counted anew before a checkpoint.
    fn find_out(&self, turns: &[Turn], tasks: &mut [Task<'_>]) {
        // All of it is there or nothing, so any that makes a difference will do; but that a key
        // is new is not certain if the caller says so.
        let is_promise = |task: &&Task<'_>| matches!(task.deed, Deed::InsertNew(_));
        let mut telling = tasks.iter().filter(|task| task.is_new() || task.is_gone());
        let promised = tasks.iter().find(is_promise);
        let Some(task) = telling.find(|task| !is_promise(task)).or(promised) else {
            return;
        };
        let target = target(turns[task.turn].generation(), &task.spot, task.key, None);
        let is_there = (self.snapshot())
            .and_then(|snapshot| L::find(&snapshot, &target, |_| ()))
            .map(|absent| absent.is_none());
        match is_there {
            Ok(is_there) if is_there == task.is_new() => drop(self.count(turns, tasks)),
            Ok(_) => self.drop_prints(turns, tasks, Task::is_new),
            Err(error) => {
                tracing::warn!(%error, "nobody knows whether a failed commit was made");
                for turn in turns {
                    turn.shard().counters.set_unsure();
                }
            }
        }
    }

    /// Is the key there? Asks the filter, and the engine if that says "maybe".
    fn look_up(&self, turn: &Turn, task: &mut Task<'_>) -> Result<(), Error> {
        if let Deed::InsertNew(_) = task.deed {
            return Ok(());
        }
        let shard = turn.shard();
        let Asked::Maybe(maybe) = shard.ask(&task.spot.key) else {
            shard.counters.negative();
            return Ok(());
        };
        let snapshot = self.snapshot()?;
        let adaptive = self.options.choice == FilterChoice::Adaptive;
        if adaptive && matches!(task.deed, Deed::Delete) {
            let keys = hash_order::keys(&snapshot, turn.generation().table, &maybe.range)?;
            task.exists = keys.iter().any(|key| key == task.key);
            task.minirun = Some(keys);
        } else {
            let target = target(turn.generation(), &task.spot, task.key, None);
            task.exists = L::find(&snapshot, &target, |_| ())?.is_none();
        }
        match task.exists {
            true => shard.counters.hit(),
            false => shard.counters.false_positive(task.spot.key.word(1)),
        }
        Ok(())
    }

    /// Where the filter may not grow: is there room for all that is new?
    fn check_room(&self, turns: &[Turn], tasks: &[Task<'_>]) -> Result<(), Error> {
        if self.options.when_full != WhenFull::Refuse {
            return Ok(());
        }
        let mut news = vec![0; turns.len()];
        for task in tasks.iter().filter(|task| task.is_new()) {
            news[task.turn] += 1;
        }
        let full = |(turn, &news): (&Turn, &u64)| news > 0 && turn.shard().is_full(news);
        if turns.iter().zip(&news).any(full) {
            let records = self.len();
            return Err(Error::Full { records });
        }
        Ok(())
    }

    /// Adds fingerprints. If there is no room for them at all, lets the filter grow to the end
    /// first: afterwards, the keys that the engine has would not be all that need one.
    pub(super) fn add(&self, turn: &Turn, keys: &[&Hashed<'_>]) -> Result<(), Error> {
        let shard = turn.shard();
        while self.options.when_full != WhenFull::Refuse && !shard.has_slots(keys.len() as u64) {
            self.grow_to_the_end(turn)?;
        }
        let mut added = 0;
        while let Some(key) = keys.get(added) {
            match shard.add(key) {
                Ok(()) => added += 1,
                Err(twiceshy::Error::Full { .. }) if self.options.when_full == WhenFull::Refuse => {
                    let records = self.len();
                    return Err(Error::Full { records });
                }
                Err(twiceshy::Error::Full { .. }) => {
                    // Slots are left, but not where one is needed. What was added so far is
                    // added again: the engine doesn't know of it, so it was not handed over. If
                    // it is there all the same, one of the two is surplus.
                    self.grow_to_the_end(turn)?;
                    added = 0;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn grow_to_the_end(&self, turn: &Turn) -> Result<(), Error> {
        self.begin_to_grow(turn)?;
        while !self.grow(turn)? {}
        Ok(())
    }

    /// Commits changes. The first commit after a checkpoint says that the filter file is out of
    /// date, in the same transaction.
    pub(super) fn commit(
        &self,
        mut changes: Changes,
        durability: crate::Durability,
    ) -> Result<(), Error> {
        let was_clean = self.clean.load(Ordering::Acquire);
        if was_clean {
            meta::clear_checkpoint(&mut changes);
        }
        self.engine.write(&changes, durability)?;
        if self.rotation.is_stuck() {
            self.rotation.set_stuck(false);
        }
        if was_clean {
            // Only now: until somebody has said it, everybody must.
            self.clean.store(false, Ordering::Release);
        }
        Ok(())
    }

    /// Takes the fingerprints of keys away that are not there any more, now that the commit has
    /// happened; or that were not put, as it has not.
    fn drop_prints<'b>(
        &self,
        turns: &[Turn],
        tasks: &mut [Task<'b>],
        is_gone: impl Fn(&Task<'b>) -> bool,
    ) {
        let alone = tasks.len() == 1;
        let mut gone: Vec<usize> = (0..tasks.len()).filter(|&i| is_gone(&tasks[i])).collect();
        while let Some(i) = gone.pop() {
            let turn = &turns[tasks[i].turn];
            let shard = turn.shard();
            let minirun = tasks[i].minirun.take().filter(|_| alone);
            let keys = match minirun {
                Some(keys) => Ok(Some(keys)),
                None => self.keys_after(turn, tasks, i, &gone),
            };
            let keys = match keys {
                Ok(Some(keys)) => keys,
                // It is there after all: the promise that it was new was not kept.
                Ok(None) => continue,
                Err(error) => {
                    // Nobody misses it: the next adaptation near it drops it.
                    tracing::warn!(%error, "a fingerprint of a deleted key stays");
                    continue;
                }
            };
            let hashed: Vec<_> = keys.iter().map(|key| shard.hash(key)).collect();
            if let Err(error) = shard.drop_print(&tasks[i].spot.key, &hashed, self.options.leave) {
                tracing::warn!(%error, "a fingerprint of a deleted key stays");
            }
        }
    }

    /// The keys of a deleted key's minirun: those that the engine has now, itself, and those
    /// that were deleted with it and still have their fingerprints. `None` if the engine has it.
    fn keys_after(
        &self,
        turn: &Turn,
        tasks: &[Task<'_>],
        i: usize,
        gone: &[usize],
    ) -> Result<Option<Vec<Vec<u8>>>, Error> {
        let task = &tasks[i];
        let range = turn.shard().range_of(&task.spot.key);
        if self.options.choice != FilterChoice::Adaptive {
            let is_promise = matches!(task.deed, Deed::InsertNew(_));
            return Ok((!is_promise).then(Vec::new));
        }
        let mut keys = hash_order::keys(&self.snapshot()?, turn.generation().table, &range)?;
        if keys.iter().any(|key| key == task.key) {
            return Ok(None);
        }
        for &other in gone.iter().chain([&i]) {
            let other = &tasks[other];
            if other.turn == task.turn && range.contains(&other.spot.h0) {
                keys.push(other.key.to_vec());
            }
        }
        Ok(Some(keys))
    }
}

/// Tells the shards when a commit is over, even if the engine panicked in the middle of it.
pub(super) struct CommitOver<'t>(pub(super) &'t [Turn]);

impl Drop for CommitOver<'_> {
    fn drop(&mut self) {
        for turn in self.0 {
            turn.shard().committed();
        }
    }
}

impl Task<'_> {
    /// Does it add a record?
    fn is_new(&self) -> bool {
        !self.exists && !matches!(self.deed, Deed::Delete)
    }

    /// Does it take one away?
    fn is_gone(&self) -> bool {
        self.exists && matches!(self.deed, Deed::Delete)
    }
}
