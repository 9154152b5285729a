//! An engine that takes its time.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use twiceshy_store::engine::{Changes, Durability, Engine, EngineError, Read, Watch, Watched};

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
        = Watched<'e, E::Snapshot<'e>, Self>
    where
        E: 'e;

    fn snapshot(&self) -> Result<Self::Snapshot<'_>, EngineError> {
        Ok(Watched::new(self.engine.snapshot()?, self))
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

impl<E> Watch for Delayed<E> {
    fn before(&self, _read: Read) -> Result<(), EngineError> {
        wait(Duration::from_nanos(
            self.nanoseconds.load(Ordering::Relaxed),
        ));
        Ok(())
    }
}
