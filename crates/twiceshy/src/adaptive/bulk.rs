//! Loading a filter from sorted fingerprints, and from sorted keys with counts and values.

use super::core::Core;
use super::keyed::is_same;
use super::print::{Digits, Layout, Print, counter_digits};
use super::write::check_entry;
use super::{AdaptiveFilter, edit};
use crate::builder::{Buildable, Builder};
use crate::bulk::{BulkLoad, IntoLoader, Loader, needs_seed};
use crate::error::Error;
use crate::hash::{Hashed, Seed, StreamHash};
use crate::quotient::{Fingerprint, Geometry, Mark, Marks, Minirun, Slot, Writer};

/// A [`Core`] that is being written in order.
#[derive(Debug)]
pub(crate) struct CoreWriter {
    writer: Writer<Marks>,
    pub(crate) geometry: Geometry,
    pub(crate) layout: Layout,
    live: u64,
}

impl CoreWriter {
    /// A writer into a core, which it clears.
    pub(crate) fn new(core: Core) -> Self {
        CoreWriter {
            writer: Writer::new(core.table),
            geometry: core.geometry,
            layout: core.layout,
            live: 0,
        }
    }

    /// All slots of the table.
    pub(crate) fn slots(&self) -> u64 {
        self.writer.slots()
    }

    /// Writes unextended fingerprints with a count of one and the value zero.
    #[inline]
    pub(crate) fn push_all(
        &mut self,
        fingerprints: impl Iterator<Item = Fingerprint>,
    ) -> Result<(), Error> {
        let value_bits = self.layout.value_bits;
        let home = move |print: Fingerprint| (print.quotient, print.remainder << value_bits);
        let before = self.writer.used();
        let result = self.writer.push_all(fingerprints.map(home));
        self.live += self.writer.used() - before;
        result
    }

    /// Writes one fingerprint, which is not a ghost.
    pub(crate) fn push(&mut self, fingerprint: Fingerprint, print: &Print) -> Result<(), Error> {
        debug_assert!(!print.is_ghost());
        let home = fingerprint.remainder << self.layout.value_bits | print.value;
        self.writer.push(fingerprint.quotient, home, Mark::Home)?;
        let marked = |value, runend| Slot {
            value,
            runend,
            item: Mark::Continues,
        };
        for &digit in &print.extension {
            self.writer.push_marked(marked(digit, false))?;
        }
        for digit in counter_digits(print.count, self.layout.width) {
            self.writer.push_marked(marked(digit, true))?;
        }
        self.live += 1;
        Ok(())
    }

    pub(crate) fn finish(self) -> Core {
        Core {
            table: self.writer.finish(),
            geometry: self.geometry,
            layout: self.layout,
            live: self.live,
            ghosts: 0,
        }
    }
}

/// A filter that is being loaded.
#[derive(Debug)]
pub struct AdaptiveLoader<H: StreamHash> {
    writer: CoreWriter,
    /// The last fingerprint, where no two keys may share one.
    last: Option<Fingerprint>,
    keyed: H::Keyed,
    seed: Seed,
}

impl<H: StreamHash> BulkLoad for AdaptiveFilter<H> {
    type Hash = H;
}

impl<H: StreamHash> IntoLoader for AdaptiveFilter<H> {
    type Loader = AdaptiveLoader<H>;

    fn into_loader(self) -> AdaptiveLoader<H> {
        AdaptiveLoader {
            writer: CoreWriter::new(self.core),
            last: None,
            keyed: self.keyed,
            seed: self.seed,
        }
    }
}

impl<H: StreamHash> Loader for AdaptiveLoader<H> {
    type Filter = AdaptiveFilter<H>;

    fn geometry(&self) -> Geometry {
        self.writer.geometry
    }

    fn room(&self) -> Option<u64> {
        Some(self.writer.slots())
    }

    #[inline]
    fn load(&mut self, fingerprints: impl Iterator<Item = Fingerprint>) -> Result<(), Error> {
        if self.writer.layout.value_bits == 0 {
            return self.writer.push_all(fingerprints);
        }
        // Whose value would it be? As `insert`, this leaves it to those who have the keys.
        let mut twin = None;
        let last = &mut self.last;
        let loaded = self.writer.push_all(fingerprints.take_while(|&print| {
            twin = last.replace(print).filter(|&last| last == print);
            twin.is_none()
        }));
        match twin {
            Some(print) => Err(Error::NeedsKeys {
                minirun: Minirun::from_id(self.writer.geometry.id_of(print)),
            }),
            None => loaded,
        }
    }

    fn finish(self) -> Result<AdaptiveFilter<H>, Error> {
        Ok(AdaptiveFilter {
            core: self.writer.finish(),
            keyed: self.keyed,
            seed: self.seed,
        })
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
        if !self.has_seed() {
            return Err(needs_seed());
        }
        let entries = entries.into_iter();
        let parts = self.parts(crate::bulk::exact_len(&entries))?;
        let mut loader = AdaptiveFilter::<H>::from_parts(parts)?.into_loader();
        let writer = &mut loader.writer;

        let mut minirun = Vec::new();
        let mut last_h0 = 0;
        for (position, (key, count, value)) in (0..).zip(entries) {
            if key.h0() < last_h0 {
                return Err(Error::Unsorted { position });
            }
            check_entry(writer.layout, count, value)?;
            if writer.geometry.id(key.h0()) != writer.geometry.id(last_h0) {
                write_minirun(writer, &minirun)?;
                minirun.clear();
            }
            last_h0 = key.h0();
            minirun.push((key, count, value));
        }
        write_minirun(writer, &minirun)?;
        loader.finish()
    }
}

/// Writes what inserting the keys of one minirun, one after the other, leaves in it.
fn write_minirun(writer: &mut CoreWriter, entries: &[(Hashed<'_>, u64, u64)]) -> Result<(), Error> {
    let Some((first, _, _)) = entries.first() else {
        return Ok(());
    };
    let fingerprint = writer.geometry.fingerprint(first.h0());
    let layout = writer.layout;
    let width = layout.width;
    let mut keys: Vec<Digits<'_>> = Vec::with_capacity(entries.len());
    let mut prints = Vec::new();
    for (key, count, value) in entries {
        if keys.iter().any(|other| is_same(layout, other.key, key)) {
            continue;
        }
        let key = Digits { key, width };
        prints = edit::insert(prints, &keys, &key, *count, *value)?;
        // As they would lie in the table.
        prints.sort_unstable();
        keys.push(key);
    }
    prints
        .iter()
        .try_for_each(|print| writer.push(fingerprint, print))
}

#[cfg(test)]
impl<H: StreamHash> AdaptiveFilter<H> {
    /// The bytes of the table.
    pub(crate) fn table_bytes(&self) -> &[u8] {
        self.core.table.as_bytes()
    }
}
