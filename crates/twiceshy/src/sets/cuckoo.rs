//! The adaptive cuckoo filter and its keys, which move in lock-step with their fingerprints.

use super::keyed::{KeyedSet, Learner};
use crate::cuckoo::{AdaptiveCuckooFilter, LockStep, MemoryCells, Scheme};
use crate::error::Error;
use crate::hash::{Hashed, Sip13, StreamHash};
use crate::outcome::{Adapted, Inserted, Removed};

/// An [`AdaptiveCuckooFilter`] together with its keys, in memory or in any other store that can keep
/// them [by cell](LockStep).
///
/// ```
/// use twiceshy::cuckoo::Scheme;
/// use twiceshy::sets::AdaptiveCuckooSet;
/// use twiceshy::{Removed, Reported};
///
/// let mut set = AdaptiveCuckooSet::new(1_000, 0.1, Scheme::Cuckooing)?;
/// for word in ["robin", "wren", "finch"] {
///     set.insert(word)?;
/// }
/// // Whoever finds out about a mistake reports it.
/// for query in 0..1_000_u64 {
///     if set.contains(&query) {
///         assert!(matches!(set.report_false_positive(&query)?, Reported::Fixed(_)));
///     }
/// }
/// assert!(set.contains("robin"));
/// // Asking for somebody who isn't there removes nobody else.
/// assert_eq!(set.remove(&7_u64)?, Removed::NotFound);
/// assert_eq!(set.remove("robin")?, Removed::One);
/// # Ok::<(), twiceshy::Error>(())
/// ```
pub type AdaptiveCuckooSet<H = Sip13, S = MemoryCells> = KeyedSet<AdaptiveCuckooFilter<H>, S>;

impl AdaptiveCuckooSet {
    /// An empty set for `capacity` keys, with the bins that the papers give the scheme.
    ///
    /// # Errors
    /// Those of [`Builder::build`](crate::Builder::build).
    pub fn new(capacity: u64, fpr: f64, scheme: Scheme) -> Result<Self, Error> {
        let builder = AdaptiveCuckooFilter::builder(scheme);
        let filter = builder.capacity(capacity).fpr(fpr).build()?;
        Ok(Self::empty(filter, MemoryCells::default()))
    }
}

impl<H: StreamHash, S: LockStep> Learner<S> for AdaptiveCuckooFilter<H> {
    type Error = S::Error;

    fn place(&self, key: &Hashed<'_>) -> Option<u64> {
        self.lookup_hashed(key)
    }

    fn is_member(&self, key: &Hashed<'_>, keys: &S) -> Result<bool, S::Error> {
        self.is_member_hashed(key, keys)
    }

    fn insert_key(&mut self, key: &Hashed<'_>, keys: &mut S) -> Result<Inserted, S::Error> {
        self.insert_hashed(key, keys)?;
        Ok(Inserted::New)
    }

    fn remove_key(&mut self, key: &Hashed<'_>, keys: &mut S) -> Result<Removed, S::Error> {
        self.remove_hashed(key, keys)
    }

    fn learn(&mut self, query: &Hashed<'_>, keys: &mut S) -> Result<Adapted, S::Error> {
        self.change_matches(query, keys)
    }

    fn check_keys(&self, keys: &S) -> Result<(), S::Error> {
        self.check_lock_step(keys)
    }
}
