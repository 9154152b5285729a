//! `report`: draws results that are there.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::declared::Declared;
use crate::drawn::{Judged, markdown, page, summary};
use crate::experiments::outcome::Outcome;
use crate::experiments::spec::Experiment;
use crate::experiments::verdict::Verdict;

/// Draw the report of measured results again, without measuring
///
/// Refuses results of different machines: times of one say nothing beside those of another.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Where `run` put the results
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// Write the key figures as Markdown, too, and the key plots into a folder beside it
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,

    #[command(flatten)]
    declared: Declared,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let experiments = args.declared.all()?;
    draw(&experiments, &args.folder, args.markdown.as_deref())
}

/// Draws what is in a folder, and says what came out.
pub(crate) fn draw(
    experiments: &[Experiment],
    folder: &Path,
    to_markdown: Option<&Path>,
) -> Result<()> {
    let outcomes = Outcome::read_all(folder)?;
    ensure!(
        !outcomes.is_empty(),
        "there are no results in {}; measure some with `twiceshy-lab run NAME --out {0}`",
        folder.display()
    );
    let judged = Judged::all(experiments, &outcomes);
    let path = folder.join("index.html");
    fs::write(&path, page::html(&judged))
        .with_context(|| format!("can't write {}", path.display()))?;
    println!("{}", summary(&judged));
    for judged in &judged {
        for (claim, judgement) in judged.experiment.claims.iter().zip(&judged.judgements) {
            if judgement.verdict == Verdict::Fails {
                println!(
                    "  doesn't hold: {}: {}: {}; wanted {}",
                    judged.experiment.name,
                    claim.text,
                    judgement.measured(),
                    judgement.wanted
                );
            }
        }
    }
    println!("drawn in {}", path.display());
    if let Some(path) = to_markdown {
        markdown::write(path, &judged)?;
        println!("written to {}", path.display());
    }
    Ok(())
}
