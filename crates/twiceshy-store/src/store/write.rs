//! Puts and deletes.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use twiceshy::hash::Hashed;

use super::Store;
use crate::batch::{Batch, Op};
use crate::engine::{Changes, Durability, Engine};
use crate::error::Error;
use crate::filter::FilterChoice;
use crate::generation::{Asked, Generation, HashedKey};
use crate::layout::Layout;
use crate::store::read::target;
use crate::turn::{Members, Turn};
use crate::{hash_order, meta};

/// What is to be done with a key, in the generation where its record is or shall be.
struct Task<'b> {
    key: HashedKey<'b>,
    op: &'b mut Op,
    /// The index of the turn in which it is done.
    turn: usize,
    exists: bool,
    /// The other keys of its minirun, if they were read: a delete needs them.
    others: Vec<Vec<u8>>,
}

/// Of a task that waits for its turn.
const NO_TURN: usize = usize::MAX;

impl<E: Engine, L: Layout> Store<E, L> {
    /// Writes a record. If there is one under this key, its value is replaced.
    ///
    /// When this returns, the record is safe, as far as the store's
    /// [`Durability`](crate::Durability) says.
    ///
    /// # Errors
    /// [`Error::KeyTooLong`], [`Error::Full`] and [`Error::Engine`].
    pub fn put(&self, key: impl AsRef<[u8]>, value: impl Into<Vec<u8>>) -> Result<(), Error> {
        self.apply_one(key.as_ref(), Op::Put(value.into()))?;
        Ok(())
    }

    /// Writes a record under a key that is not there yet, **as the caller says**. See
    /// [`Batch::insert_new`].
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn insert_new(
        &self,
        key: impl AsRef<[u8]>,
        value: impl Into<Vec<u8>>,
    ) -> Result<(), Error> {
        self.apply_one(key.as_ref(), Op::InsertNew(value.into()))?;
        Ok(())
    }

    /// Deletes a record. Says whether there was one.
    ///
    /// # Errors
    /// [`Error::Engine`].
    pub fn delete(&self, key: impl AsRef<[u8]>) -> Result<bool, Error> {
        Ok(self.apply_one(key.as_ref(), Op::Delete)? > 0)
    }

    /// Does all of it, or nothing.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn write(&self, mut batch: Batch) -> Result<(), Error> {
        let durability = batch.durability.unwrap_or(self.options.durability);
        let ops = batch.ops.iter_mut().map(|(key, op)| (&key[..], op));
        self.apply(ops, durability)?;
        Ok(())
    }

    fn apply_one(&self, key: &[u8], mut op: Op) -> Result<u64, Error> {
        self.apply([(key, &mut op)].into_iter(), self.options.durability)
    }

    /// Does all of it, or nothing. Says how many records are deleted.
    fn apply<'b>(
        &self,
        ops: impl Iterator<Item = (&'b [u8], &'b mut Op)>,
        durability: Durability,
    ) -> Result<u64, Error> {
        let current = self.current.load_full();
        let task = |(key, op)| {
            self.check_len(key)?;
            Ok(Task {
                key: current.hash(key),
                op,
                turn: NO_TURN,
                exists: false,
                others: Vec::new(),
            })
        };
        let mut tasks: Vec<Task<'b>> = ops.map(task).collect::<Result<_, Error>>()?;
        if tasks.is_empty() {
            return Ok(0);
        }
        let (gate, turns) = loop {
            let gate = self.gate.read();
            let turns = self.take_turns(&current, &mut tasks);
            if !self.rotation.is_in_doubt() {
                break (gate, turns);
            }
            // Nobody knows where some records are. If the engine does not say, this fails.
            drop((turns, gate));
            self.resolve_doubt()?;
            for task in &mut tasks {
                task.key = current.hash(task.key.bytes);
            }
        };
        let result = self.apply_in_turn(&turns, &mut tasks, durability);
        for (turn, tasks) in turns.into_iter().zip(by_turn(&tasks)) {
            // A step hands about 256 keys over: one for each 64 new keys comes to an end long before the
            // larger filter is full.
            turn.grow_if_full(self, count(tasks, Task::is_new) / 64);
            turn.release(self);
        }
        drop(gate);
        self.do_what_is_due();
        result
    }

    /// Takes the turns of all shards that the keys of tasks belong to: generations from old to
    /// new, in each the shards from low to high. Everyone does it in that order, so nobody waits
    /// in a circle. The tasks are in the order of their turns then.
    fn take_turns(&self, current: &Arc<Generation>, tasks: &mut [Task<'_>]) -> Vec<Turn> {
        let mut turns = Vec::new();
        let mut generation = Arc::clone(current);
        let mut rest = tasks;
        loop {
            rest.sort_by_key(|task| task.key.shard);
            let mut any_moved = false;
            for tasks in rest.chunk_by_mut(|a, b| a.key.shard == b.key.shard) {
                let turn = Turn::wait(&generation, tasks[0].key.shard);
                let mut is_needed = false;
                for task in tasks {
                    // With the turn in hand, what has not moved stays.
                    let has_moved = turn.shard().has_moved(&task.key.rest);
                    task.turn = match has_moved {
                        true => NO_TURN,
                        false => turns.len(),
                    };
                    is_needed |= !has_moved;
                    any_moved |= has_moved;
                }
                match is_needed {
                    true => turns.push(turn),
                    false => turn.release(self),
                }
            }
            let Some(to) = generation.next().filter(|_| any_moved) else {
                return turns;
            };
            generation = to;
            rest.sort_by_key(|task| task.turn);
            let moved = rest.partition_point(|task| task.turn != NO_TURN);
            rest = &mut rest[moved..];
            for task in &mut *rest {
                task.key = generation.hash(task.key.bytes);
            }
        }
    }

    fn apply_in_turn(
        &self,
        turns: &[Turn],
        tasks: &mut [Task<'_>],
        durability: Durability,
    ) -> Result<u64, Error> {
        for task in &mut *tasks {
            self.look_up(&turns[task.turn], task)?;
        }
        // Every shard agrees before the first fingerprint is added.
        for (turn, tasks) in turns.iter().zip(by_turn(tasks)) {
            turn.find_room(self, count(tasks, Task::is_new))?;
        }
        // Fingerprints first, the commit second: a committed key always has one.
        for (i, (turn, of_turn)) in turns.iter().zip(by_turn(tasks)).enumerate() {
            if let Err(error) = turn.add(self, &hashes(of_turn, Task::is_new)) {
                self.drop_prints(&turns[..i], tasks, Task::is_new);
                return Err(error);
            }
        }
        let mut changes = Changes::new();
        for task in &mut *tasks {
            let table = turns[task.turn].generation().table;
            let (h0, key, is_new) = (task.key.h0, task.key.bytes, task.is_new());
            match task.op {
                Op::Put(value) | Op::InsertNew(value) => {
                    let value = std::mem::take(value);
                    L::put(&mut changes, table, h0, key, value, is_new);
                }
                Op::Delete if task.exists => L::delete(&mut changes, table, h0, key),
                Op::Delete => {}
            }
        }
        if changes.is_empty() {
            return Ok(0);
        }
        let over = CommitOver(turns);
        let committed = self.commit(changes, durability);
        drop(over);
        match committed {
            Ok(()) => Ok(self.finish(turns, tasks)),
            Err(error) => {
                self.find_out(turns, tasks);
                Err(error)
            }
        }
    }

    /// Counts what was committed, and takes the fingerprints of deleted keys away. Says how many
    /// these are.
    fn finish(&self, turns: &[Turn], tasks: &[Task<'_>]) -> u64 {
        let mut deleted = 0;
        for (turn, tasks) in turns.iter().zip(by_turn(tasks)) {
            let (new, gone) = (count(tasks, Task::is_new), count(tasks, Task::is_gone));
            turn.shard().counters.add_records(new);
            turn.shard().counters.remove_records(gone);
            deleted += gone;
        }
        match (turns, tasks) {
            // Its minirun is as it was read.
            ([turn], [task]) if task.is_gone() => {
                let others = task.others.iter().map(|key| turn.shard().hash(key));
                if let Err(error) = turn.drop_print(self, &task.key.rest, others.collect()) {
                    self.warn("a fingerprint of a deleted key stays", &error.into());
                }
            }
            _ => self.drop_prints(turns, tasks, Task::is_gone),
        }
        deleted
    }

    /// A commit has failed, and may have been made all the same. Looks which, so that counts
    /// and fingerprints are right in either case. If the engine does not even say that, surplus
    /// fingerprints stay, and records are counted anew before a checkpoint.
    fn find_out(&self, turns: &[Turn], tasks: &[Task<'_>]) {
        // All of it is there or nothing, so any that makes a difference will do.
        let mut telling = tasks.iter().filter(|task| task.is_new() || task.is_gone());
        let Some(task) = telling.next() else {
            return;
        };
        let target = target(turns[task.turn].generation(), &task.key, None);
        let is_there = (self.snapshot())
            .and_then(|snapshot| L::find(&snapshot, &target, |_| ()))
            .map(|absent| absent.is_none());
        match is_there {
            Ok(is_there) if is_there == task.is_new() => drop(self.finish(turns, tasks)),
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
        let counters = &turn.shard().counters;
        let is_promise = matches!(task.op, Op::InsertNew(_));
        if is_promise && self.options.choice == FilterChoice::None {
            counters.set_unsure();
            return Ok(());
        }
        let Asked::Maybe(maybe) = turn.shard().ask(&task.key.rest) else {
            if !is_promise {
                counters.negative();
            }
            return Ok(());
        };
        let snapshot = self.snapshot()?;
        if self.options.choice == FilterChoice::Adaptive && matches!(task.op, Op::Delete) {
            let table = turn.generation().table;
            let mut keys = hash_order::keys(&snapshot, table, &maybe.range)?;
            let own = keys.iter().position(|key| key == task.key.bytes);
            task.exists = own.map(|at| keys.swap_remove(at)).is_some();
            task.others = keys;
        } else {
            let target = target(turn.generation(), &task.key, None);
            task.exists = L::find(&snapshot, &target, |_| ())?.is_none();
        }
        match task.exists {
            _ if is_promise => {}
            true => counters.hit(),
            false => counters.false_positive(task.key.rest.word(1)),
        }
        Ok(())
    }

    /// Takes the fingerprints of keys away that were deleted, or are not put.
    fn drop_prints<'b>(
        &self,
        turns: &[Turn],
        tasks: &[Task<'b>],
        which: impl Fn(&Task<'b>) -> bool,
    ) {
        for (turn, tasks) in turns.iter().zip(by_turn(tasks)) {
            turn.drop_prints(self, hashes(tasks, &which));
        }
    }

    /// Commits changes. The first commit after a checkpoint says that the filter file is out of
    /// date, in the same transaction.
    pub(super) fn commit(&self, mut changes: Changes, durability: Durability) -> Result<(), Error> {
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
        !self.exists && !matches!(self.op, Op::Delete)
    }

    /// Does it take one away?
    fn is_gone(&self) -> bool {
        self.exists && matches!(self.op, Op::Delete)
    }
}

/// The tasks of each turn.
fn by_turn<'s, 'b>(tasks: &'s [Task<'b>]) -> impl Iterator<Item = &'s [Task<'b>]> {
    tasks.chunk_by(|a, b| a.turn == b.turn)
}

fn count<'b>(tasks: &[Task<'b>], which: impl Fn(&Task<'b>) -> bool) -> u64 {
    tasks.iter().filter(|task| which(task)).count() as u64
}

fn hashes<'s, 'b>(tasks: &'s [Task<'b>], which: impl Fn(&Task<'b>) -> bool) -> Vec<&'s Hashed<'b>> {
    let tasks = tasks.iter().filter(|task| which(task));
    tasks.map(|task| &task.key.rest).collect()
}
