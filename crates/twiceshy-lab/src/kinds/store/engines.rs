//! The databases that a store is measured on, and how one is opened there.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use twiceshy::hash::Seed;
use twiceshy_store::engine::{Counting, Fjall, FjallOptions, Lmdb, Redb};
use twiceshy_store::files::Directory;
use twiceshy_store::{
    Durability, Engine, EngineError, FilterChoice, Merged, Split, Store, StoreBuilder,
};
use twiceshy_store_testing::Delayed;

use super::Part;
use super::cells::CuckooStore;
use super::subject::{Subject, Writes};

/// One kind of database.
pub(crate) struct Database {
    /// Its name in the figures.
    pub(crate) name: &'static str,
    /// Has it a cache of its own that can be chosen? LMDB reads the system's page cache.
    pub(super) has_cache: bool,
    /// Does it filter lookups itself? Then few things are worth measuring.
    has_filters: bool,
    /// Opens the store in a directory, or makes one there.
    pub(super) open: fn(&Path, Front, &Setup, Reads) -> Result<Opened>,
    /// Makes a place for so many records in the cells of a cuckoo filter.
    pub(super) cells: fn(&Path, &Setup, u64) -> Result<Box<dyn Writes>>,
}

/// Every database.
pub(crate) const DATABASES: [Database; 4] = [
    Database {
        name: "redb",
        has_cache: true,
        has_filters: false,
        open: |folder, front, setup, reads| open(redb, folder, front, setup, reads),
        cells: |folder, setup, keys| cells(redb, folder, setup, keys),
    },
    Database {
        name: "lmdb",
        has_cache: false,
        has_filters: false,
        open: |folder, front, setup, reads| open(lmdb, folder, front, setup, reads),
        cells: |folder, setup, keys| cells(lmdb, folder, setup, keys),
    },
    Database {
        name: "fjall",
        has_cache: true,
        has_filters: false,
        open: |folder, front, setup, reads| open(fjall, folder, front, setup, reads),
        cells: |folder, setup, keys| cells(fjall, folder, setup, keys),
    },
    Database {
        name: "fjall with filters",
        has_cache: true,
        has_filters: true,
        open: |folder, front, setup, reads| open(filtered_fjall, folder, front, setup, reads),
        cells: |folder, setup, keys| cells(filtered_fjall, folder, setup, keys),
    },
];

impl Database {
    pub(super) fn by_name(name: &str) -> Result<&'static Database> {
        let database = DATABASES.iter().find(|database| database.name == name);
        database.with_context(|| format!("there is no engine {name:?}"))
    }

    /// Those of the fronts that are measured on it.
    pub(super) fn fronts_of(&self, fronts: &[Front]) -> Vec<Front> {
        let is_measured =
            |front: &&Front| !self.has_filters || matches!(front, Front::None | Front::Adaptive);
        fronts.iter().filter(is_measured).copied().collect()
    }

    /// Is this measured on it?
    pub(super) fn is_measured(&self, part: Part) -> bool {
        !self.has_filters || matches!(part, Part::Singles | Part::Misses)
    }
}

fn redb(folder: &Path, cache: u64) -> Result<Redb, EngineError> {
    Redb::with_cache(folder.join("data.redb"), cache as usize)
}

fn lmdb(folder: &Path, _cache: u64) -> Result<Lmdb, EngineError> {
    Lmdb::open(folder.join("data"), Lmdb::DEFAULT_MAP_SIZE)
}

fn fjall(folder: &Path, cache: u64) -> Result<Fjall, EngineError> {
    let options = FjallOptions::new().cache(cache).filters(false);
    options.open(folder.join("data"))
}

fn filtered_fjall(folder: &Path, cache: u64) -> Result<Fjall, EngineError> {
    FjallOptions::new().cache(cache).open(folder.join("data"))
}

/// What stands in front of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Front {
    None,
    Plain,
    Adaptive,
    /// The adaptive filter over the split layout.
    Split,
    /// An adaptive cuckoo filter, with the records in its cells; it is filled, and nothing else.
    Cells,
}

impl Front {
    const ALL: [Front; 5] = [
        Front::None,
        Front::Plain,
        Front::Adaptive,
        Front::Split,
        Front::Cells,
    ];

    /// Its name in declarations and figures.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Front::None => "no filter",
            Front::Plain => "quotient",
            Front::Adaptive => "adaptive",
            Front::Split => "adaptive, split",
            Front::Cells => "swapping",
        }
    }

    pub(super) fn by_name(name: &str) -> Result<Self> {
        let front = Front::ALL.into_iter().find(|front| front.name() == name);
        front.with_context(|| {
            let names = Front::ALL.map(Front::name).join("; ");
            format!("there is no filter {name:?} of a store; there are {names}")
        })
    }

    /// Is it a store, which can be asked?
    pub(super) fn is_store(self) -> bool {
        self != Front::Cells
    }
}

/// How a store is opened.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setup {
    pub(super) capacity: u64,
    pub(super) shards: usize,
    /// Bytes of the engine's cache.
    pub(super) cache: u64,
}

/// How fast the engine reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reads {
    AsTheyAre,
    /// They can be made slow ([`Opened::set_delay`]).
    Slow,
}

/// A switch for the time that reads take.
pub(super) type SetDelay = Box<dyn Fn(Duration)>;

/// A store, and how long it took to get there.
pub(super) struct Opened {
    pub(super) subject: Box<dyn Subject>,
    /// Does nothing where reads are as they are.
    pub(super) set_delay: SetDelay,
    /// The database itself.
    pub(super) engine_time: Duration,
    /// What the store added to that.
    pub(super) store_time: Duration,
}

fn open<E: Engine + 'static>(
    engine: fn(&Path, u64) -> Result<E, EngineError>,
    folder: &Path,
    front: Front,
    setup: &Setup,
    reads: Reads,
) -> Result<Opened> {
    fs::create_dir_all(folder)?;
    let start = Instant::now();
    let engine = engine(folder, setup.cache)?;
    let engine_time = start.elapsed();
    let start = Instant::now();
    let (subject, set_delay): (_, SetDelay) = match reads {
        Reads::AsTheyAre => {
            let subject = open_on(Counting::new(engine), folder, front, setup)?;
            (subject, Box::new(|_| ()))
        }
        Reads::Slow => {
            let delayed = Arc::new(Delayed::new(engine, Duration::ZERO));
            let subject = open_on(Counting::new(Arc::clone(&delayed)), folder, front, setup)?;
            (subject, Box::new(move |delay| delayed.set_delay(delay)))
        }
    };
    Ok(Opened {
        subject,
        set_delay,
        engine_time,
        store_time: start.elapsed(),
    })
}

fn open_on<E: Engine + 'static>(
    engine: Counting<E>,
    folder: &Path,
    front: Front,
    setup: &Setup,
) -> Result<Box<dyn Subject>> {
    let choice = match front {
        Front::None => FilterChoice::None,
        Front::Plain => FilterChoice::Plain,
        Front::Adaptive | Front::Split => FilterChoice::Adaptive,
        Front::Cells => bail!("{} is no store", front.name()),
    };
    let builder = StoreBuilder::new()
        .capacity(setup.capacity)
        .shards(setup.shards)
        .seed(Seed::from_u64(1))
        .durability(Durability::Buffered)
        .filter(choice);
    let files = Directory::new(folder)?;
    Ok(match front {
        Front::Split => Box::new(builder.layout::<Split>().open(engine, files)?),
        _ => {
            let store: Store<_, Merged> = builder.open(engine, files)?;
            Box::new(store)
        }
    })
}

fn cells<E: Engine + 'static>(
    engine: fn(&Path, u64) -> Result<E, EngineError>,
    folder: &Path,
    setup: &Setup,
    keys: u64,
) -> Result<Box<dyn Writes>> {
    fs::create_dir_all(folder)?;
    let engine = engine(folder, setup.cache)?;
    Ok(Box::new(CuckooStore::new(engine, keys)?))
}
