//! Filters that are read where they lie.

use std::fmt;
use std::ops::Deref;

use super::{Stored, read};
use crate::error::Error;
use crate::hash::{Hashed, Key};
use crate::stats::Stats;
use crate::traits::Filter;

/// A filter over the bytes of its file, which may be a memory map: nothing is copied, and
/// queries are as fast as on a filter that owns its table. It can be asked, not changed.
///
/// All queries of the filter are there through [`Deref`].
///
/// ```
/// use twiceshy::QuotientFilter;
/// use twiceshy::file::View;
///
/// let mut filter = QuotientFilter::new(1_000, 0.001)?;
/// filter.insert("anna")?;
/// let bytes = filter.to_bytes(); // or a map of the file that `write_to` made
///
/// let view = View::<QuotientFilter>::new(&bytes)?;
/// assert!(view.contains("anna"));
/// assert_eq!(view.len(), 1);
/// # Ok::<(), twiceshy::Error>(())
/// ```
///
/// A view borrows its bytes. Whoever must own both opens and verifies the bytes once, and
/// then makes a view for each use with [`new_unverified`](Self::new_unverified), which reads the header
/// alone.
pub struct View<'b, F: Stored> {
    filter: F::View<'b>,
}

impl<'b, F: Stored> View<'b, F> {
    /// A view of a file, all of which is checked: its checksum, and that its table is one.
    /// Reads every byte twice.
    ///
    /// # Errors
    /// [`Error::Format`] if the bytes are no file of ours, or hold another filter or hash;
    /// [`Error::Corrupt`] if they are damaged.
    pub fn new(bytes: &'b [u8]) -> Result<Self, Error> {
        let filter = read::view(bytes)?;
        Ok(View { filter })
    }

    /// A view of a file whose header alone is checked, at once and whatever its size. For
    /// bytes that were verified before and that nobody has changed since.
    ///
    /// On other bytes it may give wrong answers, such as "no" for a member. It will still not
    /// panic, not read beyond the bytes, and end every query in time linear in the file.
    ///
    /// # Errors
    /// [`Error::Format`] and [`Error::Corrupt`] for what the header and the length show.
    pub fn new_unverified(bytes: &'b [u8]) -> Result<Self, Error> {
        let filter = read::view_unverified(bytes)?;
        Ok(View { filter })
    }
}

impl<'b, F: Stored> Deref for View<'b, F> {
    type Target = F::View<'b>;

    #[inline]
    fn deref(&self) -> &F::View<'b> {
        &self.filter
    }
}

impl<F: Stored> fmt::Debug for View<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("View").field(&self.filter).finish()
    }
}

impl<F: Stored> Filter for View<'_, F> {
    #[inline]
    fn hash<'k, K: Key + ?Sized>(&self, key: &'k K) -> Hashed<'k> {
        self.filter.hash(key)
    }

    #[inline]
    fn contains_hashed(&self, key: &Hashed<'_>) -> bool {
        self.filter.contains_hashed(key)
    }

    #[inline]
    fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.filter.contains(key)
    }

    fn len(&self) -> u64 {
        self.filter.len()
    }

    fn stats(&self) -> Stats {
        self.filter.stats()
    }
}
