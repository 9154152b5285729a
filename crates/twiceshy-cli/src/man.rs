//! `twiceshy man`: manual pages.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Command;
use clap_mangen::Man;

use crate::exit::{OrHint, Outcome, Status};

/// Print the manual page, or write one for each command
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Write `twiceshy.1`, `twiceshy-store.1` and so on into this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  twiceshy man | man -l -
  twiceshy man --out ~/.local/share/man/man1";

/// Prints or writes the pages of `program`.
pub(crate) fn run(args: &Args, mut program: Command) -> Outcome<Status> {
    program.build();
    match &args.out {
        Some(folder) => write_all(program, folder)?,
        None => io::stdout()
            .write_all(&page(program)?)
            .context("can't write to standard output")?,
    }
    Ok(Status::Success)
}

/// The page of one command.
fn page(command: Command) -> Outcome<Vec<u8>> {
    let mut page = Vec::new();
    let rendered = Man::new(command).render(&mut page);
    rendered.context("making the manual page")?;
    Ok(page)
}

/// The pages of a command and of all below it.
fn write_all(command: Command, folder: &Path) -> Outcome<()> {
    let name = command.get_display_name().unwrap_or(command.get_name());
    let path = folder.join(format!("{name}.1"));
    for sub in command.get_subcommands() {
        if sub.get_name() != "help" {
            write_all(sub.clone(), folder)?;
        }
    }
    fs::write(&path, page(command)?)
        .with_context(|| format!("can't write {}", path.display()))
        .or_hint(|| "make the directory first, or choose another".into())
}
