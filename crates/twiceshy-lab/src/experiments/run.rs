//! `run`: measures, writes raw results, and draws the report.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail};
use indicatif::{ProgressBar, ProgressStyle};

use super::bench::{Bench, STEPS_PER_SECOND};
use super::kinds::{self, Threads};
use super::result::{Head, Outcome, one_machine};
use super::spec::{Experiment, Scale};
use super::{Declared, report};
use crate::compare::pin::Core;
use crate::machine::Machine;

/// Measure experiments, and draw the report
///
/// Writes DIR/NAME.jsonl for each experiment, and DIR/index.html with a verdict on every claim.
/// What is in DIR already, of this machine, stays and is drawn too.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Their names, or the beginnings of them, such as `003-figure`; or `all`
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,

    /// How large everything is: seconds, minutes, hours
    #[arg(long, default_value = "small")]
    scale: Scale,

    /// Where results and report go
    #[arg(long, value_name = "DIR", default_value = "target/lab")]
    out: PathBuf,

    #[command(flatten)]
    declared: Declared,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let chosen = choose(args.declared.all()?, &args.names)?;
    let (folder, scale) = (&args.out, args.scale);
    fs::create_dir_all(folder).with_context(|| format!("can't make {}", folder.display()))?;
    let machine = Machine::look();
    // An hour of measuring should not end in a report that can't be drawn.
    let there = Outcome::read_all(folder)?;
    if let Some(other) = there.values().next() {
        let mut here = other.head.clone();
        here.experiment = "this run".to_owned();
        here.machine = machine.clone();
        one_machine([&other.head, &here])?;
    }

    let progress = progress_bar();
    let mut seconds = 0.0;
    for experiment in &chosen {
        seconds += experiment.size(scale)?.seconds;
    }
    progress.set_length((seconds * STEPS_PER_SECOND) as u64);
    let mut started = 0;
    for (i, experiment) in chosen.iter().enumerate() {
        progress.set_message(format!(
            "{} ({} of {})",
            experiment.name,
            i + 1,
            chosen.len()
        ));
        let outcome = measure(experiment, scale, &machine, &progress, started)?;
        outcome.write(folder)?;
        started += (experiment.size(scale)?.seconds * STEPS_PER_SECOND) as u64;
        progress.set_position(started);
        if progress.is_hidden() {
            println!("{} took {:.1} s", experiment.name, outcome.head.seconds);
        }
    }
    progress.finish_and_clear();
    report::draw(&args.declared.all()?, folder, None)
}

/// Those that were asked for, in their own order.
fn choose(all: Vec<Experiment>, names: &[String]) -> Result<Vec<Experiment>> {
    let is_wanted = |name: &str, wanted: &String| wanted == "all" || name.starts_with(wanted);
    for wanted in names {
        if !all
            .iter()
            .any(|experiment| is_wanted(&experiment.name, wanted))
        {
            bail!("no experiment is named {wanted:?}; see `twiceshy-lab list`");
        }
    }
    let chosen = all.into_iter();
    let chosen = chosen.filter(|e| names.iter().any(|wanted| is_wanted(&e.name, wanted)));
    Ok(chosen.collect())
}

/// Measures one experiment.
pub(super) fn measure(
    experiment: &Experiment,
    scale: Scale,
    machine: &Machine,
    progress: &ProgressBar,
    started: u64,
) -> Result<Outcome> {
    let size = experiment.size(scale)?;
    let kind = kinds::by_name(&experiment.kind).context("there is no such kind")?;
    let scratch = tempfile::tempdir()?;
    let mut bench = Bench {
        experiment,
        scale,
        size,
        scratch: scratch.path(),
        progress,
        started,
        points: Vec::new(),
        notes: Vec::new(),
    };
    let start = Instant::now();
    // On a thread of its own: where that is pinned, the next one need not be.
    let disturbed = thread::scope(|scope| {
        let work = || -> Result<Option<f64>> {
            match kind.threads {
                Threads::Free => (kind.run)(&mut bench).map(|()| None),
                Threads::Pinned => {
                    let core = Core::pin();
                    (kind.run)(&mut bench)?;
                    Ok(core.shared())
                }
            }
        };
        let done = scope.spawn(work).join();
        done.map_err(|_| anyhow!("it panicked"))?
    });
    let disturbed = disturbed.with_context(|| experiment.name.clone())?;
    let Bench { points, notes, .. } = bench;
    Ok(Outcome {
        head: Head {
            experiment: experiment.name.clone(),
            scale,
            machine: machine.clone(),
            seeds: experiment.seeds.clone(),
            filters: experiment.filters.clone(),
            workloads: experiment.workloads.clone(),
            parameters: size.clone(),
            seconds: start.elapsed().as_secs_f64(),
            disturbed,
            notes,
        },
        points,
    })
}

/// A bar over the whole run with the time left, on standard error; invisible unless that is a
/// terminal. It moves between timed stretches only, and has no thread of its own.
fn progress_bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {percent:>3}%  {msg}, {eta} left");
    let bar = ProgressBar::no_length();
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Where the report of a folder is.
pub(super) fn index(folder: &Path) -> PathBuf {
    folder.join("index.html")
}
