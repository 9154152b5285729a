//! Who is in a cell: keys in the places of their fingerprints.
//!
//! An adaptive cuckoo filter changes the fingerprint of a key, and must know the key to do so. It
//! finds it in a second table with as many cells, where every key lies in the cell of its
//! fingerprint: the two move *in lock-step*. So every move in the filter is a move in the key
//! store, which may be on disk. [`Counted`] shows what that comes to.
//!
//! (The [reverse map](crate::sets::reverse_map) of the adaptive quotient filter is ordered by hash,
//! and no insertion moves anything in it.)

use std::convert::Infallible;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Error;

/// A store of keys by cell.
///
/// The filter asks for nothing that it does not know to be there: it puts keys into empty cells
/// only, and takes and moves keys that it has put.
pub trait LockStep {
    /// What can go wrong in the store.
    type Error;

    /// Calls `read` with the key in a cell; `None` if there is none.
    ///
    /// # Errors
    /// The store's.
    fn read<R>(&self, cell: u64, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>, Self::Error>;

    /// Puts a key into an empty cell.
    ///
    /// # Errors
    /// The store's; nothing has changed then.
    fn put(&mut self, cell: u64, key: &[u8]) -> Result<(), Self::Error>;

    /// Empties a cell.
    ///
    /// # Errors
    /// The store's; nothing has changed then.
    fn take(&mut self, cell: u64) -> Result<(), Self::Error>;

    /// Moves a key to an empty cell.
    ///
    /// # Errors
    /// The store's; nothing has changed then.
    fn relocate(&mut self, from: u64, to: u64) -> Result<(), Self::Error>;

    /// Exchanges the keys of two cells.
    ///
    /// # Errors
    /// The store's; nothing has changed then.
    fn swap(&mut self, one: u64, two: u64) -> Result<(), Self::Error>;
}

/// Keys by cell, in memory.
///
/// ```
/// use twiceshy::sets::lock_step::{LockStep, MemoryCells};
///
/// let mut cells = MemoryCells::default();
/// cells.put(7, b"anna")?;
/// cells.relocate(7, 2)?;
/// assert_eq!(cells.read(2, |key| key.to_vec())?, Some(b"anna".to_vec()));
/// assert_eq!(cells.read(7, |key| key.to_vec())?, None);
/// # Ok::<(), std::convert::Infallible>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct MemoryCells {
    cells: Vec<Option<Box<[u8]>>>,
}

impl MemoryCells {
    /// Makes sure that there is such a cell.
    fn cell(&mut self, cell: u64) -> &mut Option<Box<[u8]>> {
        let cell = cell as usize;
        if cell >= self.cells.len() {
            self.cells.resize(cell + 1, None);
        }
        &mut self.cells[cell]
    }

    /// All keys with their cells, from the first cell to the last.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let cells = (0..).zip(&self.cells);
        cells.filter_map(|(cell, key)| Some((cell, &**key.as_ref()?)))
    }
}

impl LockStep for MemoryCells {
    type Error = Infallible;

    fn read<R>(&self, cell: u64, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>, Infallible> {
        let key = self.cells.get(cell as usize).and_then(Option::as_ref);
        Ok(key.map(|key| read(key)))
    }

    fn put(&mut self, cell: u64, key: &[u8]) -> Result<(), Infallible> {
        *self.cell(cell) = Some(key.into());
        Ok(())
    }

    fn take(&mut self, cell: u64) -> Result<(), Infallible> {
        *self.cell(cell) = None;
        Ok(())
    }

    fn relocate(&mut self, from: u64, to: u64) -> Result<(), Infallible> {
        let key = self.cell(from).take();
        *self.cell(to) = key;
        Ok(())
    }

    fn swap(&mut self, one: u64, two: u64) -> Result<(), Infallible> {
        self.cell(one.max(two));
        self.cells.swap(one as usize, two as usize);
        Ok(())
    }
}

/// A store that counts what is asked of it: the columns of table 1 of *Adaptive Quotient
/// Filters*.
///
/// ```
/// use twiceshy::sets::lock_step::{Accesses, Counted, LockStep, MemoryCells};
///
/// let mut cells = Counted::new(MemoryCells::default());
/// cells.put(1, b"anna")?;
/// cells.relocate(1, 2)?;
/// cells.read(2, |_| ())?;
/// assert_eq!(cells.accesses(), Accesses { inserts: 1, updates: 1, queries: 1, removals: 0 });
/// # Ok::<(), std::convert::Infallible>(())
/// ```
#[derive(Debug, Default)]
pub struct Counted<S> {
    store: S,
    inserts: u64,
    updates: u64,
    removals: u64,
    /// Reading takes no `&mut`.
    queries: AtomicU64,
}

/// How often a store was asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accesses {
    /// Keys that were put.
    pub inserts: u64,
    /// Keys that were moved; two for an exchange.
    pub updates: u64,
    /// Keys that were read.
    pub queries: u64,
    /// Keys that were taken.
    pub removals: u64,
}

impl<S> Counted<S> {
    /// Counts from zero.
    pub fn new(store: S) -> Self {
        Counted {
            store,
            inserts: 0,
            updates: 0,
            removals: 0,
            queries: AtomicU64::new(0),
        }
    }

    /// What was counted so far.
    #[must_use]
    pub fn accesses(&self) -> Accesses {
        Accesses {
            inserts: self.inserts,
            updates: self.updates,
            queries: self.queries.load(Ordering::Relaxed),
            removals: self.removals,
        }
    }

    /// The store.
    pub fn store(&self) -> &S {
        &self.store
    }
}

impl<S: LockStep> LockStep for Counted<S> {
    type Error = S::Error;

    fn read<R>(&self, cell: u64, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>, S::Error> {
        self.queries.fetch_add(1, Ordering::Relaxed);
        self.store.read(cell, read)
    }

    fn put(&mut self, cell: u64, key: &[u8]) -> Result<(), S::Error> {
        self.inserts += 1;
        self.store.put(cell, key)
    }

    fn take(&mut self, cell: u64) -> Result<(), S::Error> {
        self.removals += 1;
        self.store.take(cell)
    }

    fn relocate(&mut self, from: u64, to: u64) -> Result<(), S::Error> {
        self.updates += 1;
        self.store.relocate(from, to)
    }

    fn swap(&mut self, one: u64, two: u64) -> Result<(), S::Error> {
        self.updates += 2;
        self.store.swap(one, two)
    }
}

/// What can go wrong in a filter with a store: something in either.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LockStepError<E> {
    /// The filter's; nothing has changed.
    Filter(Error),
    /// The store's. Keys may have moved, each with its fingerprint; all are still found.
    Store(E),
}

impl<E> From<Error> for LockStepError<E> {
    fn from(error: Error) -> Self {
        LockStepError::Filter(error)
    }
}

/// A store in memory does not fail.
impl From<LockStepError<Infallible>> for Error {
    fn from(error: LockStepError<Infallible>) -> Self {
        match error {
            LockStepError::Filter(error) => error,
            LockStepError::Store(never) => match never {},
        }
    }
}

impl<E: fmt::Display> fmt::Display for LockStepError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LockStepError::Filter(error) => error.fmt(f),
            LockStepError::Store(error) => write!(f, "the key store failed: {error}"),
        }
    }
}

impl<E: std::error::Error + 'static> std::error::Error for LockStepError<E> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            LockStepError::Filter(error) => Some(error),
            LockStepError::Store(error) => Some(error),
        }
    }
}
