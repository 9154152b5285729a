//! Merging, doubling and halving: one stream of fingerprints into another table.

use super::{Core, QuotientFilter};
use crate::bits::Bytes;
use crate::builder::Buildable;
use crate::error::Error;
use crate::hash::StreamHash;
use crate::mem::Memory;
use crate::merge::{Ground, Homes, Merge, too_full};
use crate::table::Writer;

impl<H: StreamHash> QuotientFilter<H> {
    /// All items of several filters of equal seed and equal `slots * 2^remainder_bits`, in the
    /// geometry of the one with the most slots. [`Merge`] has more choices.
    ///
    /// # Errors
    /// [`Error::Merge`] if the filters differ in seed or number of ids, [`Error::Full`] if the
    /// items need more slots.
    ///
    /// ```
    /// use twiceshy::QuotientFilter;
    /// use twiceshy::hash::Seed;
    ///
    /// let new = || QuotientFilter::builder().capacity(1_000).seed(Seed::from_u64(1)).build();
    /// let (mut a, mut b) = (new()?, new()?);
    /// a.insert("anna")?;
    /// b.insert("otto")?;
    /// let both = QuotientFilter::merge([&a, &b])?;
    /// assert!(both.contains("anna") && both.contains("otto"));
    /// # Ok::<(), twiceshy::Error>(())
    /// ```
    pub fn merge<'f, M: Bytes + 'f>(
        filters: impl IntoIterator<Item = &'f QuotientFilter<H, M>>,
    ) -> Result<Self, Error>
    where
        H: 'f,
    {
        Merge::of(filters).build()
    }
}

impl<H: StreamHash, M: Bytes> QuotientFilter<H, M> {
    /// The same items in twice the slots, with remainders of one bit less. Nothing is lost:
    /// the answers are the same.
    ///
    /// # Errors
    /// [`Error::Geometry`] if remainders have but one bit, or the result does not fit in
    /// memory; [`Error::Full`] if the last quotients are so full that their runs need more
    /// spare slots than twice the slots have (only tiny or crafted filters are).
    pub fn doubled(&self) -> Result<QuotientFilter<H>, Error> {
        Merge::of([self]).doubled(1).build()
    }

    /// The same items in half the slots, with remainders of one bit more: the inverse of
    /// [`doubled`](Self::doubled).
    ///
    /// # Errors
    /// [`Error::Geometry`] if the number of slots is odd or remainders have 56 bits,
    /// [`Error::Full`] if the items need more slots.
    pub fn halved(&self) -> Result<QuotientFilter<H>, Error> {
        Merge::of([self]).halved().build()
    }
}

impl<H: StreamHash, M: Bytes> Merge<'_, QuotientFilter<H, M>> {
    /// Merges them.
    ///
    /// # Errors
    /// [`Error::Merge`] if the filters differ in seed or number of ids, [`Error::Geometry`] if
    /// there is no result of this size, [`Error::Full`] if the items need more slots.
    pub fn build(self) -> Result<QuotientFilter<H, Memory>, Error> {
        let parts =
            self.parts(|filter| Ground::new(filter.core.table.geometry(), filter.seed, 0))?;
        let geometry = parts.geometry;
        let result = QuotientFilter::<H>::from_parts(parts)?;
        let items: u64 = self.filters.iter().map(|filter| filter.len()).sum();
        let table = result.core.table;
        if items > table.slots() {
            return Err(too_full(table.full(), items));
        }
        let tables = self.filters.iter().map(|filter| &filter.core.table);
        let mut homes = Homes::new(&tables.collect::<Vec<_>>(), geometry.ids());
        let mut writer = Writer::new(table);
        loop {
            let chunk = homes.chunk()?;
            if chunk.is_empty() {
                break;
            }
            let slots = chunk.iter().map(|home| {
                let fingerprint = geometry.fingerprint_of(home.id());
                (fingerprint.quotient, fingerprint.remainder)
            });
            writer
                .push_all(slots)
                .map_err(|error| too_full(error, items))?;
        }
        Ok(QuotientFilter {
            core: Core {
                table: writer.finish(),
            },
            ..result
        })
    }
}
