//! What the tests break: a store, or somebody's own database with a guard beside it.

use std::ops::{Bound::Unbounded, ControlFlow};

use twiceshy_store::engine::{Snapshot, Table};
use twiceshy_store::files::Files;
use twiceshy_store::{
    Batch, Durability, Engine, Error, Layout, Merged, Split, Stats, Store, StoreBuilder,
};

use super::Model;

/// Writes that happen together: values, or none for deletions.
pub type Writes = [(Vec<u8>, Option<Vec<u8>>)];

/// A filter that learns, in front of records.
pub trait Front: Sized + Send + Sync + 'static {
    type Engine: Engine;

    /// The engine's tables with records, and the bytes there before the user's key.
    const TABLES: &'static [Table];
    const PREFIX: usize;

    fn open(
        builder: StoreBuilder,
        engine: Self::Engine,
        files: impl Files + 'static,
    ) -> Result<Self, Error>;

    fn engine(&self) -> &Self::Engine;
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Error>;
    fn put(&self, key: &[u8], value: Vec<u8>) -> Result<(), Error>;
    fn insert_new(&self, key: &[u8], value: Vec<u8>) -> Result<(), Error>;
    fn delete(&self, key: &[u8]) -> Result<bool, Error>;
    fn write(&self, writes: &Writes, durability: Option<Durability>) -> Result<(), Error>;
    fn checkpoint(&self) -> Result<(), Error>;
    fn sync(&self) -> Result<(), Error>;

    /// Begins to forget what was learnt, and ends it.
    fn rotate(&self) -> Result<(), Error>;
    fn finish_rotation(&self) -> Result<(), Error>;

    fn stats(&self) -> Stats;

    /// How many records it counts; `None` if a failure has made that unsure.
    fn counted(&self) -> Option<u64>;

    /// Finds itself in order, and says how many records there are.
    fn verify(&self) -> Result<u64, Error>;

    /// What the engine holds, without the filter's help.
    fn truth(engine: &impl Engine) -> Model {
        let mut truth = Model::new();
        let snapshot = engine.snapshot().unwrap();
        for &table in Self::TABLES {
            let each = |entry: &[u8], value: &[u8]| {
                let twice = truth.insert(entry[Self::PREFIX..].to_vec(), value.to_vec());
                assert_eq!(twice, None, "a record is in both tables");
                ControlFlow::Continue(())
            };
            snapshot.range(table, (Unbounded, Unbounded), each).unwrap();
        }
        truth
    }

    /// All records, as it lists them itself.
    fn contents(&self) -> Model {
        Self::truth(self.engine())
    }

    fn contains(&self, key: &[u8]) -> Result<bool, Error> {
        Ok(self.get(key)?.is_some())
    }
}

/// Where a layout has its records.
pub trait Records: Layout {
    const TABLES: &'static [Table];
    const PREFIX: usize;
}

impl Records for Merged {
    const TABLES: &'static [Table] = &[Table::Even, Table::Odd];
    const PREFIX: usize = 8;
}

impl Records for Split {
    const TABLES: &'static [Table] = &[Table::Records];
    const PREFIX: usize = 0;
}

impl<E: Engine + 'static, L: Records> Front for Store<E, L> {
    type Engine = E;

    const TABLES: &'static [Table] = L::TABLES;
    const PREFIX: usize = L::PREFIX;

    fn open(builder: StoreBuilder, engine: E, files: impl Files + 'static) -> Result<Self, Error> {
        builder.layout().open(engine, files)
    }

    fn engine(&self) -> &E {
        self.engine()
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        self.get(key)
    }

    fn put(&self, key: &[u8], value: Vec<u8>) -> Result<(), Error> {
        self.put(key, value)
    }

    fn insert_new(&self, key: &[u8], value: Vec<u8>) -> Result<(), Error> {
        self.insert_new(key, value)
    }

    fn delete(&self, key: &[u8]) -> Result<bool, Error> {
        self.delete(key)
    }

    fn write(&self, writes: &Writes, durability: Option<Durability>) -> Result<(), Error> {
        let mut batch = Batch::new();
        for (key, value) in writes {
            match value {
                Some(value) => batch.put(key, &value[..]),
                None => batch.delete(key),
            };
        }
        durability.map(|durability| batch.durability(durability));
        self.write(batch)
    }

    fn checkpoint(&self) -> Result<(), Error> {
        self.checkpoint()
    }

    fn sync(&self) -> Result<(), Error> {
        self.sync()
    }

    fn rotate(&self) -> Result<(), Error> {
        self.rotate()
    }

    fn finish_rotation(&self) -> Result<(), Error> {
        self.finish_rotation()
    }

    fn stats(&self) -> Stats {
        self.stats()
    }

    fn counted(&self) -> Option<u64> {
        Some(self.len())
    }

    fn verify(&self) -> Result<u64, Error> {
        Ok(self.verify()?.records)
    }

    fn contents(&self) -> Model {
        let mut model = Model::new();
        for record in self.iter().expect("a healthy engine") {
            let (key, value) = record.expect("a healthy engine");
            let twice = model.insert(key, value);
            assert_eq!(twice, None, "a record is there twice");
        }
        model
    }
}
