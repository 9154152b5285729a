//! Somebody's own database, with a guard beside it.

use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow, RangeInclusive};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use twiceshy::ReverseMap;
use twiceshy::hash::Seed;
use twiceshy_store::engine::{Changes, EngineError, Snapshot, Table};
use twiceshy_store::files::Files;
use twiceshy_store::guard::EngineMap;
use twiceshy_store::{Check, Durability, Engine, Error, Guard, GuardError, Stats, StoreBuilder};

use super::front::{Front, Writes};

/// How the rows are found by their hashes.
pub trait Rows<E>: ReverseMap<Error = EngineError> + Send + Sync + 'static {
    /// Bytes before the user's key.
    const PREFIX: usize;

    fn beside(engine: &Arc<E>) -> Self;

    /// Where the row of a key is.
    fn row(h0: u64, key: &[u8]) -> Vec<u8>;
}

/// By a map that the guard writes, in another table.
impl<E: Engine + 'static> Rows<E> for EngineMap<Arc<E>> {
    const PREFIX: usize = 0;

    fn beside(engine: &Arc<E>) -> Self {
        EngineMap::new(Arc::clone(engine))
    }

    fn row(_h0: u64, key: &[u8]) -> Vec<u8> {
        key.to_vec()
    }
}

/// By themselves: the hash is in front of the key, and the guard only reads.
pub struct Column<E>(Arc<E>);

/// The bytes of a hash in the order of hashes.
fn prefix(h0: u64) -> [u8; 8] {
    h0.swap_bytes().to_le_bytes()
}

impl<E: Engine> ReverseMap for Column<E> {
    type Error = EngineError;

    fn keys(
        &self,
        h0: RangeInclusive<u64>,
        mut each: impl FnMut(u64, &[u8]),
    ) -> Result<(), EngineError> {
        let from = prefix(*h0.start());
        let to = h0.end().checked_add(1).map(prefix);
        let to = match &to {
            Some(to) => Bound::Excluded(&to[..]),
            None => Bound::Unbounded,
        };
        let snapshot = self.0.snapshot()?;
        snapshot.range(Table::Records, (Bound::Included(&from), to), |row, _| {
            let (h0, key) = row.split_first_chunk().unwrap();
            each(u64::from_le_bytes(*h0).swap_bytes(), key);
            ControlFlow::Continue(())
        })
    }

    fn insert(&mut self, _h0: u64, _key: &[u8]) -> Result<bool, EngineError> {
        Ok(true)
    }

    fn remove(&mut self, _h0: u64, _key: &[u8]) -> Result<bool, EngineError> {
        Ok(true)
    }
}

impl<E: Engine + 'static> Rows<E> for Column<E> {
    const PREFIX: usize = 8;

    fn beside(engine: &Arc<E>) -> Self {
        Column(Arc::clone(engine))
    }

    fn row(h0: u64, key: &[u8]) -> Vec<u8> {
        [&prefix(h0), key].concat()
    }
}

/// A guard with a map of its own.
pub type Listed<E> = Guarded<E, EngineMap<Arc<E>>>;

/// A guard that reads the database.
pub type Indexed<E> = Guarded<E, Column<E>>;

/// Rows in an engine, and the guard.
pub struct Guarded<E, R> {
    engine: Arc<E>,
    guard: Guard<R>,
    /// Deletions that the guard could not be told of.
    untold: Mutex<Vec<Vec<u8>>>,
    /// The guard may count keys that the database does not have: a failure has left them, or
    /// several keys were deleted together before the guard was told of the first.
    is_unsure: AtomicBool,
}

fn error(error: GuardError<EngineError>) -> Error {
    match error {
        GuardError::Map(error) => Error::Engine(error),
        GuardError::Filter(error) => Error::Filter(error),
        GuardError::Full => Error::Full { records: 0 },
        other => panic!("{other}"),
    }
}

impl<E: Engine + 'static, R: Rows<E>> Guarded<E, R> {
    fn row(&self, key: &[u8]) -> Vec<u8> {
        R::row(self.guard.hash_of(key), key)
    }

    fn read(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        let snapshot = self.engine.snapshot()?;
        Ok(snapshot.get(Table::Records, &self.row(key), <[u8]>::to_vec)?)
    }

    fn note_failure<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        if !matches!(result, Ok(_) | Err(Error::Full { .. })) {
            self.is_unsure.store(true, Ordering::Relaxed);
        }
        result
    }

    /// Tells the guard of deletions, now or the next time.
    fn tell(&self, mut deleted: Vec<Vec<u8>>) {
        // Not with the lock in hand: others get their turns meanwhile.
        deleted.append(&mut self.untold.lock().unwrap());
        deleted.retain(|key| {
            let told = self.guard.deleted(key).map_err(error);
            self.note_failure(told).is_err()
        });
        self.untold.lock().unwrap().append(&mut deleted);
    }
}

impl<E: Engine + 'static, R: Rows<E>> Front for Guarded<E, R> {
    type Engine = E;

    const TABLES: &'static [Table] = &[Table::Records];
    const PREFIX: usize = R::PREFIX;

    fn open(builder: StoreBuilder, engine: E, _files: impl Files + 'static) -> Result<Self, Error> {
        let engine = Arc::new(engine);
        // The seed is kept with the rows.
        let seed = engine.snapshot()?.get(Table::Meta, b"seed", |seed| {
            Seed::from_bytes(seed.try_into().unwrap())
        })?;
        let is_new = seed.is_none();
        let builder = match seed {
            Some(seed) => builder.seed(seed),
            None => builder,
        };
        let guard = builder.guard(R::beside(&engine)).map_err(error)?;
        if is_new {
            let mut changes = Changes::new();
            changes.put(Table::Meta, "seed", guard.seed().to_bytes());
            engine.write(&changes, Durability::Sync)?;
        }
        let mut rows = 0;
        let everything = (Bound::Unbounded, Bound::Unbounded);
        let count = |_: &[u8], _: &[u8]| {
            rows += 1;
            ControlFlow::Continue(())
        };
        engine
            .snapshot()?
            .range(Table::Records, everything, count)?;
        // A map of its own may list more than there is.
        let is_unsure = R::PREFIX == 0 && guard.len() > rows;
        Ok(Guarded {
            engine,
            guard,
            untold: Mutex::default(),
            is_unsure: AtomicBool::new(is_unsure),
        })
    }

    fn engine(&self) -> &E {
        &self.engine
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        let Check::Maybe(ticket) = self.guard.check(key) else {
            return Ok(None);
        };
        let found = self.read(key)?;
        if found.is_none() {
            ticket.absent().map_err(error)?;
        }
        Ok(found)
    }

    fn put(&self, key: &[u8], value: Vec<u8>) -> Result<(), Error> {
        self.write(&[(key.to_vec(), Some(value))], None)
    }

    fn insert_new(&self, key: &[u8], value: Vec<u8>) -> Result<(), Error> {
        self.put(key, value)
    }

    fn delete(&self, key: &[u8]) -> Result<bool, Error> {
        let was_there = self.get(key)?.is_some();
        if was_there {
            self.write(&[(key.to_vec(), None)], None)?;
        }
        Ok(was_there)
    }

    fn write(&self, writes: &Writes, durability: Option<Durability>) -> Result<(), Error> {
        self.tell(Vec::new());
        // The last word on a key counts.
        let writes: BTreeMap<_, _> = writes.iter().cloned().collect();
        let (mut tokens, mut deleted) = (Vec::new(), Vec::new());
        let mut changes = Changes::new();
        for (key, _) in writes.iter().filter(|(_, value)| value.is_none()) {
            if self.read(key)?.is_some() {
                changes.delete(Table::Records, self.row(key));
                deleted.push(key.clone());
            }
        }
        if R::PREFIX > 0 && deleted.len() > 1 {
            self.is_unsure.store(true, Ordering::Relaxed);
        }
        for (key, value) in &writes {
            if let Some(value) = value {
                changes.put(Table::Records, self.row(key), &value[..]);
                self.untold.lock().unwrap().retain(|untold| untold != key);
                match self.note_failure(self.guard.inserting(key).map_err(error)) {
                    Ok(token) => tokens.push(token),
                    Err(failure) => {
                        for token in tokens {
                            let _ = self.note_failure(token.rolled_back().map_err(error));
                        }
                        return Err(failure);
                    }
                }
            }
        }
        let written = self
            .engine
            .write(&changes, durability.unwrap_or(Durability::Sync));
        if let Err(failure) = self.note_failure(written.map_err(Error::Engine)) {
            // It may have been made all the same.
            let found: Result<Vec<_>, _> = writes.keys().map(|key| self.read(key)).collect();
            match found {
                Ok(found) if found.iter().eq(writes.values()) => self.tell(deleted),
                Ok(_) => {
                    for token in tokens {
                        let _ = token.rolled_back();
                    }
                }
                Err(_) => {} // the fingerprints stay
            }
            return Err(failure);
        }
        drop(tokens);
        self.tell(deleted);
        Ok(())
    }

    fn checkpoint(&self) -> Result<(), Error> {
        self.sync()
    }

    fn sync(&self) -> Result<(), Error> {
        Ok(self.engine.sync()?)
    }

    /// All keys are given to the guard anew.
    fn rotate(&self) -> Result<(), Error> {
        let mut keys = Vec::new();
        let each = |row: &[u8], _: &[u8]| {
            keys.push(row[R::PREFIX..].to_vec());
            ControlFlow::Continue(())
        };
        let everything = (Bound::Unbounded, Bound::Unbounded);
        self.engine
            .snapshot()?
            .range(Table::Records, everything, each)?;
        self.note_failure(self.guard.rebuild(keys).map_err(error))
    }

    fn finish_rotation(&self) -> Result<(), Error> {
        Ok(())
    }

    fn stats(&self) -> Stats {
        self.guard.stats()
    }

    fn counted(&self) -> Option<u64> {
        (!self.is_unsure.load(Ordering::Relaxed)).then(|| self.guard.len())
    }

    fn verify(&self) -> Result<u64, Error> {
        let rows = self.contents();
        for key in rows.keys() {
            assert!(self.guard.check(key).is_maybe(), "the guard denies a row");
        }
        Ok(rows.len() as u64)
    }
}
