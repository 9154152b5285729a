//! All stored fingerprints, one after the other.

use super::AdaptiveFilter;
use crate::bits::Bytes;
use crate::geometry::Fingerprint;
use crate::hash::StreamHash;

/// A fingerprint as an [`AdaptiveFilter`] stores it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StoredFingerprint {
    /// Quotient and remainder.
    pub home: Fingerprint,
    /// What it has learnt: digits of the key's hash stream from `h1` on. A digit has as many
    /// bits as a slot: those of the remainder and those of the value.
    pub extension: Vec<u64>,
    /// The value stored with it.
    pub value: u64,
    /// How often its key was inserted; zero for a ghost.
    pub count: u64,
}

impl<H: StreamHash, M: Bytes> AdaptiveFilter<H, M> {
    /// All stored fingerprints in hash order, ghosts included.
    ///
    /// ```
    /// use twiceshy::hash::Seed;
    /// use twiceshy::{AdaptiveFilter, AdaptiveSet};
    ///
    /// let builder = AdaptiveFilter::builder().slots(10).remainder_bits(2);
    /// let mut set = AdaptiveSet::from_builder(builder.seed(Seed::from_u64(1)))?;
    /// set.insert("robin")?;
    /// for query in 0..1_000_u64 {
    ///     set.report_false_positive(&query)?;
    /// }
    /// let stored: Vec<_> = set.filter().iter().collect();
    /// assert_eq!((stored.len(), stored[0].count), (1, 1));
    /// assert!(!stored[0].extension.is_empty(), "it has learnt");
    /// # Ok::<(), twiceshy::Error>(())
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = StoredFingerprint> + '_ {
        self.core.iter().map(|(home, print)| StoredFingerprint {
            home,
            extension: print.extension,
            value: print.value,
            count: print.count,
        })
    }
}
