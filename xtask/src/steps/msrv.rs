//! The library builds with the oldest compiler that its manifest promises.

use std::process::Command;

use super::Outcome;
use crate::portability::Sysroot;
use crate::workspace::{LIBRARY, Workspace};
use crate::{Result, command};

pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    let msrv = workspace.library_msrv()?;
    let toolchain = format!("+{msrv}");
    // A check must not install a compiler behind anyone's back.
    let mut probe = workspace.cargo(&format!("{toolchain} --version"));
    if command::succeeds(probe.env("RUSTUP_AUTO_INSTALL", "0")) {
        run_check(workspace, workspace.cargo(&toolchain))?;
        return Ok(Outcome::Passed);
    }
    // What `cargo xtask portability` has fetched will do.
    if let Some(sysroot) = Sysroot::found(workspace, msrv) {
        check(workspace, &sysroot)?;
        return Ok(Outcome::Passed);
    }
    Ok(Outcome::Skipped(format!(
        "toolchain {msrv} is not installed (rustup toolchain install {msrv}), \
         nor fetched (cargo xtask portability)"
    )))
}

/// Builds the library with a compiler that was fetched.
pub(crate) fn check(workspace: &Workspace, sysroot: &Sysroot) -> Result {
    let mut cargo = workspace.cargo("");
    cargo.env("RUSTC", sysroot.rustc());
    run_check(workspace, cargo)
}

fn run_check(workspace: &Workspace, mut cargo: Command) -> Result {
    cargo.args(["check", "--locked", "-p", LIBRARY, "--all-features"]);
    // Two compilers in one target directory would throw away each other's work.
    cargo.arg("--target-dir").arg(workspace.target("msrv"));
    command::run(&mut cargo)
}
