//! Stores of keys by cell: each key in the place of its fingerprint.
//!
//! An adaptive cuckoo filter changes the fingerprint of a key, and must know the key to do so. It
//! finds it in a second table with as many cells, where every key lies in the cell of its
//! fingerprint: the two move *in lock-step*. So every move in the filter is a move in the key
//! store, which may be on disk.
//!
//! (The reverse map of the adaptive quotient filter is ordered by hash, and no insertion moves
//! anything in it.)

use crate::error::Error;

/// A store of keys by cell.
///
/// The filter asks for nothing that it does not know to be there: it puts keys into empty cells
/// only, and takes and moves keys that it has put.
pub trait LockStep {
    /// What can go wrong in the store, or in the filter that changes with it.
    type Error: From<Error>;

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

/// Keys by cell, in memory. They do not fail.
///
/// ```
/// use twiceshy::cuckoo::{LockStep, MemoryCells};
///
/// let mut cells = MemoryCells::default();
/// cells.put(7, b"anna")?;
/// cells.relocate(7, 2)?;
/// assert_eq!(cells.read(2, |key| key.to_vec())?, Some(b"anna".to_vec()));
/// assert_eq!(cells.read(7, |key| key.to_vec())?, None);
/// # Ok::<(), twiceshy::Error>(())
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
    type Error = Error;

    fn read<R>(&self, cell: u64, read: impl FnOnce(&[u8]) -> R) -> Result<Option<R>, Error> {
        let key = self.cells.get(cell as usize).and_then(Option::as_ref);
        Ok(key.map(|key| read(key)))
    }

    fn put(&mut self, cell: u64, key: &[u8]) -> Result<(), Error> {
        *self.cell(cell) = Some(key.into());
        Ok(())
    }

    fn take(&mut self, cell: u64) -> Result<(), Error> {
        *self.cell(cell) = None;
        Ok(())
    }

    fn relocate(&mut self, from: u64, to: u64) -> Result<(), Error> {
        let key = self.cell(from).take();
        *self.cell(to) = key;
        Ok(())
    }

    fn swap(&mut self, one: u64, two: u64) -> Result<(), Error> {
        self.cell(one.max(two));
        self.cells.swap(one as usize, two as usize);
        Ok(())
    }
}
