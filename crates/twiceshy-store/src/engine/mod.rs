//! What a store asks of the database behind it.
//!
//! An [`Engine`] is a handful of ordered tables with atomic commits: a B-tree, an LSM tree, a
//! map in memory. A store needs just this much, so that adding an engine is one short file:
//!
//! | | |
//! | --- | --- |
//! | [`snapshot`](Engine::snapshot) | a view of all tables at one moment |
//! | [`Snapshot::get`], [`Snapshot::range`] | a value; the entries of a range, in order |
//! | [`write`](Engine::write) | all [`Changes`] or none, across tables |
//! | [`sync`](Engine::sync) | what was written so far survives a power loss |
//!
//! | engine | feature | |
//! | --- | --- | --- |
//! | `Redb` | `redb` (default) | a copy-on-write B-tree in pure Rust |
//! | `Fjall` | `fjall` | an LSM tree in pure Rust |
//! | `Lmdb` | `lmdb` | LMDB, a memory-mapped B-tree in C |
//! | [`InMemory`] | | a map in memory, for tests and caches |
//! | [`Counting`] | | any of them, and how often it was read and written |
//!
//! An engine of your own around another one gives out [`Watched`] snapshots of it.
//!
//! What a crash can take, as each database promises it:
//!
//! | | `Sync` commits | `Buffered` commits |
//! | --- | --- | --- |
//! | `Redb` | none | the process stops: all since the last `Sync` one |
//! | `Fjall` | none, but it may need a hand: see there | the power fails: some of the last ones |
//! | `Lmdb` | none | the power fails: the last one |
//! | [`InMemory`] | all | all |
//!
//! Keys that an engine can't hold (longer than [`max_key_len`](Engine::max_key_len)) are errors
//! in a put, and just not there for everything else: a get, a delete, the bounds of a range.

mod changes;
mod counting;
#[cfg(any(feature = "redb", feature = "fjall", feature = "lmdb"))]
mod create;
mod error;
#[cfg(feature = "fjall")]
mod fjall;
#[cfg(feature = "lmdb")]
mod lmdb;
mod memory;
#[cfg(feature = "redb")]
mod redb;
mod table;
mod watched;

use std::ops::{Bound, ControlFlow};
use std::sync::Arc;

pub use self::changes::{Change, Changes};
pub use self::counting::{Counting, Counts};
pub use self::error::EngineError;
#[cfg(feature = "fjall")]
pub use self::fjall::{Fjall, FjallOptions, FjallSnapshot};
#[cfg(feature = "lmdb")]
pub use self::lmdb::{Lmdb, LmdbSnapshot};
pub use self::memory::{InMemory, InMemorySnapshot};
#[cfg(feature = "redb")]
pub use self::redb::{Redb, RedbSnapshot};
pub use self::table::Table;
pub use self::watched::{Read, Watch, Watched};

/// The bounds of a range of keys.
pub type Bounds<'k> = (Bound<&'k [u8]>, Bound<&'k [u8]>);

/// When a commit is safe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Durability {
    /// On return: it survives a crash of the process and a loss of power.
    #[default]
    Sync,
    /// At the next [`sync`](Engine::sync), the next commit that is `Sync`, or whenever the
    /// engine sees fit. A crash may take it back, but never half of it, and never without
    /// those that came after it.
    Buffered,
}

/// A few ordered tables with atomic commits.
///
/// Keys and values are bytes; keys are compared as bytes. Commits happen one after the other,
/// each whole or not at all, and in the same order for everyone who looks.
pub trait Engine: Send + Sync {
    /// A view of all tables at one moment.
    type Snapshot<'e>: Snapshot
    where
        Self: 'e;

    /// All tables as of now. Commits that come later are not seen through it.
    ///
    /// # Errors
    /// The database's.
    fn snapshot(&self) -> Result<Self::Snapshot<'_>, EngineError>;

    /// Applies all changes, in their order, or none of them.
    ///
    /// # Errors
    /// The database's. All of the changes or none have been made then.
    fn write(&self, changes: &Changes, durability: Durability) -> Result<(), EngineError>;

    /// Returns when everything written before is safe from a loss of power.
    ///
    /// # Errors
    /// The database's.
    fn sync(&self) -> Result<(), EngineError>;

    /// The longest key that it takes, in bytes.
    fn max_key_len(&self) -> usize;

    /// What it is called, for messages.
    fn name(&self) -> &'static str;
}

/// A shared engine is an engine, so that one can keep an eye on that of a store.
impl<E: Engine> Engine for Arc<E> {
    type Snapshot<'e>
        = E::Snapshot<'e>
    where
        E: 'e;

    fn snapshot(&self) -> Result<Self::Snapshot<'_>, EngineError> {
        (**self).snapshot()
    }

    fn write(&self, changes: &Changes, durability: Durability) -> Result<(), EngineError> {
        (**self).write(changes, durability)
    }

    fn sync(&self) -> Result<(), EngineError> {
        (**self).sync()
    }

    fn max_key_len(&self) -> usize {
        (**self).max_key_len()
    }

    fn name(&self) -> &'static str {
        (**self).name()
    }
}

/// All tables of an [`Engine`] at one moment.
pub trait Snapshot {
    /// What `read` makes of the value under `key`; `None` if there is none.
    ///
    /// # Errors
    /// The database's.
    fn get<T>(
        &self,
        table: Table,
        key: &[u8],
        read: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, EngineError>;

    /// Calls `each` with the entries of a range, in ascending order of their keys, until it
    /// breaks. A range whose end lies before its start is empty.
    ///
    /// # Errors
    /// The database's.
    fn range(
        &self,
        table: Table,
        bounds: Bounds<'_>,
        each: impl FnMut(&[u8], &[u8]) -> ControlFlow<()>,
    ) -> Result<(), EngineError>;
}

/// Is every key that `changes` puts one that `engine` can hold?
#[cfg(any(feature = "redb", feature = "fjall", feature = "lmdb"))]
fn check_keys(engine: &impl Engine, changes: &Changes) -> Result<(), EngineError> {
    let longest = engine.max_key_len();
    for change in changes.iter() {
        if let Change::Put { table, key, .. } = change
            && key.len() > longest
        {
            let message = format!(
                "a key of {} bytes in table `{}`: it takes at most {longest}",
                key.len(),
                table.name()
            );
            return Err(EngineError::new(engine.name(), "committing", message));
        }
    }
    Ok(())
}

/// The same range of keys of at most `longest` bytes, with bounds that are no longer.
#[cfg(any(feature = "fjall", feature = "lmdb"))]
fn clip(bounds: Bounds<'_>, longest: usize) -> Bounds<'_> {
    // No key that fits lies between a longer one and its prefix, so all that are greater than
    // the one are greater than the other.
    let (from, to) = bounds;
    let from = match from {
        Bound::Included(key) | Bound::Excluded(key) if key.len() > longest => {
            Bound::Excluded(&key[..longest])
        }
        _ => from,
    };
    let to = match to {
        Bound::Included(key) | Bound::Excluded(key) if key.len() > longest => {
            Bound::Included(&key[..longest])
        }
        _ => to,
    };
    (from, to)
}

/// Can there be a key between these bounds? Databases disagree on what to do otherwise; some
/// panic.
pub(crate) fn is_empty(bounds: Bounds<'_>) -> bool {
    match bounds {
        (Bound::Unbounded, _) | (_, Bound::Unbounded) => false,
        (Bound::Included(from), Bound::Included(to)) => from > to,
        (Bound::Excluded(from) | Bound::Included(from), Bound::Excluded(to))
        | (Bound::Excluded(from), Bound::Included(to)) => from >= to,
    }
}
