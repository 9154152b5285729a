//! Loading a filter from sorted fingerprints, and from sorted keys with counts and values.

use super::AdaptiveFilter;
use super::insert::check_entry;
use crate::builder::Builder;
use crate::bulk::{Loader, exact_len};
use crate::error::Error;
use crate::filters::core::Core;
use crate::filters::core::fill::Fill;
use crate::filters::facade::{LoadCore, OwnedCore};
use crate::geometry::{Fingerprint, Geometry};
use crate::hash::{Hashed, StreamHash};
use crate::minirun::Minirun;
use crate::prints::{Digits, Print, edit};

/// The table of a filter that is being loaded.
#[derive(Debug)]
pub struct AdaptiveLoader {
    fill: Fill,
    /// The last fingerprint, where no two keys may share one.
    last: Option<Fingerprint>,
}

impl LoadCore for Core {
    type Loader = AdaptiveLoader;

    fn into_loader(self) -> AdaptiveLoader {
        AdaptiveLoader {
            fill: Fill::new(self),
            last: None,
        }
    }

    fn from_loader(loader: AdaptiveLoader) -> Result<Self, Error> {
        Ok(loader.fill.finish())
    }
}

impl Loader for AdaptiveLoader {
    fn geometry(&self) -> Geometry {
        self.fill.geometry()
    }

    fn room(&self) -> Option<u64> {
        Some(self.fill.slots())
    }

    #[inline]
    fn load(&mut self, fingerprints: impl Iterator<Item = Fingerprint>) -> Result<(), Error> {
        if self.fill.widths().value_bits == 0 {
            return self.fill.homes(fingerprints);
        }
        // Whose value would it be? As `insert`, this leaves it to those who have the keys.
        let mut twin = None;
        let last = &mut self.last;
        let loaded = self.fill.homes(fingerprints.take_while(|&print| {
            twin = last.replace(print).filter(|&last| last == print);
            twin.is_none()
        }));
        match twin {
            Some(print) => Err(Error::NeedsKeys {
                minirun: Minirun::from_id(self.fill.geometry().id_of(print)),
            }),
            None => loaded,
        }
    }
}

impl<H: StreamHash> Builder<AdaptiveFilter<H>> {
    /// Builds the filter with counts and values: each item is a key, its count and its
    /// value, and keys come in ascending order of [`h0`](Hashed::h0). The filter is the one
    /// that [`insert_with`](AdaptiveFilter::insert_with) for each of them makes: keys of one
    /// minirun are told apart where a count or a value hangs on it, and of a key that comes
    /// twice the first one counts.
    ///
    /// Needs no more memory than the filter and the keys of one minirun.
    ///
    /// ```
    /// use twiceshy::AdaptiveFilter;
    /// use twiceshy::hash::{Hashed, Seed, Sip13};
    ///
    /// let seed = Seed::from_u64(1);
    /// let stock = [("apples", 3, 0b01), ("pears", 1, 0b10), ("plums", 700, 0b01)];
    /// let mut items: Vec<_> = stock
    ///     .iter()
    ///     .map(|&(key, count, value)| (Hashed::new::<Sip13, _>(&seed, key), count, value))
    ///     .collect();
    /// items.sort_by_key(|(key, _, _)| key.h0());
    ///
    /// let filter = AdaptiveFilter::builder()
    ///     .capacity(10)
    ///     .value_bits(2)
    ///     .seed(seed)
    ///     .build_from_sorted_entries(items)?;
    /// let plums = filter.entry("plums").unwrap();
    /// assert_eq!((plums.count, plums.value), (700, 0b01));
    /// # Ok::<(), twiceshy::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsorted`] if the keys are not in order; [`Error::Full`] if slots are missing;
    /// [`Error::Geometry`] as [`build`](Builder::build), for a value with too many bits or a
    /// count of zero, and if no seed is set; [`Error::Inseparable`] as `insert_with`.
    pub fn build_from_sorted_entries<'k>(
        self,
        entries: impl IntoIterator<Item = (Hashed<'k>, u64, u64)>,
    ) -> Result<AdaptiveFilter<H>, Error> {
        let seed = self.known_seed()?;
        let entries = entries.into_iter();
        let parts = self.parts(exact_len(&entries))?;
        let mut fill = Fill::new(Core::from_parts(&parts)?);
        let geometry = fill.geometry();

        let mut minirun = Vec::new();
        let mut last_h0 = 0;
        for (position, (key, count, value)) in (0..).zip(entries) {
            if key.h0() < last_h0 {
                return Err(Error::Unsorted { position });
            }
            check_entry(fill.widths(), count, value)?;
            if geometry.id(key.h0()) != geometry.id(last_h0) {
                write_minirun(&mut fill, &minirun)?;
                minirun.clear();
            }
            last_h0 = key.h0();
            minirun.push((key, count, value));
        }
        write_minirun(&mut fill, &minirun)?;
        Ok(AdaptiveFilter::from_core(fill.finish(), seed))
    }
}

/// Writes what inserting the keys of one minirun, one after the other, leaves in it.
fn write_minirun(fill: &mut Fill, entries: &[(Hashed<'_>, u64, u64)]) -> Result<(), Error> {
    let Some((first, _, _)) = entries.first() else {
        return Ok(());
    };
    let id = fill.geometry().id(first.h0());
    let width = fill.widths().width;
    let mut keys: Vec<Digits<'_>> = Vec::with_capacity(entries.len());
    let mut prints = Vec::new();
    for (key, count, value) in entries {
        if keys.iter().any(|other| other.key.is_same_key(key)) {
            continue;
        }
        let key = Digits { key, width };
        let new = Print::new(*count, *value);
        prints = edit::insert(prints, &keys, &key, new, edit::must_part)?;
        // As they would lie in the table.
        prints.sort_unstable();
        keys.push(key);
    }
    prints.iter().try_for_each(|print| fill.print(id, print))
}
