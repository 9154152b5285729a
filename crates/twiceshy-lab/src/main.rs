//! Experiments with twiceshy's filters.
//!
//! ```text
//! cargo run --release -p twiceshy-lab -- list       # the papers' tables and figures
//! cargo run --release -p twiceshy-lab -- run all    # measure them, draw and judge
//! cargo run --release -p twiceshy-lab -- report DIR # draw again without measuring
//! cargo run --release -p twiceshy-lab -- compare    # ours beside other crates' filters
//! cargo run --release -p twiceshy-lab -- lists      # YES/NO lists: space, speed, deltas
//! cargo run --release -p twiceshy-lab -- store      # the store in front of real databases
//! cargo run --release -p twiceshy-lab -- profile    # one operation, for callgrind
//! ```
//!
//! One subcommand, one module: its `Args` say what it takes, its `run` does it. All but `profile` are about
//! [`experiments`]; `compare`, `lists` and `store` measure the one of their name, at the size of their
//! arguments.
//!
//! # How it measures
//!
//! An experiment is a file in `experiments/` with what the paper says, how it is measured, and claims. Whatever is measured is noted as a sample of a series at a place of a panel; printing, drawing and judging
//! know nothing else. Counts come before times: they come from seeds and are the same on any machine. A verdict is a pure
//! function of a claim and the results; one that was not measured, or at too small a scale, does not count as holding.
//! Claims are the paper's, bounds included, even where this code is expected to miss them. Members and strangers come from
//! one bijection, so a stranger is never a member.

mod compare;
mod declared;
mod drawn;
mod experiments;
mod filters;
mod kinds;
mod list;
mod lists;
mod machine;
mod profile;
mod report;
mod run;
mod store;
#[cfg(test)]
mod tests;
mod timed;
mod workloads;

use clap::{Parser, Subcommand};

/// Experiments with twiceshy's filters.
#[derive(Parser)]
#[command(version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    List(list::Args),
    Run(run::Args),
    Report(report::Args),
    Compare(compare::Args),
    Lists(lists::Args),
    Store(store::Args),
    Profile(profile::Args),
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::List(args) => list::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Lists(args) => lists::run(&args),
        Command::Store(args) => store::run(&args),
        Command::Profile(args) => profile::run(&args),
    }
}
