//! What can be chosen for an adaptive cuckoo filter.

use super::filter::AdaptiveCuckooFilter;
use super::plan::{Bins, Plan, Scheme};
use crate::builder::{Build, Builder, Wishes};
use crate::error::Error;
use crate::hash::{Sip13, StreamHash};

/// Builds an [`AdaptiveCuckooFilter`].
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
pub type AdaptiveCuckooBuilder<H = Sip13> = Builder<AdaptiveCuckooFilter<H>>;

/// What can be chosen for an [`AdaptiveCuckooFilter`] beside what all filters have.
#[derive(Clone, Copy, Debug)]
pub struct Cells {
    scheme: Scheme,
    layout: Bins,
    bins: Option<u64>,
    fingerprint_bits: Option<u32>,
}

impl Cells {
    /// Those of a scheme, with the bins that the papers give it.
    pub(crate) fn new(scheme: Scheme) -> Self {
        Cells {
            scheme,
            layout: match scheme {
                Scheme::Cyclic { .. } | Scheme::Cuckooing => Bins::FourOfOne,
                Scheme::Swapping => Bins::TwoOfFour,
            },
            bins: None,
            fingerprint_bits: None,
        }
    }
}

impl AdaptiveCuckooFilter {
    /// Builds a filter that adapts by this scheme, with the bins that the papers give it: four
    /// locations of one slot, and for swapping two of four.
    pub fn builder(scheme: Scheme) -> AdaptiveCuckooBuilder {
        Builder::with(Wishes::default(), Cells::new(scheme))
    }
}

impl<H: StreamHash> Builder<AdaptiveCuckooFilter<H>> {
    /// Other bins than the scheme's own.
    pub fn layout(mut self, layout: Bins) -> Self {
        self.choices.layout = layout;
        self
    }

    /// The exact number of bins, in place of a capacity. Any number will do.
    pub fn bins(mut self, bins: u64) -> Self {
        self.choices.bins = Some(bins);
        self
    }

    /// The exact number of bits of a fingerprint, 4 to 32, in place of a false-positive rate: that of
    /// first queries.
    pub fn fingerprint_bits(mut self, bits: u32) -> Self {
        self.choices.fingerprint_bits = Some(bits);
        self
    }
}

impl<H: StreamHash> Build for AdaptiveCuckooFilter<H> {
    type Choices = Cells;
    type WithHash<X: StreamHash> = AdaptiveCuckooFilter<X>;

    fn build(builder: &Builder<Self>) -> Result<Self, Error> {
        let Cells { scheme, layout, .. } = builder.choices;
        let bins = builder.size(("bins", builder.choices.bins), |capacity| {
            // The number of bins does not depend on the rate.
            Ok(Plan::for_capacity(capacity, 0.5, scheme, layout)?.bins())
        })?;
        let bits = ("fingerprint_bits", builder.choices.fingerprint_bits);
        let bits = builder.width(bits, |fpr| {
            Ok(Plan::for_capacity(1, fpr, scheme, layout)?.fingerprint_bits())
        })?;
        let plan = Plan::new(bins, bits, scheme, layout)?;
        Self::from_parts(plan, builder.any_seed()?, builder.wishes.huge_pages)
    }
}
