//! `twiceshy completions`: what shells need to complete command lines.

use std::io::{self, Write};

use anyhow::Context;
use clap::Command;
use clap_complete::Shell;

use crate::exit::{Outcome, Status};

/// Print a script that completes command lines in a shell
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  twiceshy completions bash > ~/.local/share/bash-completion/completions/twiceshy
  twiceshy completions zsh > ~/.zfunc/_twiceshy
  twiceshy completions fish > ~/.config/fish/completions/twiceshy.fish";

/// Prints the script for `program`.
pub(crate) fn run(args: &Args, mut program: Command) -> Outcome<Status> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut program, "twiceshy", &mut script);
    io::stdout()
        .write_all(&script)
        .context("can't write to standard output")?;
    Ok(Status::Success)
}
