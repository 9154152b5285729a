//! `twiceshy`: filters, lists and a store that learn from their mistakes, from a shell.
//!
//! ```text
//! twiceshy demo      see in a minute what an adaptive filter is good for
//! twiceshy store     records in a database with an adaptive filter in front
//! twiceshy filter    filter files of every kind
//! twiceshy list      lists that are exact on what must never be wrong
//! ```
//!
//! One subcommand, one file: its `Args` say what it takes, its `run` does it. What they share:
//!
//! | module | what |
//! | --- | --- |
//! | [`shell`] | `--json` and `--quiet`; standard output; notes and progress bars on standard error |
//! | [`keys`] | keys as lines, hexadecimal, base64 or numbers, in constant memory |
//! | [`files`] | output files that are there whole or not at all |
//! | [`scratch`] | what goes away again, whatever happens |
//! | [`numbers`], [`table`] | figures for people |
//! | [`exit`] | exit codes, and errors that say what to do next |

mod cli;
mod completions;
mod demo;
mod exit;
mod files;
mod filter;
mod interrupt;
mod keys;
mod list;
mod man;
mod numbers;
mod scratch;
mod shell;
mod store;
mod table;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    exit::code(cli.run())
}
