//! An engine that crashes.

use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::cut::{Cut, Fate};
use twiceshy_store::engine::InMemorySnapshot;
use twiceshy_store::engine::{
    Bounds, Changes, Durability, Engine, EngineError, InMemory, Snapshot, Table,
};

/// Tables in memory that know what of them is durable.
///
/// ```text
///    commits:   a  b  c  Sync  d  e  f ✂
///               ╰── durable ─╯ ╰─────╯   a crash keeps none, d, d e or d e f
/// ```
///
/// The [`Cut`] says where it stops; arm it with [`Cut::from`], as nothing works after a crash.
/// The commit that it cuts off is the last of those that a crash may or may not keep, even if
/// it was to be a [`Durability::Sync`] one: nobody was told that it is there.
#[derive(Debug)]
pub struct Crashing {
    cut: Cut,
    /// What is durable, then that with each commit since. The last one is what readers see.
    states: Mutex<Vec<InMemory>>,
}

impl Crashing {
    /// Empty tables.
    #[must_use]
    pub fn new(cut: Cut) -> Self {
        Crashing::with(InMemory::new(), cut)
    }

    fn with(durable: InMemory, cut: Cut) -> Self {
        Crashing {
            cut,
            states: Mutex::new(vec![durable]),
        }
    }

    /// How many of the last commits a crash may take back.
    #[must_use]
    pub fn buffered(&self) -> usize {
        self.states().len() - 1
    }

    /// What the next process finds if the first `kept` of the [`buffered`](Self::buffered)
    /// commits are kept, or all if there are fewer.
    #[must_use]
    pub fn reopen(&self, kept: usize, cut: Cut) -> Crashing {
        let states = self.states();
        let found = &states[kept.min(states.len() - 1)];
        Crashing::with(found.clone(), cut)
    }

    fn states(&self) -> MutexGuard<'_, Vec<InMemory>> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn now(states: &[InMemory]) -> &InMemory {
    states.last().expect("the durable one is always there")
}

fn crash(doing: &'static str) -> EngineError {
    EngineError::new("crashing engine", doing, "it has crashed")
}

impl Engine for Crashing {
    type Snapshot<'e> = CrashingSnapshot<'e>;

    fn snapshot(&self) -> Result<CrashingSnapshot<'_>, EngineError> {
        if !self.cut.passes() {
            return Err(crash("reading"));
        }
        Ok(CrashingSnapshot {
            snapshot: now(&self.states()).snapshot()?,
            cut: &self.cut,
        })
    }

    fn write(&self, changes: &Changes, durability: Durability) -> Result<(), EngineError> {
        let mut states = self.states();
        let fate = self.cut.count();
        if fate != Fate::Off {
            let next = now(&states).clone();
            next.write(changes, durability)?;
            states.push(next);
        }
        if fate != Fate::Passes {
            return Err(crash("committing"));
        }
        if durability == Durability::Sync {
            let last = states.len() - 1;
            states.drain(..last);
        }
        Ok(())
    }

    fn sync(&self) -> Result<(), EngineError> {
        if !self.cut.passes() {
            return Err(crash("syncing"));
        }
        let mut states = self.states();
        let last = states.len() - 1;
        states.drain(..last);
        Ok(())
    }

    fn max_key_len(&self) -> usize {
        usize::MAX
    }

    fn name(&self) -> &'static str {
        "crashing"
    }
}

/// The tables of a [`Crashing`] engine at one moment.
#[derive(Debug)]
pub struct CrashingSnapshot<'e> {
    snapshot: InMemorySnapshot,
    cut: &'e Cut,
}

impl Snapshot for CrashingSnapshot<'_> {
    fn get<T>(
        &self,
        table: Table,
        key: &[u8],
        read: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, EngineError> {
        match self.cut.passes() {
            true => self.snapshot.get(table, key, read),
            false => Err(crash("reading")),
        }
    }

    fn range(
        &self,
        table: Table,
        bounds: Bounds<'_>,
        each: impl FnMut(&[u8], &[u8]) -> ControlFlow<()>,
    ) -> Result<(), EngineError> {
        match self.cut.passes() {
            true => self.snapshot.range(table, bounds, each),
            false => Err(crash("reading")),
        }
    }
}
