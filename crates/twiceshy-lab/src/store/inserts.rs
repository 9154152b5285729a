//! Inserts: throughput while the filter fills (figure 5 of the paper) and what each asks of the
//! engine (its table 1).
//!
//! All stores are filled at the same time, one percent each in turn, so that what the machine
//! does meanwhile hits all of them alike.

use std::ops::Range;
use std::time::Instant;

use anyhow::Result;

use super::Lab;
use super::book::{Bar, Book, Line, Unit};
use super::engines::{Front, Kind, folder, open};
use super::subject::{Subject, Write};

/// The experiments' names in the figures.
pub(crate) const INSERTS: &str = "inserts";
pub(crate) const OPERATIONS: &str = "engine operations per insert";

/// Steps in which the stores are filled.
const STEPS: u64 = 100;

/// Records in a commit.
const BATCH: usize = 1000;

/// The adaptive store inserts at least so many times as fast as the plain one.
const BAR: Option<Bar> = Some(Bar::Times(0.95));

/// Fills all stores, and leaves them closed.
pub(super) fn run<K: Kind>(lab: &Lab<'_>, book: &mut Book) -> Result<()> {
    let mut subjects = Vec::new();
    for &front in K::FRONTS {
        let setup = lab.setup(lab.cache());
        let opened = open::<K>(&folder::<K>(lab.root, front), front, &setup)?;
        subjects.push((front, opened.subject));
    }
    fill::<K>(lab, book, &subjects)?;
    few::<K>(lab, book, &subjects)?;
    for (_, subject) in subjects {
        subject.close()?;
    }
    Ok(())
}

type Subjects = [(Front, Box<dyn Subject>)];

fn fill<K: Kind>(lab: &Lab<'_>, book: &mut Book, subjects: &Subjects) -> Result<()> {
    let keys = lab.data.keys;
    let mut lines = vec![Vec::new(); subjects.len()];
    let before: Vec<_> = subjects.iter().map(|(_, s)| s.counts()).collect();
    for step in 0..STEPS {
        lab.progress.set_message(format!("{}: filling", K::NAME));
        let (from, to) = (step * keys / STEPS, (step + 1) * keys / STEPS);
        for turn in 0..subjects.len() {
            let which = (turn + step as usize) % subjects.len();
            let (front, subject) = &subjects[which];
            let start = Instant::now();
            subject.insert(lab.data, from..to, BATCH, Write::Put)?;
            // Once in a while, as one would: an engine that may not write keeps it all in memory.
            subject.sync()?;
            let rate = (to - from) as f64 / start.elapsed().as_secs_f64();
            let load = 0.9 * (step + 1) as f64 / STEPS as f64;
            lines[which].push((load, rate));
            let mut note = |setting: &str| {
                let name = lab.name::<K>(INSERTS, setting, front.name());
                book.add(&name, Unit::PerSecond, rate);
            };
            note("batches of 1000, 0 to 90% load");
            if step >= STEPS - STEPS / 10 {
                note("batches of 1000, 81 to 90% load");
            }
            lab.progress.inc(1);
        }
    }
    for (((front, subject), points), before) in subjects.iter().zip(lines).zip(before) {
        let counts = subject.counts() - before;
        let per_insert = |count: u64| count as f64 / keys as f64;
        let name = |setting: &str| lab.name::<K>(OPERATIONS, setting, front.name());
        // Nothing but records: a word or two on the state of the store is in the first commit.
        book.add(
            &name("put, writes"),
            Unit::Count,
            per_insert(counts.changes),
        );
        book.add(&name("put, reads"), Unit::Count, per_insert(counts.reads()));
        if matches!(front, Front::Plain | Front::Adaptive) {
            // One write, give or take; a read for at most one new key in 2^9.
            let (writes, reads) = (Bar::AtMost(1.001), Bar::AtMost(1.0 / 512.0));
            book.demand(&name("put, writes"), Unit::Count, Some(writes));
            book.demand(&name("put, reads"), Unit::Count, Some(reads));
        }
        book.lines.push(Line {
            chart: "inserts".to_owned(),
            engine: K::NAME,
            subject: front.name(),
            points,
        });
    }
    compare::<K>(lab, book, "batches of 1000, 0 to 90% load", BAR);
    compare::<K>(lab, book, "batches of 1000, 81 to 90% load", BAR);
    Ok(())
}

/// One record a commit, and keys that are known to be new.
fn few<K: Kind>(lab: &Lab<'_>, book: &mut Book, subjects: &Subjects) -> Result<()> {
    lab.progress.set_message(format!("{}: inserting", K::NAME));
    let singles = (lab.data.keys / 1000).clamp(20, 1000);
    let news = lab.data.keys / 100;
    let first = lab.data.keys;
    let (single, new) = ("one a commit, at 90% load", "batches of 1000, insert_new");
    in_turns::<K>(
        lab,
        book,
        subjects,
        single,
        first..first + singles,
        1,
        Write::Put,
    )?;
    compare::<K>(lab, book, single, None);

    let before: Vec<_> = subjects.iter().map(|(_, s)| s.counts()).collect();
    let first = first + singles;
    in_turns::<K>(
        lab,
        book,
        subjects,
        new,
        first..first + news,
        BATCH,
        Write::InsertNew,
    )?;
    compare::<K>(lab, book, new, None);
    for ((front, subject), before) in subjects.iter().zip(before) {
        let reads = (subject.counts() - before).reads();
        let name = lab.name::<K>(OPERATIONS, "insert_new, reads", front.name());
        book.add(&name, Unit::Count, reads as f64 / news as f64);
        // A read where the filter can't deny a new key: of few keys, that may be more than one in 2^9.
        // Whether a filter that grows meanwhile reads for that is another question.
        if *front == Front::Adaptive && subject.stats().grows == 0 {
            book.demand(&name, Unit::Count, Some(Bar::AtMost(1.0 / 50.0)));
        }
    }
    Ok(())
}

/// Writes the records of these numbers to all stores, a tenth each in turn.
fn in_turns<K: Kind>(
    lab: &Lab<'_>,
    book: &mut Book,
    subjects: &Subjects,
    setting: &str,
    numbers: Range<u64>,
    batch: usize,
    write: Write,
) -> Result<()> {
    let count = (numbers.end - numbers.start) / 10;
    for (round, first) in numbers.step_by(count as usize).take(10).enumerate() {
        for turn in 0..subjects.len() {
            let (front, subject) = &subjects[(turn + round) % subjects.len()];
            let start = Instant::now();
            subject.insert(lab.data, first..first + count, batch, write)?;
            let rate = count as f64 / start.elapsed().as_secs_f64();
            let name = lab.name::<K>(INSERTS, setting, front.name());
            book.add(&name, Unit::PerSecond, rate);
        }
    }
    Ok(())
}

fn compare<K: Kind>(lab: &Lab<'_>, book: &mut Book, setting: &str, bar: Option<Bar>) {
    let name = |front: Front| lab.name::<K>(INSERTS, setting, front.name());
    let (adaptive, split) = (name(Front::Adaptive), name(Front::Split));
    book.compare(&adaptive, Unit::PerSecond, Front::Plain.name());
    book.demand(&adaptive, Unit::PerSecond, bar);
    book.compare(&split, Unit::PerSecond, Front::Adaptive.name());
}
