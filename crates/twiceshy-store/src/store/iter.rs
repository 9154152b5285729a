//! Going through the records.

use std::collections::VecDeque;
use std::fmt;
use std::ops::{Bound, ControlFlow, RangeBounds};

use super::Store;
use crate::engine::{Engine, Snapshot, Table};
use crate::error::Error;
use crate::hash_order;
use crate::layout::{Layout, Split};

/// Records read at a time.
const PAGE: usize = 512;

/// A record: its key and its value.
pub type Record = (Vec<u8>, Vec<u8>);

/// The records of a store, or a range of them, as they were when the iterator was made.
pub struct Iter<'s, E: Engine + 's> {
    snapshot: E::Snapshot<'s>,
    /// Those that are left to go through, the next one last.
    tables: Vec<Table>,
    /// Do keys stand behind their hashes?
    hashed: bool,
    from: Bound<Vec<u8>>,
    to: Bound<Vec<u8>>,
    page: VecDeque<Record>,
}

impl<E: Engine, L: Layout> Store<E, L> {
    /// All records as they are now, in key order in the split layout, and in hash order, or
    /// while the seed changes in that of two hashes, in the merged one. What is written later is
    /// not seen.
    ///
    /// # Errors
    /// [`Error::Engine`].
    pub fn iter(&self) -> Result<Iter<'_, E>, Error> {
        let tables = match L::records(Table::Even) {
            // A snapshot has each record in one of the two, also while they move.
            Table::Even => vec![Table::Odd, Table::Even],
            table => vec![table],
        };
        Ok(Iter {
            snapshot: self.snapshot()?,
            hashed: tables.len() == 2,
            tables,
            from: Bound::Unbounded,
            to: Bound::Unbounded,
            page: VecDeque::new(),
        })
    }
}

impl<E: Engine> Store<E, Split> {
    /// The records whose keys are in a range, in order of keys, as they are now.
    ///
    /// # Errors
    /// [`Error::Engine`].
    pub fn range<K: AsRef<[u8]>>(&self, keys: impl RangeBounds<K>) -> Result<Iter<'_, E>, Error> {
        let owned = |bound: Bound<&K>| bound.map(|key| key.as_ref().to_vec());
        Ok(Iter {
            from: owned(keys.start_bound()),
            to: owned(keys.end_bound()),
            ..self.iter()?
        })
    }
}

impl<E: Engine> Iter<'_, E> {
    fn read_page(&mut self) -> Result<(), Error> {
        while let Some(&table) = self.tables.last() {
            let bounds = (slice(&self.from), slice(&self.to));
            let (page, hashed) = (&mut self.page, self.hashed);
            let mut last = None;
            self.snapshot.range(table, bounds, |entry, value| {
                let key = match hash_order::split(entry).filter(|_| hashed) {
                    Some((_, key)) => key,
                    None => entry,
                };
                page.push_back((key.to_vec(), value.to_vec()));
                if page.len() < PAGE {
                    return ControlFlow::Continue(());
                }
                last = Some(entry.to_vec());
                ControlFlow::Break(())
            })?;
            if let Some(last) = last {
                self.from = Bound::Excluded(last);
                return Ok(());
            }
            self.tables.pop();
            self.from = Bound::Unbounded;
            if !self.page.is_empty() {
                return Ok(());
            }
        }
        Ok(())
    }
}

fn slice(bound: &Bound<Vec<u8>>) -> Bound<&[u8]> {
    bound.as_ref().map(Vec::as_slice)
}

impl<E: Engine> Iterator for Iter<'_, E> {
    type Item = Result<Record, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.page.is_empty()
            && let Err(error) = self.read_page()
        {
            self.tables.clear();
            return Some(Err(error));
        }
        self.page.pop_front().map(Ok)
    }
}

impl<E: Engine> fmt::Debug for Iter<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Iter").finish_non_exhaustive()
    }
}
