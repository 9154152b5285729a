//! The library and the store, their tests and examples build with no feature, with each one
//! alone, and with all.

use super::Outcome;
use crate::workspace::{LIBRARY, STORE, Workspace};
use crate::{Result, command};

/// The features come from cargo, so a new one is covered the day it appears. Clippy
/// is `cargo check` plus the means to fail on a warning, such as an import that only
/// another feature uses.
pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    for package in [LIBRARY, STORE] {
        let alone = workspace.features(package)?.into_iter();
        let alone = alone.map(|feature| format!("--no-default-features --features {feature}"));
        let none = "--no-default-features".to_owned();
        let all = "--all-features".to_owned();
        for selection in [none].into_iter().chain(alone).chain([all]) {
            let args =
                format!("clippy --quiet -p {package} --all-targets {selection} -- -D warnings");
            command::run(&mut workspace.cargo(&args))?;
        }
    }
    Ok(Outcome::Passed)
}
