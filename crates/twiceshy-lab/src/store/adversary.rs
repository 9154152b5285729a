//! An attacker who repeats the filter's mistakes (figure 6 of the paper).
//!
//! They first ask for random keys and watch which of them make the engine read: more false
//! positives than the cache has pages. Then they repeat those, in a circle, as a share of all lookups; the
//! others ask for random keys that are not there.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::Lab;
use super::book::{Bar, Book, Line, Unit};
use super::data::Key;
use super::engines::{Front, Kind, SetDelay, folder, open, open_delayed};
use super::misses::DELAY;
use super::subject::Subject;

/// The experiment's name in the figures.
pub(crate) const ADVERSARY: &str = "adversary";
pub(crate) const READS: &str = "adversary, engine reads per lookup";

/// The attacker's share of the lookups, in percent.
pub(crate) const SHARES: [u64; 4] = [0, 1, 3, 10];

/// The database that the lookups meet.
struct Disk {
    name: &'static str,
    /// Percent of the data that its cache holds.
    cache: u64,
    delay: Duration,
}

const DISKS: [Disk; 3] = [
    Disk {
        name: "cache of 1% of the data",
        cache: 1,
        delay: Duration::ZERO,
    },
    Disk {
        name: "cache of 25% of the data",
        cache: 25,
        delay: Duration::ZERO,
    },
    Disk {
        name: "100 µs a read",
        cache: 1,
        delay: DELAY,
    },
];

/// Without a cache of its own, an engine has but one.
const PAGE_CACHE: &str = "the system's page cache";

/// A store under attack.
struct Victim {
    front: Front,
    subject: Box<dyn Subject>,
    set_delay: Option<SetDelay>,
    /// What the attacker has found.
    caught: Vec<Key>,
}

pub(super) fn run<K: Kind>(lab: &Lab<'_>, book: &mut Book) -> Result<()> {
    for (i, disk) in DISKS.iter().enumerate() {
        let is_slow = disk.delay > Duration::ZERO;
        if !K::HAS_CACHE && i == 0 {
            continue;
        }
        let setting = match K::HAS_CACHE || is_slow {
            true => disk.name,
            false => PAGE_CACHE,
        };
        lab.progress
            .set_message(format!("{}: adversary, {setting}", K::NAME));
        let mut victims = Vec::new();
        for &front in K::FRONTS {
            if is_slow && front == Front::Split {
                continue;
            }
            // Strangers that nobody has asked for, here or on another disk.
            let first = (i as u64 + 1) << 36;
            victims.push(prepare::<K>(lab, front, disk, first)?);
            lab.progress.inc(1);
        }
        let fresh = (i as u64 + 1) << 40;
        attack::<K>(lab, book, setting, &victims, disk, fresh)?;
        for victim in victims {
            if let Some(set_delay) = &victim.set_delay {
                set_delay(Duration::ZERO);
            }
            victim.subject.close()?;
        }
    }
    Ok(())
}

/// Opens a store, and lets the attacker look for false positives.
fn prepare<K: Kind>(lab: &Lab<'_>, front: Front, disk: &Disk, first: u64) -> Result<Victim> {
    let setup = lab.setup(lab.data.bytes() * disk.cache / 100);
    let folder = folder::<K>(lab.root, front);
    let (subject, set_delay) = match disk.delay {
        Duration::ZERO => (open::<K>(&folder, front, &setup)?.subject, None),
        _ => {
            let (subject, set_delay) = open_delayed::<K>(&folder, front, &setup)?;
            (subject, Some(set_delay))
        }
    };
    // A cache of a quarter of the data has fewer pages than that, of some twenty records each.
    let wanted = (lab.data.keys / 50) as usize;
    let mut caught = Vec::new();
    for chunk in 0..1000 {
        if caught.len() >= wanted {
            break;
        }
        let (from, count) = (first + chunk * lab.data.keys, lab.data.keys);
        for from in (from..from + count).step_by(4096) {
            subject.watch(&lab.data.strangers(from..from + 4096), &mut caught)?;
            if caught.len() >= wanted {
                break;
            }
        }
    }
    if let Some(set_delay) = &set_delay {
        set_delay(disk.delay);
    }
    Ok(Victim {
        front,
        subject,
        set_delay,
        caught,
    })
}

fn attack<K: Kind>(
    lab: &Lab<'_>,
    book: &mut Book,
    setting: &str,
    victims: &[Victim],
    disk: &Disk,
    mut fresh: u64,
) -> Result<()> {
    let is_slow = disk.delay > Duration::ZERO;
    for round in 0..lab.rounds as u64 {
        for share in SHARES {
            for victim in victims {
                let count = (lab.data.keys / 5).clamp(2000, 200_000);
                let count = match (victim.front, is_slow) {
                    (Front::None, false) => count / 10,
                    (Front::None, true) => count.min(500),
                    (_, false) => count,
                    (_, true) => count.min(20_000),
                };
                let mut replays = victim.caught.iter().cycle();
                // Go on where the last round stopped.
                let skipped = round * share * count / 100 % victim.caught.len().max(1) as u64;
                let mut replay = || replays.next().copied().context("no false positive");
                for _ in 0..skipped {
                    replay()?;
                }
                let keys = (0..count)
                    .map(|i| match i * share % 100 < share {
                        true => replay(),
                        false => Ok(lab.data.stranger(fresh + i)),
                    })
                    .collect::<Result<Vec<_>>>()?;
                let before = victim.subject.counts().reads();
                let start = Instant::now();
                victim.subject.ask(&keys)?;
                let rate = count as f64 / start.elapsed().as_secs_f64();
                let reads = victim.subject.counts().reads() - before;
                let percent = format!("{setting}, {share}% hostile");
                let name = |what| lab.name::<K>(what, &percent, victim.front.name());
                book.add(&name(ADVERSARY), Unit::PerSecond, rate);
                book.add(&name(READS), Unit::Count, reads as f64 / count as f64);
            }
            fresh += 1 << 20;
            lab.progress.inc(1);
        }
    }
    for victim in victims {
        let mut points = Vec::new();
        for share in SHARES {
            let percent = format!("{setting}, {share}% hostile");
            let name = |what| lab.name::<K>(what, &percent, victim.front.name());
            match victim.front {
                Front::Adaptive => {
                    book.compare(&name(ADVERSARY), Unit::PerSecond, Front::Plain.name());
                    // Fresh keys may be mistaken, replays never are.
                    let bar = Bar::AtMost(1.5 / 512.0);
                    book.demand(&name(READS), Unit::Count, Some(bar));
                }
                Front::Split => {
                    book.compare(&name(ADVERSARY), Unit::PerSecond, Front::Adaptive.name());
                }
                _ => {}
            }
            let rate = book.median(&name(ADVERSARY), Unit::PerSecond);
            points.extend(rate.map(|rate| (share as f64, rate)));
        }
        book.lines.push(Line {
            chart: format!("adversary: {setting}"),
            engine: K::NAME,
            subject: victim.front.name(),
            points,
        });
    }
    Ok(())
}
