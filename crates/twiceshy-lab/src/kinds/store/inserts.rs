//! Inserts: throughput while the filter fills (figure 5 of the paper) and what each asks of the
//! engine (its table 1).
//!
//! All stores are filled at the same time, a step each in turn, so that what the machine does meanwhile
//! hits all of them alike.

use std::ops::Range;
use std::time::Instant;

use anyhow::Result;

use super::Lab;
use super::engines::Front;
use super::subject::{Subject, Write, Writes};

/// Places along the load, and steps of each.
const PLACES: u64 = 18;
const STEPS: u64 = 5;

/// Records in a commit.
const BATCH: usize = 1000;

/// Fills all stores, and leaves them closed.
pub(super) fn fill(lab: &mut Lab<'_, '_>) -> Result<()> {
    let (data, opened) = (lab.data, lab.open_all()?);
    let subjects = opened
        .iter()
        .map(|(front, opened)| (*front, &*opened.subject));
    let subjects: Vec<(Front, &dyn Subject)> = subjects.collect();
    let cells = match lab.fronts.contains(&Front::Cells) {
        true => Some((lab.database.cells)(
            &lab.folder(Front::Cells),
            &lab.usual(),
            data.keys,
        )?),
        false => None,
    };
    let mut filled: Vec<(&'static str, &dyn Writes)> = Vec::new();
    filled.extend(
        subjects
            .iter()
            .map(|&(front, subject)| (front.name(), subject as &dyn Writes)),
    );
    filled.extend(cells.as_deref().map(|cells| (Front::Cells.name(), cells)));

    let before: Vec<_> = subjects
        .iter()
        .map(|(_, subject)| subject.counts())
        .collect();
    let steps = STEPS * PLACES;
    for step in 0..steps {
        let (from, to) = (step * data.keys / steps, (step + 1) * data.keys / steps);
        let place = 0.9 * (step / STEPS + 1) as f64 / PLACES as f64;
        let place = (place * 1000.0).round() / 1000.0;
        for turn in 0..filled.len() {
            let (name, filled) = filled[(turn + step as usize) % filled.len()];
            let rate = rate(to - from, || {
                filled.insert(data, from..to, BATCH, Write::Put)?;
                // Once in a while, as one would: an engine that may not write keeps it all in memory.
                filled.sync()
            })?;
            lab.note("inserts", name, rate);
            if step >= steps - steps / 10 {
                lab.note("inserts at 81 to 90%", name, rate);
            }
            lab.note_at("inserts by load", name, place, rate);
        }
    }
    for ((front, subject), before) in subjects.iter().zip(before) {
        let counts = subject.counts() - before;
        // Nothing but records: a word or two on the state of the store is in the first commit.
        lab.note(
            "writes a put",
            front.name(),
            counts.changes as f64 / data.keys as f64,
        );
        lab.note(
            "reads a put",
            front.name(),
            counts.reads() as f64 / data.keys as f64,
        );
    }
    opened
        .into_iter()
        .try_for_each(|(_, opened)| opened.subject.close())
}

/// One record a commit, and keys that are known to be new.
pub(super) fn singles(lab: &mut Lab<'_, '_>) -> Result<()> {
    let (data, opened) = (lab.data, lab.open_all()?);
    let singles = (data.keys / 1000).clamp(20, 1000);
    let first = data.keys + singles;
    in_turns(
        lab,
        "inserts, one a commit",
        data.keys..first,
        1,
        Write::Put,
        &opened,
    )?;

    let news = data.keys / 100;
    let before: Vec<_> = opened
        .iter()
        .map(|(_, opened)| opened.subject.counts())
        .collect();
    in_turns(
        lab,
        "insert_new",
        first..first + news,
        BATCH,
        Write::InsertNew,
        &opened,
    )?;
    for ((front, opened), before) in opened.iter().zip(before) {
        // Whether a filter that grows meanwhile reads for that is another question.
        if opened.subject.stats().grows == 0 {
            let reads = (opened.subject.counts() - before).reads();
            lab.note(
                "reads an insert_new",
                front.name(),
                reads as f64 / news as f64,
            );
        }
    }
    opened
        .into_iter()
        .try_for_each(|(_, opened)| opened.subject.close())
}

/// Writes the records of these numbers to all stores, a tenth each in turn.
fn in_turns(
    lab: &mut Lab<'_, '_>,
    panel: &str,
    numbers: Range<u64>,
    batch: usize,
    write: Write,
    opened: &[(Front, super::Opened)],
) -> Result<()> {
    let (data, count) = (lab.data, (numbers.end - numbers.start) / 10);
    for (round, first) in numbers.step_by(count as usize).take(10).enumerate() {
        for turn in 0..opened.len() {
            let (front, opened) = &opened[(turn + round) % opened.len()];
            let insert = || {
                opened
                    .subject
                    .insert(data, first..first + count, batch, write)
            };
            lab.note(panel, front.name(), rate(count, insert)?);
        }
    }
    Ok(())
}

/// How many a second?
fn rate(count: u64, work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let start = Instant::now();
    work()?;
    Ok(count as f64 / start.elapsed().as_secs_f64())
}
