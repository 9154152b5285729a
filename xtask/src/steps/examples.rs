//! Newcomers start with the examples, so each of them runs to its end.

use super::Outcome;
use crate::workspace::{LIBRARY, STORE, Workspace};
use crate::{Result, command};

/// The examples come from cargo, so a new one runs the day it appears. With all features,
/// as in the tests, so that nothing is built again.
pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    for package in [LIBRARY, STORE] {
        for example in workspace.examples(package)? {
            let args = format!("run --quiet -p {package} --all-features --example {example}");
            command::run(&mut workspace.cargo(&args))?;
        }
    }
    Ok(Outcome::Passed)
}
