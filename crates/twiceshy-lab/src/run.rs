//! `run`: measures, writes raw results, and draws the report.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail};
use indicatif::{ProgressBar, ProgressStyle};

use crate::declared::{self, Declared};
use crate::drawn::page;
use crate::drawn::text::Text;
use crate::experiments::bench::{Bench, STEPS_PER_SECOND};
use crate::experiments::outcome::{Head, Outcome, one_machine};
use crate::experiments::spec::{Experiment, Scale};
use crate::experiments::verdict::Judged;
use crate::kinds::{self, Threads};
use crate::machine::{Core, Machine};

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

    /// Where results and report go, and where databases lie meanwhile
    #[arg(long, value_name = "DIR", default_value = "target/lab")]
    out: PathBuf,

    #[command(flatten)]
    declared: Declared,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let chosen = choose(args.declared.all()?, &args.names)?;
    measure_all(&chosen, args.scale, Some(&args.out))?;
    page::draw(&args.declared.all()?, &args.out)
}

/// What the commands take that measure one experiment by its own name.
#[derive(clap::Args, Debug)]
pub(crate) struct One {
    /// How large everything is where nothing else is said: seconds, minutes, hours
    #[arg(long, default_value = "small")]
    pub(crate) scale: Scale,

    /// Write raw results and the report here, too, and keep databases here meanwhile
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// Measures an experiment that is built in, with these words in the place of those that are declared,
/// and prints what came out.
pub(crate) fn run_one(name: &str, one: &One, words: toml::Table) -> Result<(Experiment, Outcome)> {
    let mut experiment = declared::built_in(name)?;
    experiment.change(one.scale, words)?;
    kinds::check(&experiment, one.scale)?;
    let outcomes = measure_all(
        std::slice::from_ref(&experiment),
        one.scale,
        one.out.as_deref(),
    )?;
    let outcome = outcomes
        .into_iter()
        .next()
        .context("nothing was measured")?;
    print!("{}", Text(&Judged::new(&experiment, &outcome)));
    if let Some(out) = &one.out {
        page::draw(&Declared::default().all()?, out)?;
    }
    Ok((experiment, outcome))
}

/// Measures experiments one after the other, and writes their results into a folder.
fn measure_all(chosen: &[Experiment], scale: Scale, folder: Option<&Path>) -> Result<Vec<Outcome>> {
    let machine = Machine::look();
    if let Some(folder) = folder {
        fs::create_dir_all(folder).with_context(|| format!("can't make {}", folder.display()))?;
        // An hour of measuring should not end in a report that can't be drawn.
        if let Some(other) = Outcome::read_all(folder)?.values().next() {
            let mut here = other.head.clone();
            here.experiment = "this run".to_owned();
            here.machine = machine.clone();
            one_machine([&other.head, &here])?;
        }
    }
    let progress = progress_bar();
    let mut steps = Vec::new();
    for experiment in chosen {
        steps.push((experiment.size(scale)?.seconds * STEPS_PER_SECOND) as u64);
    }
    progress.set_length(steps.iter().sum());
    let mut started = 0;
    let mut outcomes = Vec::new();
    for (i, (experiment, steps)) in chosen.iter().zip(steps).enumerate() {
        let (name, number) = (&experiment.name, i + 1);
        progress.set_message(format!("{name} ({number} of {})", chosen.len()));
        let outcome = measure(experiment, scale, &machine, folder, &progress, started)?;
        if let Some(folder) = folder {
            outcome.write(folder)?;
        }
        started += steps;
        progress.set_position(started);
        if progress.is_hidden() && chosen.len() > 1 {
            println!("{name} took {:.1} s", outcome.head.seconds);
        }
        if outcome.points.is_empty() {
            println!("{name}: {}", outcome.head.notes.join(" "));
        }
        outcomes.push(outcome);
    }
    progress.finish_and_clear();
    Ok(outcomes)
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

/// Measures one experiment. Its databases lie in a folder of their own in `folder`, or where the system
/// has its temporary files.
pub(crate) fn measure(
    experiment: &Experiment,
    scale: Scale,
    machine: &Machine,
    folder: Option<&Path>,
    progress: &ProgressBar,
    started: u64,
) -> Result<Outcome> {
    let size = experiment.size(scale)?;
    let kind = kinds::by_name(&experiment.kind)?;
    let scratch = match folder {
        Some(folder) => tempfile::tempdir_in(folder)?,
        None => tempfile::tempdir()?,
    };
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
            workloads: size.workloads.clone(),
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
