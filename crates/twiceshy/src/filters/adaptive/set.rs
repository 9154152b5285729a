//! An adaptive filter together with the keys, so that it can't be used wrongly.

use super::policy::{Decision, Judge, Policy};
use super::rebuild::Rebuilt;
use super::{AdaptiveFilter, Leave};
use crate::builder::Builder;
use crate::error::Error;
use crate::hash::{Hashed, Key, Sip13, StreamHash};
use crate::outcome::{Inserted, Removed, Reported};
use crate::sets::reverse_map::{MemoryMap, ReverseMap};
use crate::table::{Minirun, Violation};

/// A set of keys and an adaptive filter in front of it. Nothing that it offers can make the
/// filter say "no" for a member.
///
/// The keys are in memory, so this is for tests, tools, and sets that fit; in front of a
/// database, implement [`ReverseMap`] for it and follow the rules of
/// [`adaptive`](super).
///
/// ```
/// use twiceshy::AdaptiveSet;
///
/// let mut set = AdaptiveSet::new(1_000, 0.1)?;
/// for word in ["robin", "wren", "finch"] {
///     set.insert(word)?;
/// }
/// // Whoever asks the store behind the filter finds out about mistakes, and reports them:
/// for query in 0..1_000_u64 {
///     if set.contains(&query) {
///         set.report_false_positive(&query)?;
///     }
/// }
/// // None is repeated, and no member is lost.
/// assert!((0..1_000_u64).all(|query| !set.contains(&query)));
/// assert!(set.contains("robin"));
/// # Ok::<(), twiceshy::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct AdaptiveSet<H: StreamHash = Sip13> {
    filter: AdaptiveFilter<H>,
    keys: MemoryMap,
    judge: Judge,
    leave: Leave,
    insert: Meet,
}

/// How a new member meets the others of its minirun.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Meet {
    /// Its fingerprint starts without an extension, and may match them.
    #[default]
    Together,
    /// Both sides are extended until no fingerprint is a prefix of another; see
    /// [`broom`](crate::sets::broom).
    Apart,
}

impl AdaptiveSet {
    /// An empty set for `capacity` keys, with a filter of false-positive rate `fpr`.
    ///
    /// # Errors
    /// As [`AdaptiveFilter::new`].
    pub fn new(capacity: u64, fpr: f64) -> Result<Self, Error> {
        Self::from_builder(AdaptiveFilter::builder().capacity(capacity).fpr(fpr))
    }
}

impl<H: StreamHash> AdaptiveSet<H> {
    /// An empty set with a filter built to order.
    ///
    /// # Errors
    /// Those of [`Builder::build`].
    pub fn from_builder(builder: Builder<AdaptiveFilter<H>>) -> Result<Self, Error> {
        Ok(AdaptiveSet {
            filter: builder.build()?,
            keys: MemoryMap::default(),
            judge: Judge::default(),
            leave: Leave::default(),
            insert: Meet::default(),
        })
    }

    /// When to adapt. Default: always.
    #[must_use]
    pub fn with_policy(mut self, policy: Policy) -> Self {
        self.judge = Judge::new(policy);
        self
    }

    /// What removals leave. Default: nothing.
    #[must_use]
    pub fn with_ghosts(mut self, leave: Leave) -> Self {
        self.leave = leave;
        self
    }

    /// What insertions do where the minirun has members already. Default: nothing.
    #[must_use]
    pub fn with_meeting(mut self, meet: Meet) -> Self {
        self.insert = meet;
        self
    }

    /// Adds a key; [`Inserted::Present`] if it is a member already.
    ///
    /// # Errors
    /// [`Error::Full`] if no slot is left; nothing has changed then, and
    /// [`grow`](Self::grow) makes room.
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<Inserted, Error> {
        let hashed = self.filter.hash(key);
        self.insert_hashed(&hashed)
    }

    fn insert_hashed(&mut self, hashed: &Hashed<'_>) -> Result<Inserted, Error> {
        let bytes = hashed.key().expect("a key was hashed");
        if self.is_member(hashed) {
            return Ok(Inserted::Present);
        }
        let insertion = match self.insert_into_filter(hashed) {
            Err(Error::NeedsKeys { minirun }) => {
                let keys = self.keys_of(minirun);
                self.filter
                    .insert_with(hashed, 1, 0, &borrow::<H>(&self.filter, &keys))?
            }
            result => result?,
        };
        infallible(self.keys.insert(hashed.h0(), bytes));
        Ok(insertion)
    }

    fn insert_into_filter(&mut self, hashed: &Hashed<'_>) -> Result<Inserted, Error> {
        match self.insert {
            Meet::Together => self.filter.insert_hashed(hashed),
            Meet::Apart => {
                let minirun = Minirun::from_id(self.filter.geometry().id(hashed.h0()));
                let keys = self.keys_of(minirun);
                self.filter
                    .insert_apart(hashed, &borrow::<H>(&self.filter, &keys))
            }
        }
    }

    /// Removes a key, if it is a member.
    ///
    /// # Errors
    /// [`Error::Full`] if there is no slot for a ghost; nothing has changed then.
    pub fn remove<K: Key + ?Sized>(&mut self, key: &K) -> Result<Removed, Error> {
        self.remove_leaving(key, self.leave)
    }

    pub(crate) fn remove_leaving<K: Key + ?Sized>(
        &mut self,
        key: &K,
        leave: Leave,
    ) -> Result<Removed, Error> {
        let hashed = self.filter.hash(key);
        if !self.is_member(&hashed) {
            return Ok(Removed::NotFound);
        }
        let minirun = Minirun::from_id(self.filter.geometry().id(hashed.h0()));
        let keys = self.keys_of(minirun);
        self.filter
            .remove(&hashed, &borrow::<H>(&self.filter, &keys), leave)?;
        let bytes = hashed.key().expect("a key was hashed");
        infallible(self.keys.remove(hashed.h0(), bytes));
        Ok(Removed::One)
    }

    /// May `key` be a member? The filter's answer: `false` is certain, `true` may be wrong
    /// until it is reported.
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.filter.contains(key)
    }

    /// The store behind the filter did not have this key: learn from it. Harmless for keys
    /// that are members, or that the filter answers "no" already.
    ///
    /// # Errors
    /// [`Error::Full`] if slots are missing ([`grow`](Self::grow) makes room),
    /// [`Error::Inseparable`] if hashes agree for ever; the filter goes on as it was, with this mistake unfixed.
    pub fn report_false_positive<K: Key + ?Sized>(&mut self, key: &K) -> Result<Reported, Error> {
        let hashed = self.filter.hash(key);
        let Some(minirun) = self.filter.lookup_hashed(&hashed) else {
            return Ok(Reported::NotPositive);
        };
        if self.is_member(&hashed) {
            return Ok(Reported::Member);
        }
        if self.judge.on_false_positive(minirun) == Decision::Wait {
            return Ok(Reported::Waiting);
        }
        let keys = self.keys_of(minirun);
        let keys = borrow::<H>(&self.filter, &keys);
        let result = self.filter.adapt(&hashed, minirun, &keys);
        if result.is_err() {
            self.judge.on_failure(minirun);
        }
        result.map(Reported::Fixed)
    }

    /// Twice the slots (more if they are very few) with remainders as before, so room for
    /// twice the keys at the same false-positive rate: what to do about [`Error::Full`].
    /// Every mistake that was fixed stays fixed; ghosts are lost.
    ///
    /// # Errors
    /// [`Error::Geometry`] if there is no such filter or no memory for it; nothing has
    /// changed then.
    ///
    /// ```
    /// use twiceshy::{AdaptiveSet, Error};
    ///
    /// let mut set = AdaptiveSet::new(100, 0.01)?;
    /// for key in 0..1_000_u64 {
    ///     match set.insert(&key) {
    ///         Err(Error::Full { .. }) => {
    ///             set.grow()?;
    ///             set.insert(&key)?;
    ///         }
    ///         result => {
    ///             result?;
    ///         }
    ///     }
    /// }
    /// assert_eq!(set.len(), 1_000);
    /// # Ok::<(), twiceshy::Error>(())
    /// ```
    pub fn grow(&mut self) -> Result<Rebuilt, Error> {
        let geometry = self.filter.geometry();
        // Below two blocks the spare slots outnumber the others, and twice may be no more.
        let times = 128_u64.div_ceil(geometry.slots()).max(2);
        let slots = geometry.slots().checked_mul(times);
        let builder = Builder::<AdaptiveFilter<H>>::new()
            .slots(slots.ok_or_else(|| Error::geometry("there are too many slots to double"))?)
            .remainder_bits(geometry.remainder_bits())
            .value_bits(self.filter.core.layout.value_bits)
            .seed(self.filter.seed());
        self.rebuild(builder)
    }

    /// Builds the filter anew from the keys, to any order. With the seed of the old one
    /// (`set.filter().seed()`) it keeps what was learnt; a builder without a seed takes a new
    /// random one, which forgets all mistakes, and makes worthless what an attacker has found
    /// out. See [`rebuild`](super::rebuild).
    ///
    /// # Errors
    /// Those of [`Builder::build`] and of [`AdaptiveFilter::rebuild`]; nothing has changed
    /// then.
    pub fn rebuild(&mut self, builder: Builder<AdaptiveFilter<H>>) -> Result<Rebuilt, Error> {
        let into = builder.build()?;
        let seed = into.seed();
        let mut rehashed = None;
        if seed != self.filter.seed() {
            let mut keys = MemoryMap::default();
            for key in self.iter() {
                let h0 = Hashed::from_bytes::<H>(&seed, key).h0();
                infallible(keys.insert(h0, key));
            }
            rehashed = Some(keys);
        }
        let keys = rehashed.as_ref().unwrap_or(&self.keys).iter();
        let keys = keys.map(|(_, key)| Hashed::from_bytes::<H>(&seed, key));
        let (filter, report) = self.filter.rebuild(into, keys)?;
        if filter.geometry().ids() != self.filter.geometry().ids() || rehashed.is_some() {
            // Mistakes are remembered by minirun, and these have other numbers now.
            self.judge.forget();
        }
        self.filter = filter;
        self.keys = rehashed.unwrap_or_else(|| std::mem::take(&mut self.keys));
        Ok(report)
    }

    /// How many keys there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Is it empty?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The filter.
    #[must_use]
    pub fn filter(&self) -> &AdaptiveFilter<H> {
        &self.filter
    }

    /// The keys, in hash order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.keys.iter().map(|(_, key)| key)
    }

    /// Verifies the filter, and that it says "maybe" for every key.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn check_invariants(&self) -> Result<(), Violation> {
        self.filter.check_invariants()?;
        if self.filter.len() != self.keys.len() as u64 {
            return Err(Violation::new(
                "not one fingerprint for each key",
                self.filter.len(),
            ));
        }
        for (h0, key) in self.keys.iter() {
            if !self.filter.contains(key) {
                return Err(Violation::new("a member is answered \"no\"", h0));
            }
        }
        Ok(())
    }

    fn is_member(&self, key: &Hashed<'_>) -> bool {
        let bytes = key.key().expect("a key was hashed");
        let mut found = false;
        let same = |_, other: &[u8]| found |= other == bytes;
        infallible(self.keys.keys(key.h0()..=key.h0(), same));
        found
    }

    fn keys_of(&self, minirun: Minirun) -> Vec<Vec<u8>> {
        let mut keys = Vec::new();
        let range = self.filter.geometry().hash_range(minirun.id());
        infallible(self.keys.keys(range, |_, key| keys.push(key.to_vec())));
        keys
    }
}

fn borrow<'k, H: StreamHash>(filter: &AdaptiveFilter<H>, keys: &'k [Vec<u8>]) -> Vec<Hashed<'k>> {
    keys.iter().map(|key| filter.hash(key)).collect()
}

fn infallible<T>(result: Result<T, std::convert::Infallible>) -> T {
    match result {
        Ok(value) => value,
        Err(never) => match never {},
    }
}
