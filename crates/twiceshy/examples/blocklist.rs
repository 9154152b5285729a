//! A blocklist that never blocks what must not be blocked.
//!
//! A filter of blocked domains that fits into a phone blocks one page in a thousand by mistake,
//! always the same ones, and one of them is where people register to vote. With a list of domains
//! that must never be blocked, those are safe, and a day's changes are a few hundred bytes.
//!
//! ```sh
//! cargo run --release -p twiceshy --example blocklist                  # made-up domains
//! cargo xtask data && cargo run --release -p twiceshy --example blocklist   # real ones
//! ```

use std::error::Error;
use std::fs;
use std::path::Path;

use twiceshy::lists::{Answer, List, StaticYesNo, YesNo, delta};
use twiceshy::{AdaptiveFilter, View};

/// One page in a thousand that nobody listed may be blocked.
const FPR: f64 = 0.001;

/// The domains of a text file, one a line.
fn domains(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

/// What one list of domains and its exceptions come to.
struct Summary {
    blocked: usize,
    allowed: usize,
    file_bytes: usize,
    delta_bytes: usize,
    saved: usize,
}

fn try_lists(blocked: &[String], allowed: &[String]) -> Result<Summary, Box<dyn Error>> {
    // What a filter alone would do to the domains that must not be blocked.
    let alone = AdaptiveFilter::builder().fpr(FPR).build_from(blocked)?;
    let saved = allowed.iter().filter(|domain| alone.contains(&domain[..]));
    let saved = saved.count();

    // The server keeps the lists, which change all day long.
    let (n, m) = (blocked.len() as u64, allowed.len() as u64);
    let mut server = YesNo::new(n, m, FPR)?;
    for domain in blocked {
        server.add(&domain[..], List::Yes)?;
    }
    for domain in allowed {
        server.add(&domain[..], List::No)?;
    }

    // The phone gets a file. It has no domain in it, and answers for all of them.
    let file = server.snapshot()?.to_bytes();
    let phone = View::<StaticYesNo>::new(&file)?;
    let answers = |domains: &[String], right: Answer| {
        let mut answers = domains.iter().map(|domain| phone.answer(&domain[..]));
        answers.all(|answer| answer == right)
    };
    assert!(
        answers(blocked, Answer::Yes),
        "all that is to be blocked is"
    );
    assert!(
        answers(allowed, Answer::No),
        "nothing that must not be blocked is"
    );

    // Next day: some are given up, some are new, and one was blocked by mistake.
    let given_up = &blocked[..blocked.len() / 500 + 1];
    for domain in given_up {
        server.remove(&domain[..])?;
    }
    for i in 0..given_up.len() {
        server.add(&format!("new-{i}.example"), List::Yes)?;
    }
    let mistake = &blocked[blocked.len() - 1];
    server.add(&mistake[..], List::No)?;
    assert_eq!(server.lookup_exact(&mistake[..])?, Some(List::No));

    // The phone gets what has changed.
    let new = server.snapshot()?.to_bytes();
    let delta = delta::diff(&file, &new)?;
    let updated = delta::apply(&file, delta.as_bytes())?;
    let phone = View::<StaticYesNo>::new(&updated)?;
    assert_eq!(phone.answer(&mistake[..]), Answer::No);
    assert_eq!(phone.answer("new-0.example"), Answer::Yes);
    Ok(Summary {
        blocked: blocked.len(),
        allowed: allowed.len(),
        file_bytes: file.len(),
        delta_bytes: delta.as_bytes().len(),
        saved,
    })
}

fn report(name: &str, summary: &Summary) {
    println!(
        "{name}: {} blocked and {} allowed domains in {} bytes ({:.1} bits a blocked domain);\n  \
         {} allowed domains would be blocked by a filter alone; a day of changes takes {} bytes",
        summary.blocked,
        summary.allowed,
        summary.file_bytes,
        summary.file_bytes as f64 * 8.0 / summary.blocked as f64,
        summary.saved,
        summary.delta_bytes
    );
}

fn small() -> Result<Summary, Box<dyn Error>> {
    let blocked = domains(include_str!("data/blocked.txt"));
    let allowed = domains(include_str!("data/allowed.txt"));
    try_lists(&blocked, &allowed)
}

fn main() -> Result<(), Box<dyn Error>> {
    report("made-up domains", &small()?);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data");
    for name in ["eth-phishing", "adguard"] {
        let read = |list: &str| fs::read_to_string(folder.join(format!("{name}-{list}.txt")));
        match (read("blocked"), read("allowed")) {
            (Ok(blocked), Ok(allowed)) => {
                report(name, &try_lists(&domains(&blocked), &domains(&allowed))?);
            }
            _ => println!("{name}: not here; `cargo xtask data` fetches it"),
        }
    }
    Ok(())
}

#[test]
fn nothing_allowed_is_blocked() {
    let summary = small().unwrap();
    assert!(summary.blocked > 300 && summary.allowed > 100);
    assert!(summary.delta_bytes < 150, "{}", summary.delta_bytes);
}
