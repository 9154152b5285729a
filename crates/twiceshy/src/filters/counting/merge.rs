//! Merging, doubling and halving: counts of equal fingerprints add up.

use super::CountingFilter;
use crate::bits::Bytes;
use crate::builder::{Buildable, Parts};
use crate::entry::Entry;
use crate::error::Error;
use crate::filters::adaptive::fill::Fill;
use crate::hash::StreamHash;
use crate::merge::{Collision, Contender, Ground, Homes, Merge, Target, too_full};
use crate::prints::Print;
use crate::table::Minirun;

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
        let target = Target::halved(&self.core.geometry)?;
        let mut merge = Merge::of([self]);
        merge.target = target;
        merge.build()
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
    pub fn build(mut self) -> Result<CountingFilter<H>, Error> {
        let ground = Ground::common(self.filters.iter().map(|filter| Ground {
            geometry: filter.core.geometry,
            seed: filter.seed,
            value_bits: 0,
        }))?;
        let result = CountingFilter::<H>::from_parts(Parts {
            geometry: self.target.geometry(&ground.geometry)?,
            seed: ground.seed,
            huge_pages: self.huge_pages,
            value_bits: 0,
        })?;
        let tables: Vec<_> = self
            .filters
            .iter()
            .map(|filter| &filter.core.table)
            .collect();
        let used = tables.iter().map(|table| table.used()).sum();
        let mut homes = Homes::new(&tables, ground.geometry.ids());
        let mut fill = Fill::new(result.core);
        let mut total = 0_u128;
        let mut contenders = Vec::new();
        loop {
            let bare = homes.bare();
            total += bare.len() as u128;
            let geometry = fill.geometry();
            fill.homes(bare.iter().map(|home| geometry.fingerprint_of(home.id())))
                .map_err(|error| too_full(error, used))?;
            let Some(home) = homes.next()? else {
                break;
            };
            let alone = homes.peek().is_none_or(|next| next.id() != home.id());
            if alone && !home.is_continued() {
                fill.home(home.id(), 0)
                    .map_err(|error| too_full(error, used))?;
                total += 1;
                continue;
            }
            contenders.clear();
            let mut next = home;
            loop {
                let (source, at) = homes.place(next);
                let core = &self.filters[source].core;
                let count = core.read(core.table.slots_of_print(at)).count;
                contenders.push(Contender::new(source, Entry::new(count, 0)));
                match homes.peek() {
                    Some(more) if more.id() == home.id() => next = more,
                    _ => break,
                }
                homes.next()?;
            }
            contenders.sort_unstable_by_key(|contender| contender.source);
            let collision = Collision::new(Minirun::from_id(home.id()), &contenders);
            let count = match &mut self.resolver {
                Some(resolver) if !alone => settled(resolver(&collision)?)?,
                _ => collision.total()?,
            };
            total += u128::from(count);
            fill.print(home.id(), &Print::new(count, 0))
                .map_err(|error| too_full(error, used))?;
        }
        Ok(CountingFilter {
            core: fill.finish(),
            total,
            ..result
        })
    }
}

fn settled(entry: Entry) -> Result<u64, Error> {
    if entry.count == 0 || entry.value != 0 {
        return Err(Error::merge(format!(
            "a counting filter holds counts of at least one and no values, not the count {} and \
             the value {} that the resolver gave",
            entry.count, entry.value
        )));
    }
    Ok(entry.count)
}
