//! The filter of a shard: adaptive, plain, or none, for comparison.

use std::ops::RangeInclusive;

use twiceshy::filters::adaptive::Leave;
use twiceshy::hash::{Hashed, Seed, Sip13};
use twiceshy::{Adapted, AdaptiveFilter, Error, Geometry, Minirun, QuotientFilter, sizing};

/// Which filter stands in front of the engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FilterChoice {
    /// The adaptive quotient filter: no mistake is made twice.
    #[default]
    Adaptive,
    /// A plain quotient filter, which repeats its mistakes: for comparison.
    Plain,
    /// None: every lookup goes to the engine. For comparison.
    None,
}

/// The measures of a shard's filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Measures {
    pub(crate) choice: FilterChoice,
    pub(crate) remainder_bits: u32,
    pub(crate) seed: Seed,
}

/// Used slots per slot at which a filter counts as full. Beyond it, insertions get slow; a few more
/// slots are needed while a larger filter is being filled.
pub(crate) const FULL_AT: f64 = 0.94;

/// The load that a filter is planned for.
const PLANNED_LOAD: f64 = 0.90;

/// Slots for so many keys of a shard, with room for the shards' differences: their numbers of
/// keys vary by a few times the square root.
pub(crate) fn slots_for(keys: u64) -> u64 {
    let keys = keys as f64;
    ((keys + 4.0 * keys.sqrt()) / PLANNED_LOAD).ceil() as u64 + 8
}

/// As many slots as a filter has that has grown with its keys.
fn grown(mut slots: u64, keys: u64) -> u64 {
    while keys as f64 > FULL_AT * slots as f64 {
        slots *= 2;
    }
    slots
}

/// What `build` makes of so many slots, or of twice as many where there is no room, and so on.
fn with_room(
    mut slots: u64,
    build: impl Fn(u64) -> Result<Filter, Error>,
) -> Result<Filter, Error> {
    loop {
        match build(slots) {
            Err(Error::Full { .. }) => slots *= 2,
            result => return result,
        }
    }
}

pub(crate) enum Filter {
    None,
    Plain(QuotientFilter<Sip13>),
    Adaptive(AdaptiveFilter<Sip13>),
}

impl Filter {
    pub(crate) fn empty(measures: &Measures, slots: u64) -> Result<Self, Error> {
        Filter::of_slots(measures, slots, &[])
    }

    /// A filter of keys with these first words, in ascending order, as large as it would be had
    /// it started with the `planned` slots and grown with its keys: so it makes the mistakes
    /// that were made, and what was learnt fits it.
    pub(crate) fn from_sorted(
        measures: &Measures,
        planned: u64,
        hashes: &[u64],
    ) -> Result<Self, Error> {
        // While the seed changes, the keys that an old shard still has all lie behind the frontier. They may
        // lack a slot there though the filter has enough for their number.
        let slots = grown(planned, hashes.len() as u64);
        with_room(slots, |slots| Filter::of_slots(measures, slots, hashes))
    }

    /// A filter of so many keys, hashed and in hash order, with what an old one has learnt, in the
    /// old number of slots or a multiple of it, so that no mistake that was fixed comes back.
    pub(crate) fn from_learnt<'k, I: Iterator<Item = Hashed<'k>>>(
        old: &AdaptiveFilter<Sip13>,
        measures: &Measures,
        planned: u64,
        count: u64,
        keys: impl Fn() -> I,
    ) -> Result<Self, Error> {
        let mut slots = grown(old.geometry().slots(), count);
        while slots < planned {
            slots *= 2;
        }
        // Long extensions take slots as well.
        with_room(slots, |slots| {
            let empty = AdaptiveFilter::builder()
                .slots(slots)
                .remainder_bits(measures.remainder_bits)
                .seed(measures.seed)
                .build()?;
            let (filter, _) = old.rebuild(empty, keys())?;
            Ok(Filter::Adaptive(filter))
        })
    }

    fn of_slots(measures: &Measures, slots: u64, hashes: &[u64]) -> Result<Self, Error> {
        let hashes = hashes.iter().copied();
        Ok(match measures.choice {
            FilterChoice::None => Filter::None,
            FilterChoice::Plain => Filter::Plain(
                QuotientFilter::builder()
                    .slots(slots)
                    .remainder_bits(measures.remainder_bits)
                    .seed(measures.seed)
                    .build_from_sorted_hashes(hashes)?,
            ),
            FilterChoice::Adaptive => Filter::Adaptive(
                AdaptiveFilter::builder()
                    .slots(slots)
                    .remainder_bits(measures.remainder_bits)
                    .seed(measures.seed)
                    .build_from_sorted_hashes(hashes)?,
            ),
        })
    }

    #[inline]
    pub(crate) fn contains(&self, key: &Hashed<'_>) -> bool {
        match self {
            Filter::None => true,
            Filter::Plain(filter) => filter.contains_hashed(key),
            Filter::Adaptive(filter) => filter.contains_hashed(key),
        }
    }

    /// Is there no key with this hash, whatever its later words are?
    #[inline]
    pub(crate) fn denies(&self, h0: u64) -> bool {
        match self {
            Filter::None => false,
            Filter::Plain(filter) => !filter.contains_hashed(&Hashed::from_h0(h0)),
            Filter::Adaptive(filter) => filter.denies(h0),
        }
    }

    /// [`contains`](Self::contains) for the key whose hash starts with this word. `hash` makes the
    /// others where they decide.
    #[inline]
    pub(crate) fn contains_by<'k>(&self, h0: u64, hash: impl FnOnce() -> Hashed<'k>) -> bool {
        match self {
            Filter::None => true,
            Filter::Plain(filter) => filter.contains_hashed(&Hashed::from_h0(h0)),
            Filter::Adaptive(filter) => filter.contains_by(h0, hash),
        }
    }

    /// The hashes of all keys that a positive answer for this one may stem from.
    pub(crate) fn range(&self, h0: u64) -> RangeInclusive<u64> {
        match self {
            Filter::None | Filter::Plain(_) => h0..=h0,
            Filter::Adaptive(filter) => {
                let geometry = filter.geometry();
                geometry.hash_range(geometry.id(h0))
            }
        }
    }

    pub(crate) fn insert(&mut self, key: &Hashed<'_>) -> Result<(), Error> {
        match self {
            Filter::None => Ok(()),
            Filter::Plain(filter) => filter.insert_hashed(key),
            Filter::Adaptive(filter) => filter.insert_hashed(key).map(|_| ()),
        }
    }

    /// Removes a member, given all keys of its minirun.
    pub(crate) fn remove(
        &mut self,
        key: &Hashed<'_>,
        keys: &[Hashed<'_>],
        leave: Leave,
    ) -> Result<(), Error> {
        match self {
            Filter::None => Ok(()),
            Filter::Plain(filter) => {
                let _ = filter.remove_hashed(key);
                Ok(())
            }
            Filter::Adaptive(filter) => filter.remove(key, keys, leave),
        }
    }

    /// Fixes a mistake, given all keys of its minirun. Only adaptive filters learn.
    pub(crate) fn adapt(
        &mut self,
        query: &Hashed<'_>,
        keys: &[Hashed<'_>],
    ) -> Result<Adapted, Error> {
        match self {
            Filter::None | Filter::Plain(_) => Ok(Adapted::default()),
            Filter::Adaptive(filter) => {
                let minirun = Minirun::from_id(filter.geometry().id(query.h0()));
                filter.adapt(query, minirun, keys)
            }
        }
    }

    /// Gives the members with these hashes to a larger filter. `keys` are all keys of one minirun.
    /// If that finds no room for them, nothing has changed.
    pub(crate) fn hand_over(&self, keys: &[Hashed<'_>], into: &mut Filter) -> Result<(), Error> {
        if let (Filter::Adaptive(filter), Filter::Adaptive(into)) = (self, &mut *into) {
            let minirun = Minirun::from_id(filter.geometry().id(keys[0].h0()));
            return filter.hand_over(minirun, keys, into);
        }
        for (i, key) in keys.iter().enumerate() {
            if let Err(error) = into.insert(key) {
                for key in &keys[..i] {
                    into.remove(key, &[], Leave::Nothing)?;
                }
                return Err(error);
            }
        }
        Ok(())
    }

    pub(crate) fn geometry(&self) -> Option<Geometry> {
        match self {
            Filter::None => None,
            Filter::Plain(filter) => Some(filter.geometry()),
            Filter::Adaptive(filter) => Some(filter.geometry()),
        }
    }

    /// Slots that hold something, and slots.
    pub(crate) fn usage(&self) -> (u64, u64) {
        match self {
            Filter::None => (0, 0),
            Filter::Plain(filter) => (filter.len(), filter.geometry().slots()),
            Filter::Adaptive(filter) => {
                let slots = filter.geometry().slots();
                ((filter.load() * slots as f64).round() as u64, slots)
            }
        }
    }

    /// Is it time for a larger filter, or will it be when `more` keys have come?
    pub(crate) fn is_full(&self, more: u64) -> bool {
        let (used, slots) = self.usage();
        slots > 0 && (used + more) as f64 > FULL_AT * slots as f64
    }

    /// Bytes of its table.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Filter::None => 0,
            Filter::Plain(filter) => sizing::plain_bytes(&filter.geometry()),
            Filter::Adaptive(filter) => sizing::adaptive_bytes(&filter.geometry()),
        }
    }

    pub(crate) fn check_invariants(&self) -> Result<(), String> {
        match self {
            Filter::None => Ok(()),
            Filter::Plain(filter) => filter.check_invariants().map_err(|error| error.to_string()),
            Filter::Adaptive(filter) => {
                filter.check_invariants().map_err(|error| error.to_string())
            }
        }
    }

    /// The filter as a file; empty if there is none.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        match self {
            Filter::None => Vec::new(),
            Filter::Plain(filter) => filter.to_bytes(),
            Filter::Adaptive(filter) => filter.to_bytes(),
        }
    }

    /// The filter of such a file, if it is one of these measures.
    pub(crate) fn from_bytes(measures: &Measures, bytes: &[u8]) -> Result<Self, Error> {
        let filter = match measures.choice {
            FilterChoice::None => Filter::None,
            FilterChoice::Plain => Filter::Plain(QuotientFilter::from_bytes(bytes)?),
            FilterChoice::Adaptive => Filter::Adaptive(AdaptiveFilter::from_bytes(bytes)?),
        };
        let seed = match &filter {
            Filter::None => measures.seed,
            Filter::Plain(filter) => filter.seed(),
            Filter::Adaptive(filter) => filter.seed(),
        };
        if seed != measures.seed {
            let reason = "the filter has another seed than the store".to_owned();
            return Err(Error::Mismatch { reason });
        }
        Ok(filter)
    }
}
