//! Lookups that miss: what a filter is there for.
//!
//! Every lookup is for a key that was never asked for before, so the adaptive store pays for
//! all that it learns; asked again, it has nothing left to learn.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::Lab;
use super::data::Key;
use super::engines::{Front, Reads};
use crate::experiments::outcome::median;

/// Who is measured besides the stores.
const ENGINE: &str = "the engine's own get";
const ENGINE_KEPT: &str = "the same, one snapshot for all";
const AGAIN: &str = "adaptive, asked again";

/// A read of a slow disk, or of a database elsewhere.
pub(super) const DELAY: Duration = Duration::from_micros(100);

/// Lookups of stores that answer from their filter, and of others.
fn lookups(lab: &Lab<'_, '_>) -> (u64, u64) {
    let fast = (lab.data.keys / 2).clamp(10_000, 400_000);
    (fast, fast / 20)
}

/// Lookups a second, in the median of twenty slices of the keys: a core that another program takes away
/// for a moment spoils one of them. Each has its share of false positives.
fn median_slice(keys: &[Key], ask: &dyn Fn(&[Key]) -> Result<u64>) -> Result<f64> {
    let mut slices = Vec::new();
    for keys in keys.chunks(keys.len().div_ceil(20)) {
        let start = Instant::now();
        let found = ask(keys)?;
        slices.push(start.elapsed().as_secs_f64() / keys.len() as f64);
        ensure!(found == 0, "{found} strangers were found");
    }
    Ok(1.0 / median(slices))
}

/// On the database as it is.
pub(super) fn run(lab: &mut Lab<'_, '_>) -> Result<()> {
    let opened = lab.open_all()?;
    let (fast, slow) = lookups(lab);
    // The first round fills the caches.
    for round in 0..=lab.rounds() {
        let first = round * fast;
        let many = lab.data.strangers(first..first + fast);
        let few = &many[..slow as usize];
        let mut note = |who, keys: &[Key], ask: &dyn Fn(&[Key]) -> Result<u64>| -> Result<()> {
            let rate = median_slice(keys, ask)?;
            if round > 0 {
                lab.note("misses", who, rate);
            }
            Ok(())
        };
        for (front, opened) in &opened {
            let subject = &opened.subject;
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
    }
    opened
        .into_iter()
        .try_for_each(|(_, opened)| opened.subject.close())
}

/// On the same database, its reads 100 µs slower.
pub(super) fn delayed(lab: &mut Lab<'_, '_>) -> Result<()> {
    let (fast, slow) = lookups(lab);
    for front in lab.fronts.clone() {
        let is_measured = matches!(front, Front::None | Front::Plain | Front::Adaptive);
        if !is_measured {
            continue;
        }
        let opened = lab.open(front, &lab.usual(), Reads::Slow)?;
        (opened.set_delay)(DELAY);
        let count = if front == Front::None {
            slow.min(1000)
        } else {
            fast
        };
        // Strangers that nobody has asked for.
        let first = 1 << 32;
        for round in 0..lab.rounds() {
            let first = first + round * count;
            let keys = lab.data.strangers(first..first + count);
            let start = Instant::now();
            opened.subject.ask(&keys)?;
            let rate = count as f64 / start.elapsed().as_secs_f64();
            lab.note("misses, 100 µs a read", front.name(), rate);
        }
        (opened.set_delay)(Duration::ZERO);
        opened.subject.close()?;
    }
    Ok(())
}

/// One thread and two, in turn.
pub(super) fn threads(lab: &mut Lab<'_, '_>) -> Result<()> {
    let opened = lab.open(Front::Adaptive, &lab.usual(), Reads::AsTheyAre)?;
    let subject = &*opened.subject;
    let (count, _) = lookups(lab);
    let mut first = 1 << 33;
    // The first round warms up.
    for round in 0..=2 * lab.rounds() {
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
                lab.note("threads", who, rate);
            }
        }
    }
    Ok(())
}
