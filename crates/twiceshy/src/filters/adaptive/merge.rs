//! Merging, doubling and halving adaptive filters.

use super::AdaptiveFilter;
use crate::bits::Bytes;
use crate::builder::Buildable;
use crate::entry::Entry;
use crate::error::Error;
use crate::filters::union::{Equal, unite};
use crate::hash::StreamHash;
use crate::merge::{Collision, Ground, Merge, Resized};

impl<H: StreamHash> AdaptiveFilter<H> {
    /// All fingerprints of several filters of equal seed and equal `slots * 2^remainder_bits`,
    /// in the geometry of the one with the most slots: what any of them learnt is kept. Merge
    /// the reverse maps as well. [`Merge`] has more choices, and settles counts and values
    /// that collide.
    ///
    /// # Errors
    /// Those of [`Merge::build`].
    pub fn merge<'f, M: Bytes + 'f>(
        filters: impl IntoIterator<Item = &'f AdaptiveFilter<H, M>>,
    ) -> Result<Self, Error>
    where
        H: 'f,
    {
        Merge::of(filters).build()
    }
}

impl<H: StreamHash, M: Bytes> AdaptiveFilter<H, M> {
    /// The same fingerprints in twice the slots, with remainders of one bit less. Extensions
    /// are re-cut and may lose their last bits, see [`merge`](crate::merge): then a few fixed
    /// mistakes come back. With the keys, [`rebuild`](Self::rebuild) loses nothing.
    ///
    /// # Errors
    /// [`Error::Geometry`] if remainders have but one bit, or the result does not fit in
    /// memory; [`Error::NeedsKeys`] if shorter extensions would make counts or values
    /// ambiguous; [`Error::Full`] if long counters need more slots than there are, or
    /// the last quotients more spare slots (only in tiny or crafted filters).
    pub fn doubled(&self) -> Result<(AdaptiveFilter<H>, Resized), Error> {
        Merge::of([self]).doubled(1).build_reported()
    }

    /// The same fingerprints in half the slots, with remainders of one bit more: the inverse
    /// of [`doubled`](Self::doubled), where nothing is extended.
    ///
    /// # Errors
    /// [`Error::Geometry`] if the number of slots is odd or there are 56 bits in a slot,
    /// [`Error::NeedsKeys`] if an extension does not fill the wider slots,
    /// [`Error::Full`] if the fingerprints need more slots.
    pub fn halved(&self) -> Result<AdaptiveFilter<H>, Error> {
        Merge::of([self]).halved().build()
    }
}

impl<'f, H: StreamHash, M: Bytes> Merge<'f, AdaptiveFilter<H, M>> {
    /// What to make of counts and values that collide. All the fingerprints of the
    /// [`Collision`] get the entry that `resolver` gives; an error ends the merge.
    ///
    /// ```
    /// use twiceshy::Entry;
    /// use twiceshy::hash::Seed;
    /// use twiceshy::{AdaptiveFilter, Merge};
    ///
    /// let new = || AdaptiveFilter::builder().capacity(100).seed(Seed::from_u64(1)).build();
    /// let (mut a, mut b) = (new()?, new()?);
    /// let anna = a.hash("anna");
    /// a.insert_with(&anna, 2, 0, &[])?;
    /// b.insert_with(&anna, 3, 0, &[])?;
    /// assert!(AdaptiveFilter::merge([&a, &b]).is_err());
    /// let both = Merge::of([&a, &b])
    ///     .resolve(|collision| Ok(Entry::new(collision.total()?, 0)))
    ///     .build()?;
    /// assert_eq!(both.entry("anna"), Some(Entry::new(5, 0)));
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
    /// [`Error::Merge`] if the filters differ in seed, number of ids or value bits, or if
    /// counts or values collide and there is no resolver; the resolver's own errors;
    /// [`Error::Geometry`] if there is no result of this size; [`Error::NeedsKeys`] if
    /// extensions can't be re-cut; [`Error::Full`] if the fingerprints need more slots.
    pub fn build(self) -> Result<AdaptiveFilter<H>, Error> {
        self.build_reported().map(|(filter, _)| filter)
    }

    /// [`build`](Self::build) that also says what happened to extensions.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_reported(self) -> Result<(AdaptiveFilter<H>, Resized), Error> {
        let parts = self.parts(|filter| {
            let core = &filter.core;
            Ground::new(core.table.geometry(), filter.seed, core.layout.value_bits)
        })?;
        let result = AdaptiveFilter::<H>::from_parts(parts)?;
        let inputs = self.filters.iter().map(|filter| &filter.core).collect();
        let (core, report, _) = unite(inputs, result.core, Equal::Stay, self.resolver)?;
        Ok((AdaptiveFilter { core, ..result }, report))
    }
}
