//! An adaptive cuckoo filter together with its keys, so that it can't be used wrongly.

use super::builder::AdaptiveCuckooBuilder;
use super::filter::AdaptiveCuckooFilter;
use super::plan::Scheme;
use crate::error::Error;
use crate::hash::{Hashed, Key, Sip13, StreamHash};
use crate::outcome::{Inserted, Removed, Reported};
use crate::sets::lock_step::{LockStep, LockStepError, MemoryCells};
use crate::table::Violation;

/// A set of keys with an adaptive cuckoo filter in front of it.
///
/// The keys are in memory, or in any other store that can keep them [by cell](LockStep).
///
/// ```
/// use twiceshy::cuckoo::{AdaptiveCuckooSet, Scheme};
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
#[derive(Clone, Debug)]
pub struct AdaptiveCuckooSet<H: StreamHash = Sip13, S = MemoryCells> {
    filter: AdaptiveCuckooFilter<H>,
    store: S,
}

type Outcome<T, S> = Result<T, LockStepError<<S as LockStep>::Error>>;

impl AdaptiveCuckooSet {
    /// An empty set for `capacity` keys, with the bins that the papers give the scheme.
    ///
    /// # Errors
    /// Those of [`AdaptiveCuckooBuilder::build`].
    pub fn new(capacity: u64, fpr: f64, scheme: Scheme) -> Result<Self, Error> {
        Self::from_builder(
            AdaptiveCuckooFilter::builder(scheme)
                .capacity(capacity)
                .fpr(fpr),
        )
    }
}

impl<H: StreamHash> AdaptiveCuckooSet<H> {
    /// An empty set with a filter built to order and its keys in memory.
    ///
    /// # Errors
    /// Those of [`AdaptiveCuckooBuilder::build`].
    pub fn from_builder(builder: AdaptiveCuckooBuilder<H>) -> Result<Self, Error> {
        Self::with_store(builder, MemoryCells::default())
    }
}

impl<H: StreamHash, S: LockStep> AdaptiveCuckooSet<H, S> {
    /// An empty set with a filter built to order and an empty store.
    ///
    /// # Errors
    /// Those of [`AdaptiveCuckooBuilder::build`].
    pub fn with_store(builder: AdaptiveCuckooBuilder<H>, store: S) -> Result<Self, Error> {
        Ok(AdaptiveCuckooSet {
            filter: builder.build()?,
            store,
        })
    }

    /// Adds a key, unless it is a member.
    ///
    /// # Errors
    /// [`Error::Full`] if no room can be made; nothing has changed then, and every key is still
    /// found. The store's.
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Outcome<Inserted, S> {
        let key = self.filter.hash(key);
        if self.filter.is_member_hashed(&key, &self.store)? {
            return Ok(Inserted::Present);
        }
        self.filter.insert_hashed(&key, &mut self.store)?;
        Ok(Inserted::New)
    }

    /// Removes a key, if it is a member: the keys are compared, not their fingerprints.
    ///
    /// # Errors
    /// The store's; nothing has changed then.
    pub fn remove<K: Key + ?Sized>(&mut self, key: &K) -> Outcome<Removed, S> {
        let key = self.filter.hash(key);
        self.filter.remove_hashed(&key, &mut self.store)
    }

    /// May `key` be a member? Asks the filter alone.
    #[must_use]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.filter.contains(key)
    }

    /// Is `key` a member? Asks the store, if the filter says "maybe".
    ///
    /// # Errors
    /// The store's.
    pub fn is_member<K: Key + ?Sized>(&self, key: &K) -> Outcome<bool, S> {
        let key = self.filter.hash(key);
        self.filter.is_member_hashed(&key, &self.store)
    }

    /// Tells the set that its answer for `key` was "maybe". If that was wrong, it adapts.
    ///
    /// # Errors
    /// [`Error::Full`] if no key can move (cuckooing). The store's.
    pub fn report_false_positive<K: Key + ?Sized>(&mut self, key: &K) -> Outcome<Reported, S> {
        let key = self.filter.hash(key);
        self.report_hashed(&key)
    }

    /// [`report_false_positive`](Self::report_false_positive) for a key that is hashed already.
    ///
    /// # Errors
    /// As there.
    pub fn report_hashed(&mut self, key: &Hashed<'_>) -> Outcome<Reported, S> {
        self.filter.adapt_hashed(key, &mut self.store)
    }

    /// How many keys there are.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.filter.len()
    }

    /// Is it empty?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.filter.is_empty()
    }

    /// The filter.
    #[must_use]
    pub fn filter(&self) -> &AdaptiveCuckooFilter<H> {
        &self.filter
    }

    /// The key store.
    #[must_use]
    pub fn store(&self) -> &S {
        &self.store
    }

    /// Verifies that filter and store go in lock-step.
    ///
    /// # Errors
    /// The store's; inside, the first invariant that does not hold.
    pub fn check_invariants(&self) -> Result<Result<(), Violation>, S::Error> {
        self.filter.check_lock_step(&self.store)
    }
}
