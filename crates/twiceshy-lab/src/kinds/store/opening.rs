//! Opening: after a clean close, and after a crash.
//!
//! A crash is a copy of the store's directory, made while the store is open: what a process
//! that was killed would have left. The database repairs itself first, which is its own affair and
//! its own figure; then the store builds its filter from the records.

use std::fs;
use std::path::Path;

use anyhow::Result;

use super::Lab;
use super::engines::{Front, Opened, Reads};
use super::subject::Write;

/// Rounds of crashes at most: each copies the whole store, and some engines take long to come back.
const MOST: u64 = 3;

pub(super) fn run(lab: &mut Lab<'_, '_>) -> Result<()> {
    let (setup, home) = (lab.usual(), lab.folder(Front::Adaptive));
    let millions = |opened: &Opened| opened.subject.stats().records as f64 / 1e6;
    for _ in 0..lab.rounds() {
        let opened = lab.open(Front::Adaptive, &setup, Reads::AsTheyAre)?;
        let ms = opened.store_time.as_secs_f64() * 1e3 / millions(&opened);
        lab.note("opening", "after a clean close", ms);
        opened.subject.close()?;
    }
    let aside = home.with_extension("crashed");
    for (setting, keep_image) in [("without a filter file", false), ("with a stale one", true)] {
        for round in 0..lab.rounds().min(MOST) {
            let live = lab.open(Front::Adaptive, &setup, Reads::AsTheyAre)?.subject;
            // Makes the filter file stale.
            let other = 2 * lab.data.keys + 1000 * u64::from(keep_image) + round;
            live.insert(lab.data, other..other + 1, 1, Write::Put)?;
            live.sync()?;
            copy(&home, &aside)?;
            live.close()?;
            if !keep_image {
                fs::remove_file(aside.join("filter"))?;
            }
            let open = lab.database.open;
            let opened = open(&aside, Front::Adaptive, &setup, Reads::AsTheyAre)?;
            let rate = millions(&opened) * 1e6 / opened.store_time.as_secs_f64();
            lab.note("rebuild", setting, rate);
            let ms = opened.engine_time.as_secs_f64() * 1e3 / millions(&opened);
            lab.note("opening", "the engine's own repair after a crash", ms);
            drop(opened);
            fs::remove_dir_all(&aside)?;
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
