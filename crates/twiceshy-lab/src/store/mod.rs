//! `store`: the store in front of real databases, with the adaptive filter, with a plain one and with
//! none.
//!
//! | module | what is in it |
//! | --- | --- |
//! | [`data`] | the records, and keys that are not there |
//! | [`engines`] | the databases, and how a store is opened on one |
//! | [`subject`] | what is done to a store |
//! | [`inserts`], [`misses`], [`adversary`], [`opening`], [`pauses`] | the experiments |
//! | [`record`] | some of them, for the experiments of the papers |
//! | [`cells`] | keys in the places of an adaptive cuckoo filter's fingerprints |
//! | [`book`] | samples, and the rows made of them |
//! | [`table`], [`html`] | the rows on the screen, and drawn |

pub(crate) mod adversary;
pub(crate) mod book;
pub(crate) mod cells;
pub(crate) mod data;
pub(crate) mod engines;
mod html;
pub(crate) mod inserts;
pub(crate) mod misses;
mod opening;
mod pauses;
pub(crate) mod record;
pub(crate) mod subject;
mod table;

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use book::{Book, Line, Name, Row};
use data::Data;
use engines::{Kind, OnFilteredFjall, OnFjall, OnLmdb, OnRedb, Setup};

use crate::machine::Machine;

/// Measure the store in front of redb, fjall and LMDB
///
/// Stores with the adaptive filter, with a plain one and with none take turns on the same
/// records: inserts, lookups that miss, an attacker who repeats the filter's mistakes, opening
/// after a close and after a crash, the longest pauses, two threads. Ratios are medians over
/// those turns, so they hold on a busy machine too; absolute figures want a quiet one. The
/// engine's cache holds an eighth of the records unless a row says otherwise; LMDB has none of
/// its own and reads the system's page cache. The defaults take some minutes and 2 GB of disk.
/// (fjall keeps up to 64 MB in memory whatever its cache: fewer records never meet its filters.)
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Records
    #[arg(long, default_value_t = 500_000, value_parser = clap::value_parser!(u64).range(1000..=1 << 32))]
    keys: u64,

    /// Bytes of each value; a key has 16
    #[arg(long, default_value_t = 180)]
    value_bytes: usize,

    /// On which database
    #[arg(long, default_value = "all")]
    engine: Choice,

    /// How often everything but the filling is measured
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    /// Keep the databases here while they are measured, and write `report.html` [default: the
    /// system's directory for temporary files, and no report]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Write the figures to this file, too
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Measure nothing: fill a store in memory and look COUNT strangers up, for callgrind. Two
    /// runs that differ in COUNT differ by the cost of those lookups
    #[arg(long, value_name = "COUNT")]
    profile: Option<u64>,
}

/// Which databases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Choice {
    Redb,
    Fjall,
    Lmdb,
    All,
}

/// What all experiments need to know.
struct Lab<'l> {
    data: Data,
    rounds: u32,
    root: &'l Path,
    progress: &'l ProgressBar,
}

impl Lab<'_> {
    /// Bytes of an engine's cache, where nothing else is said: an eighth of the records.
    fn cache(&self) -> u64 {
        self.data.bytes() / 8
    }

    /// A store whose filter is 90% full of these records.
    fn setup(&self, cache: u64) -> Setup {
        Setup {
            capacity: self.data.capacity(),
            shards: self.data.shards(),
            // Less than some pages is no cache at all.
            cache: cache.max(64 << 10),
        }
    }

    fn name<K: Kind>(
        &self,
        experiment: &'static str,
        setting: &str,
        subject: &'static str,
    ) -> Name {
        Name {
            experiment,
            engine: K::NAME,
            setting: setting.to_owned(),
            subject,
        }
    }
}

/// Everything that came out.
#[derive(Serialize)]
struct Report {
    machine: Machine,
    parameters: Parameters,
    rows: Vec<Row>,
    lines: Vec<Line>,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct Parameters {
    keys: u64,
    key_bytes: usize,
    value_bytes: usize,
    data_bytes: u64,
    cache_bytes: u64,
    rounds: u32,
    shards: usize,
}

/// Measures, and shows what came out.
pub(crate) fn run(args: &Args) -> Result<()> {
    if let Some(count) = args.profile {
        return profile(args, count);
    }
    // First: a bad path should not cost minutes of measuring.
    let json = args.json.as_ref().map(|path| {
        let file = File::create(path);
        file.with_context(|| format!("can't write {}", path.display()))
    });
    let json = json.transpose()?;
    if let Some(out) = &args.out {
        fs::create_dir_all(out).with_context(|| format!("can't make {}", out.display()))?;
    }
    let report = measure(args)?;
    print!("{}", table::Table(&report));
    if let Some(file) = json {
        let mut file = BufWriter::new(file);
        serde_json::to_writer_pretty(&mut file, &report)?;
        writeln!(file)?;
        file.flush()?;
    }
    if let Some(out) = &args.out {
        let path = out.join("report.html");
        fs::write(&path, html::page(&report))?;
        println!("\ndrawn in {}", path.display());
    }
    Ok(())
}

fn measure(args: &Args) -> Result<Report> {
    let root = match &args.out {
        Some(out) => tempfile::tempdir_in(out)?,
        None => tempfile::tempdir()?,
    };
    let progress = progress_bar();
    let lab = Lab {
        data: Data {
            keys: args.keys,
            value_bytes: args.value_bytes,
        },
        rounds: args.rounds,
        root: root.path(),
        progress: &progress,
    };
    let machine = Machine::look();
    let mut book = Book::default();
    let wants = |choice| args.engine == choice || args.engine == Choice::All;
    let (redb, lmdb, fjall) = (
        wants(Choice::Redb),
        wants(Choice::Lmdb),
        wants(Choice::Fjall),
    );
    let kinds = u64::from(redb) + u64::from(lmdb) + u64::from(fjall);
    // Turns of filling; rounds of all else, about.
    progress.set_length(kinds * 400 + kinds * u64::from(args.rounds) * 20);
    if redb {
        whole::<OnRedb>(&lab, &mut book)?;
    }
    if lmdb {
        whole::<OnLmdb>(&lab, &mut book)?;
    }
    if fjall {
        whole::<OnFjall>(&lab, &mut book)?;
        inserts::run::<OnFilteredFjall>(&lab, &mut book)?;
        misses::run::<OnFilteredFjall>(&lab, &mut book)?;
    }
    progress.finish_and_clear();
    Ok(Report {
        machine,
        parameters: Parameters {
            keys: args.keys,
            key_bytes: size_of::<data::Key>(),
            value_bytes: args.value_bytes,
            data_bytes: lab.data.bytes(),
            cache_bytes: lab.cache(),
            rounds: args.rounds,
            shards: lab.data.shards(),
        },
        rows: book.rows(),
        lines: book.lines,
    })
}

/// Everything on one database.
fn whole<K: Kind>(lab: &Lab<'_>, book: &mut Book) -> Result<()> {
    inserts::run::<K>(lab, book)?;
    misses::run::<K>(lab, book)?;
    misses::run_threads::<K>(lab, book)?;
    misses::run_delayed::<K>(lab, book)?;
    opening::run::<K>(lab, book)?;
    adversary::run::<K>(lab, book)?;
    pauses::run::<K>(lab, book)?;
    // Make room for the next one.
    fs::remove_dir_all(lab.root.join(K::NAME))?;
    Ok(())
}

/// For tools that count instructions.
fn profile(args: &Args, count: u64) -> Result<()> {
    use twiceshy_store::engine::Counting;
    use twiceshy_store::engine::InMemory;
    use twiceshy_store::files::NoFiles;

    let data = Data {
        keys: args.keys,
        value_bytes: args.value_bytes,
    };
    let builder = twiceshy_store::StoreBuilder::new().shards(data.shards());
    let builder = builder.capacity(data.capacity());
    let store = builder.open(Counting::new(InMemory::new()), NoFiles)?;
    let subject: &dyn subject::Subject = &store;
    subject.insert(data, 0..data.keys, 1000, subject::Write::Put)?;
    // All that can be learnt of them is learnt.
    let keys = data.strangers(0..1 << 16);
    subject.ask(&keys)?;
    let before = subject.counts().reads();
    let mut left = usize::try_from(count)?;
    while left > 0 {
        let some = left.min(keys.len());
        subject.ask(&keys[..some])?;
        left -= some;
    }
    let reads = subject.counts().reads() - before;
    println!("{count} lookups that miss, {reads} engine reads");
    Ok(())
}

/// A bar on standard error; invisible unless that is a terminal. It has no thread of its own.
fn progress_bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {percent:>3}%  {msg}, {elapsed} so far");
    let bar = ProgressBar::no_length();
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

#[cfg(test)]
mod tests;
