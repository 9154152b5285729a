//! Loading a filter from sorted fingerprints, equal ones counted.

use super::CountingFilter;
use crate::builder::Builder;
use crate::bulk::{BulkLoad, IntoLoader, Loader, exact_len};
use crate::error::Error;
use crate::filters::core::Core;
use crate::filters::core::fill::Fill;
use crate::geometry::{Fingerprint, Geometry};
use crate::hash::{Seed, StreamHash};
use crate::prints::Print;

/// The table of a filter that is being loaded.
#[derive(Debug)]
pub struct CountingLoader {
    fill: Fill,
    /// The last fingerprint and how often it came: not written before another one comes.
    pending: Option<(Fingerprint, u64)>,
}

impl CountingLoader {
    fn new(core: Core) -> Self {
        CountingLoader {
            fill: Fill::new(core),
            pending: None,
        }
    }

    fn add(&mut self, fingerprint: Fingerprint, count: u64) -> Result<(), Error> {
        match &mut self.pending {
            Some((last, before)) if *last == fingerprint => {
                *before = before.checked_add(count).ok_or(Error::Overflow)?;
            }
            _ => {
                self.write_pending()?;
                self.pending = Some((fingerprint, count));
            }
        }
        Ok(())
    }

    fn write_pending(&mut self) -> Result<(), Error> {
        match self.pending.take() {
            Some((fingerprint, count)) => {
                let id = self.fill.geometry().id_of(fingerprint);
                self.fill.print(id, &Print::new(count, 0))
            }
            None => Ok(()),
        }
    }
}

impl<H: StreamHash> BulkLoad for CountingFilter<H> {
    type Hash = H;
}

impl<H: StreamHash> IntoLoader for CountingFilter<H> {
    type Loader = CountingLoader;

    fn into_loader(self) -> CountingLoader {
        CountingLoader::new(self.core)
    }

    fn from_loader(mut loader: CountingLoader, seed: Seed) -> Result<Self, Error> {
        loader.write_pending()?;
        Ok(CountingFilter {
            total: loader.fill.total(),
            core: loader.fill.finish(),
            keyed: H::keyed(&seed),
            seed,
        })
    }
}

impl Loader for CountingLoader {
    fn geometry(&self) -> Geometry {
        self.fill.geometry()
    }

    fn room(&self) -> Option<u64> {
        None
    }

    fn load(&mut self, mut fingerprints: impl Iterator<Item = Fingerprint>) -> Result<(), Error> {
        fingerprints.try_for_each(|fingerprint| self.add(fingerprint, 1))
    }
}

impl<H: StreamHash> Builder<CountingFilter<H>> {
    /// Builds the filter from hashes and how often each is inserted, in ascending order of
    /// the hashes: the filter that [`insert_count`](CountingFilter::insert_count) for each of
    /// them makes. Equal hashes are added up. Needs no memory beside the filter's.
    ///
    /// ```
    /// use twiceshy::CountingFilter;
    /// use twiceshy::hash::Seed;
    ///
    /// let filter = CountingFilter::builder()
    ///     .slots(100)
    ///     .seed(Seed::from_u64(1))
    ///     .build_from_sorted_counts([(5, 1), (1 << 62, 700), (1 << 62, 300)])?;
    /// assert_eq!((filter.distinct(), filter.total()), (2, 1_001));
    /// # Ok::<(), twiceshy::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsorted`] if the hashes are not in order; [`Error::Full`] if slots are
    /// missing; [`Error::Overflow`] if a count is too large; [`Error::Geometry`] as
    /// [`build`](Builder::build), and if no seed is set.
    pub fn build_from_sorted_counts(
        self,
        counts: impl IntoIterator<Item = (u64, u64)>,
    ) -> Result<CountingFilter<H>, Error> {
        let seed = self.known_seed()?;
        let counts = counts.into_iter();
        let parts = self.parts(exact_len(&counts))?;
        let mut loader = CountingLoader::new(Core::from_parts(&parts)?);
        let geometry = loader.geometry();
        let mut last_h0 = 0;
        for (position, (h0, count)) in (0..).zip(counts) {
            if h0 < last_h0 {
                return Err(Error::Unsorted { position });
            }
            last_h0 = h0;
            if count > 0 {
                loader.add(geometry.fingerprint(h0), count)?;
            }
        }
        CountingFilter::from_loader(loader, seed)
    }
}
