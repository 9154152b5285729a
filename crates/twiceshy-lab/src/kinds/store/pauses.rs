//! The longest that a call has to wait while the filter grows or gets a new seed.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::Lab;
use super::engines::{Front, Reads, Setup};
use super::subject::{Subject, Write};

/// Records in a commit.
const BATCH: usize = 100;

pub(super) fn run(lab: &mut Lab<'_, '_>) -> Result<()> {
    let keys = lab.data.keys / 5;
    let roomy = Setup {
        capacity: keys + keys / 4,
        ..lab.usual()
    };
    let tight = Setup {
        capacity: keys / 16,
        ..roomy
    };
    let mut subjects = Vec::new();
    for (who, setup) in [("room for all", roomy), ("growing", tight)] {
        let folder = lab.root.join("pauses").join(who);
        let opened = (lab.database.open)(&folder, Front::Adaptive, &setup, Reads::AsTheyAre)?;
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
    for (who, subject, times) in &mut subjects {
        times.sort_unstable();
        let at = |share: f64| times[(share * (times.len() - 1) as f64) as usize];
        for (what, time) in [
            ("100 puts, median", at(0.5)),
            ("100 puts, 99%", at(0.99)),
            ("100 puts, longest", at(1.0)),
            ("longest step of growing", subject.stats().longest_step),
        ] {
            note(lab, who, what, time);
        }
    }
    match subjects.first() {
        Some((_, subject, _)) => rotate(lab, &**subject, keys),
        None => Ok(()),
    }
}

fn note(lab: &mut Lab<'_, '_>, who: &str, what: &str, time: Duration) {
    let series = format!("{who}: {what}");
    lab.note("pauses", &series, time.as_secs_f64() * 1e3);
}

/// Changes the seed under a mixed load: some of everything between two steps.
fn rotate(lab: &mut Lab<'_, '_>, subject: &dyn Subject, keys: u64) -> Result<()> {
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
    for (what, time) in [
        ("a put", longest[0]),
        ("a lookup that hits", longest[1]),
        ("a lookup that misses", longest[2]),
        ("longest step of it", subject.stats().longest_step),
    ] {
        note(lab, "changing its seed", what, time);
    }
    Ok(())
}
