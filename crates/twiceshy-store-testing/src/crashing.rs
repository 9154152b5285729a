//! An engine that crashes.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::cut::{Cut, Fate};
use twiceshy_store::engine::{
    Changes, Durability, Engine, EngineError, InMemory, InMemorySnapshot,
};
use twiceshy_store::engine::{Read, Watch, Watched};

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
    type Snapshot<'e> = Watched<'e, InMemorySnapshot, Self>;

    fn snapshot(&self) -> Result<Self::Snapshot<'_>, EngineError> {
        if !self.cut.passes() {
            return Err(crash("reading"));
        }
        Ok(Watched::new(now(&self.states()).snapshot()?, self))
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

impl Watch for Crashing {
    fn before(&self, _read: Read) -> Result<(), EngineError> {
        let passes = self.cut.passes();
        passes.then_some(()).ok_or_else(|| crash("reading"))
    }
}
