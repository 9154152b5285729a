//! What can be chosen when a store is opened.

use std::fmt;
use std::marker::PhantomData;

use twiceshy::filters::adaptive::Leave;
use twiceshy::hash::Seed;
use twiceshy::sets::policy::Policy;
use twiceshy::sizing;

use crate::engine::Durability;
use crate::error::Error;
use crate::filter::{FilterChoice, Measures};
use crate::generation::Plan;
use crate::layout::{Layout, Merged};
use crate::meta::Series;

/// What happens when the filter is full, of records or of what it has learnt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WhenFull {
    /// It gets twice the slots at the same false-positive rate and keeps what it has learnt,
    /// while it serves. The engine is read, once, in order, and not written.
    #[default]
    Grow,
    /// It gets a new seed, and forgets what it has learnt, while the store serves
    /// ([`rotate`](crate::Store::rotate)). Where there are too many records for it, it grows as well.
    Rotate,
    /// Writes of new keys fail with [`Error::Full`], and nothing more is learnt.
    Refuse,
}

/// How far the building of a filter has come.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// Records read so far.
    pub records: u64,
    /// The share of the hashes that has been gone through, 0 to 1. (It begins again where a
    /// change of seed was under way, which makes two filters.)
    pub done: f64,
}

/// The choices, checked.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) capacity: u64,
    pub(crate) remainder_bits: u32,
    pub(crate) policy: Policy,
    pub(crate) when_full: WhenFull,
    pub(crate) choice: FilterChoice,
    pub(crate) leave: Leave,
    pub(crate) seed: Option<Seed>,
    pub(crate) durability: Durability,
    pub(crate) shard_bits: u32,
}

impl Options {
    /// A generation in this table and under this seed.
    pub(crate) fn plan(&self, series: &Series) -> Plan {
        Plan {
            table: series.table,
            measures: Measures {
                choice: self.choice,
                remainder_bits: self.remainder_bits,
                seed: series.seed,
            },
            bits: self.shard_bits,
            policy: self.policy,
            capacity: self.capacity,
        }
    }
}

type OnProgress = Box<dyn FnMut(Progress) + Send>;

/// Opens a store, once everything is chosen.
///
/// ```
/// use twiceshy_store::{Durability, Split, StoreBuilder};
/// use twiceshy_store::engine::InMemory;
/// use twiceshy_store::files::NoFiles;
///
/// let store = StoreBuilder::new()
///     .capacity(100_000)
///     .fpr(1.0 / 512.0)
///     .durability(Durability::Buffered)
///     .layout::<Split>() // ranges of keys
///     .open(InMemory::new(), NoFiles)?;
/// store.put("b", "2")?;
/// store.put("a", "1")?;
/// let keys: Vec<_> = store.range("a".."c")?.map(|record| record.map(|(key, _)| key)).collect::<Result<_, _>>()?;
/// assert_eq!(keys, [b"a", b"b"]);
/// # Ok::<(), twiceshy_store::Error>(())
/// ```
#[must_use = "a builder does nothing until `open`"]
pub struct StoreBuilder<L = Merged> {
    options: Options,
    fpr: f64,
    shards: usize,
    progress: OnProgress,
    layout: PhantomData<L>,
}

impl StoreBuilder {
    /// With everything as most would have it: room for 100,000 records to start with, one wrong
    /// "maybe" in 512, an adaptive filter that learns from every mistake and grows, commits
    /// that are safe when they return.
    pub fn new() -> Self {
        StoreBuilder {
            options: Options {
                capacity: 100_000,
                remainder_bits: 0,
                policy: Policy::Always,
                when_full: WhenFull::Grow,
                choice: FilterChoice::Adaptive,
                leave: Leave::Nothing,
                seed: None,
                durability: Durability::Sync,
                shard_bits: 0,
            },
            fpr: 1.0 / 512.0,
            shards: 64,
            progress: Box::new(|_| ()),
            layout: PhantomData,
        }
    }
}

impl Default for StoreBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl<L: Layout> StoreBuilder<L> {
    /// How many records to have room for from the start. A hint, not a limit, unless the filter may
    /// not grow.
    pub fn capacity(mut self, records: u64) -> Self {
        self.options.capacity = records;
        self
    }

    /// The highest false-positive rate of the filter before it learns. Default: 1/512.
    pub fn fpr(mut self, fpr: f64) -> Self {
        self.fpr = fpr;
        self
    }

    /// How the records are laid out: [`Merged`] (default) or [`Split`](crate::Split). It can't be changed
    /// later.
    pub fn layout<X: Layout>(self) -> StoreBuilder<X> {
        StoreBuilder {
            options: self.options,
            fpr: self.fpr,
            shards: self.shards,
            progress: self.progress,
            layout: PhantomData,
        }
    }

    /// When to learn from a mistake. Default: always.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.options.policy = policy;
        self
    }

    /// What to do when the filter is full. Default: grow.
    pub fn when_full(mut self, when_full: WhenFull) -> Self {
        self.options.when_full = when_full;
        self
    }

    /// Which filter stands in front. Default: the adaptive one.
    pub fn filter(mut self, choice: FilterChoice) -> Self {
        self.options.choice = choice;
        self
    }

    /// What a deleted key leaves in the filter: nothing (default), or a ghost that keeps what
    /// was learnt in case it is put again.
    pub fn ghosts(mut self, leave: Leave) -> Self {
        self.options.leave = leave;
        self
    }

    /// The seed of a new store. Default: random, which keeps attackers out; a chosen one makes
    /// tests repeatable. A store that exists keeps its own.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.options.seed = Some(seed);
        self
    }

    /// When commits are safe, unless a batch says otherwise. Default: when they return.
    pub fn durability(mut self, durability: Durability) -> Self {
        self.options.durability = durability;
        self
    }

    /// Into how many parts the filter is divided, each with its own lock: a power of two up to
    /// 4096. Default: 64.
    pub fn shards(mut self, shards: usize) -> Self {
        self.shards = shards;
        self
    }

    /// Called now and then while a filter is built from the records.
    pub fn on_progress(mut self, progress: impl FnMut(Progress) + Send + 'static) -> Self {
        self.progress = Box::new(progress);
        self
    }

    pub(crate) fn into_parts(mut self) -> Result<(Options, OnProgress), Error> {
        self.options.remainder_bits = sizing::remainder_bits(self.fpr)?;
        if !self.shards.is_power_of_two() || self.shards > 4096 {
            return Err(Error::Filter(twiceshy::Error::Geometry {
                reason: format!("{} shards; a power of two up to 4096 will do", self.shards),
            }));
        }
        self.options.shard_bits = self.shards.trailing_zeros();
        Ok((self.options, self.progress))
    }
}

impl<L> fmt::Debug for StoreBuilder<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreBuilder")
            .field("fpr", &self.fpr)
            .field("shards", &self.shards)
            .finish_non_exhaustive()
    }
}
