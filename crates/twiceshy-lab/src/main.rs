//! Experiments with twiceshy's filters.
//!
//! ```text
//! cargo run --release -p twiceshy-lab -- compare    # ours beside other crates' filters
//! cargo run --release -p twiceshy-lab -- lists      # YES/NO lists: space, speed, deltas
//! cargo run --release -p twiceshy-lab -- profile    # one operation, for callgrind
//! cargo run --release -p twiceshy-lab -- store      # the store in front of real databases
//! ```
//!
//! One subcommand, one module: its `Args` say what it takes, its `run` does it.

mod compare;
mod lists;
mod profile;
mod store;

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
    Compare(compare::Args),
    Lists(lists::Args),
    Profile(profile::Args),
    Store(store::Args),
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
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
