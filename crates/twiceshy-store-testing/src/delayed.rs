//! An engine that takes its time.

use std::hint::spin_loop;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use twiceshy_store::engine::{Bounds, Changes, Durability, Engine, EngineError, Snapshot, Table};

/// Below this, sleeping is too coarse.
const SPIN: Duration = Duration::from_millis(1);

/// Waits before each get and each range, as if the data were on a slow disk or elsewhere.
/// Writes are as fast as they were.
#[derive(Debug)]
pub struct Delayed<E> {
    engine: E,
    nanoseconds: AtomicU64,
}

impl<E> Delayed<E> {
    /// The same engine with slow reads.
    pub fn new(engine: E, delay: Duration) -> Self {
        let delayed = Delayed {
            engine,
            nanoseconds: AtomicU64::new(0),
        };
        delayed.set_delay(delay);
        delayed
    }

    /// Another delay from now on: none while a test loads its data.
    pub fn set_delay(&self, delay: Duration) {
        let nanoseconds = u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.store(nanoseconds, Ordering::Relaxed);
    }

    /// The engine behind it, which doesn't wait.
    pub fn inner(&self) -> &E {
        &self.engine
    }
}

/// Never less, and hardly more.
fn wait(delay: Duration) {
    let start = Instant::now();
    if delay > SPIN {
        thread::sleep(delay - SPIN);
    }
    while start.elapsed() < delay {
        spin_loop();
    }
}

impl<E: Engine> Engine for Delayed<E> {
    type Snapshot<'e>
        = DelayedSnapshot<'e, E::Snapshot<'e>>
    where
        E: 'e;

    fn snapshot(&self) -> Result<Self::Snapshot<'_>, EngineError> {
        Ok(DelayedSnapshot {
            snapshot: self.engine.snapshot()?,
            nanoseconds: &self.nanoseconds,
        })
    }

    fn write(&self, changes: &Changes, durability: Durability) -> Result<(), EngineError> {
        self.engine.write(changes, durability)
    }

    fn sync(&self) -> Result<(), EngineError> {
        self.engine.sync()
    }

    fn max_key_len(&self) -> usize {
        self.engine.max_key_len()
    }

    fn name(&self) -> &'static str {
        self.engine.name()
    }
}

/// The tables of a [`Delayed`] engine at one moment.
#[derive(Debug)]
pub struct DelayedSnapshot<'e, S> {
    snapshot: S,
    nanoseconds: &'e AtomicU64,
}

impl<S> DelayedSnapshot<'_, S> {
    fn wait(&self) {
        wait(Duration::from_nanos(
            self.nanoseconds.load(Ordering::Relaxed),
        ));
    }
}

impl<S: Snapshot> Snapshot for DelayedSnapshot<'_, S> {
    fn get<T>(
        &self,
        table: Table,
        key: &[u8],
        read: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, EngineError> {
        self.wait();
        self.snapshot.get(table, key, read)
    }

    fn range(
        &self,
        table: Table,
        bounds: Bounds<'_>,
        each: impl FnMut(&[u8], &[u8]) -> ControlFlow<()>,
    ) -> Result<(), EngineError> {
        self.wait();
        self.snapshot.range(table, bounds, each)
    }
}
