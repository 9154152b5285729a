//! A store's directory: what is in it, and how it is opened again.
//!
//! ```text
//! shop.db/
//!   store.json     what was chosen when it was made
//!   data.redb      the database: data.redb, data.fjall/ or data.lmdb/
//!   filter         the filter, a cache
//!   mistakes.0, mistakes.1   what it learnt since
//! ```

use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use anyhow::{Context, bail};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use twiceshy::hash::Seed;
use twiceshy_store::engine::{Fjall, Lmdb, Redb};
use twiceshy_store::files::Directory;
use twiceshy_store::{FilterChoice, Merged, Split, StoreBuilder};

use super::any::{AnyStore, Ranges};
use crate::exit::{OrHint, Outcome};
use crate::files;
use crate::shell::{Shell, Unit};

/// The database that keeps the records.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EngineKind {
    /// A copy-on-write B-tree in pure Rust
    Redb,
    /// An LSM tree in pure Rust
    Fjall,
    /// A memory-mapped B-tree in C
    Lmdb,
}

impl EngineKind {
    /// The name of its file or directory.
    fn file(self) -> &'static str {
        match self {
            EngineKind::Redb => "data.redb",
            EngineKind::Fjall => "data.fjall",
            EngineKind::Lmdb => "data.lmdb",
        }
    }
}

/// How records are laid out.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LayoutKind {
    /// Once, in the order of their hashes: the least work a write
    Merged,
    /// In the order of their keys, and a reverse map beside: `scan` can take ranges
    Split,
}

/// Which filter stands in front.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FilterKind {
    /// Makes no mistake twice
    Adaptive,
    /// Repeats its mistakes: for comparison
    Plain,
    /// None: every lookup reads the database; for comparison
    None,
}

impl From<FilterKind> for FilterChoice {
    fn from(kind: FilterKind) -> Self {
        match kind {
            FilterKind::Adaptive => FilterChoice::Adaptive,
            FilterKind::Plain => FilterChoice::Plain,
            FilterKind::None => FilterChoice::None,
        }
    }
}

/// What was chosen when a store was made: `store.json`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Choices {
    /// The number of this format.
    pub(crate) version: u32,
    pub(crate) engine: EngineKind,
    pub(crate) layout: LayoutKind,
    pub(crate) filter: FilterKind,
    pub(crate) fpr: f64,
    pub(crate) capacity: u64,
}

impl Default for Choices {
    /// Those of [`Store::open_dir`](twiceshy_store::Store::open_dir), which writes no file of
    /// them.
    fn default() -> Self {
        Choices {
            version: VERSION,
            engine: EngineKind::Redb,
            layout: LayoutKind::Merged,
            filter: FilterKind::Adaptive,
            fpr: 1.0 / 512.0,
            capacity: 100_000,
        }
    }
}

impl Choices {
    /// The file that is locked while a store is open.
    pub(super) fn lock_file(&self, path: &Path) -> PathBuf {
        let data = path.join(self.engine.file());
        match self.engine {
            EngineKind::Redb => data,
            EngineKind::Fjall | EngineKind::Lmdb => data.join("lock"),
        }
    }
}

const VERSION: u32 = 1;
const CHOICES: &str = "store.json";

/// A store that is open.
pub(crate) struct Opened {
    pub(crate) store: Box<dyn AnyStore>,
    pub(crate) choices: Choices,
    /// The filter was built from the records.
    rebuilt: bool,
}

impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Opened")
            .field("choices", &self.choices)
            .finish_non_exhaustive()
    }
}

impl Opened {
    /// How many bytes a key may have.
    pub(crate) fn key_lengths(&self) -> RangeInclusive<usize> {
        // LMDB has no empty keys; in the merged layout, hashes stand before them.
        let needs_a_byte = (EngineKind::Lmdb, LayoutKind::Split);
        let least = usize::from((self.choices.engine, self.choices.layout) == needs_a_byte);
        least..=self.store.max_key_len()
    }

    /// Ends after lookups: saves the filter if there is anything new in it.
    pub(crate) fn close_after_reading(self) -> Outcome<()> {
        if self.rebuilt || self.store.stats().adaptations > 0 {
            return self.close();
        }
        Ok(())
    }

    /// Ends after writes: saves the filter.
    pub(crate) fn close(self) -> Outcome<()> {
        Ok(self.store.close()?)
    }
}

/// Makes a store.
pub(crate) fn create(
    path: &Path,
    choices: &Choices,
    seed: Option<Seed>,
    shell: &Shell,
) -> Outcome<()> {
    let name = path.display();
    match fs::read_dir(path).map(Iterator::count) {
        Ok(_) if find_choices(path)?.is_some() => {
            bail!("there is a store at {name} already; use it, or choose another path");
        }
        Ok(1..) => {
            bail!("the directory {name} is not empty; choose a path that is not there yet");
        }
        Ok(0) => {}
        Err(_) if path.exists() => {
            bail!("{name} is a file; choose a path that is not there yet");
        }
        Err(_) => fs::create_dir_all(path)
            .with_context(|| format!("can't make the directory {name}"))
            .or_hint(|| "choose a path where you may write".into())?,
    }
    let json = serde_json::to_string_pretty(choices)?;
    files::replace(&path.join(CHOICES), |file| writeln!(file, "{json}"))?;
    open_as(path, choices.clone(), seed, shell)?.close()
}

/// Opens a store that is there.
pub(crate) fn open(path: &Path, shell: &Shell) -> Outcome<Opened> {
    let name = path.display();
    match find_choices(path)? {
        Some(choices) => open_as(path, choices, None, shell),
        None if path.is_dir() => bail!(
            "{name} is a directory, but no store; make one with `twiceshy store create` at a \
             path of its own"
        ),
        None if path.exists() => bail!(
            "{name} is a file, and a store is a directory; make one with `twiceshy store create`"
        ),
        None => bail!("there is no store at {name}; make one with `twiceshy store create {name}`"),
    }
}

/// Opens a store with other choices than it was made with.
pub(super) fn open_with(path: &Path, choices: Choices, shell: &Shell) -> Outcome<Opened> {
    open_as(path, choices, None, shell)
}

/// What the store at this path was made with, if there is one.
pub(crate) fn find_choices(path: &Path) -> Outcome<Option<Choices>> {
    let file = path.join(CHOICES);
    let text = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if file.exists() => {
            return Err(error).with_context(|| format!("can't read {}", file.display()));
        }
        Err(_) => {
            let made_by_the_library = path.join(EngineKind::Redb.file()).is_file();
            return Ok(made_by_the_library.then(Choices::default));
        }
    };
    let choices: Choices = serde_json::from_str(&text)
        .with_context(|| format!("{} is damaged", file.display()))
        .or_hint(|| {
            "write it anew: `twiceshy store create` at another path shows how it looks".into()
        })?;
    if choices.version != VERSION {
        bail!(
            "{} has number {}, and this program reads number {VERSION}; use the version that wrote it",
            file.display(),
            choices.version
        );
    }
    Ok(Some(choices))
}

fn open_as(path: &Path, choices: Choices, seed: Option<Seed>, shell: &Shell) -> Outcome<Opened> {
    let rebuilt = Arc::new(AtomicBool::new(false));
    let bar = shell.progress("building the filter", Unit::Things, Some(1_000));
    let mut builder = StoreBuilder::new()
        .capacity(choices.capacity)
        .fpr(choices.fpr)
        .filter(choices.filter.into())
        .on_progress({
            let rebuilt = rebuilt.clone();
            move |progress| {
                rebuilt.store(true, Relaxed);
                bar.set((progress.done * 1_000.0) as u64);
            }
        });
    if let Some(seed) = seed {
        builder = builder.seed(seed);
    }
    let data = path.join(choices.engine.file());
    let store = match choices.layout {
        LayoutKind::Merged => open_engine(builder.layout::<Merged>(), choices.engine, path, data),
        LayoutKind::Split => open_engine(builder.layout::<Split>(), choices.engine, path, data),
    };
    let store = store
        .with_context(|| format!("can't open the store at {}", path.display()))
        .or_hint(|| "if another process has it open, wait until that ends".into())?;
    Ok(Opened {
        store,
        choices,
        rebuilt: rebuilt.load(Relaxed),
    })
}

fn open_engine<L: Ranges>(
    builder: StoreBuilder<L>,
    engine: EngineKind,
    path: &Path,
    data: PathBuf,
) -> Outcome<Box<dyn AnyStore>> {
    let files = Directory::new(path)?;
    Ok(match engine {
        EngineKind::Redb => Box::new(builder.open(Redb::create_or_open(data)?, files)?),
        EngineKind::Fjall => Box::new(builder.open(Fjall::open(data)?, files)?),
        EngineKind::Lmdb => {
            Box::new(builder.open(Lmdb::open(data, Lmdb::DEFAULT_MAP_SIZE)?, files)?)
        }
    })
}
