//! Newcomers start with the examples, so each of them runs to its end.

use super::Outcome;
use crate::workspace::{LIBRARY, REPORT, STORE, Workspace};
use crate::{Result, command};

/// The examples come from cargo, so a new one runs the day it appears. They are built as the
/// tests build them, for the whole workspace, so that nothing is built again, and run where
/// they lie.
pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    command::run(&mut workspace.cargo("build --workspace --all-features --examples"))?;
    for package in [LIBRARY, REPORT, STORE] {
        for example in workspace.examples(package)? {
            command::run(&mut workspace.built(&format!("examples/{example}")))?;
        }
    }
    Ok(Outcome::Passed)
}
