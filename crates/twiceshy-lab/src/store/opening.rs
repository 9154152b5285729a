//! Opening: after a clean close, and after a crash.
//!
//! A crash is a copy of the store's directory, made while the store is open: what a process
//! that was killed would have left. The database repairs itself first, which is its own affair and
//! its own row; then the store builds its filter from the records.

use std::fs;
use std::path::Path;

use anyhow::Result;

use super::Lab;
use super::book::{Bar, Book, Unit};
use super::engines::{Front, Kind, Opened, folder, open};
use super::subject::Write;

/// The experiment's name in the figures.
pub(super) const OPENING: &str = "opening, per million keys";
pub(super) const REBUILD: &str = "rebuild after a crash, keys";

/// Rounds of crashes at most: each copies the whole store, and some engines take long to come back.
const MOST: u32 = 3;

/// Milliseconds a million keys.
const CLEAN_BAR: Bar = Bar::AtMost(50.0);

pub(super) fn run<K: Kind>(lab: &Lab<'_>, book: &mut Book) -> Result<()> {
    lab.progress.set_message(format!("{}: opening", K::NAME));
    let setup = lab.setup(lab.cache());
    let home = folder::<K>(lab.root, Front::Adaptive);
    let records = |opened: &Opened| opened.subject.stats().records as f64;
    let clean = lab.name::<K>(OPENING, "after a clean close", "store");
    for _ in 0..lab.rounds {
        let opened = open::<K>(&home, Front::Adaptive, &setup)?;
        let ms = opened.store_time.as_secs_f64() * 1e3 / (records(&opened) / 1e6);
        book.add(&clean, Unit::Milliseconds, ms);
        opened.subject.close()?;
        lab.progress.inc(1);
    }
    book.demand(&clean, Unit::Milliseconds, Some(CLEAN_BAR));

    let aside = home.with_extension("crashed");
    for (setting, keep_image) in [("without a filter file", false), ("with a stale one", true)] {
        for round in 0..u64::from(lab.rounds.min(MOST)) {
            let live = open::<K>(&home, Front::Adaptive, &setup)?.subject;
            // Makes the filter file stale.
            let other = 2 * lab.data.keys + 1000 * u64::from(keep_image) + round;
            live.insert(lab.data, other..other + 1, 1, Write::Put)?;
            live.sync()?;
            copy(&home, &aside)?;
            live.close()?;
            if !keep_image {
                fs::remove_file(aside.join("filter"))?;
            }
            let opened = open::<K>(&aside, Front::Adaptive, &setup)?;
            let rate = records(&opened) / opened.store_time.as_secs_f64();
            let name = |who| lab.name::<K>(REBUILD, setting, who);
            book.add(&name("store"), Unit::PerSecond, rate);
            let bar = K::REBUILD_BAR.map(Bar::AtLeast);
            book.demand(&name("store"), Unit::PerSecond, bar);
            let ms = opened.engine_time.as_secs_f64() * 1e3 / (records(&opened) / 1e6);
            let name = lab.name::<K>(OPENING, "after a crash", "the engine's own repair");
            book.add(&name, Unit::Milliseconds, ms);
            drop(opened);
            fs::remove_dir_all(&aside)?;
            lab.progress.inc(1);
        }
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy(&entry.path(), &target)?,
            false => drop(fs::copy(entry.path(), target)?),
        }
    }
    Ok(())
}
