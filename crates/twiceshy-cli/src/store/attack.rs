//! `twiceshy store attack`: the replaying adversary, against a copy.
//!
//! ```text
//! 1. ask for keys that nobody put, and watch which of them make the database read
//! 2. ask for those again, in a circle, as fast as possible
//! ```
//!
//! An attacker who does that turns the small share of a classic filter's mistakes into most of
//! its traffic. (Section 6.4 of *Adaptive Quotient Filters*, figure 6.)

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, bail};
use clap::value_parser;
use indicatif::{HumanBytes, HumanCount};
use serde::Serialize;
use twiceshy::hash::{Hashed, Seed, Sip13};
use twiceshy_report::Table;
use twiceshy_store::attack::Attacker;

use super::any::AnyStore;
use super::place::{self, Choices, FilterKind};
use crate::exit::{OrHint, Outcome, Status};
use crate::numbers::count;
use crate::scratch::Folder;
use crate::shell::{Progress, Shell, Unit};

/// Attack a copy of a store by repeating its filter's mistakes
///
/// With no filter, with a plain one and with an adaptive one in turn: the attacker asks for keys
/// that are not there, notes those that make the database read, and then asks for nothing
/// else. The store itself is only read, to copy it; nobody else may have it open.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The store
    path: PathBuf,
    /// Keys to look for mistakes with
    #[arg(long, default_value_t = 100_000, value_name = "N",
          value_parser = value_parser!(u64).range(1..))]
    probes: u64,
    /// Lookups of the attack itself
    #[arg(long, default_value_t = 100_000, value_name = "N",
          value_parser = value_parser!(u64).range(1..))]
    replays: u64,
    /// Where the copy is made [default: the directory for temporary files]
    #[arg(long, value_name = "DIR")]
    work: Option<PathBuf>,
    /// Chooses the attacker's keys; random if not given
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

const EXAMPLES: &str = "\
Examples:
  twiceshy store attack shop.db
  twiceshy store attack shop.db --probes 1000000 --replays 1000000 --json";

/// What became of one store.
#[derive(Clone, Debug, Serialize)]
struct Row {
    filter: &'static str,
    probes: u64,
    /// Keys that are not there and made the database read.
    mistakes_found: u64,
    replays: u64,
    /// Reads of the database while these were repeated.
    reads: u64,
    lookups_per_second: f64,
}

#[derive(Serialize)]
struct Report {
    records: u64,
    rows: Vec<Row>,
}

pub(crate) fn run(args: &Args, shell: &Shell) -> Outcome<Status> {
    let Some(choices) = place::find_choices(&args.path)? else {
        // Says what is wrong with the path.
        place::open(&args.path, shell)?;
        bail!("there is no store at {}", args.path.display());
    };
    let (_folder, copy) = copy(args, &choices, shell)?;
    let seed = args
        .seed
        .map_or_else(Seed::random, |number| Ok(Seed::from_u64(number)))?;
    let steps = args.probes + args.replays;
    let bar = shell.progress("attacking", Unit::Things, Some(3 * steps));
    let mut rows = Vec::new();
    let mut records = 0;
    let fronts = [
        (FilterKind::None, "none"),
        (FilterKind::Plain, "plain"),
        (FilterKind::Adaptive, "adaptive"),
    ];
    for (i, (filter, name)) in (0..).zip(fronts) {
        bar.say(&format!("attacking, filter: {name}"));
        let choices = Choices {
            filter,
            ..choices.clone()
        };
        let opened = place::open_with(&copy, choices, shell)?;
        records = opened.store.len();
        bar.set(i * steps);
        let row = attack(args, &*opened.store, &seed, &bar)?;
        rows.push(Row {
            filter: name,
            ..row
        });
    }
    bar.finish();
    let report = Report { records, rows };
    shell.print(&report, || words(&report))?;
    Ok(Status::Success)
}

/// One attack.
fn attack(args: &Args, store: &dyn AnyStore, seed: &Seed, bar: &Progress) -> Outcome<Row> {
    let reads = || {
        let stats = store.stats();
        stats.lookups - stats.filter_negatives
    };
    // More is not needed to keep any cache from helping.
    let mut attacker = Attacker::new(10_000);
    let mut found = 0;
    let mut before = reads();
    for number in 0..args.probes {
        let hashed = Hashed::new::<Sip13, _>(seed, &number);
        let mut key = [0; 16];
        key[..8].copy_from_slice(&hashed.word(0).to_le_bytes());
        key[8..].copy_from_slice(&hashed.word(1).to_le_bytes());
        if store.get(&key)?.is_some() {
            continue;
        }
        let now = reads();
        found += u64::from(now > before);
        attacker.hear(&key, now > before);
        before = now;
        if number % 1024 == 0 {
            bar.add(1024.min(args.probes));
        }
    }
    let before = reads();
    let start = Instant::now();
    let mut asked = 0;
    while asked < args.replays {
        // They do not look whether it still works, so that all filters are asked the same.
        let Some(key) = attacker.replay() else { break };
        store.get(&key)?;
        asked += 1;
        if asked % 1024 == 0 {
            bar.add(1024);
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    Ok(Row {
        filter: "",
        probes: args.probes,
        mistakes_found: found,
        replays: asked,
        reads: reads() - before,
        lookups_per_second: if asked > 0 {
            asked as f64 / seconds
        } else {
            0.0
        },
    })
}

fn words(report: &Report) -> String {
    let records = count(report.records, "record");
    let mut table = Table::new([
        "filter",
        "keys asked for",
        "reached the database",
        "asked again",
        "reached it again",
        "lookups/s",
    ]);
    for row in &report.rows {
        table.row([
            row.filter.to_owned(),
            HumanCount(row.probes).to_string(),
            HumanCount(row.mistakes_found).to_string(),
            HumanCount(row.replays).to_string(),
            HumanCount(row.reads).to_string(),
            HumanCount(row.lookups_per_second as u64).to_string(),
        ]);
    }
    let mut text =
        format!("A copy of {records}, attacked with keys that are not there:\n\n{table}");
    let [.., plain, adaptive] = &report.rows[..] else {
        return text;
    };
    if plain.replays == 0 {
        text += "\nThe attacker has found no mistake: the filter has room for many more records than \
                 there are. More `--probes` find some.\n";
    } else {
        text += &format!(
            "\nOf {} repeated mistakes the plain filter made {} again, the adaptive one {}.\n",
            HumanCount(plain.replays),
            HumanCount(plain.reads),
            HumanCount(adaptive.reads)
        );
    }
    text
}

/// A copy of the store, made while nobody has it open.
fn copy(args: &Args, choices: &Choices, shell: &Shell) -> Outcome<(Folder, PathBuf)> {
    let _lock = lock(&choices.lock_file(&args.path))?;
    let parent = args.work.clone().unwrap_or_else(std::env::temp_dir);
    let folder = Folder::new(&parent, "twiceshy-attack-")
        .context("can't make a directory for the copy")
        .or_hint(|| "choose one with `--work`".into())?;
    let copy = folder.path().join("store");
    let total = super::stats::disk_bytes(&args.path);
    let bar = shell.progress("copying the store", Unit::Bytes, Some(total));
    copy_folder(&args.path, &copy, &bar)
        .context("can't copy the store")
        .or_hint(|| {
            let needed = HumanBytes(total);
            format!("it takes {needed}; choose a directory with room with `--work`")
        })?;
    Ok((folder, copy))
}

/// Keeps other processes from opening the store.
fn lock(path: &Path) -> Outcome<Option<File>> {
    let Ok(file) = File::open(path) else {
        return Ok(None); // no database yet
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => {
            bail!("another process has the store open; wait until that ends")
        }
        Err(TryLockError::Error(error)) => Err(error).context("can't lock the store"),
    }
}

fn copy_folder(from: &Path, to: &Path, bar: &Progress) -> std::io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target, bar)?;
        } else {
            bar.add(fs::copy(entry.path(), target)?);
        }
    }
    Ok(())
}
