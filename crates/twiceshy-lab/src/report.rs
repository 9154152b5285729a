//! `report`: draws results that are there.

use std::path::PathBuf;

use anyhow::Result;

use crate::declared::Declared;
use crate::drawn::{markdown, page};
use crate::experiments::outcome::Outcome;
use crate::experiments::verdict::Judged;

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
    page::draw(&experiments, &args.folder)?;
    if let Some(path) = &args.markdown {
        let outcomes = Outcome::read_all(&args.folder)?;
        markdown::write(path, &Judged::all(&experiments, &outcomes))?;
        println!("written to {}", path.display());
    }
    Ok(())
}
