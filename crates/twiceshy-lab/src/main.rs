//! Experiments with twiceshy's filters.
//!
//! ```text
//! cargo run --release -p twiceshy-lab -- list       # the papers' tables and figures
//! cargo run --release -p twiceshy-lab -- run all    # measure them, draw and judge
//! cargo run --release -p twiceshy-lab -- report DIR # draw again without measuring
//! cargo run --release -p twiceshy-lab -- compare    # ours beside other crates' filters
//! cargo run --release -p twiceshy-lab -- lists      # YES/NO lists: space, speed, deltas
//! cargo run --release -p twiceshy-lab -- profile    # one operation, for callgrind
//! cargo run --release -p twiceshy-lab -- store      # the store in front of real databases
//! ```
//!
//! One subcommand, one module: its `Args` say what it takes, its `run` does it.

mod compare;
mod experiments;
mod lists;
mod machine;
mod profile;
mod sets;
mod store;
mod workloads;

use clap::{Parser, Subcommand};

use experiments::{list, report, run};

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
    Profile(profile::Args),
    Store(store::Args),
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::List(args) => list::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Lists(args) => lists::run(&args),
        Command::Profile(args) => profile::run(&args),
        Command::Store(args) => store::run(&args),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
