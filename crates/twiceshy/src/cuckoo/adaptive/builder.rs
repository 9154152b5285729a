//! Building an adaptive cuckoo filter.

use std::fmt;
use std::marker::PhantomData;

use super::filter::AdaptiveCuckooFilter;
use super::plan::{Bins, Plan, Scheme};
use crate::error::Error;
use crate::hash::{Seed, Sip13, StreamHash};
use crate::mem::HugePages;

/// Builds an [`AdaptiveCuckooFilter`]: either by what it shall hold
/// ([`capacity`](Self::capacity) and [`fpr`](Self::fpr)) or by its measures
/// ([`bins`](Self::bins) and [`fingerprint_bits`](Self::fingerprint_bits)).
///
/// ```
/// use twiceshy::cuckoo::{AdaptiveCuckooFilter, Bins, Scheme};
///
/// let filter = AdaptiveCuckooFilter::builder(Scheme::Cyclic { selector_bits: 2 })
///     .capacity(1_000)
///     .fpr(0.01)
///     .layout(Bins::TwoOfFour)
///     .build()?;
/// assert_eq!(filter.plan().fingerprint_bits(), 10);
/// # Ok::<(), twiceshy::Error>(())
/// ```
#[must_use = "a builder does nothing until `build`"]
pub struct AdaptiveCuckooBuilder<H = Sip13> {
    scheme: Scheme,
    layout: Bins,
    capacity: Option<u64>,
    fpr: Option<f64>,
    bins: Option<u64>,
    fingerprint_bits: Option<u32>,
    seed: Option<Seed>,
    huge_pages: HugePages,
    hash: PhantomData<fn() -> H>,
}

impl AdaptiveCuckooFilter {
    /// Builds a filter that adapts by this scheme, with the bins that the papers give it: four
    /// locations of one slot, and for swapping two of four.
    pub fn builder(scheme: Scheme) -> AdaptiveCuckooBuilder {
        AdaptiveCuckooBuilder {
            scheme,
            layout: match scheme {
                Scheme::Cyclic { .. } | Scheme::Cuckooing => Bins::FourOfOne,
                Scheme::Swapping => Bins::TwoOfFour,
            },
            capacity: None,
            fpr: None,
            bins: None,
            fingerprint_bits: None,
            seed: None,
            huge_pages: HugePages::default(),
            hash: PhantomData,
        }
    }
}

impl<H: StreamHash> AdaptiveCuckooBuilder<H> {
    /// Other bins than the scheme's own.
    pub fn layout(mut self, layout: Bins) -> Self {
        self.layout = layout;
        self
    }

    /// How many keys the filter shall hold: at most 94% of its cells.
    pub fn capacity(mut self, items: u64) -> Self {
        self.capacity = Some(items);
        self
    }

    /// The highest false-positive rate of first queries, reached at capacity. Default: 0.01.
    pub fn fpr(mut self, fpr: f64) -> Self {
        self.fpr = Some(fpr);
        self
    }

    /// The exact number of bins, in place of a capacity. Any number will do.
    pub fn bins(mut self, bins: u64) -> Self {
        self.bins = Some(bins);
        self
    }

    /// The exact number of bits of a fingerprint, 4 to 32, in place of a false-positive rate.
    pub fn fingerprint_bits(mut self, bits: u32) -> Self {
        self.fingerprint_bits = Some(bits);
        self
    }

    /// The seed of the hash. Default: random, so that nobody can prepare keys that collide.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Whether a large table asks the system for huge pages. Default: it does.
    pub fn huge_pages(mut self, huge_pages: HugePages) -> Self {
        self.huge_pages = huge_pages;
        self
    }

    /// Another hash function than the default [`Sip13`].
    pub fn hash<X: StreamHash>(self) -> AdaptiveCuckooBuilder<X> {
        AdaptiveCuckooBuilder {
            scheme: self.scheme,
            layout: self.layout,
            capacity: self.capacity,
            fpr: self.fpr,
            bins: self.bins,
            fingerprint_bits: self.fingerprint_bits,
            seed: self.seed,
            huge_pages: self.huge_pages,
            hash: PhantomData,
        }
    }

    /// Builds the filter.
    ///
    /// # Errors
    /// [`Error::Geometry`] if the wishes are impossible, contradict each other or do not fit in
    /// memory; [`Error::Seed`] if the system has no randomness to give.
    pub fn build(self) -> Result<AdaptiveCuckooFilter<H>, Error> {
        let (scheme, layout) = (self.scheme, self.layout);
        let fpr = self.fpr.unwrap_or(0.01);
        if self.fpr.is_some() && self.fingerprint_bits.is_some() {
            return Err(Error::geometry("set `fpr` or `fingerprint_bits`, not both"));
        }
        let bins = match (self.capacity, self.bins) {
            (Some(capacity), None) => {
                // The width matters below.
                Plan::for_capacity(capacity, 0.5, scheme, layout)?.bins()
            }
            (None, Some(bins)) => bins,
            _ => return Err(Error::geometry("set `capacity` or `bins`, and not both")),
        };
        let bits = match self.fingerprint_bits {
            Some(bits) => bits,
            None => Plan::for_capacity(1, fpr, scheme, layout)?.fingerprint_bits(),
        };
        let plan = Plan::new(bins, bits, scheme, layout)?;
        let seed = self.seed.map_or_else(Seed::random, Ok)?;
        AdaptiveCuckooFilter::from_parts(plan, seed, self.huge_pages)
    }
}

impl<H> fmt::Debug for AdaptiveCuckooBuilder<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AdaptiveCuckooBuilder")
            .field("scheme", &self.scheme)
            .field("layout", &self.layout)
            .field("capacity", &self.capacity)
            .field("fpr", &self.fpr)
            .field("bins", &self.bins)
            .field("fingerprint_bits", &self.fingerprint_bits)
            .finish_non_exhaustive()
    }
}
