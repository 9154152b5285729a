//! An attacker who repeats the filter's mistakes (figure 6 of the paper).
//!
//! They first ask for random keys and watch which of them make the engine read: more false
//! positives than the cache has pages. Then they repeat those, in a circle, as a share of all lookups; the
//! others ask for random keys that are not there.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use twiceshy_store::attack::Attacker;

use super::Lab;
use super::data::Key;
use super::engines::{Front, Opened, Reads};
use super::misses::DELAY;

/// The attacker's share of the lookups, in percent.
const SHARES: [u64; 4] = [0, 1, 3, 10];

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

impl Disk {
    fn is_slow(&self) -> bool {
        self.delay > Duration::ZERO
    }
}

/// A store under attack.
struct Victim {
    front: Front,
    store: Opened,
    attacker: Attacker<Key>,
}

pub(super) fn run(lab: &mut Lab<'_, '_>) -> Result<()> {
    for (i, disk) in (1..).zip(&DISKS) {
        if !lab.database.has_cache && i == 1 {
            continue;
        }
        let name = match lab.database.has_cache || disk.is_slow() {
            true => disk.name,
            false => PAGE_CACHE,
        };
        let mut victims = Vec::new();
        for &front in &lab.fronts {
            if front.is_store() && !(disk.is_slow() && front == Front::Split) {
                // Strangers that nobody has asked for, here or on another disk.
                victims.push(prepare(lab, front, disk, i << 36)?);
            }
        }
        attack(lab, name, &mut victims, disk, i << 40)?;
        for Victim { store, .. } in victims {
            (store.set_delay)(Duration::ZERO);
            store.subject.close()?;
        }
    }
    Ok(())
}

/// Opens a store, and lets the attacker look for false positives.
fn prepare(lab: &Lab<'_, '_>, front: Front, disk: &Disk, first: u64) -> Result<Victim> {
    let setup = lab.setup(lab.data.bytes() * disk.cache / 100);
    let reads = match disk.is_slow() {
        true => Reads::Slow,
        false => Reads::AsTheyAre,
    };
    let store = lab.open(front, &setup, reads)?;
    // A cache of a quarter of the data has fewer pages than that, of some twenty records each.
    let wanted = (lab.data.keys / 50) as usize;
    let mut attacker = Attacker::new(wanted);
    for from in (first..first + 1000 * lab.data.keys).step_by(4096) {
        if attacker.known().len() == wanted {
            break;
        }
        let probes = lab.data.strangers(from..from + 4096);
        store.subject.watch(&probes, &mut attacker)?;
    }
    (store.set_delay)(disk.delay);
    Ok(Victim {
        front,
        store,
        attacker,
    })
}

fn attack(
    lab: &mut Lab<'_, '_>,
    disk_name: &str,
    victims: &mut [Victim],
    disk: &Disk,
    mut fresh: u64,
) -> Result<()> {
    let data = lab.data;
    for _ in 0..lab.rounds() {
        for share in SHARES {
            for victim in &mut *victims {
                let count = (data.keys / 5).clamp(2000, 200_000);
                let count = match (victim.front, disk.is_slow()) {
                    (Front::None, false) => count / 10,
                    (Front::None, true) => count.min(500),
                    (_, false) => count,
                    (_, true) => count.min(20_000),
                };
                // They go on where the last round stopped, and listen no more: what they know they
                // repeat, whether it still works or not.
                let keys = (0..count)
                    .map(|i| match i * share % 100 < share {
                        true => victim.attacker.replay().context("no false positive"),
                        false => Ok(data.stranger(fresh + i)),
                    })
                    .collect::<Result<Vec<_>>>()?;
                let subject = &victim.store.subject;
                let before = subject.counts().reads();
                let start = Instant::now();
                subject.ask(&keys)?;
                let rate = count as f64 / start.elapsed().as_secs_f64();
                let reads = (subject.counts().reads() - before) as f64 / count as f64;
                let (name, x) = (victim.front.name(), share as f64);
                lab.note_at(disk_name, name, x, rate);
                lab.note_at(&format!("{disk_name}, reads"), name, x, reads);
            }
            fresh += 1 << 20;
        }
    }
    Ok(())
}
