//! LMDB: a memory-mapped B-tree in C, through `heed`.

use std::fmt;
use std::fs;
use std::ops::{Bound, ControlFlow};
use std::path::Path;

use heed::types::Bytes;
use heed::{CommitOrAbort, Database, Env, EnvFlags, EnvOpenOptions, MdbError, RoTxn, WithoutTls};

use super::create::{Lock, create_whole};
use super::{
    Bounds, Change, Changes, Durability, Engine, EngineError, Snapshot, Table, check_keys, clip,
    is_empty,
};

const NAME: &str = "LMDB";

/// Each snapshot takes one slot of a cache line for as long as it lives.
const MAX_SNAPSHOTS: u32 = 4096;

type Tree<'t> = Database<'t, Bytes, Bytes>;
type Trees = [Tree<'static>; Table::ALL.len()];

/// An [LMDB](https://docs.rs/heed) environment.
///
/// LMDB has no choice of durability for each commit. With both of its flushes, of the pages
/// and then of the root, a commit is safe on return. Without any (`MDB_NOSYNC`), a loss of
/// power can leave a root whose pages are missing: not an option. Here the environment is
/// opened without the second one (`MDB_NOMETASYNC`): a commit flushes its pages and, with them,
/// the root of the commit before, so that a loss of power can take back the last commit, but
/// never more and never a part. [`Durability::Sync`] adds the second flush, as LMDB itself
/// would; [`Durability::Buffered`] leaves it to the next commit, and saves half of the
/// flushes, not more.
///
/// Keys have at least one byte and at most 511.
pub struct Lmdb {
    env: Env<WithoutTls>,
    trees: Trees,
    map_size: usize,
    max_key_len: usize,
    /// Keeps others out for as long as the environment is open.
    _lock: Lock,
}

impl Lmdb {
    /// A map that no database grows out of: 1 TiB of addresses, which cost neither memory nor
    /// disk until they are used; 1 GiB on a 32-bit machine.
    pub const DEFAULT_MAP_SIZE: usize = if usize::BITS == 64 { 1 << 40 } else { 1 << 30 };

    /// The environment in this directory, which is made if it is not there.
    ///
    /// `map_size` is how large the database can become, a multiple of the size of a page.
    /// Beyond it commits fail, until it is opened with a larger map:
    /// [`DEFAULT_MAP_SIZE`](Self::DEFAULT_MAP_SIZE) is right unless the addresses of the process
    /// are limited.
    ///
    /// # Errors
    /// The database's; also if it is open already, here or in another process.
    pub fn open(path: impl AsRef<Path>, map_size: usize) -> Result<Self, EngineError> {
        let path = path.as_ref();
        fs::create_dir_all(path).map_err(opening)?;
        // LMDB lets processes share an environment. A store can't.
        let lock = Lock::take(NAME, &path.join("lock"))?;
        let path = path.join("lmdb");
        create_whole(NAME, &path, |aside| {
            fs::create_dir(aside).map_err(opening)?;
            let (env, _) = open_both(aside, map_size).map_err(opening)?;
            env.force_sync().map_err(opening)
        })?;
        let (env, trees) = open_both(&path, map_size).map_err(opening)?;
        let max_key_len = env.max_key_size();
        Ok(Lmdb {
            env,
            trees,
            map_size,
            max_key_len,
            _lock: lock,
        })
    }

    fn commit(&self, changes: &Changes) -> heed::Result<()> {
        let mut transaction = self.env.write_txn()?;
        for change in changes.iter() {
            match change {
                Change::Put { table, key, value } => {
                    self.trees[table.index()].put(&mut transaction, key, value)?;
                }
                Change::Delete { table, key } => {
                    if (1..=self.max_key_len).contains(&key.len()) {
                        self.trees[table.index()].delete(&mut transaction, key)?;
                    }
                }
            }
        }
        transaction.commit()
    }
}

fn open_both(path: &Path, map_size: usize) -> heed::Result<(Env<WithoutTls>, Trees)> {
    let env = open_env(path, map_size)?;
    let transaction = env.write_txn()?;
    let trees = env.create_databases_and_commit(transaction, |databases, transaction| {
        let mut open = |table: Table| -> heed::Result<Tree<'_>> {
            databases.create_database(transaction, Some(table.name()))
        };
        let [meta, records, even, odd] = Table::ALL;
        let trees = [open(meta)?, open(records)?, open(even)?, open(odd)?];
        Ok::<_, heed::Error>(CommitOrAbort::<_, ()>::Commit(trees))
    })?;
    Ok((env, trees.unwrap_commit()))
}

#[allow(unsafe_code)]
fn open_env(path: &Path, map_size: usize) -> heed::Result<Env<WithoutTls>> {
    let mut options = EnvOpenOptions::new().read_txn_without_tls();
    options
        .map_size(map_size)
        .max_readers(MAX_SNAPSHOTS)
        .max_dbs(u32::try_from(Table::ALL.len()).expect("four"));
    // SAFETY: The map stays sound for as long as nobody changes the file but through LMDB's own
    // locks, which are on. The caller holds a lock that keeps out other stores, and a directory
    // given to a store is the store's. The flag keeps the order of pages before root: LMDB
    // itself says that it "maintains database integrity".
    unsafe {
        options.flags(EnvFlags::NO_META_SYNC);
        options.open(path)
    }
}

impl fmt::Debug for Lmdb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lmdb")
            .field("path", &self.env.path())
            .field("map_size", &self.map_size)
            .finish_non_exhaustive()
    }
}

impl Engine for Lmdb {
    type Snapshot<'e> = LmdbSnapshot<'e>;

    fn snapshot(&self) -> Result<LmdbSnapshot<'_>, EngineError> {
        Ok(LmdbSnapshot {
            transaction: self.env.read_txn().map_err(reading)?,
            engine: self,
        })
    }

    fn write(&self, changes: &Changes, durability: Durability) -> Result<(), EngineError> {
        check_keys(self, changes)?;
        self.commit(changes).map_err(|error| match error {
            heed::Error::Mdb(MdbError::MapFull) => {
                let message = format!(
                    "the map of {} bytes is full: open the database with a larger one",
                    self.map_size
                );
                EngineError::new(NAME, "committing", message)
            }
            error => EngineError::new(NAME, "committing", error),
        })?;
        match durability {
            Durability::Sync => self.sync(),
            Durability::Buffered => Ok(()),
        }
    }

    fn sync(&self) -> Result<(), EngineError> {
        self.env
            .force_sync()
            .map_err(|error| EngineError::new(NAME, "syncing", error))
    }

    fn max_key_len(&self) -> usize {
        self.max_key_len
    }

    fn name(&self) -> &'static str {
        NAME
    }
}

/// The tables of an [`Lmdb`] at one moment: a read transaction.
///
/// While it lives, LMDB keeps the pages that it can see; a long one makes the file grow. There
/// can be 4096 at a time.
pub struct LmdbSnapshot<'e> {
    transaction: RoTxn<'e, WithoutTls>,
    engine: &'e Lmdb,
}

impl fmt::Debug for LmdbSnapshot<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LmdbSnapshot").finish_non_exhaustive()
    }
}

impl Snapshot for LmdbSnapshot<'_> {
    fn get<T>(
        &self,
        table: Table,
        key: &[u8],
        read: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, EngineError> {
        if !(1..=self.engine.max_key_len).contains(&key.len()) {
            return Ok(None);
        }
        let value = self.engine.trees[table.index()].get(&self.transaction, key);
        Ok(value.map_err(reading)?.map(read))
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
        // LMDB can't search for an empty key.
        let (from, to) = match clip(bounds, self.engine.max_key_len) {
            (Bound::Included([]) | Bound::Excluded([]), to) => (Bound::Unbounded, to),
            bounds => bounds,
        };
        let tree = &self.engine.trees[table.index()];
        let entries = tree.range(&self.transaction, &(from, to));
        for entry in entries.map_err(reading)? {
            let (key, value) = entry.map_err(reading)?;
            if each(key, value).is_break() {
                break;
            }
        }
        Ok(())
    }
}

fn opening(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> EngineError {
    EngineError::new(NAME, "opening", error)
}

fn reading(error: heed::Error) -> EngineError {
    EngineError::new(NAME, "reading", error)
}
