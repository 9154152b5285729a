//! The library builds with the oldest compiler that its manifest promises.

use super::Outcome;
use crate::workspace::{LIBRARY, Workspace};
use crate::{Result, command};

pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    let msrv = workspace.library_msrv()?;
    let toolchain = format!("+{msrv}");
    // A check must not install a compiler behind anyone's back.
    let mut probe = workspace.cargo(&format!("{toolchain} --version"));
    if !command::succeeds(probe.env("RUSTUP_AUTO_INSTALL", "0")) {
        return Ok(Outcome::Skipped(format!(
            "toolchain {msrv} is not installed (rustup toolchain install {msrv})"
        )));
    }
    // Two compilers in one target directory would throw away each other's work.
    let mut cargo = workspace.cargo(&format!("{toolchain} check -p {LIBRARY} --all-features"));
    cargo.arg("--target-dir").arg(workspace.target("msrv"));
    command::run(&mut cargo)?;
    Ok(Outcome::Passed)
}
