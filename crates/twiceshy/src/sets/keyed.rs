//! The one set: a filter that learns, and all of its keys.

use super::policy::{Decision, Judge, Policy};
use super::reverse_map::MemoryMap;
use crate::builder::{Build, Builder};
use crate::error::Error;
use crate::hash::{Hashed, Key};
use crate::outcome::{Adapted, Inserted, Removed, Reported};
use crate::traits::Filter;

/// A filter that learns from its mistakes with the keys in a store `S`: a
/// [`ReverseMap`](super::ReverseMap) for filters of the quotient family, a
/// [`LockStep`](crate::cuckoo::LockStep) store for adaptive cuckoo filters.
///
/// Filter and store change together: always the same two, and nobody else changes the store.
/// [`KeyedSet`] keeps them so.
///
/// If the store fails, no member is lost: at worst the filter has a fingerprint more, which costs
/// its slot until a mistake or a removal in its minirun finds it.
pub trait Learner<S>: Filter {
    /// What can go wrong in the filter or in the store: an error of the store's own choice that the
    /// filter's error converts to. With the stores in memory it is the plain [`Error`].
    type Error: From<Error>;

    /// Where a "maybe" for this key comes from; `None` if the answer is "no". Mistakes at the same
    /// place count as repeated for a [`Policy`].
    fn place(&self, key: &Hashed<'_>) -> Option<u64>;

    /// Is the key a member? Asks the store.
    ///
    /// # Errors
    /// The store's.
    fn is_member(&self, key: &Hashed<'_>, keys: &S) -> Result<bool, Self::Error>;

    /// Adds a key that is not a member to filter and store.
    ///
    /// # Errors
    /// [`Error::Full`] if no slot is left; nothing has changed then. The store's.
    fn insert_key(&mut self, key: &Hashed<'_>, keys: &mut S) -> Result<Inserted, Self::Error>;

    /// Removes a key from filter and store, if it is a member.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the store does not fit the filter. The store's.
    fn remove_key(&mut self, key: &Hashed<'_>, keys: &mut S) -> Result<Removed, Self::Error>;

    /// Fixes a mistake: `query` was answered "maybe" and is not a member.
    ///
    /// # Errors
    /// [`Error::Full`] if slots are missing, [`Error::Inseparable`] if hashes agree for ever,
    /// [`Error::Mismatch`] if the store does not fit the filter. The filter goes on as it was then,
    /// with this mistake unfixed. The store's.
    fn learn(&mut self, query: &Hashed<'_>, keys: &mut S) -> Result<Adapted, Self::Error>;

    /// Verifies the filter, and that it has one fingerprint for each key of the store. Reads all of
    /// them.
    ///
    /// # Errors
    /// [`Error::Mismatch`] with the first invariant that does not hold. The store's.
    fn check_keys(&self, keys: &S) -> Result<(), Self::Error>;
}

/// What a set over a filter `F` and a store `S` gives.
pub(super) type Outcome<T, F, S> = Result<T, <F as Learner<S>>::Error>;

/// A set of keys and a filter in front of it. Nothing that it offers can make the filter say
/// "no" for a member.
///
/// By default the keys are in memory, which is for tests, tools, and sets that fit. In front of a
/// database, implement [`ReverseMap`](super::ReverseMap) for it.
///
/// ```
/// use twiceshy::sets::{Counted, KeyedSet, MemoryMap};
/// use twiceshy::{TelescopingFilter, TelescopingSet};
///
/// let mut set = TelescopingSet::new(1_000, 0.1)?;
/// for word in ["robin", "wren", "finch"] {
///     set.insert(word)?;
/// }
/// // Whoever asks the store behind the filter finds out about mistakes, and reports them.
/// for query in 0..1_000_u64 {
///     if set.contains(&query) {
///         set.report_false_positive(&query)?;
///         assert!(!set.contains(&query));
///     }
/// }
/// assert!(set.contains("robin"));
///
/// // Over another store; this one counts how often it is used.
/// let filter = TelescopingFilter::new(1_000, 0.1)?;
/// let mut set = KeyedSet::from_parts(filter, Counted::new(MemoryMap::default()))?;
/// set.insert("robin")?;
/// assert_eq!(set.keys().accesses().inserts, 1);
/// # Ok::<(), twiceshy::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct KeyedSet<F, S = MemoryMap> {
    pub(super) filter: F,
    pub(super) keys: S,
    pub(super) judge: Judge,
}

impl<F: Build + Learner<MemoryMap>> KeyedSet<F> {
    /// An empty set with a filter built to order and its keys in memory.
    ///
    /// # Errors
    /// Those of [`Builder::build`].
    pub fn from_builder(builder: Builder<F>) -> Result<Self, Error> {
        Ok(Self::empty(builder.build()?, MemoryMap::default()))
    }
}

impl<F> KeyedSet<F> {
    /// The keys, in hash order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.keys.iter().map(|(_, key)| key)
    }
}

impl<F: Learner<S>, S> KeyedSet<F, S> {
    /// A set of a filter, perhaps from a file, and its keys. Reads all keys.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if these are not the keys of the filter. The store's.
    pub fn from_parts(filter: F, keys: S) -> Outcome<Self, F, S> {
        filter.check_keys(&keys)?;
        Ok(Self::empty(filter, keys))
    }

    /// A set of an empty filter and an empty store.
    pub(super) fn empty(filter: F, keys: S) -> Self {
        KeyedSet {
            filter,
            keys,
            judge: Judge::default(),
        }
    }

    /// The filter and the keys.
    pub fn into_parts(self) -> (F, S) {
        (self.filter, self.keys)
    }

    /// When to adapt. Default: always.
    #[must_use]
    pub fn with_policy(mut self, policy: Policy) -> Self {
        self.judge = Judge::new(policy);
        self
    }

    /// Adds a key, if it is not a member already.
    ///
    /// # Errors
    /// [`Error::Full`] if no slot is left; nothing has changed then. The store's.
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Outcome<Inserted, F, S> {
        let key = self.filter.hash(key);
        if self.filter.is_member(&key, &self.keys)? {
            return Ok(Inserted::Present);
        }
        self.filter.insert_key(&key, &mut self.keys)
    }

    /// Removes a key, if it is a member: the keys are compared, not their fingerprints.
    ///
    /// # Errors
    /// The store's.
    pub fn remove<K: Key + ?Sized>(&mut self, key: &K) -> Outcome<Removed, F, S> {
        let key = self.filter.hash(key);
        self.filter.remove_key(&key, &mut self.keys)
    }

    /// May `key` be a member? The filter's answer: `false` is certain, `true` may be wrong.
    #[inline]
    #[must_use]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.filter.contains(key)
    }

    /// Is `key` a member? Asks the store, if the filter says "maybe".
    ///
    /// # Errors
    /// The store's.
    pub fn is_member<K: Key + ?Sized>(&self, key: &K) -> Outcome<bool, F, S> {
        let key = self.filter.hash(key);
        Ok(self.filter.contains_hashed(&key) && self.filter.is_member(&key, &self.keys)?)
    }

    /// The filter's answer for `key` was "maybe": if that was wrong, learn from it. Harmless for
    /// keys that are members, or that the filter answers "no" already.
    ///
    /// # Errors
    /// [`Error::Full`] if slots are missing, or an adaptive cuckoo filter can move no key;
    /// [`Error::Inseparable`] if hashes agree for ever. The filter goes on as it was then, with this
    /// mistake unfixed. The store's.
    pub fn report_false_positive<K: Key + ?Sized>(&mut self, key: &K) -> Outcome<Reported, F, S> {
        let key = self.filter.hash(key);
        self.report_hashed(&key)
    }

    /// [`report_false_positive`](Self::report_false_positive) for a key that is hashed already.
    ///
    /// # Errors
    /// As there.
    pub fn report_hashed(&mut self, key: &Hashed<'_>) -> Outcome<Reported, F, S> {
        let Some(place) = self.filter.place(key) else {
            return Ok(Reported::NotPositive);
        };
        if self.filter.is_member(key, &self.keys)? {
            return Ok(Reported::Member);
        }
        if self.judge.on_false_positive(place) == Decision::Wait {
            return Ok(Reported::Waiting);
        }
        let result = self.filter.learn(key, &mut self.keys);
        if result.is_err() {
            self.judge.on_failure(place);
        }
        result.map(Reported::Fixed)
    }

    /// How many keys there are.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.filter.len()
    }

    /// Is it empty?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The filter.
    #[must_use]
    pub fn filter(&self) -> &F {
        &self.filter
    }

    /// The store of its keys.
    #[must_use]
    pub fn keys(&self) -> &S {
        &self.keys
    }

    /// Verifies the filter, and that it has one fingerprint for each key. Reads all keys.
    ///
    /// # Errors
    /// [`Error::Mismatch`] with the first invariant that does not hold. The store's.
    pub fn check_invariants(&self) -> Outcome<(), F, S> {
        self.filter.check_keys(&self.keys)
    }
}
