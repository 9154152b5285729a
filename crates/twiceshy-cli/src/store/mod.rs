//! `twiceshy store`: records in a database with an adaptive filter in front.

mod any;
mod attack;
mod create;
mod delete;
mod get;
mod place;
mod put;
mod scan;
mod stats;
mod verify;

use clap::Subcommand;

use crate::exit::{Outcome, Status};
use crate::shell::Shell;

/// Records in a database, and a filter in front that learns from its mistakes
///
/// A key that is not there is answered by the filter, without a read of the database; where
/// the filter is wrong, it is told, and does not make that mistake again.
#[derive(clap::Args, Debug)]
#[command(arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  twiceshy store create shop.db
  twiceshy store put shop.db --input orders.tsv
  twiceshy store get shop.db 4711";

#[derive(Debug, Subcommand)]
enum Command {
    Create(create::Args),
    Put(put::Args),
    Get(get::Args),
    Delete(delete::Args),
    Scan(scan::Args),
    Stats(stats::Args),
    Verify(verify::Args),
    Attack(attack::Args),
}

pub(crate) fn run(args: &Args, shell: &Shell) -> Outcome<Status> {
    match &args.command {
        Command::Create(args) => create::run(args, shell),
        Command::Put(args) => put::run(args, shell),
        Command::Get(args) => get::run(args, shell),
        Command::Delete(args) => delete::run(args, shell),
        Command::Scan(args) => scan::run(args, shell),
        Command::Stats(args) => stats::run(args, shell),
        Command::Verify(args) => verify::run(args, shell),
        Command::Attack(args) => attack::run(args, shell),
    }
}
