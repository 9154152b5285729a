//! Lookups that miss: what a filter is there for.
//!
//! Every lookup is for a key that was never asked for before, so the adaptive store pays for
//! all that it learns; asked again, it has nothing left to learn.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::Lab;
use super::book::{Bar, Book, Spread, Unit};
use super::data::Key;
use super::engines::{Front, Kind, folder, open, open_delayed};

/// The experiments' names in the figures.
pub(crate) const MISSES: &str = "lookups that miss";
pub(crate) const THREADS: &str = "two threads";

/// Who is measured besides the stores.
const ENGINE: &str = "the engine's own get";
const ENGINE_KEPT: &str = "the same, one snapshot for all";
const AGAIN: &str = "adaptive, asked again";

/// A read of a slow disk, or of a database elsewhere.
pub(super) const DELAY: Duration = Duration::from_micros(100);

/// Times as fast as without a filter, on the slow disk.
const DELAYED_BAR: Bar = Bar::Times(200.0);

/// Times as many lookups a second as one thread.
const THREADS_BAR: Bar = Bar::Times(1.7);

/// Lookups of stores that answer from their filter, and of others.
fn lookups(lab: &Lab<'_>) -> (u64, u64) {
    let fast = (lab.data.keys / 2).clamp(10_000, 400_000);
    (fast, fast / 20)
}

/// Nanoseconds a lookup, as the median over twenty slices of the keys: a core that another program
/// takes away for a moment spoils one of them. Each has its share of false positives.
fn median_slice(keys: &[Key], ask: &dyn Fn(&[Key]) -> Result<u64>) -> Result<f64> {
    let mut slices = Vec::new();
    for keys in keys.chunks(keys.len().div_ceil(20)) {
        let start = Instant::now();
        let found = ask(keys)?;
        slices.push(start.elapsed().as_nanos() as f64 / keys.len() as f64);
        ensure!(found == 0, "{found} strangers were found");
    }
    let median = Spread::of(slices).map(|spread| spread.median);
    median.context("no lookup")
}

/// On the database as it is.
pub(super) fn run<K: Kind>(lab: &Lab<'_>, book: &mut Book) -> Result<()> {
    lab.progress.set_message(format!("{}: misses", K::NAME));
    let setup = lab.setup(lab.cache());
    let mut subjects = Vec::new();
    for &front in K::FRONTS {
        let folder = folder::<K>(lab.root, front);
        subjects.push((front, open::<K>(&folder, front, &setup)?.subject));
    }
    let (fast, slow) = lookups(lab);
    let name = |who| lab.name::<K>(MISSES, "", who);
    // The first round fills the caches.
    for round in 0..=lab.rounds as u64 {
        let first = round * fast;
        let many = lab.data.strangers(first..first + fast);
        let few = &many[..slow as usize];
        let mut note = |who, keys: &[Key], ask: &dyn Fn(&[Key]) -> Result<u64>| -> Result<()> {
            let ns = median_slice(keys, ask)?;
            if round > 0 {
                book.add(&name(who), Unit::Nanoseconds, ns);
            }
            Ok(())
        };
        for (front, subject) in &subjects {
            if *front == Front::None {
                note(ENGINE, few, &|keys| subject.ask_engine(keys, false))?;
                note(ENGINE_KEPT, few, &|keys| subject.ask_engine(keys, true))?;
                note(front.name(), few, &|keys| subject.ask(keys))?;
                continue;
            }
            note(front.name(), &many, &|keys| subject.ask(keys))?;
            if *front == Front::Adaptive {
                note(AGAIN, &many, &|keys| subject.ask(keys))?;
            }
        }
        lab.progress.inc(1);
    }
    for who in [
        Front::None.name(),
        Front::Plain.name(),
        Front::Adaptive.name(),
        AGAIN,
    ] {
        book.compare(&name(who), Unit::Nanoseconds, ENGINE);
    }
    book.compare(
        &name(Front::Split.name()),
        Unit::Nanoseconds,
        Front::Adaptive.name(),
    );
    let adaptive = name(Front::Adaptive.name());
    book.demand(&adaptive, Unit::Nanoseconds, K::MISS_BAR.map(Bar::Times));
    for (_, subject) in subjects {
        subject.close()?;
    }
    Ok(())
}

/// On the same database, its reads 100 µs slower.
pub(super) fn run_delayed<K: Kind>(lab: &Lab<'_>, book: &mut Book) -> Result<()> {
    lab.progress
        .set_message(format!("{}: misses, slow disk", K::NAME));
    let setup = lab.setup(lab.cache());
    let (fast, slow) = lookups(lab);
    let slow = slow.min(1000);
    let name = |front: Front| lab.name::<K>(MISSES, "100 µs a read", front.name());
    for front in [Front::None, Front::Plain, Front::Adaptive] {
        let folder = folder::<K>(lab.root, front);
        let (subject, set_delay) = open_delayed::<K>(&folder, front, &setup)?;
        set_delay(DELAY);
        let count = if front == Front::None { slow } else { fast };
        // Strangers that nobody has asked for.
        let first = 1 << 32;
        for round in 0..lab.rounds as u64 {
            let first = first + round * count;
            let keys = lab.data.strangers(first..first + count);
            let start = Instant::now();
            subject.ask(&keys)?;
            let ns = start.elapsed().as_nanos() as f64 / count as f64;
            book.add(&name(front), Unit::Nanoseconds, ns);
            lab.progress.inc(1);
        }
        set_delay(Duration::ZERO);
        subject.close()?;
    }
    for front in [Front::Plain, Front::Adaptive] {
        book.compare(&name(front), Unit::Nanoseconds, Front::None.name());
    }
    book.demand(&name(Front::Adaptive), Unit::Nanoseconds, Some(DELAYED_BAR));
    Ok(())
}

/// One thread and two, in turn.
pub(super) fn run_threads<K: Kind>(lab: &Lab<'_>, book: &mut Book) -> Result<()> {
    lab.progress
        .set_message(format!("{}: two threads", K::NAME));
    let setup = lab.setup(lab.cache());
    let folder = folder::<K>(lab.root, Front::Adaptive);
    let subject = open::<K>(&folder, Front::Adaptive, &setup)?.subject;
    let subject = &*subject;
    let (count, _) = lookups(lab);
    let mut first = 1 << 33;
    let name = |who| lab.name::<K>(THREADS, "", who);
    for round in 0..=2 * lab.rounds {
        for (who, threads) in [("one thread", 1), ("two threads", 2)] {
            let keys: Vec<_> = (0..threads)
                .map(|_| {
                    first += count;
                    lab.data.strangers(first - count..first)
                })
                .collect();
            let start = Instant::now();
            std::thread::scope(|scope| {
                let asks: Vec<_> = (keys.iter())
                    .map(|keys| scope.spawn(move || subject.ask(keys)))
                    .collect();
                let answers = asks.into_iter().map(|ask| ask.join().expect("no panic"));
                answers.sum::<Result<u64>>()
            })?;
            let rate = (count * threads) as f64 / start.elapsed().as_secs_f64();
            if round > 0 {
                book.add(&name(who), Unit::PerSecond, rate);
            }
        }
        lab.progress.inc(1);
    }
    book.compare(&name("two threads"), Unit::PerSecond, "one thread");
    book.demand(&name("two threads"), Unit::PerSecond, Some(THREADS_BAR));
    Ok(())
}
