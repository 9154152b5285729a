//! An engine that counts what is asked of it: how many reads a filter saves, seen from the
//! database.

use std::ops::Sub;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Changes, Durability, Engine, EngineError, Read, Watch, Watched};

/// Any engine, and how often it was read and written. Counting takes no locks.
///
/// ```
/// use twiceshy_store::engine::{Counting, Engine, InMemory, Snapshot, Table};
///
/// let engine = Counting::new(InMemory::new());
/// let before = engine.counts();
/// engine.snapshot()?.get(Table::Records, b"key", |_| ())?;
/// let after = engine.counts();
/// assert_eq!((after - before).gets, 1);
/// assert_eq!((after - before).reads(), 1);
/// # Ok::<(), twiceshy_store::EngineError>(())
/// ```
#[derive(Debug)]
pub struct Counting<E> {
    engine: E,
    counters: Counters,
}

#[derive(Debug, Default)]
struct Counters {
    snapshots: AtomicU64,
    gets: AtomicU64,
    ranges: AtomicU64,
    entries: AtomicU64,
    commits: AtomicU64,
    changes: AtomicU64,
    syncs: AtomicU64,
}

/// What was asked of an engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Views of all tables.
    pub snapshots: u64,
    /// Reads of one key.
    pub gets: u64,
    /// Reads of a range.
    pub ranges: u64,
    /// Entries that ranges handed out.
    pub entries: u64,
    /// Commits.
    pub commits: u64,
    /// Changes in them.
    pub changes: u64,
    /// Syncs of their own, and commits that are [`Durability::Sync`].
    pub syncs: u64,
}

impl Counts {
    /// Gets and ranges: what a filter is there to avoid.
    #[must_use]
    pub fn reads(&self) -> u64 {
        self.gets + self.ranges
    }
}

impl Sub for Counts {
    type Output = Counts;

    fn sub(self, before: Counts) -> Counts {
        Counts {
            snapshots: self.snapshots - before.snapshots,
            gets: self.gets - before.gets,
            ranges: self.ranges - before.ranges,
            entries: self.entries - before.entries,
            commits: self.commits - before.commits,
            changes: self.changes - before.changes,
            syncs: self.syncs - before.syncs,
        }
    }
}

fn add(counter: &AtomicU64, n: u64) {
    counter.fetch_add(n, Ordering::Relaxed);
}

impl<E> Counting<E> {
    /// The same engine, counted.
    pub fn new(engine: E) -> Self {
        Counting {
            engine,
            counters: Counters::default(),
        }
    }

    /// Everything so far.
    pub fn counts(&self) -> Counts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counts {
            snapshots: read(&self.counters.snapshots),
            gets: read(&self.counters.gets),
            ranges: read(&self.counters.ranges),
            entries: read(&self.counters.entries),
            commits: read(&self.counters.commits),
            changes: read(&self.counters.changes),
            syncs: read(&self.counters.syncs),
        }
    }

    /// The engine behind it, which doesn't count.
    pub fn inner(&self) -> &E {
        &self.engine
    }
}

impl<E: Engine> Engine for Counting<E> {
    type Snapshot<'e>
        = Watched<'e, E::Snapshot<'e>, Self>
    where
        E: 'e;

    fn snapshot(&self) -> Result<Self::Snapshot<'_>, EngineError> {
        add(&self.counters.snapshots, 1);
        Ok(Watched::new(self.engine.snapshot()?, self))
    }

    fn write(&self, changes: &Changes, durability: Durability) -> Result<(), EngineError> {
        add(&self.counters.commits, 1);
        add(&self.counters.changes, changes.len() as u64);
        if durability == Durability::Sync {
            add(&self.counters.syncs, 1);
        }
        self.engine.write(changes, durability)
    }

    fn sync(&self) -> Result<(), EngineError> {
        add(&self.counters.syncs, 1);
        self.engine.sync()
    }

    fn max_key_len(&self) -> usize {
        self.engine.max_key_len()
    }

    fn name(&self) -> &'static str {
        self.engine.name()
    }
}

impl<E> Watch for Counting<E> {
    fn before(&self, read: Read) -> Result<(), EngineError> {
        match read {
            Read::Get => add(&self.counters.gets, 1),
            Read::Range => add(&self.counters.ranges, 1),
        }
        Ok(())
    }

    fn handed_out(&self, entries: u64) {
        add(&self.counters.entries, entries);
    }
}
