//! Loading a filter from sorted fingerprints, equal ones counted.

use super::CountingFilter;
use super::core::Counting;
use crate::builder::Builder;
use crate::bulk::{Loader, exact_len};
use crate::error::Error;
use crate::filters::core::fill::Fill;
use crate::filters::facade::{LoadCore, OwnedCore, TableFilter};
use crate::geometry::{Fingerprint, Geometry};
use crate::hash::StreamHash;
use crate::prints::Print;

/// The table of a filter that is being loaded.
#[derive(Debug)]
pub struct CountingLoader {
    fill: Fill,
    /// The last fingerprint and how often it came: not written before another one comes.
    pending: Option<(Fingerprint, u64)>,
}

impl CountingLoader {
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

impl LoadCore for Counting {
    type Loader = CountingLoader;

    fn into_loader(self) -> CountingLoader {
        CountingLoader {
            fill: Fill::new(self.marks),
            pending: None,
        }
    }

    fn from_loader(mut loader: CountingLoader) -> Result<Self, Error> {
        loader.write_pending()?;
        Ok(Counting::filled(loader.fill))
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
        let mut loader = Counting::from_parts(&parts)?.into_loader();
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
        Ok(TableFilter::from_core(Counting::from_loader(loader)?, seed))
    }
}
