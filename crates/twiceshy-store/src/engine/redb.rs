//! redb: a copy-on-write B-tree in pure Rust.

use std::cell::OnceCell;
use std::error::Error;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use redb::{
    Builder, Database, DatabaseError, ReadOnlyTable, ReadTransaction, ReadableDatabase,
    StorageBackend, TableDefinition,
};

use super::create::{Lock, beside, create_whole, exists};
use super::{
    Bounds, Change, Changes, Durability, Engine, EngineError, Snapshot, Table, check_keys, is_empty,
};

const NAME: &str = "redb";

/// redb takes keys up to 3 GiB, but copies them into its inner nodes.
const MAX_KEY_LEN: usize = 1 << 20;

/// A [redb](https://docs.rs/redb) database.
///
/// Every commit writes the pages of the paths that it changes anew and then switches roots, so
/// a crash leaves the last commit or the one before it.
///
/// [`Durability::Buffered`] commits stay in the memory of the process until a
/// [`Durability::Sync`] one or the end of the database writes them all. Pages that they free
/// are not used again before that: many of them in a row make the file grow.
///
/// ```
/// use twiceshy_store::engine::{Changes, Durability, Engine, Redb, Snapshot, Table};
///
/// let directory = tempfile::tempdir()?;
/// let engine = Redb::create_or_open(directory.path().join("records.redb"))?;
/// let mut changes = Changes::new();
/// changes.put(Table::Records, "key", "value");
/// engine.write(&changes, Durability::Sync)?;
///
/// let snapshot = engine.snapshot()?;
/// let len = snapshot.get(Table::Records, b"key", |value| value.len())?;
/// assert_eq!(len, Some(5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Redb {
    database: Arc<Database>,
    /// The names of the tables, in the order of [`Table::ALL`].
    names: [String; Table::ALL.len()],
}

impl Redb {
    /// The database in this file, which is made if it is not there, with redb's own cache of
    /// 1 GiB.
    ///
    /// # Errors
    /// The database's; also if it is open already, here or in another process.
    pub fn create_or_open(path: impl AsRef<Path>) -> Result<Self, EngineError> {
        Redb::open(path.as_ref(), &Builder::new())
    }

    /// The same with a cache of so many bytes.
    ///
    /// # Errors
    /// As [`create_or_open`](Self::create_or_open).
    pub fn with_cache(path: impl AsRef<Path>, bytes: usize) -> Result<Self, EngineError> {
        Redb::open(path.as_ref(), Builder::new().set_cache_size(bytes))
    }

    /// A database that keeps its pages anywhere: in memory, or where a test can break them.
    ///
    /// redb doesn't open what a crash has left of making a new database; where that can
    /// happen, start again with an empty backend.
    ///
    /// # Errors
    /// The database's.
    pub fn with_backend(backend: impl StorageBackend) -> Result<Self, EngineError> {
        Redb::new(Builder::new().create_with_backend(backend))
    }

    /// A few more tables in a database that has others already. Their names start with `prefix`,
    /// which tells them apart from those.
    ///
    /// redb has one writer at a time: [`write`](Engine::write) waits for as long as a
    /// transaction of the caller's is open, and never returns when that is on the same thread.
    ///
    /// # Errors
    /// The database's; also if there is a table with such a name, but of other types.
    pub fn from_database(
        database: impl Into<Arc<Database>>,
        prefix: &str,
    ) -> Result<Self, EngineError> {
        let engine = Redb {
            database: database.into(),
            names: Table::ALL.map(|table| format!("{prefix}{}", table.name())),
        };
        let make_tables = || -> Result<(), redb::Error> {
            let transaction = engine.database.begin_write()?;
            for table in Table::ALL {
                transaction.open_table(engine.definition(table))?;
            }
            Ok(transaction.commit()?)
        };
        match engine.has_tables() {
            Ok(true) => {}
            Ok(false) => make_tables().map_err(opening)?,
            Err(error) => return Err(opening(error)),
        }
        Ok(engine)
    }

    fn open(path: &Path, builder: &Builder) -> Result<Self, EngineError> {
        if !exists(path) {
            let lock_path = beside(path, ".lock");
            let lock = Lock::take(NAME, &lock_path)?;
            create_whole(NAME, path, |aside| {
                Redb::new(builder.create(aside)).map(drop)
            })?;
            drop(lock);
            // From here on redb's own lock is enough. Whoever still waits for this one, or
            // makes another, finds the database there.
            let _ = fs::remove_file(lock_path);
        }
        Redb::new(builder.create(path))
    }

    fn new(database: Result<Database, DatabaseError>) -> Result<Self, EngineError> {
        Redb::from_database(database.map_err(opening)?, "")
    }

    /// Are all tables there? Then opening needs no commit.
    fn has_tables(&self) -> Result<bool, redb::Error> {
        let transaction = self.database.begin_read()?;
        for table in Table::ALL {
            match transaction.open_table(self.definition(table)) {
                Ok(_) => {}
                Err(redb::TableError::TableDoesNotExist(_)) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(true)
    }

    fn definition(&self, table: Table) -> TableDefinition<'_, &'static [u8], &'static [u8]> {
        TableDefinition::new(&self.names[table.index()])
    }

    fn commit(&self, changes: &Changes, durability: Durability) -> Result<(), redb::Error> {
        let mut transaction = self.database.begin_write()?;
        transaction.set_durability(match durability {
            Durability::Sync => redb::Durability::Immediate,
            Durability::Buffered => redb::Durability::None,
        })?;
        let mut tables = [const { None }; Table::ALL.len()];
        for change in changes.iter() {
            let (Change::Put { table, .. } | Change::Delete { table, .. }) = change;
            let open = &mut tables[table.index()];
            let tree = match open {
                Some(tree) => tree,
                None => open.insert(transaction.open_table(self.definition(*table))?),
            };
            match change {
                Change::Put { key, value, .. } => drop(tree.insert(&key[..], &value[..])?),
                Change::Delete { key, .. } => drop(tree.remove(&key[..])?),
            }
        }
        drop(tables);
        Ok(transaction.commit()?)
    }
}

impl Engine for Redb {
    type Snapshot<'e> = RedbSnapshot<'e>;

    fn snapshot(&self) -> Result<RedbSnapshot<'_>, EngineError> {
        Ok(RedbSnapshot {
            transaction: self.database.begin_read().map_err(reading)?,
            engine: self,
            tables: Default::default(),
        })
    }

    fn write(&self, changes: &Changes, durability: Durability) -> Result<(), EngineError> {
        check_keys(self, changes)?;
        self.commit(changes, durability)
            .map_err(|error| EngineError::new(NAME, "committing", error))
    }

    fn sync(&self) -> Result<(), EngineError> {
        self.commit(&Changes::new(), Durability::Sync)
            .map_err(|error| EngineError::new(NAME, "syncing", error))
    }

    fn max_key_len(&self) -> usize {
        MAX_KEY_LEN
    }

    fn name(&self) -> &'static str {
        NAME
    }
}

/// The tables of a [`Redb`] at one moment: a read transaction.
///
/// While it lives, redb keeps the pages that it can see; a long one makes the file grow.
#[derive(Debug)]
pub struct RedbSnapshot<'e> {
    transaction: ReadTransaction,
    engine: &'e Redb,
    /// Those that were asked for: opening one takes a search of its own.
    tables: [OnceCell<ReadOnlyTable<&'static [u8], &'static [u8]>>; Table::ALL.len()],
}

impl RedbSnapshot<'_> {
    fn table(
        &self,
        table: Table,
    ) -> Result<&ReadOnlyTable<&'static [u8], &'static [u8]>, EngineError> {
        let cell = &self.tables[table.index()];
        if let Some(tree) = cell.get() {
            return Ok(tree);
        }
        let definition = self.engine.definition(table);
        let tree = self.transaction.open_table(definition).map_err(reading)?;
        Ok(cell.get_or_init(|| tree))
    }
}

impl Snapshot for RedbSnapshot<'_> {
    fn get<T>(
        &self,
        table: Table,
        key: &[u8],
        read: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, EngineError> {
        let value = self.table(table)?.get(key).map_err(reading)?;
        Ok(value.map(|value| read(value.value())))
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
        let entries = self.table(table)?.range::<&[u8]>(bounds).map_err(reading)?;
        for entry in entries {
            let (key, value) = entry.map_err(reading)?;
            if each(key.value(), value.value()).is_break() {
                break;
            }
        }
        Ok(())
    }
}

fn opening(error: impl Error + Send + Sync + 'static) -> EngineError {
    EngineError::new(NAME, "opening", error)
}

fn reading(error: impl Error + Send + Sync + 'static) -> EngineError {
    EngineError::new(NAME, "reading", error)
}
