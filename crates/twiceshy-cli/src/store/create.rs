//! `twiceshy store create`: a new store.

use std::path::PathBuf;

use serde::Serialize;
use twiceshy::hash::Seed;

use super::place::{self, Choices, EngineKind, FilterKind, LayoutKind};
use crate::exit::{Outcome, Status};
use crate::shell::Shell;

/// Make a new store
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Its directory
    path: PathBuf,
    /// The database that keeps the records
    #[arg(long, value_enum, default_value = "redb")]
    engine: EngineKind,
    /// How records are laid out
    #[arg(long, value_enum, default_value = "merged")]
    layout: LayoutKind,
    /// The filter in front
    #[arg(long, value_enum, default_value = "adaptive")]
    filter: FilterKind,
    /// The share of absent keys that are wrong the first time they are asked for
    #[arg(long, default_value_t = Choices::default().fpr, value_name = "P",
          value_parser = crate::keys::rate)]
    fpr: f64,
    /// Records to have room for from the start; the filter grows with more
    #[arg(long, default_value_t = Choices::default().capacity, value_name = "N")]
    capacity: u64,
    /// Makes experiments repeatable; random if not given, which keeps attackers out
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

const EXAMPLES: &str = "\
Examples:
  twiceshy store create shop.db
  twiceshy store create shop.db --engine fjall --layout split --fpr 0.001";

#[derive(Serialize)]
struct Created<'a> {
    path: String,
    #[serde(flatten)]
    choices: &'a Choices,
}

pub(crate) fn run(args: &Args, shell: &Shell) -> Outcome<Status> {
    let choices = Choices {
        engine: args.engine,
        layout: args.layout,
        filter: args.filter,
        fpr: args.fpr,
        capacity: args.capacity,
        ..Choices::default()
    };
    let seed = args.seed.map(Seed::from_u64);
    place::create(&args.path, &choices, seed, shell)?;
    let path = args.path.display().to_string();
    let created = Created {
        path: path.clone(),
        choices: &choices,
    };
    shell.print(&created, || format!("made {path}"))?;
    Ok(Status::Success)
}
