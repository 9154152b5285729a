//! The ways into a store or a guard, and what can be chosen there.

use std::fmt;
use std::marker::PhantomData;

use twiceshy::filters::adaptive::Leave;
use twiceshy::hash::Seed;
use twiceshy::sets::policy::Policy;
use twiceshy::{ReverseMap, sizing};

use crate::engine::{Durability, Engine, InMemory};
use crate::error::Error;
use crate::files::{Files, NoFiles};
use crate::filter::FilterChoice;
use crate::guard::{Guard, GuardError};
use crate::layout::{Layout, Merged};
use crate::options::{Options, Progress, WhenFull};
use crate::store::Store;

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
}

/// The ends of it.
impl<L: Layout> StoreBuilder<L> {
    /// Opens the store in a directory, or makes one there: a redb database `data.redb` and the
    /// filter's files beside it.
    ///
    /// # Errors
    /// Those of [`open`](Self::open), and [`Error::Files`] if the directory can't be made.
    #[cfg(feature = "redb")]
    pub fn open_dir(
        self,
        path: impl AsRef<std::path::Path>,
    ) -> Result<Store<crate::engine::Redb, L>, Error> {
        let path = path.as_ref();
        let files = crate::files::Directory::new(path).map_err(|source| Error::Files {
            doing: "making the store's directory",
            source,
        })?;
        let engine = crate::engine::Redb::create_or_open(path.join("data.redb"))?;
        self.open(engine, files)
    }

    /// Opens the store in an engine, or makes one there if the engine is empty. `files` is
    /// where the filter is saved.
    ///
    /// If the saved filter is of the very state that the engine is in, it is loaded. Otherwise
    /// the filter is built from the records, in one scan, with all that the saved one had learnt.
    /// A file that is damaged or not this store's is not looked at.
    ///
    /// # Errors
    /// [`Error::Foreign`] if the engine holds something else, [`Error::Engine`],
    /// [`Error::Filter`] if measures are impossible or memory is missing.
    pub fn open<E: Engine>(
        self,
        engine: E,
        files: impl Files + 'static,
    ) -> Result<Store<E, L>, Error> {
        let (options, mut progress) = self.into_parts()?;
        Store::open(engine, Box::new(files), options, &mut *progress)
    }

    /// A guard with this reverse map, and an adaptive filter of all keys that it lists. Of the
    /// builder's choices it takes capacity, false-positive rate, policy, shards, ghosts and seed;
    /// the others are of no meaning here.
    ///
    /// # Errors
    /// [`GuardError::Map`] if the map can't be read, [`GuardError::Filter`] if the measures are
    /// impossible, [`GuardError::Seed`] if the map's hashes were made with another seed.
    pub fn guard<R: ReverseMap>(self, map: R) -> Result<Guard<R>, GuardError<R::Error>> {
        let (options, _) = self.into_parts().map_err(GuardError::from_store)?;
        Guard::open(options, map)
    }

    fn into_parts(mut self) -> Result<(Options, OnProgress), Error> {
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

impl Store<InMemory> {
    /// A store in memory, lost with the process: for tests and caches.
    ///
    /// # Errors
    /// [`Error::Filter`] if the system has no randomness or no memory to give.
    pub fn in_memory() -> Result<Self, Error> {
        StoreBuilder::new().open(InMemory::new(), NoFiles)
    }

    /// Everything that can be chosen.
    pub fn builder() -> StoreBuilder {
        StoreBuilder::new()
    }
}

#[cfg(feature = "redb")]
impl Store<crate::engine::Redb> {
    /// Opens the store in a directory, or makes one there: with redb, the merged layout, and
    /// everything else as [`StoreBuilder`] would have it.
    ///
    /// # Errors
    /// Those of [`StoreBuilder::open_dir`].
    pub fn open_dir(path: impl AsRef<std::path::Path>) -> Result<Self, Error> {
        StoreBuilder::new().open_dir(path)
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
