//! One builder for every filter of the quotient family.

use std::fmt;
use std::marker::PhantomData;

use crate::error::Error;
use crate::hash::{Seed, StreamHash};
use crate::mem::HugePages;
use crate::sizing;
use crate::table::Geometry;

/// Builds a filter: either by what it shall hold ([`capacity`](Self::capacity) and
/// [`fpr`](Self::fpr)) or by its measures ([`slots`](Self::slots) and
/// [`remainder_bits`](Self::remainder_bits)).
///
/// ```
/// use twiceshy::QuotientFilter;
/// use twiceshy::hash::Seed;
///
/// let mut filter = QuotientFilter::builder()
///     .capacity(10_000)
///     .fpr(0.001)
///     .seed(Seed::from_u64(7)) // the same answers in every run; leave it out otherwise
///     .build()?;
/// filter.insert("redb")?;
/// assert!(filter.contains("redb"));
/// # Ok::<(), twiceshy::Error>(())
/// ```
#[must_use = "a builder does nothing until `build`"]
pub struct Builder<F> {
    capacity: Option<u64>,
    fpr: Option<f64>,
    slots: Option<u64>,
    remainder_bits: Option<u32>,
    seed: Option<Seed>,
    huge_pages: HugePages,
    value_bits: u32,
    threads: usize,
    filter: PhantomData<F>,
}

/// What a filter is built from, complete and checked.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Parts {
    /// Slots and remainder bits.
    pub geometry: Geometry,
    /// The seed of the hash.
    pub seed: Seed,
    /// Whether the table may ask for huge pages.
    pub huge_pages: HugePages,
    /// Bits of a value beside each remainder; zero for filters without.
    pub value_bits: u32,
}

/// A filter that [`Builder`] can build.
pub trait Buildable: Sized {
    /// The same filter with another hash.
    type WithHash<H: StreamHash>: Buildable;

    /// Builds it, empty.
    ///
    /// # Errors
    /// [`Error::Geometry`] if it does not fit in memory.
    fn from_parts(parts: Parts) -> Result<Self, Error>;
}

impl<F: Buildable> Builder<F> {
    /// A builder with nothing set.
    pub fn new() -> Self {
        Builder {
            capacity: None,
            fpr: None,
            slots: None,
            remainder_bits: None,
            seed: None,
            huge_pages: HugePages::default(),
            value_bits: 0,
            threads: 1,
            filter: PhantomData,
        }
    }

    /// How many items the filter shall hold at its false-positive rate. It takes a few
    /// more, ever more slowly.
    pub fn capacity(mut self, items: u64) -> Self {
        self.capacity = Some(items);
        self
    }

    /// The highest false-positive rate, reached at capacity. Default: 0.01.
    pub fn fpr(mut self, fpr: f64) -> Self {
        self.fpr = Some(fpr);
        self
    }

    /// The exact number of slots, in place of a capacity. Any number will do.
    pub fn slots(mut self, slots: u64) -> Self {
        self.slots = Some(slots);
        self
    }

    /// The exact number of bits of a remainder, in place of a false-positive rate.
    pub fn remainder_bits(mut self, bits: u32) -> Self {
        self.remainder_bits = Some(bits);
        self
    }

    /// The seed of the hash. Default: random, so that nobody can prepare keys that
    /// collide.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Whether a large table asks the system for huge pages. Default: it does.
    pub fn huge_pages(mut self, huge_pages: HugePages) -> Self {
        self.huge_pages = huge_pages;
        self
    }

    /// How many threads a [bulk load](crate::bulk) may use; 0 for as many as the system
    /// recommends. Default: 1. The filter is the same, to the byte.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    pub(crate) fn set_value_bits(mut self, bits: u32) -> Self {
        self.value_bits = bits;
        self
    }

    /// Another hash function than the default [`Sip13`](crate::hash::Sip13).
    pub fn hash<H: StreamHash>(self) -> Builder<F::WithHash<H>> {
        Builder {
            capacity: self.capacity,
            fpr: self.fpr,
            slots: self.slots,
            remainder_bits: self.remainder_bits,
            seed: self.seed,
            huge_pages: self.huge_pages,
            value_bits: self.value_bits,
            threads: self.threads,
            filter: PhantomData,
        }
    }

    /// Builds the filter.
    ///
    /// # Errors
    /// [`Error::Geometry`] if the wishes are impossible, contradict each other or do not
    /// fit in memory; [`Error::Seed`] if the system has no randomness to give.
    pub fn build(self) -> Result<F, Error> {
        F::from_parts(self.parts(None)?)
    }

    /// Everything checked and complete. If neither capacity nor slots are set, `keys` is the
    /// capacity.
    pub(crate) fn parts(&self, keys: Option<u64>) -> Result<Parts, Error> {
        Ok(Parts {
            geometry: self.geometry(keys)?,
            seed: self.seed.map_or_else(Seed::random, Ok)?,
            huge_pages: self.huge_pages,
            value_bits: self.value_bits,
        })
    }

    /// Is the seed one that somebody else can know?
    pub(crate) fn has_seed(&self) -> bool {
        self.seed.is_some()
    }

    /// How many threads to use.
    pub(crate) fn thread_count(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        }
    }

    fn geometry(&self, keys: Option<u64>) -> Result<Geometry, Error> {
        let capacity = match self.slots {
            None => self.capacity.or(keys),
            Some(_) => self.capacity,
        };
        let slots = match (capacity, self.slots) {
            (Some(capacity), None) => sizing::slots(capacity)?,
            (None, Some(slots)) => slots,
            (None, None) => return Err(Error::geometry("set `capacity` or `slots`")),
            (Some(_), Some(_)) => {
                return Err(Error::geometry("set `capacity` or `slots`, not both"));
            }
        };
        let bits = match (self.fpr, self.remainder_bits) {
            (fpr, None) => sizing::remainder_bits(fpr.unwrap_or(0.01))?,
            (None, Some(bits)) => bits,
            (Some(_), Some(_)) => {
                return Err(Error::geometry("set `fpr` or `remainder_bits`, not both"));
            }
        };
        Geometry::new(slots, bits)
    }
}

impl<F: Buildable> Default for Builder<F> {
    fn default() -> Self {
        Self::new()
    }
}

impl<F> fmt::Debug for Builder<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("capacity", &self.capacity)
            .field("fpr", &self.fpr)
            .field("slots", &self.slots)
            .field("remainder_bits", &self.remainder_bits)
            .field("huge_pages", &self.huge_pages)
            .field("threads", &self.threads)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use crate::QuotientFilter;

    #[test]
    fn contradictions_say_what_to_do() {
        let new = QuotientFilter::builder;
        let message = |builder: super::Builder<QuotientFilter>| match builder.build() {
            Ok(_) => panic!("must not build"),
            Err(error) => error.to_string(),
        };
        assert!(message(new()).contains("set `capacity` or `slots`"));
        assert!(message(new().capacity(9).slots(9)).contains("not both"));
        let both = new().slots(9).fpr(0.1).remainder_bits(3);
        assert!(message(both).contains("not both"));
        assert!(message(new().slots(u64::MAX / 2).remainder_bits(1)).contains("60 bits"));
        assert!(message(new().slots(1 << 58).remainder_bits(2)).contains("memory"));
    }

    #[test]
    fn every_hash_and_measure_can_be_chosen() {
        let filter = QuotientFilter::builder()
            .slots(77)
            .remainder_bits(3)
            .build()
            .unwrap();
        assert_eq!(filter.geometry().slots(), 77);
        assert_eq!(filter.geometry().remainder_bits(), 3);
        let filter = QuotientFilter::builder().capacity(95).build().unwrap();
        assert_eq!(filter.geometry().slots(), 100);
        assert_eq!(filter.geometry().remainder_bits(), 7);
    }
}
