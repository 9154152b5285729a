//! A store whose engine and layout are known only when it runs.

use std::ops::Bound;

use twiceshy_store::{Batch, Engine, Error, Layout, Merged, Record, Split, Stats, Store, Verified};

/// From where to where.
pub(crate) type Bounds = (Bound<Vec<u8>>, Bound<Vec<u8>>);

/// Records as they come from a store.
pub(crate) type Records<'s> = Box<dyn Iterator<Item = Result<Record, Error>> + 's>;

/// What commands do with a store.
pub(crate) trait AnyStore: Sync {
    /// Does all of it or nothing; when it returns, it is safe.
    fn write(&self, batch: Batch) -> Result<(), Error>;

    /// The value under a key.
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Error>;

    /// Deletes a record; was there one?
    fn delete(&self, key: &[u8]) -> Result<bool, Error>;

    /// All records: in the order of their hashes, or of their keys in the split layout.
    fn iter(&self) -> Result<Records<'_>, Error>;

    /// The records whose keys are in a range, in order; `None` in a layout without.
    fn range(&self, keys: Bounds) -> Result<Option<Records<'_>>, Error>;

    /// How many there are.
    fn len(&self) -> u64;

    /// The bytes of the longest key.
    fn max_key_len(&self) -> usize;

    /// How it is doing.
    fn stats(&self) -> Stats;

    /// Goes through everything.
    fn verify(&self) -> Result<Verified, Error>;

    /// Saves the filter and ends.
    fn close(self: Box<Self>) -> Result<(), Error>;
}

/// What the two layouts do each in its own way.
pub(crate) trait Ranges: Layout + Sized {
    /// See [`AnyStore::range`].
    fn range<E: Engine>(store: &Store<E, Self>, keys: Bounds)
    -> Result<Option<Records<'_>>, Error>;
}

impl Ranges for Merged {
    fn range<E: Engine>(_: &Store<E, Self>, _: Bounds) -> Result<Option<Records<'_>>, Error> {
        Ok(None)
    }
}

impl Ranges for Split {
    fn range<E: Engine>(
        store: &Store<E, Self>,
        keys: Bounds,
    ) -> Result<Option<Records<'_>>, Error> {
        Ok(Some(Box::new(store.range(keys)?)))
    }
}

impl<E: Engine, L: Ranges> AnyStore for Store<E, L> {
    fn write(&self, batch: Batch) -> Result<(), Error> {
        self.write(batch)
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        self.get(key)
    }

    fn delete(&self, key: &[u8]) -> Result<bool, Error> {
        self.delete(key)
    }

    fn iter(&self) -> Result<Records<'_>, Error> {
        Ok(Box::new(self.iter()?))
    }

    fn range(&self, keys: Bounds) -> Result<Option<Records<'_>>, Error> {
        L::range(self, keys)
    }

    fn len(&self) -> u64 {
        self.len()
    }

    fn max_key_len(&self) -> usize {
        self.max_key_len()
    }

    fn stats(&self) -> Stats {
        self.stats()
    }

    fn verify(&self) -> Result<Verified, Error> {
        self.verify()
    }

    fn close(self: Box<Self>) -> Result<(), Error> {
        Store::close(*self)
    }
}
