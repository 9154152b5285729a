//! The longest that a call has to wait while the filter grows or gets a new seed.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::Lab;
use super::book::{Book, Unit};
use super::engines::{Front, Kind, Setup, open};
use super::subject::{Subject, Write};

/// The experiment's name in the figures.
pub(super) const PAUSES: &str = "longest call";

/// Records in a commit.
const BATCH: usize = 100;

pub(super) fn run<K: Kind>(lab: &Lab<'_>, book: &mut Book) -> Result<()> {
    lab.progress.set_message(format!("{}: growing", K::NAME));
    let keys = lab.data.keys / 5;
    let roomy = Setup {
        capacity: keys + keys / 4,
        ..lab.setup(lab.cache())
    };
    let tight = Setup {
        capacity: keys / 16,
        ..roomy
    };
    let root = lab.root.join(K::NAME.replace(' ', "-")).join("pauses");
    let mut subjects = Vec::new();
    for (who, setup) in [("room for all", roomy), ("growing", tight)] {
        let opened = open::<K>(&root.join(who), Front::Adaptive, &setup)?;
        subjects.push((who, opened.subject, Vec::new()));
    }
    for first in (0..keys).step_by(BATCH) {
        for (_, subject, times) in &mut subjects {
            let start = Instant::now();
            let numbers = first..keys.min(first + BATCH as u64);
            subject.insert(lab.data, numbers, BATCH, Write::Put)?;
            times.push(start.elapsed());
        }
    }
    lab.progress.inc(1);
    for (who, subject, times) in &mut subjects {
        let mut note = |setting: &str, time: Duration| {
            let name = lab.name::<K>(PAUSES, setting, who);
            book.add(&name, Unit::Milliseconds, time.as_secs_f64() * 1e3);
        };
        times.sort_unstable();
        let at = |share: f64| times[(share * (times.len() - 1) as f64) as usize];
        note("batches of 100 puts, median", at(0.5));
        note("batches of 100 puts, 99%", at(0.99));
        note("batches of 100 puts, longest", at(1.0));
        note("longest step of growing", subject.stats().longest_step);
    }
    lab.progress.set_message(format!("{}: rotating", K::NAME));
    if let Some((_, subject, _)) = subjects.first() {
        rotate::<K>(lab, book, &**subject, keys)?;
    }
    lab.progress.inc(1);
    Ok(())
}

/// Changes the seed under a mixed load: some of everything between two steps.
fn rotate<K: Kind>(lab: &Lab<'_>, book: &mut Book, subject: &dyn Subject, keys: u64) -> Result<()> {
    let mut longest = [Duration::ZERO; 3];
    let mut next = keys;
    subject.rotate()?;
    while subject.is_rotating() {
        let hits: Vec<_> = (0..20)
            .map(|i| lab.data.member((next * 31 + i) % keys))
            .collect();
        let misses = lab.data.strangers(next * 20..next * 20 + 20);
        let put = next;
        next += 1;
        let mut time = |which: usize, call: &dyn Fn() -> Result<()>| -> Result<()> {
            let start = Instant::now();
            call()?;
            longest[which] = longest[which].max(start.elapsed());
            Ok(())
        };
        time(0, &|| subject.insert(lab.data, put..put + 1, 1, Write::Put))?;
        for (hit, miss) in hits.iter().zip(&misses) {
            time(1, &|| subject.ask(&[*hit]).map(drop))?;
            time(2, &|| subject.ask(&[*miss]).map(drop))?;
        }
    }
    let step = subject.stats().longest_step;
    for (setting, time) in [
        ("a put", longest[0]),
        ("a lookup that hits", longest[1]),
        ("a lookup that misses", longest[2]),
        ("longest step of it", step),
    ] {
        let name = lab.name::<K>(PAUSES, setting, "changing its seed");
        book.add(&name, Unit::Milliseconds, time.as_secs_f64() * 1e3);
    }
    Ok(())
}
