//! The library builds with the oldest compiler that its manifest promises.

use super::Outcome;
use crate::portability::{self, Sysroot};
use crate::workspace::Workspace;
use crate::{Result, command};

pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    let msrv = workspace.library_msrv()?;
    let toolchain = format!("+{msrv}");
    // A check must not install a compiler behind anyone's back.
    let mut probe = workspace.cargo(&format!("{toolchain} --version"));
    if command::succeeds(probe.env("RUSTUP_AUTO_INSTALL", "0")) {
        portability::check_with(workspace, workspace.cargo(&toolchain))?;
        return Ok(Outcome::Passed);
    }
    // What `cargo xtask portability` has fetched will do.
    if let Some(sysroot) = Sysroot::found(workspace, msrv) {
        portability::check(workspace, &sysroot)?;
        return Ok(Outcome::Passed);
    }
    Ok(Outcome::Skipped(format!(
        "toolchain {msrv} is not installed (rustup toolchain install {msrv}), \
         nor fetched (cargo xtask portability)"
    )))
}
