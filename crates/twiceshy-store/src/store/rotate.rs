//! A new seed, while the store serves.
//!
//! Whoever has watched a store for long enough may know which keys it takes for members; a new
//! seed makes that worthless, and drops all extensions. It also changes every hash, and so the
//! place of everything that is kept in hash order: the records of the merged layout, the
//! reverse map of the split one. They move from one table to the other, a few hundred at a
//! time, in the order of the old hashes:
//!
//! ```text
//!   old table   . . . . . . . . . . | r r r r r r r     old filter answers from the frontier on
//!   new table   r r r r r r r r r r                     new filter answers below it
//!                                   ^ frontier, by old hash
//! ```
//!
//! One commit deletes them there, writes them here and moves the frontier, so that a crash
//! finds each record in one place, and the frontier says in which. Between that commit and
//! the moment when everybody knows of it, lookups search both places in one snapshot.
//!
//! If that commit fails, it may have been made all the same. The frontier in the engine says
//! which. As long as the engine does not, the step is *in doubt*: lookups search both places,
//! but nobody writes, learns or grows, which takes to know where the records are.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use twiceshy::hash::Seed;

use super::Store;
use super::rotation::{Move, Phase, Step};
use super::write::CommitOver;
use crate::engine::{Changes, Durability, Engine};
use crate::error::Error;
use crate::generation::{Generation, STEP};
use crate::hash_order::{self, entry};
use crate::layout::Layout;
use crate::meta::{self, Meta, Series};
use crate::turn::Turn;

/// Bytes after which a step has enough records, even if they are few.
const MAX_BYTES: usize = 1 << 20;

/// Behind the last hash.
const END: u128 = 1 << 64;

/// A record that moves.
struct Moving {
    h0: u64,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl<E: Engine, L: Layout> Store<E, L> {
    /// Begins to change the seed: everything that was learnt is forgotten, and so is everything
    /// that an attacker has found out. Whoever writes from now on moves a few records along;
    /// [`finish_rotation`](Self::finish_rotation) moves the rest at once. Does nothing if a change is
    /// under way.
    ///
    /// # Errors
    /// [`Error::Engine`], and [`Error::Filter`] if there is no memory for a second filter.
    pub fn rotate(&self) -> Result<(), Error> {
        self.rotation.request();
        self.rotation.busy.when_free(|| self.step())
    }

    /// Is a change of seed under way?
    #[must_use]
    pub fn is_rotating(&self) -> bool {
        self.rotation.is_running()
    }

    /// Moves all records that are left, in steps between which others get their turns.
    ///
    /// # Errors
    /// [`Error::Engine`]. What has moved has moved; the rest can go on later.
    pub fn finish_rotation(&self) -> Result<(), Error> {
        while self.is_rotating() {
            self.rotation.busy.when_free(|| self.step())?;
        }
        Ok(())
    }

    /// Finds out where records are that may have moved. The caller has no turn and is not in the
    /// gate.
    pub(super) fn resolve_doubt(&self) -> Result<(), Error> {
        self.rotation
            .busy
            .when_free(|| match self.rotation.is_in_doubt() {
                true => self.step(),
                false => Ok(()),
            })
    }

    /// One step, if there is one to take and nobody else is at it. The caller has no turn and
    /// is not in the gate.
    pub(super) fn rotate_a_little(&self) -> Result<(), Error> {
        if !self.rotation.is_wanted_or_running() {
            return Ok(());
        }
        let step = self.rotation.busy.unless_busy(|| self.step());
        step.unwrap_or(Ok(()))
    }

    /// Begins a rotation if one is wanted, and moves a few records if one is under way. One
    /// thread at a time.
    fn step(&self) -> Result<(), Error> {
        let _gate = self.gate.read();
        let start = Instant::now();
        let result = match self.rotation.phase() {
            Phase::Idle => return Ok(()),
            Phase::Wanted => self
                .begin_to_rotate()
                .and_then(|records| self.move_some(&records)),
            Phase::Moving(records) => self.move_some(&records),
            Phase::InDoubt(records, step) => self.ask_what_was_done(&records, &step),
        };
        self.longest_step.note_since(start);
        result
    }

    fn begin_to_rotate(&self) -> Result<Move, Error> {
        let from = self.current.load_full();
        let series = Series {
            table: from.other_table(),
            seed: Seed::random()?,
        };
        let records = self.len();
        let mut plan = self.options.plan(&series);
        plan.capacity = plan.capacity.max(records + records / 4);
        let next = Generation::empty(&plan)?;
        let mut changes = Changes::new();
        meta::set_next(&mut changes, &series, 0);
        self.commit(changes, Durability::Sync)?;
        tracing::info!(records, "the change to a new seed begins");
        Ok(self.resume(from, Arc::new(next), 0))
    }

    /// Goes on with a rotation that has come so far.
    pub(super) fn resume(
        &self,
        from: Arc<Generation>,
        next: Arc<Generation>,
        frontier: u128,
    ) -> Move {
        from.begin_to_move(&next, frontier);
        let records = Move {
            from,
            next,
            frontier,
        };
        self.rotation.set_phase(Phase::Moving(records.clone()));
        records
    }

    /// The turn of the shard whose records move next.
    fn turn_at_frontier(&self, records: &Move) -> Turn {
        let index = match records.from.bits() {
            0 => 0,
            bits => (records.frontier >> (64 - bits)) as usize,
        };
        Turn::wait(&records.from, index)
    }

    /// Finds out whether a step was taken.
    fn ask_what_was_done(&self, records: &Move, step: &Step) -> Result<(), Error> {
        let turn = self.turn_at_frontier(records);
        match self.has_moved(&records.next, step.below)? {
            true => self.arrive(records, &turn, step),
            false => self.rotation.set_phase(Phase::Moving(records.clone())),
        }
        Ok(())
    }

    /// Moves a few hundred records and the frontier.
    fn move_some(&self, records: &Move) -> Result<(), Error> {
        let turn = self.turn_at_frontier(records);
        let (from, next) = (&records.from, &records.next);
        let end = *turn.shard().place().all().end();
        // Below the end, hence a word.
        let (moving, below) = self.records_from(from, records.frontier as u64, end)?;
        turn.shard().set_moving(below);

        let mut by_shard = BTreeMap::<usize, Vec<(u64, Moving)>>::new();
        for record in moving {
            let key = next.hash(&record.key);
            let (shard, h0) = (key.shard, key.h0);
            by_shard.entry(shard).or_default().push((h0, record));
        }
        let mut turns = Vec::with_capacity(by_shard.len());
        let mut changes = Changes::new();
        let mut counts = Vec::with_capacity(by_shard.len());
        for (index, list) in by_shard {
            let turn = Turn::wait(next, index);
            counts.push((index, list.len() as u64));
            let shard = turn.shard();
            let keys: Vec<_> = list.iter().map(|(_, r)| shard.hash(&r.key)).collect();
            turn.add(self, &keys.iter().collect::<Vec<_>>())?;
            for (h0, record) in list {
                changes.delete(from.table, entry(record.h0, &record.key));
                changes.put(next.table, entry(h0, &record.key), record.value);
            }
            turns.push(turn);
        }
        let series = series_of(next);
        if below == END {
            meta::set_current(&mut changes, &series);
            meta::clear_next(&mut changes);
        } else {
            meta::set_next(&mut changes, &series, below);
        }
        let step = Step { below, counts };
        // A crash may undo it: then the records are where they were, and the frontier too.
        let over = CommitOver(&turns);
        let committed = self.commit(changes, Durability::Buffered);
        drop(over);
        if let Err(error) = committed {
            match self.has_moved(next, below) {
                Ok(true) => {}
                Ok(false) => return Err(error),
                Err(_) => {
                    let doubt = Phase::InDoubt(records.clone(), step);
                    self.rotation.set_phase(doubt);
                    return Err(error);
                }
            }
        }
        self.arrive(records, &turn, &step);
        for turn in turns {
            turn.release(self);
        }
        turn.release(self);
        Ok(())
    }

    /// After a commit that failed: does the engine say that the frontier is there?
    fn has_moved(&self, next: &Generation, below: u128) -> Result<bool, Error> {
        let meta = Meta::read(&self.snapshot()?, L::CODE, L::NAME)?;
        let series = series_of(next);
        Ok(meta.is_some_and(|meta| match below {
            END => meta.current == series,
            below => meta.next == Some((series, below)),
        }))
    }

    /// Tells everybody that records have moved. The caller has the turn of the shard that they
    /// have left.
    fn arrive(&self, records: &Move, turn: &Turn, step: &Step) {
        let (shard, next) = (turn.shard(), &records.next);
        shard.set_moved(step.below);
        for &(index, count) in &step.counts {
            next.shard(index).counters.add_records(count);
        }
        let moved = step.counts.iter().map(|(_, count)| count).sum();
        shard.counters.remove_records(moved);
        if step.below > u128::from(*shard.place().all().end()) {
            shard.counters.set_records(0);
        }
        if step.below < END {
            let mut records = records.clone();
            records.frontier = step.below;
            self.rotation.set_phase(Phase::Moving(records));
            return;
        }
        self.current.store(Arc::clone(next));
        let mut past = self.past.lock();
        for shard in records.from.shards() {
            shard.counters.add_to(&mut past);
        }
        // The window is about the filter that answers now.
        (past.window_strangers, past.window_mistakes) = (0, 0);
        drop(past);
        self.rotation.set_phase(Phase::Idle);
        self.rotations.fetch_add(1, Ordering::Relaxed);
        tracing::info!(records = next.records(), "the change to a new seed is done");
    }

    /// The next records to move, up to a hash, and the hash below which all have been found.
    fn records_from(
        &self,
        from: &Generation,
        frontier: u64,
        end: u64,
    ) -> Result<(Vec<Moving>, u128), Error> {
        let mut records: Vec<Moving> = Vec::new();
        let mut bytes = 0;
        let mut below = u128::from(end) + 1;
        let hashes = frontier..=end;
        hash_order::scan(&self.snapshot()?, from.table, &hashes, |h0, key, value| {
            // Keys of one hash go together.
            let last = records.last().map(|record| record.h0);
            let enough = records.len() as u64 >= STEP || bytes >= MAX_BYTES;
            if enough && last != Some(h0) {
                below = u128::from(h0);
                return ControlFlow::Break(());
            }
            bytes += key.len() + value.len();
            records.push(Moving {
                h0,
                key: key.to_vec(),
                value: value.to_vec(),
            });
            ControlFlow::Continue(())
        })?;
        Ok((records, below))
    }
}

fn series_of(generation: &Generation) -> Series {
    Series {
        table: generation.table,
        seed: *generation.seed(),
    }
}
