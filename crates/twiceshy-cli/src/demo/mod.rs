//! `demo`: the same traffic, an attacker in it, for three stores: without a filter, with a plain
//! one, with the adaptive one.
//!
//! | module | what is in it |
//! | --- | --- |
//! | [`traffic`] | who asks for what, and the attacker |
//! | [`contest`] | the three stores and what is counted |
//! | [`live`] | the contest on a terminal |
//! | [`report`] | the table and the page |

mod contest;
mod live;
mod report;
mod traffic;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde::Serialize;
use twiceshy_report::text::whole;

use crate::exit::{OrHint, Outcome, Status};
use crate::files;
use crate::interrupt::Interrupt;
use crate::shell::{Shell, Unit};
use contest::{Contestant, Tally};
use live::Live;
use traffic::Traffic;

/// Lookups that a store answers before it is the next one's turn.
const TURN: u64 = 10_000;
/// The attacker comes after one part in so many of all lookups.
const CALM: u64 = 4;

/// See in a minute what an adaptive filter is good for
///
/// Fills a database with records and serves the same lookups from three stores: without a
/// filter, with a plain quotient filter, and with the adaptive one. Most lookups are for keys
/// that are not there, and few keys are asked for very often. After a quarter of the lookups an
/// attacker comes, who makes one lookup in ten and repeats whatever was slow. Ends with a table,
/// and a page to look at.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Records in the database
    #[arg(long, value_name = "N", default_value_t = 1_000_000,
          value_parser = clap::value_parser!(u64).range(1_000..=50_000_000))]
    keys: u64,

    /// Lookups for each store [default: twice the records]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    lookups: Option<u64>,

    /// Seed of the traffic
    #[arg(long, default_value_t = 7)]
    seed: u64,

    /// Write `report.html` here. The databases are here too, until the demo ends
    #[arg(long, value_name = "DIR", default_value = "twiceshy-demo")]
    out: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  twiceshy demo
  twiceshy demo --keys 10000 --out small    # in a second
  twiceshy demo --json | jq '.stores[].reads_per_million'";

/// What came of it.
struct Contest {
    records: u64,
    lookups: u64,
    seed: u64,
    filling: Duration,
    contestants: Vec<Contestant>,
}

/// Does it.
pub(crate) fn run(args: &Args, shell: &Shell) -> Outcome<Status> {
    let started = Instant::now();
    let out = &args.out;
    fs::create_dir_all(out)
        .with_context(|| format!("can't make the directory {}", out.display()))
        .or_hint(|| "choose another one with --out".into())?;
    let interrupt = Interrupt::watch(|| ())?;
    // By the end of it the databases are gone, whatever happened.
    let contest = match hold(args, shell, &interrupt) {
        Err(_) if interrupt.is_set() => interrupt.end(),
        result => result.or_hint(|| {
            "with too little room on the disk, try fewer --keys or another --out".into()
        })?,
    };
    let page = out.join("report.html");
    let html = report::page(&contest);
    files::replace(&page, |file| file.write_all(html.as_bytes()))?;
    shell.print(&Summary::of(&contest, &page), || {
        format!(
            "{} records, the same {} lookups for each store:\n\n{}\n{}\n\nDone in {:.0} s. A page to look at: {}",
            whole(contest.records),
            whole(contest.lookups),
            report::table(&contest),
            report::summary(&contest),
            started.elapsed().as_secs_f64(),
            page.display(),
        )
    })?;
    Ok(Status::Success)
}

/// Fills the stores and lets them take turns.
fn hold(args: &Args, shell: &Shell, interrupt: &Interrupt) -> Outcome<Contest> {
    let folder = tempfile::Builder::new()
        .prefix("stores-")
        .tempdir_in(&args.out)?;
    let lookups = args.lookups.unwrap_or(2 * args.keys);

    let start = Instant::now();
    let bar = shell.progress("filling", Unit::Things, Some(args.keys));
    let go_on = || match interrupt.is_set() {
        true => bail!("interrupted"),
        false => Ok(()),
    };
    let mut contestants = contest::prepare(folder.path(), args.keys, args.seed, |records| {
        bar.add(records);
        go_on()
    })?;
    bar.finish();
    let filling = start.elapsed();

    let live = Live::new(lookups, shell.is_shown());
    let mut traffic = Traffic::new(args.keys, args.seed)?;
    let mut done = 0;
    while done < lookups {
        let turn = traffic.next((lookups - done).min(TURN), done >= lookups / CALM);
        for contestant in &mut contestants {
            contestant.serve(&turn)?;
            live.show(contestant);
        }
        live.add(turn.len() as u64);
        go_on()?;
        done += turn.len() as u64;
    }
    Ok(Contest {
        records: args.keys,
        lookups,
        seed: args.seed,
        filling,
        contestants,
    })
}

/// The outcome for machines.
#[derive(Serialize)]
struct Summary<'s> {
    records: u64,
    lookups: u64,
    seed: u64,
    filling_seconds: f64,
    report: &'s Path,
    stores: Vec<StoreSummary>,
}

#[derive(Serialize)]
struct StoreSummary {
    filter: &'static str,
    lookups_per_second: f64,
    reads_per_million: f64,
    found: u64,
    false_positives: Option<u64>,
    repeated_false_positives: Option<u64>,
    filter_bytes: u64,
}

impl<'s> Summary<'s> {
    fn of(contest: &Contest, report: &'s Path) -> Self {
        let store = |contestant: &Contestant| {
            let result: &Tally = &contestant.result;
            let has_filter = contestant.front != contest::Front::Nothing;
            StoreSummary {
                filter: contestant.front.name(),
                lookups_per_second: result.per_second(),
                reads_per_million: result.reads_per_million(),
                found: result.found,
                false_positives: has_filter.then_some(result.false_positives),
                repeated_false_positives: has_filter.then_some(result.repeated),
                filter_bytes: contestant.filter_bytes(),
            }
        };
        Summary {
            records: contest.records,
            lookups: contest.lookups,
            seed: contest.seed,
            filling_seconds: contest.filling.as_secs_f64(),
            report,
            stores: contest.contestants.iter().map(store).collect(),
        }
    }
}
