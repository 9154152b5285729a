//! One builder for every filter: what all have in common, and the measures of the quotient family. Those of
//! the other families stand beside their filters.

use std::fmt;

use crate::error::Error;
use crate::geometry::Geometry;
use crate::hash::{Seed, StreamHash};
use crate::mem::HugePages;
use crate::sizing;

/// Builds a filter: either by what it shall hold ([`capacity`](Self::capacity) and
/// [`fpr`](Self::fpr)) or by its measures: [`slots`](Self::slots) and
/// [`remainder_bits`](Self::remainder_bits) in the quotient family, buckets and fingerprint bits of a
/// cuckoo filter, bits and hashes of a Bloom filter.
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
pub struct Builder<F: Build> {
    pub(crate) wishes: Wishes,
    pub(crate) choices: F::Choices,
}

/// What can be chosen for every filter.
#[derive(Clone, Copy, Default)]
pub(crate) struct Wishes {
    pub(crate) capacity: Option<u64>,
    pub(crate) fpr: Option<f64>,
    pub(crate) seed: Option<Seed>,
    pub(crate) huge_pages: HugePages,
}

/// A filter that [`Builder`] can build.
pub trait Build: Sized {
    /// What can be chosen beside a capacity, a rate, a seed and huge pages: the measures of this family.
    type Choices: Copy + fmt::Debug;

    /// The same filter with another hash.
    type WithHash<H: StreamHash>: Build<Choices = Self::Choices>;

    /// Builds it, empty.
    ///
    /// # Errors
    /// As [`Builder::build`].
    fn build(builder: &Builder<Self>) -> Result<Self, Error>;
}

/// What can be chosen for a filter of the quotient family.
#[derive(Clone, Copy, Debug, Default)]
pub struct Slots {
    slots: Option<u64>,
    remainder_bits: Option<u32>,
    value_bits: u32,
    threads: Option<usize>,
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

/// A filter of the quotient family.
pub trait Buildable: Sized {
    /// The same filter with another hash.
    type WithHash<H: StreamHash>: Buildable;

    /// Builds it, empty.
    ///
    /// # Errors
    /// [`Error::Geometry`] if it does not fit in memory.
    fn from_parts(parts: Parts) -> Result<Self, Error>;
}

impl<F: Buildable> Build for F {
    type Choices = Slots;
    type WithHash<H: StreamHash> = <F as Buildable>::WithHash<H>;

    fn build(builder: &Builder<F>) -> Result<F, Error> {
        F::from_parts(builder.parts(None)?)
    }
}

impl<F: Build<Choices: Default>> Builder<F> {
    /// A builder with nothing set.
    pub fn new() -> Self {
        Self::with(Wishes::default(), F::Choices::default())
    }
}

impl<F: Build> Builder<F> {
    pub(crate) fn with(wishes: Wishes, choices: F::Choices) -> Self {
        Builder { wishes, choices }
    }

    /// How many items the filter shall hold at its false-positive rate. A filter of the quotient family
    /// takes a few more, ever more slowly; a cuckoo filter is then 94% full; a Bloom filter takes any
    /// number, ever less exactly.
    pub fn capacity(mut self, items: u64) -> Self {
        self.wishes.capacity = Some(items);
        self
    }

    /// The highest false-positive rate, reached at capacity. Default: 0.01.
    pub fn fpr(mut self, fpr: f64) -> Self {
        self.wishes.fpr = Some(fpr);
        self
    }

    /// The seed of the hash. Default: random, so that nobody can prepare keys that
    /// collide.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.wishes.seed = Some(seed);
        self
    }

    /// Whether a large table asks the system for huge pages. Default: it does.
    pub fn huge_pages(mut self, huge_pages: HugePages) -> Self {
        self.wishes.huge_pages = huge_pages;
        self
    }

    /// Another hash function than the default [`Sip13`](crate::hash::Sip13).
    pub fn hash<H: StreamHash>(self) -> Builder<F::WithHash<H>> {
        Builder::with(self.wishes, self.choices)
    }

    /// Builds the filter.
    ///
    /// # Errors
    /// [`Error::Geometry`] if what was chosen is impossible, contradicts itself or does not
    /// fit in memory; [`Error::Seed`] if the system has no randomness to give.
    pub fn build(self) -> Result<F, Error> {
        F::build(&self)
    }

    /// The seed that was set, or a random one.
    pub(crate) fn any_seed(&self) -> Result<Seed, Error> {
        self.wishes.seed.map_or_else(Seed::random, Ok)
    }

    /// The seed that was set, where keys come hashed.
    ///
    /// # Errors
    /// [`Error::Geometry`] if none was.
    pub(crate) fn known_seed(&self) -> Result<Seed, Error> {
        self.wishes.seed.ok_or_else(needs_seed)
    }

    /// The size that was set by the method `name`, or else what the capacity takes.
    pub(crate) fn size(
        &self,
        (name, size): (&str, Option<u64>),
        for_capacity: impl FnOnce(u64) -> Result<u64, Error>,
    ) -> Result<u64, Error> {
        match (self.wishes.capacity, size) {
            (Some(capacity), None) => for_capacity(capacity),
            (None, Some(size)) => Ok(size),
            (None, None) => Err(Error::geometry(format!("set `capacity` or `{name}`"))),
            (Some(_), Some(_)) => Err(Error::geometry(format!(
                "set `capacity` or `{name}`, not both"
            ))),
        }
    }

    /// The bits of a fingerprint that were set by the method `name`, or else what the rate takes.
    pub(crate) fn width(
        &self,
        (name, bits): (&str, Option<u32>),
        for_rate: impl FnOnce(f64) -> Result<u32, Error>,
    ) -> Result<u32, Error> {
        match (self.wishes.fpr, bits) {
            (fpr, None) => for_rate(fpr.unwrap_or(0.01)),
            (None, Some(bits)) => Ok(bits),
            (Some(_), Some(_)) => Err(Error::geometry(format!("set `fpr` or `{name}`, not both"))),
        }
    }
}

impl<F: Build<Choices = Slots>> Builder<F> {
    /// The exact number of slots, in place of a capacity. Any number will do.
    pub fn slots(mut self, slots: u64) -> Self {
        self.choices.slots = Some(slots);
        self
    }

    /// The exact number of bits of a remainder, in place of a false-positive rate.
    pub fn remainder_bits(mut self, bits: u32) -> Self {
        self.choices.remainder_bits = Some(bits);
        self
    }

    /// How many threads a [bulk load](crate::bulk) may use; 0 for as many as the system
    /// recommends. Default: 1. The filter is the same, to the byte.
    pub fn threads(mut self, threads: usize) -> Self {
        self.choices.threads = Some(threads);
        self
    }

    pub(crate) fn set_value_bits(mut self, bits: u32) -> Self {
        self.choices.value_bits = bits;
        self
    }

    /// Everything checked and complete. If neither capacity nor slots are set, `keys` is the
    /// capacity.
    pub(crate) fn parts(&self, keys: Option<u64>) -> Result<Parts, Error> {
        let choices = &self.choices;
        let slots = match (self.wishes.capacity, choices.slots, keys) {
            (None, None, Some(keys)) => sizing::slots(keys)?,
            _ => self.size(("slots", choices.slots), sizing::slots)?,
        };
        let bits = ("remainder_bits", choices.remainder_bits);
        let bits = self.width(bits, sizing::remainder_bits)?;
        Ok(Parts {
            geometry: Geometry::new(slots, bits)?,
            seed: self.any_seed()?,
            huge_pages: self.wishes.huge_pages,
            value_bits: choices.value_bits,
        })
    }

    /// How many threads to use.
    pub(crate) fn thread_count(&self) -> usize {
        match self.choices.threads {
            None => 1,
            Some(0) => std::thread::available_parallelism().map_or(1, usize::from),
            Some(threads) => threads,
        }
    }
}

impl<F: Build<Choices: Default>> Default for Builder<F> {
    fn default() -> Self {
        Self::new()
    }
}

impl<F: Build> fmt::Debug for Builder<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("capacity", &self.wishes.capacity)
            .field("fpr", &self.wishes.fpr)
            .field("huge_pages", &self.wishes.huge_pages)
            .field("choices", &self.choices)
            .finish_non_exhaustive()
    }
}

/// Hashes without their seed make a filter that nobody can ask.
#[cold]
pub(crate) fn needs_seed() -> Error {
    Error::geometry("set `seed` to the one that the keys were hashed with")
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
