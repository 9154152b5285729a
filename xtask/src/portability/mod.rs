//! `cargo xtask portability`: the library's tests on other machines, emulated.
//!
//! Files are the same bytes everywhere, and the code without CPU-specific instructions
//! gives the same answers; here both are seen on a little-endian machine that is no x86
//! and on a big-endian one. The compiler is the oldest supported one, so the run also
//! shows that it builds the library and its tests.

pub(crate) mod apt;
mod sysroot;
mod targets;

pub(crate) use sysroot::Sysroot;

use std::process::Command;

use clap::builder::PossibleValuesParser;

use crate::workspace::{LIBRARY, Workspace};
use crate::{Result, command, suite};
use targets::{TARGETS, Target};

/// What to run, and how much of it.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Visit this machine alone; may be given more than once.
    #[arg(long, value_name = "MACHINE", value_parser = names())]
    only: Vec<String>,
    /// Divide the work of the longest tests by this.
    #[arg(long, default_value_t = suite::DEFAULT_SHARE, value_parser = clap::value_parser!(u32).range(1..))]
    share: u32,
}

fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(TARGETS.map(|target| target.name))
}

pub(crate) fn run(args: &Args) -> Result {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        return Err("the packages that are fetched are for x86-64 Linux".into());
    }
    let workspace = Workspace::load()?;
    let version = workspace.library_msrv()?;
    println!("\n==== fetch: the compiler, linkers and emulators are there");
    let sysroot = Sysroot::get(&workspace, version)?;

    println!("\n==== x86_64: the library builds with rustc {version}");
    check(&workspace, &sysroot)?;
    let mut report = format!("x86_64: the library builds with rustc {version}\n");

    let chosen =
        |target: &&Target| args.only.is_empty() || args.only.iter().any(|name| name == target.name);
    for target in TARGETS.iter().filter(chosen) {
        println!("\n==== {}: {}", target.name, target.about);
        let mut cargo = suite::cargo(&workspace, "portability/build", args.share);
        target.configure(&mut cargo, &sysroot);
        let tally = suite::run(&mut cargo).map_err(|error| format!("{}: {error}", target.name))?;
        println!("---- {}: {tally}", target.name);
        report += &format!("{} ({}): {tally}\n", target.name, target.about);
    }
    print!("\n{report}");
    Ok(())
}

/// Builds the library with a compiler that was fetched.
pub(crate) fn check(workspace: &Workspace, sysroot: &Sysroot) -> Result {
    let mut cargo = workspace.cargo("");
    cargo.env("RUSTC", sysroot.rustc());
    check_with(workspace, cargo)
}

/// The same with a cargo that knows its compiler.
pub(crate) fn check_with(workspace: &Workspace, mut cargo: Command) -> Result {
    cargo.args(["check", "--locked", "-p", LIBRARY, "--all-features"]);
    // Two compilers in one target directory would throw away each other's work.
    cargo.arg("--target-dir").arg(workspace.target("msrv"));
    command::run(&mut cargo)
}
