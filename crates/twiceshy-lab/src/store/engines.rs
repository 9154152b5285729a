//! The databases that a store is measured on, and how one is opened there.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use twiceshy::hash::Seed;
use twiceshy_store::engine::{Counting, Fjall, FjallOptions, Lmdb, Redb};
use twiceshy_store::files::Directory;
use twiceshy_store::{
    Durability, Engine, EngineError, FilterChoice, Merged, Split, Store, StoreBuilder,
};
use twiceshy_store_testing::Delayed;

use super::subject::Subject;

/// Opens one kind of database.
pub(crate) trait Kind {
    type Engine: Engine + 'static;

    /// Its name in the figures.
    const NAME: &'static str;

    /// What is measured in front of it.
    const FRONTS: &'static [Front] = &Front::ALL;

    /// Has it a cache of its own that can be chosen? LMDB reads the system's page cache.
    const HAS_CACHE: bool = true;

    /// How many times as fast as it a miss must be.
    const MISS_BAR: Option<f64> = None;

    /// How many keys a second a filter must be rebuilt from.
    const REBUILD_BAR: Option<f64> = None;

    /// The database in this directory, with a cache of so many bytes.
    fn open(path: &Path, cache: u64) -> Result<Self::Engine, EngineError>;
}

pub(crate) struct OnRedb;
pub(crate) struct OnLmdb;
/// Without filters of its own.
pub(crate) struct OnFjall;
/// With filters of its own.
pub(crate) struct OnFilteredFjall;

impl Kind for OnRedb {
    type Engine = Redb;
    const NAME: &'static str = "redb";
    const MISS_BAR: Option<f64> = Some(40.0);
    const REBUILD_BAR: Option<f64> = Some(1e6);

    fn open(path: &Path, cache: u64) -> Result<Redb, EngineError> {
        Redb::with_cache(path.join("data.redb"), cache as usize)
    }
}

impl Kind for OnLmdb {
    type Engine = Lmdb;
    const NAME: &'static str = "lmdb";
    const HAS_CACHE: bool = false;
    const MISS_BAR: Option<f64> = Some(15.0);

    fn open(path: &Path, _cache: u64) -> Result<Lmdb, EngineError> {
        Lmdb::open(path.join("data"), Lmdb::DEFAULT_MAP_SIZE)
    }
}

impl Kind for OnFjall {
    type Engine = Fjall;
    const NAME: &'static str = "fjall";

    fn open(path: &Path, cache: u64) -> Result<Fjall, EngineError> {
        let options = FjallOptions::new().cache(cache).filters(false);
        options.open(path.join("data"))
    }
}

impl Kind for OnFilteredFjall {
    type Engine = Fjall;
    const NAME: &'static str = "fjall with filters";
    const FRONTS: &'static [Front] = &[Front::None, Front::Adaptive];

    fn open(path: &Path, cache: u64) -> Result<Fjall, EngineError> {
        FjallOptions::new().cache(cache).open(path.join("data"))
    }
}

/// What stands in front of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Front {
    None,
    Plain,
    Adaptive,
    /// The adaptive filter over the split layout.
    Split,
}

impl Front {
    pub(crate) const ALL: [Front; 4] = [Front::None, Front::Plain, Front::Adaptive, Front::Split];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Front::None => "no filter",
            Front::Plain => "plain",
            Front::Adaptive => "adaptive",
            Front::Split => "adaptive, split",
        }
    }

    const fn choice(self) -> FilterChoice {
        match self {
            Front::None => FilterChoice::None,
            Front::Plain => FilterChoice::Plain,
            Front::Adaptive | Front::Split => FilterChoice::Adaptive,
        }
    }
}

/// How a store is opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setup {
    pub(crate) capacity: u64,
    pub(crate) shards: usize,
    /// Bytes of the engine's cache.
    pub(crate) cache: u64,
}

/// A store, and how long it took to get there.
pub(crate) struct Opened {
    pub(crate) subject: Box<dyn Subject>,
    /// The database itself.
    pub(crate) engine_time: Duration,
    /// What the store added to that.
    pub(crate) store_time: Duration,
}

/// Opens the store in a directory, or makes one there.
pub(crate) fn open<K: Kind>(folder: &Path, front: Front, setup: &Setup) -> Result<Opened> {
    fs::create_dir_all(folder)?;
    let start = Instant::now();
    let engine = Counting::new(K::open(folder, setup.cache)?);
    let engine_time = start.elapsed();
    let start = Instant::now();
    let subject = open_on(engine, folder, front, setup)?;
    Ok(Opened {
        subject,
        engine_time,
        store_time: start.elapsed(),
    })
}

/// A switch for the time that reads take.
pub(crate) type SetDelay = Box<dyn Fn(Duration)>;

/// The same store on a database whose reads can be made slow.
pub(crate) fn open_delayed<K: Kind>(
    folder: &Path,
    front: Front,
    setup: &Setup,
) -> Result<(Box<dyn Subject>, SetDelay)> {
    let delayed = Arc::new(Delayed::new(K::open(folder, setup.cache)?, Duration::ZERO));
    let engine = Counting::new(Arc::clone(&delayed));
    let subject = open_on(engine, folder, front, setup)?;
    Ok((subject, Box::new(move |delay| delayed.set_delay(delay))))
}

fn open_on<E: Engine + 'static>(
    engine: Counting<E>,
    folder: &Path,
    front: Front,
    setup: &Setup,
) -> Result<Box<dyn Subject>> {
    let builder = StoreBuilder::new()
        .capacity(setup.capacity)
        .shards(setup.shards)
        .seed(Seed::from_u64(1))
        .durability(Durability::Buffered)
        .filter(front.choice());
    let files = Directory::new(folder)?;
    Ok(match front {
        Front::Split => Box::new(builder.layout::<Split>().open(engine, files)?),
        _ => {
            let store: Store<_, Merged> = builder.open(engine, files)?;
            Box::new(store)
        }
    })
}

/// The directory of a store.
pub(crate) fn folder<K: Kind>(root: &Path, front: Front) -> PathBuf {
    let plain = |name: &str| name.replace([' ', ','], "-");
    root.join(plain(K::NAME)).join(plain(front.name()))
}
