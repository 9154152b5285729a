//! What CI checks, in the order in which it does: what fails fastest comes first.
//!
//! A step is a function and a line in [`STEPS`]; the longer ones have a file of
//! their own.

mod examples;
mod features;
mod hygiene;
mod lab;
mod layers;
mod msrv;
mod package;

use crate::workspace::{LIBRARY, STORE, TESTING, Workspace};
use crate::{Result, command};

/// One thing that must hold before a change goes in.
pub(crate) struct Step {
    /// What `--only` calls it.
    pub(crate) name: &'static str,
    /// What holds when it has passed, in a few words.
    pub(crate) about: &'static str,
    /// Does it.
    pub(crate) run: fn(&Workspace) -> Result<Outcome>,
}

/// How a step ended, if it didn't fail.
pub(crate) enum Outcome {
    /// All is well.
    Passed,
    /// It could not run on this machine, and why.
    Skipped(String),
}

const fn step(
    name: &'static str,
    about: &'static str,
    run: fn(&Workspace) -> Result<Outcome>,
) -> Step {
    Step { name, about, run }
}

/// Every step, in order.
pub(crate) const STEPS: &[Step] = &[
    step("fmt", "the code is formatted", fmt),
    step("hygiene", "no source file is too long", hygiene::run),
    step("layers", "no module names one above it", layers::run),
    step("clippy", "no lint fires in any target", clippy),
    step(
        "features",
        "the library builds with each feature alone",
        features::run,
    ),
    step("doc", "the documentation builds without a warning", doc),
    step("tests", "all tests and doctests pass", tests),
    step("examples", "all examples run", examples::run),
    step(
        "shuttle",
        "the store's locks hold under a model checker",
        shuttle,
    ),
    step(
        "portable",
        "the filters pass without CPU-specific code",
        portable,
    ),
    step(
        "msrv",
        "the library builds with its oldest compiler",
        msrv::run,
    ),
    step(
        "package",
        "the published package builds and is complete",
        package::run,
    ),
    step(
        "lab",
        "tiny measurements run and report every row",
        lab::run,
    ),
];

fn fmt(workspace: &Workspace) -> Result<Outcome> {
    command::run(&mut workspace.cargo("fmt --all -- --check"))?;
    Ok(Outcome::Passed)
}

fn clippy(workspace: &Workspace) -> Result<Outcome> {
    let args = "clippy --workspace --all-targets --all-features -- -D warnings";
    command::run(&mut workspace.cargo(args))?;
    Ok(Outcome::Passed)
}

fn doc(workspace: &Workspace) -> Result<Outcome> {
    let mut cargo = workspace.cargo("doc --workspace --no-deps --all-features");
    command::run(cargo.env("RUSTDOCFLAGS", "-D warnings"))?;
    Ok(Outcome::Passed)
}

/// The dev profile is optimised, with debug assertions and overflow checks on.
fn tests(workspace: &Workspace) -> Result<Outcome> {
    command::run(&mut workspace.cargo("test --workspace --all-features"))?;
    Ok(Outcome::Passed)
}

/// The tests in which every filter meets the oracle: what depends on the CPU shows there. All
/// others would mean another build of each of them, for code that is the same both ways.
const PORTABLE: [&str; 9] = [
    "adaptive_model",
    "conformance",
    "counting",
    "files",
    "golden",
    "lists",
    "properties",
    "relatives",
    "suite",
];

/// Other flags mean other builds of every dependency: a target directory of its own
/// keeps them from pushing out the usual ones.
fn portable(workspace: &Workspace) -> Result<Outcome> {
    let args = format!("test -p {LIBRARY} -p {TESTING} --all-features --lib");
    let mut cargo = workspace.cargo(&args);
    cargo.args(PORTABLE.iter().flat_map(|name| ["--test", name]));
    cargo.arg("--target-dir").arg(workspace.target("portable"));
    let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
    let flags = format!("{flags} --cfg twiceshy_portable");
    // A part of the longest ones: what does not depend on the CPU has been done.
    if std::env::var_os("TWICESHY_TEST_SHARE").is_none() {
        cargo.env("TWICESHY_TEST_SHARE", "6");
    }
    command::run(cargo.env("RUSTFLAGS", flags.trim()))?;
    Ok(Outcome::Passed)
}

/// The model checker's locks are another build of the store, so they too have a target
/// directory of their own.
fn shuttle(workspace: &Workspace) -> Result<Outcome> {
    let args = format!("test -p {STORE} --no-default-features --test shuttle");
    let mut cargo = workspace.cargo(&args);
    cargo.arg("--target-dir").arg(workspace.target("shuttle"));
    let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
    let flags = format!("{flags} --cfg twiceshy_shuttle");
    command::run(cargo.env("RUSTFLAGS", flags.trim()))?;
    Ok(Outcome::Passed)
}
