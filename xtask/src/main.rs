//! The chores of the workspace, as `cargo xtask COMMAND`.
//!
//! `test` runs everything that CI runs, in the same order; CI itself calls nothing
//! else. `callgrind` counts instructions per filter operation. `portability` and `asan`
//! run the library's tests on other machines and under a sanitizer; they take long, so CI
//! leaves them to people. `data` fetches real keys for the examples and experiments.

mod asan;
mod callgrind;
mod command;
mod data;
mod error;
mod portability;
mod steps;
mod suite;
mod test;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use error::Result;

/// The chores of the twiceshy workspace.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run everything that CI runs, and stop at the first failure.
    #[command(visible_alias = "ci")]
    Test(test::Args),
    /// Count the instructions of filter operations under valgrind.
    Callgrind(callgrind::Args),
    /// Fetch real keys for the examples and experiments into `data/`.
    Data(data::Args),
    /// Run the library's tests on aarch64 and big-endian s390x, emulated.
    Portability(portability::Args),
    /// Run the library's tests under AddressSanitizer, with a nightly compiler.
    Asan(asan::Args),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Test(args) => test::run(&args),
        Command::Callgrind(args) => callgrind::run(&args),
        Command::Data(args) => data::run(&args),
        Command::Portability(args) => portability::run(&args),
        Command::Asan(args) => asan::run(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nerror: {error}");
            ExitCode::FAILURE
        }
    }
}
