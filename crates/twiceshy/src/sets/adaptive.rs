//! The adaptive quotient filter and its keys.

use super::keyed::{KeyedSet, Learner};
use super::reverse_map::{self, MemoryMap, ReverseMap};
use crate::builder::Builder;
use crate::error::Error;
use crate::filters::adaptive::AdaptiveFilter;
use crate::filters::adaptive::rebuild::Rebuilt;
use crate::hash::{Hashed, Key, Sip13, StreamHash};
use crate::minirun::Minirun;
use crate::outcome::{Adapted, Inserted, Leave, Removed};

/// An [`AdaptiveFilter`] together with its keys.
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
pub type AdaptiveSet<H = Sip13, R = MemoryMap> = KeyedSet<AdaptiveFilter<H>, R>;

impl AdaptiveSet {
    /// An empty set for `capacity` keys, with a filter of false-positive rate `fpr`, a random
    /// seed and the default hash.
    ///
    /// # Errors
    /// As [`AdaptiveFilter::new`].
    pub fn new(capacity: u64, fpr: f64) -> Result<Self, Error> {
        Self::from_builder(AdaptiveFilter::builder().capacity(capacity).fpr(fpr))
    }
}

impl<H: StreamHash, R: ReverseMap<Error: From<Error>>> AdaptiveSet<H, R> {
    /// [`insert`](Self::insert), with the fingerprints of the minirun extended until none is a
    /// prefix of another; see [`broom`](super::broom).
    ///
    /// # Errors
    /// As [`insert`](Self::insert), and [`Error::Inseparable`] if hashes agree for ever.
    pub fn insert_apart<K: Key + ?Sized>(&mut self, key: &K) -> Result<Inserted, R::Error> {
        let key = self.filter.hash(key);
        if reverse_map::has(&self.keys, &key)? {
            return Ok(Inserted::Present);
        }
        let others = keys_of(
            &self.filter,
            &self.keys,
            self.filter.core().minirun_of(key.h0()),
        )?;
        let inserted = self.filter.insert_apart(&key, &others)?;
        self.keys.insert(key.h0(), key.stored_key()?)?;
        Ok(inserted)
    }

    /// [`remove`](Self::remove), with a choice of what is left behind.
    ///
    /// # Errors
    /// As [`remove`](Self::remove), and [`Error::Full`] if there is no slot for a ghost; nothing
    /// has changed then.
    pub fn remove_leaving<K: Key + ?Sized>(
        &mut self,
        key: &K,
        leave: Leave,
    ) -> Result<Removed, R::Error> {
        let key = self.filter.hash(key);
        remove(&mut self.filter, &key, &mut self.keys, leave)
    }

    /// Twice the slots (more if they are very few) with remainders as before, so room for
    /// twice the keys at the same false-positive rate: what to do about [`Error::Full`].
    /// Every mistake that was fixed stays fixed; ghosts are lost. Reads all keys.
    ///
    /// # Errors
    /// [`Error::Geometry`] if there is no such filter or no memory for it; nothing has
    /// changed then. The map's.
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
    pub fn grow(&mut self) -> Result<Rebuilt, R::Error> {
        let geometry = self.filter.geometry().grown()?;
        let builder = Builder::<AdaptiveFilter<H>>::new()
            .slots(geometry.slots())
            .remainder_bits(geometry.remainder_bits())
            .value_bits(self.filter.value_bits())
            .seed(self.filter.seed());
        let keys = self.all_keys(&self.filter)?;
        Ok(self.replace_filter(builder.build()?, keys)?)
    }

    /// Builds the filter anew from the keys, to any order. With the seed of the old one
    /// (`set.filter().seed()`) it keeps what was learnt; a builder without a seed takes a new
    /// random one, which forgets all mistakes, and makes worthless what an attacker has found
    /// out. See [`rebuild`](crate::filters::adaptive::rebuild).
    ///
    /// With another seed the keys have other hashes, and move to a new map.
    ///
    /// # Errors
    /// Those of [`Builder::build`] and of [`AdaptiveFilter::rebuild`], and the map's; nothing has
    /// changed then.
    pub fn rebuild(&mut self, builder: Builder<AdaptiveFilter<H>>) -> Result<Rebuilt, R::Error>
    where
        R: Default,
    {
        let into = builder.build()?;
        let mut keys = self.all_keys(&into)?;
        if into.seed() == self.filter.seed() {
            return Ok(self.replace_filter(into, keys)?);
        }
        keys.sort_by_key(Hashed::h0);
        let mut map = R::default();
        for key in &keys {
            map.insert(key.h0(), key.stored_key()?)?;
        }
        let report = self.replace_filter(into, keys)?;
        self.keys = map;
        self.judge.forget();
        Ok(report)
    }

    /// All keys in the order of the map, hashed as `filter` does.
    fn all_keys(&self, filter: &AdaptiveFilter<H>) -> Result<Vec<Hashed<'static>>, R::Error> {
        reverse_map::read::<H, R>(&self.keys, &filter.seed(), 0..=u64::MAX)
    }

    fn replace_filter(
        &mut self,
        into: AdaptiveFilter<H>,
        keys: Vec<Hashed<'_>>,
    ) -> Result<Rebuilt, Error> {
        let (filter, report) = self.filter.rebuild(into, keys)?;
        if filter.geometry().ids() != self.filter.geometry().ids() {
            // Mistakes are remembered by minirun, and these have other numbers now.
            self.judge.forget();
        }
        self.filter = filter;
        Ok(report)
    }
}

impl<H: StreamHash, R: ReverseMap<Error: From<Error>>> Learner<R> for AdaptiveFilter<H> {
    type Error = R::Error;

    fn place(&self, key: &Hashed<'_>) -> Option<u64> {
        self.lookup_hashed(key).map(Minirun::id)
    }

    fn is_member(&self, key: &Hashed<'_>, keys: &R) -> Result<bool, R::Error> {
        reverse_map::has(keys, key)
    }

    fn insert_key(&mut self, key: &Hashed<'_>, keys: &mut R) -> Result<Inserted, R::Error> {
        let bytes = key.stored_key()?;
        let inserted = match self.insert_hashed(key) {
            Err(Error::NeedsKeys { minirun }) => {
                let others = keys_of(self, keys, minirun)?;
                self.insert_with(key, 1, 0, &others)?
            }
            result => result?,
        };
        keys.insert(key.h0(), bytes)?;
        Ok(inserted)
    }

    fn remove_key(&mut self, key: &Hashed<'_>, keys: &mut R) -> Result<Removed, R::Error> {
        remove(self, key, keys, Leave::Nothing)
    }

    fn learn(&mut self, query: &Hashed<'_>, keys: &mut R) -> Result<Adapted, R::Error> {
        let minirun = self.core().minirun_of(query.h0());
        let known = keys_of(self, keys, minirun)?;
        Ok(self.adapt(query, minirun, &known)?)
    }

    fn check_keys(&self, keys: &R) -> Result<(), R::Error> {
        self.check_invariants().map_err(Error::from)?;
        let keys = reverse_map::read::<H, R>(keys, &self.seed(), 0..=u64::MAX)?;
        Ok(reverse_map::check(self, &keys)?)
    }
}

fn remove<H: StreamHash, R: ReverseMap<Error: From<Error>>>(
    filter: &mut AdaptiveFilter<H>,
    key: &Hashed<'_>,
    keys: &mut R,
    leave: Leave,
) -> Result<Removed, R::Error> {
    reverse_map::remove(keys, key, |others| {
        let mut known = keys_of(filter, others, filter.core().minirun_of(key.h0()))?;
        known.push(key.clone().into_owned());
        Ok(filter.remove(key, &known, leave)?)
    })
}

fn keys_of<H: StreamHash, R: ReverseMap>(
    filter: &AdaptiveFilter<H>,
    keys: &R,
    minirun: Minirun,
) -> Result<Vec<Hashed<'static>>, R::Error> {
    let range = filter.geometry().hash_range(minirun.id());
    reverse_map::read::<H, R>(keys, &filter.seed(), range)
}
