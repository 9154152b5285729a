//! The store itself.

mod checkpoint;
mod iter;
mod learn;
mod load;
mod open;
mod read;
mod rebuild;
mod rotate;
mod rotation;
mod stats;
mod verify;
mod write;

use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicU64};

use arc_swap::ArcSwap;

use crate::counters::{Counts, Longest};
use crate::engine::{Engine, EngineError};
use crate::error::Error;
use crate::files::Files;
use crate::generation::Generation;
use crate::journal::Journal;
use crate::layout::{Layout, Merged};
use crate::options::Options;
use crate::sync::{Busy, Mutex, RwLock};

pub use self::iter::{Iter, Record};
pub use self::stats::Stats;
pub use self::verify::Verified;

/// Records in an engine, and a filter in front of them that learns from its mistakes.
///
/// A key that is not there is answered by the filter alone, but for one in a few hundred; each
/// of those is read once, and the filter is told. All methods take `&self`; share the store
/// among threads as it is. See the [crate](crate) for the idea and the rules behind it.
///
/// ```
/// use twiceshy_store::Store;
///
/// let folder = tempfile::tempdir()?;
/// let store = Store::open_dir(folder.path())?;
/// store.put("once", "bitten")?;
/// assert_eq!(store.get("once")?, Some(b"bitten".to_vec()));
/// assert_eq!(store.get("twice")?, None);
/// store.close()?; // saves the filter with all that it has learnt
///
/// let store = Store::open_dir(folder.path())?;
/// assert!(store.contains("once")?);
/// println!("{}", store.stats());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Store<E, L = Merged> {
    engine: E,
    files: Box<dyn Files>,
    options: Options,
    id: [u8; 16],
    /// The generation that lookups start with.
    current: ArcSwap<Generation>,
    /// Whoever writes to the engine holds it for reading; a checkpoint for writing.
    gate: RwLock<()>,
    /// The engine has, or may have, an entry `checkpoint`, so the next commit deletes it. Says nothing of
    /// the file.
    clean: AtomicBool,
    journal: Journal,
    /// Is a filter image worth writing?
    wants_image: AtomicBool,
    /// Somebody writes one.
    saving: Busy,
    /// What was learnt before is being learnt again, whatever the policy says.
    recalling: AtomicBool,
    rotation: rotation::Rotator,
    rotations: AtomicU64,
    /// What generations counted that are gone.
    past: Mutex<Counts>,
    longest_step: Longest,
    /// Of images, and of what keeps writers out.
    longest_save: Longest,
    layout: PhantomData<L>,
}

impl<E: Engine, L: Layout> Store<E, L> {
    /// How many records there are. After a write has failed and the engine would not say
    /// whether it was made, it may be off by that, up to the next checkpoint.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.generations().iter().map(|one| one.records()).sum()
    }

    /// Is there none?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The engine behind the filter.
    #[must_use]
    pub fn engine(&self) -> &E {
        &self.engine
    }

    /// The longest key that the engine leaves room for, in bytes.
    #[must_use]
    pub fn max_key_len(&self) -> usize {
        self.engine.max_key_len().saturating_sub(L::overhead())
    }

    /// Makes everything written so far safe from a loss of power, whatever its durability.
    ///
    /// # Errors
    /// [`Error::Engine`].
    pub fn sync(&self) -> Result<(), Error> {
        Ok(self.engine.sync()?)
    }

    fn check_len(&self, key: &[u8]) -> Result<(), Error> {
        let max = self.max_key_len();
        if key.len() <= max {
            return Ok(());
        }
        Err(Error::KeyTooLong {
            len: key.len(),
            max,
            engine: self.engine.name(),
        })
    }

    fn snapshot(&self) -> Result<E::Snapshot<'_>, EngineError> {
        self.engine.snapshot()
    }
}

impl<E: Engine, L: Layout> fmt::Debug for Store<E, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store")
            .field("engine", &self.engine.name())
            .field("layout", &L::NAME)
            .field("records", &self.len())
            .finish_non_exhaustive()
    }
}
