//! `cargo xtask test`: the steps of CI, one after the other.

use std::fmt;
use std::time::{Duration, Instant};

use clap::builder::PossibleValuesParser;

use crate::Result;
use crate::steps::{Outcome, STEPS, Step};
use crate::workspace::Workspace;

/// Which steps to run.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Run this step alone; may be given more than once.
    #[arg(long, value_name = "STEP", value_parser = names())]
    only: Vec<String>,
    /// List the steps and run none.
    #[arg(long, conflicts_with = "only")]
    list: bool,
}

fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(STEPS.iter().map(|step| step.name))
}

pub(crate) fn run(args: &Args) -> Result {
    if args.list {
        for step in STEPS {
            println!("{:<10} {}", step.name, step.about);
        }
        return Ok(());
    }
    let workspace = Workspace::load()?;
    let chosen = |step: &&Step| args.only.is_empty() || args.only.iter().any(|o| o == step.name);
    let mut report = Report::default();
    for step in STEPS.iter().filter(chosen) {
        println!("\n==== {}: {}", step.name, step.about);
        let start = Instant::now();
        let result = (step.run)(&workspace);
        let took = start.elapsed();
        let verdict = match &result {
            Ok(Outcome::Passed) => "passed",
            Ok(Outcome::Skipped(why)) => {
                println!("skipped: {why}");
                "skipped"
            }
            Err(_) => "FAILED",
        };
        println!("---- {} {verdict} after {}", step.name, seconds(took));
        report.rows.push((step.name, verdict, took));
        if let Err(error) = result {
            println!("{report}");
            let name = step.name;
            return Err(format!(
                "step `{name}` failed: {error}\nrerun it alone: cargo xtask test --only {name}"
            )
            .into());
        }
    }
    println!("{report}");
    Ok(())
}

/// What became of each step, printed as a table at the end.
#[derive(Default)]
struct Report {
    rows: Vec<(&'static str, &'static str, Duration)>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n{:<10} {:<8} {:>9}", "step", "result", "time")?;
        for (name, verdict, took) in &self.rows {
            writeln!(f, "{name:<10} {verdict:<8} {:>9}", seconds(*took))?;
        }
        let total = self.rows.iter().map(|(_, _, took)| *took).sum();
        write!(f, "{:<10} {:<8} {:>9}", "total", "", seconds(total))
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
