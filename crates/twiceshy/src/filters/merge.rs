//! Merging, doubling and halving filters.

use super::facade::{OwnedCore, TableCore, TableFilter};
use crate::builder::Buildable;
use crate::error::Error;
use crate::hash::StreamHash;
use crate::merge::{Ground, Merge, Resized, Resolver};

/// A core whose fingerprints can be written, together with those of others, into another table.
pub trait MergeCore: TableCore {
    /// The same with a table of its own.
    type Owned: OwnedCore;

    /// Bits of a value beside each remainder.
    fn value_bits(&self) -> u32 {
        0
    }

    /// Writes all fingerprints of `inputs` into the empty table of `into`, which may have other measures
    /// but the same minirun ids.
    fn unite(
        inputs: Vec<&Self>,
        into: Self::Owned,
        resolver: Option<Resolver<'_>>,
    ) -> Result<(Self::Owned, Resized), Error>;
}

impl<C: OwnedCore, H: StreamHash> TableFilter<C, H> {
    /// All items of several filters of equal seed and equal `slots * 2^remainder_bits`, in the
    /// geometry of the one with the most slots. Counts of a counting filter add up; what any adaptive
    /// filter learnt is kept (merge the reverse maps as well). [`Merge`] has more choices, and settles
    /// counts and values of adaptive filters that collide.
    ///
    /// # Errors
    /// Those of [`Merge::build`].
    ///
    /// ```
    /// use twiceshy::hash::Seed;
    /// use twiceshy::{CountingFilter, QuotientFilter};
    ///
    /// let new = || QuotientFilter::builder().capacity(1_000).seed(Seed::from_u64(1)).build();
    /// let (mut a, mut b) = (new()?, new()?);
    /// a.insert("anna")?;
    /// b.insert("otto")?;
    /// let both = QuotientFilter::merge([&a, &b])?;
    /// assert!(both.contains("anna") && both.contains("otto"));
    ///
    /// let new = || CountingFilter::builder().capacity(1_000).seed(Seed::from_u64(1)).build();
    /// let (mut a, mut b) = (new()?, new()?);
    /// a.insert_count("anna", 700)?;
    /// b.insert_count("anna", 50)?;
    /// assert_eq!(CountingFilter::merge([&a, &b])?.count("anna"), 750);
    /// # Ok::<(), twiceshy::Error>(())
    /// ```
    pub fn merge<'f, I: MergeCore<Owned = C> + 'f>(
        filters: impl IntoIterator<Item = &'f TableFilter<I, H>>,
    ) -> Result<Self, Error>
    where
        H: 'f,
    {
        Merge::of(filters).build()
    }
}

impl<C: MergeCore, H: StreamHash> TableFilter<C, H> {
    /// The same items in twice the slots, with remainders of one bit less. Nothing is lost, and the
    /// answers are the same, but for the last bits of extensions, which are re-cut: then a few fixed
    /// mistakes come back ([`Merge::build_reported`] says how many may). With the keys, the rebuild of an
    /// adaptive filter loses nothing.
    ///
    /// # Errors
    /// [`Error::Geometry`] if remainders have but one bit, or the result does not fit in
    /// memory; [`Error::NeedsKeys`] if shorter extensions would make counts or values
    /// ambiguous; [`Error::Full`] if counters, in narrower slots now, need more slots, or the last
    /// quotients more spare slots (only tiny or crafted filters do).
    pub fn doubled(&self) -> Result<TableFilter<C::Owned, H>, Error> {
        Merge::of([self]).doubled(1).build()
    }

    /// The same items in half the slots, with remainders of one bit more: the inverse of
    /// [`doubled`](Self::doubled), where nothing is extended.
    ///
    /// # Errors
    /// [`Error::Geometry`] if the number of slots is odd or there are 56 bits in a slot,
    /// [`Error::NeedsKeys`] if an extension does not fill the wider slots,
    /// [`Error::Full`] if the items need more slots.
    pub fn halved(&self) -> Result<TableFilter<C::Owned, H>, Error> {
        Merge::of([self]).halved().build()
    }
}

impl<C: MergeCore, H: StreamHash> Merge<'_, TableFilter<C, H>> {
    /// Merges them.
    ///
    /// # Errors
    /// [`Error::Merge`] if the filters differ in seed, number of ids or value bits, or if
    /// counts or values of adaptive filters collide and there is no resolver; [`Error::Overflow`] if the
    /// sum of two counts does; the resolver's own errors; [`Error::Geometry`] if there is no result of
    /// this size; [`Error::NeedsKeys`] if extensions can't be re-cut; [`Error::Full`] if the
    /// fingerprints need more slots.
    pub fn build(self) -> Result<TableFilter<C::Owned, H>, Error> {
        self.build_reported().map(|(filter, _)| filter)
    }

    /// [`build`](Self::build) that also says what happened to extensions, counts and values.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_reported(self) -> Result<(TableFilter<C::Owned, H>, Resized), Error> {
        let parts = self.parts(|filter| Ground {
            geometry: filter.geometry(),
            seed: filter.seed,
            value_bits: filter.core.value_bits(),
        })?;
        let result = TableFilter::<C::Owned, H>::from_parts(parts)?;
        let inputs = self.filters.iter().map(|filter| &filter.core).collect();
        let (core, report) = C::unite(inputs, result.core, self.resolver)?;
        Ok((TableFilter { core, ..result }, report))
    }
}
