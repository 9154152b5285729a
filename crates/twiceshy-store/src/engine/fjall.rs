//! fjall: an LSM tree in pure Rust.

use std::collections::HashSet;
use std::error::Error;
use std::fmt;
use std::fs;
use std::ops::{Bound, ControlFlow};
use std::path::Path;

use fjall::config::FilterPolicy;
use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode, Readable};

use super::create::{Lock, create_whole};
use super::{
    Bounds, Change, Changes, Durability, Engine, EngineError, Snapshot, Table, check_keys, clip,
    is_empty,
};

const NAME: &str = "fjall";

/// fjall's own limit, less the byte of the table.
const MAX_KEY_LEN: usize = u16::MAX as usize - 1;

/// How a [`Fjall`] is opened.
#[derive(Clone, Debug, Default)]
pub struct FjallOptions {
    cache: Option<u64>,
    without_filters: bool,
}

impl FjallOptions {
    /// fjall's own choices.
    #[must_use]
    pub fn new() -> Self {
        FjallOptions::default()
    }

    /// The size of its block cache in bytes.
    #[must_use]
    pub fn cache(mut self, bytes: u64) -> Self {
        self.cache = Some(bytes);
        self
    }

    /// Whether it builds Bloom filters of its own (it does by default). A database keeps what
    /// it was created with.
    #[must_use]
    pub fn filters(mut self, on: bool) -> Self {
        self.without_filters = !on;
        self
    }

    /// Opens the database in this directory, which is made if it is not there.
    ///
    /// # Errors
    /// The database's; also if it is open already, here or in another process.
    pub fn open(self, path: impl AsRef<Path>) -> Result<Fjall, EngineError> {
        let path = path.as_ref();
        fs::create_dir_all(path).map_err(opening)?;
        let lock = Lock::take(NAME, &path.join("lock"))?;
        let path = path.join("fjall");
        create_whole(NAME, &path, |aside| self.open_both(aside).map(drop))?;
        let (keyspace, database) = self.open_both(&path)?;
        Ok(Fjall {
            keyspace,
            database,
            _lock: lock,
        })
    }

    fn open_both(&self, path: &Path) -> Result<(Keyspace, Database), EngineError> {
        let mut builder = Database::builder(path);
        if let Some(bytes) = self.cache {
            builder = builder.cache_size(bytes);
        }
        let database = builder.open().map_err(opening)?;
        let options = || match self.without_filters {
            true => KeyspaceCreateOptions::default().filter_policy(FilterPolicy::disabled()),
            false => KeyspaceCreateOptions::default(),
        };
        let keyspace = database.keyspace("twiceshy", options).map_err(opening)?;
        Ok((keyspace, database))
    }
}

/// A [fjall](https://docs.rs/fjall) database.
///
/// A commit is one checksummed batch in a journal and goes to sorted files later.
/// [`Durability::Buffered`] commits survive the end of the process, as they are the operating
/// system's then; a loss of power takes the end of the journal.
///
/// One thing it doesn't bear: if the power fails while a commit longer than a page is written,
/// the disk may have its end and not its middle. fjall 3.1 can't tell that from damage to older
/// commits and refuses to open the database (`ChecksumMismatch`); someone has to cut the journal
/// by hand. A store that must come up by itself belongs on redb or LMDB.
///
/// All tables share one keyspace, under a byte in front of each key. With a keyspace each, one
/// of them could have been written to its sorted files when the power fails and the journal,
/// which has the rest of the same commit, not yet: half of the commit would stay.
pub struct Fjall {
    keyspace: Keyspace,
    database: Database,
    /// Keeps others out for as long as the database is open.
    _lock: Lock,
}

impl Fjall {
    /// Opens the database in this directory, which is made if it is not there.
    ///
    /// # Errors
    /// The database's; also if it is open already, here or in another process.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, EngineError> {
        FjallOptions::new().open(path)
    }
}

impl fmt::Debug for Fjall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fjall").finish_non_exhaustive()
    }
}

impl Engine for Fjall {
    type Snapshot<'e> = FjallSnapshot<'e>;

    fn snapshot(&self) -> Result<FjallSnapshot<'_>, EngineError> {
        Ok(FjallSnapshot {
            keyspace: &self.keyspace,
            snapshot: self.database.snapshot(),
        })
    }

    fn write(&self, changes: &Changes, durability: Durability) -> Result<(), EngineError> {
        check_keys(self, changes)?;
        let mut batch = self.database.batch().durability(Some(match durability {
            Durability::Sync => PersistMode::SyncAll,
            Durability::Buffered => PersistMode::Buffer,
        }));
        // All of a batch happens at one instant: of several changes of a key the last one
        // counts, and is the only one that may be told.
        let list: Vec<&Change> = changes.iter().collect();
        let mut seen = HashSet::with_capacity(list.len());
        for change in list.into_iter().rev() {
            let (Change::Put { table, key, .. } | Change::Delete { table, key }) = change;
            if !seen.insert((*table, &key[..])) {
                continue;
            }
            match change {
                Change::Put { value, .. } if u32::try_from(value.len()).is_err() => {
                    let message = format!("a value of {} bytes: it takes 4 GiB", value.len());
                    return Err(EngineError::new(NAME, "committing", message));
                }
                Change::Put { value, .. } => {
                    batch.insert(&self.keyspace, prefixed(*table, key), &value[..]);
                }
                Change::Delete { .. } if key.len() > MAX_KEY_LEN => {}
                Change::Delete { .. } => batch.remove(&self.keyspace, prefixed(*table, key)),
            }
        }
        if batch.is_empty() && durability == Durability::Sync {
            return self.sync();
        }
        batch
            .commit()
            .map_err(|error| EngineError::new(NAME, "committing", error))
    }

    fn sync(&self) -> Result<(), EngineError> {
        self.database
            .persist(PersistMode::SyncAll)
            .map_err(|error| EngineError::new(NAME, "syncing", error))
    }

    fn max_key_len(&self) -> usize {
        MAX_KEY_LEN
    }

    fn name(&self) -> &'static str {
        NAME
    }
}

/// The tables of a [`Fjall`] at one moment. While it lives, what it can see is kept.
pub struct FjallSnapshot<'e> {
    keyspace: &'e Keyspace,
    snapshot: fjall::Snapshot,
}

impl fmt::Debug for FjallSnapshot<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FjallSnapshot").finish_non_exhaustive()
    }
}

impl Snapshot for FjallSnapshot<'_> {
    fn get<T>(
        &self,
        table: Table,
        key: &[u8],
        read: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, EngineError> {
        if key.len() > MAX_KEY_LEN {
            return Ok(None);
        }
        let value = self.snapshot.get(self.keyspace, prefixed(table, key));
        Ok(value.map_err(reading)?.map(|value| read(&value)))
    }

    fn range(
        &self,
        table: Table,
        bounds: Bounds<'_>,
        mut each: impl FnMut(&[u8], &[u8]) -> ControlFlow<()>,
    ) -> Result<(), EngineError> {
        if is_empty(bounds) {
            return Ok(());
        }
        let (from, to) = clip(bounds, MAX_KEY_LEN);
        let from = match from {
            Bound::Unbounded => Bound::Included(vec![prefix(table)]),
            bound => bound.map(|key| prefixed(table, key)),
        };
        let to = match to {
            Bound::Unbounded => Bound::Excluded(vec![prefix(table) + 1]),
            bound => bound.map(|key| prefixed(table, key)),
        };
        for entry in self.snapshot.range(self.keyspace, (from, to)) {
            let (key, value) = entry.into_inner().map_err(reading)?;
            if each(&key[1..], &value).is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// The byte in front of the keys of a table.
fn prefix(table: Table) -> u8 {
    match table {
        Table::Meta => b'a',
        Table::Records => b'b',
        Table::Even => b'c',
        Table::Odd => b'd',
    }
}

fn prefixed(table: Table, key: &[u8]) -> Vec<u8> {
    let mut prefixed = Vec::with_capacity(1 + key.len());
    prefixed.push(prefix(table));
    prefixed.extend_from_slice(key);
    prefixed
}

fn opening(error: impl Into<Box<dyn Error + Send + Sync>>) -> EngineError {
    EngineError::new(NAME, "opening", error)
}

fn reading(error: fjall::Error) -> EngineError {
    EngineError::new(NAME, "reading", error)
}
