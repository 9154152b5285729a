//! Merging, doubling and halving: counts of equal fingerprints add up.

use super::CountingFilter;
use crate::bits::Bytes;
use crate::builder::Buildable;
use crate::entry::Entry;
use crate::error::Error;
use crate::filters::union::{Equal, unite};
use crate::hash::StreamHash;
use crate::merge::{Collision, Ground, Merge};

impl<H: StreamHash> CountingFilter<H> {
    /// The sum of several filters of equal seed and equal `slots * 2^remainder_bits`, in the
    /// geometry of the one with the most slots. [`Merge`] has more choices.
    ///
    /// # Errors
    /// Those of [`Merge::build`].
    ///
    /// ```
    /// use twiceshy::CountingFilter;
    /// use twiceshy::hash::Seed;
    ///
    /// let new = || CountingFilter::builder().capacity(1_000).seed(Seed::from_u64(1)).build();
    /// let (mut a, mut b) = (new()?, new()?);
    /// a.insert_count("anna", 700)?;
    /// b.insert_count("anna", 50)?;
    /// assert_eq!(CountingFilter::merge([&a, &b])?.count("anna"), 750);
    /// # Ok::<(), twiceshy::Error>(())
    /// ```
    pub fn merge<'f, M: Bytes + 'f>(
        filters: impl IntoIterator<Item = &'f CountingFilter<H, M>>,
    ) -> Result<Self, Error>
    where
        H: 'f,
    {
        Merge::of(filters).build()
    }
}

impl<H: StreamHash, M: Bytes> CountingFilter<H, M> {
    /// The same counts in twice the slots, with remainders of one bit less. Nothing is lost:
    /// the answers are the same.
    ///
    /// # Errors
    /// [`Error::Geometry`] if remainders have but one bit, or the result does not fit in
    /// memory; [`Error::Full`] if counters, in narrower slots now, need more slots, or the last
    /// quotients more spare slots (only in tiny or crafted filters).
    pub fn doubled(&self) -> Result<CountingFilter<H>, Error> {
        Merge::of([self]).doubled(1).build()
    }

    /// The same counts in half the slots, with remainders of one bit more: the inverse of
    /// [`doubled`](Self::doubled).
    ///
    /// # Errors
    /// [`Error::Geometry`] if the number of slots is odd or remainders have 56 bits,
    /// [`Error::Full`] if the counts need more slots.
    pub fn halved(&self) -> Result<CountingFilter<H>, Error> {
        Merge::of([self]).halved().build()
    }
}

impl<'f, H: StreamHash, M: Bytes> Merge<'f, CountingFilter<H, M>> {
    /// What to make of the counts of one fingerprint in several inputs, in place of their
    /// sum. The value of the entry must be zero.
    ///
    /// ```
    /// use twiceshy::Entry;
    /// use twiceshy::hash::Seed;
    /// use twiceshy::{CountingFilter, Merge};
    ///
    /// let new = || CountingFilter::builder().capacity(1_000).seed(Seed::from_u64(1)).build();
    /// let (mut a, mut b) = (new()?, new()?);
    /// a.insert_count("anna", u64::MAX)?;
    /// b.insert_count("anna", 50)?;
    /// let capped = Merge::of([&a, &b])
    ///     .resolve(|collision| Ok(Entry::new(collision.total().unwrap_or(u64::MAX), 0)))
    ///     .build()?;
    /// assert_eq!(capped.count("anna"), u64::MAX);
    /// # Ok::<(), twiceshy::Error>(())
    /// ```
    pub fn resolve(
        self,
        resolver: impl FnMut(&Collision<'_>) -> Result<Entry, Error> + 'f,
    ) -> Self {
        self.set_resolver(resolver)
    }

    /// Merges them.
    ///
    /// # Errors
    /// [`Error::Merge`] if the filters differ in seed or number of ids; [`Error::Overflow`] if
    /// the sum of two counts does, or the resolver's own error; [`Error::Geometry`] if there
    /// is no result of this size; [`Error::Full`] if the counts need more slots.
    pub fn build(self) -> Result<CountingFilter<H>, Error> {
        let parts =
            self.parts(|filter| Ground::new(filter.core.table.geometry(), filter.seed, 0))?;
        let result = CountingFilter::<H>::from_parts(parts)?;
        let inputs = self.filters.iter().map(|filter| &filter.core).collect();
        let (core, _, total) = unite(inputs, result.core, Equal::Count, self.resolver)?;
        Ok(CountingFilter {
            core,
            total,
            ..result
        })
    }
}
