//! Source files stay short: a file that outgrows the limit has two ideas in it.

use std::fs;

use super::Outcome;
use crate::workspace::Workspace;
use crate::{Result, command};

/// The most lines that a source file may have. Most have half as many or fewer.
const LONGEST: usize = 700;

pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    if !command::succeeds(workspace.command("git").args(["rev-parse", "--git-dir"])) {
        return Ok(Outcome::Skipped("this is not a git checkout".into()));
    }
    // New files count before they are added; ignored ones never do.
    let mut git = workspace.command("git");
    git.args([
        "ls-files",
        "--cached",
        "--others",
        "--exclude-standard",
        "*.rs",
    ]);
    command::announce(&git);
    let listed = command::stdout(&mut git)?;

    let mut files = 0;
    let mut too_long = Vec::new();
    for file in listed.lines() {
        // Deleted but not yet committed: nothing to count.
        let Ok(text) = fs::read_to_string(workspace.root().join(file)) else {
            continue;
        };
        files += 1;
        let lines = text.lines().count();
        if lines > LONGEST {
            too_long.push(format!("{file} has {lines} lines; the limit is {LONGEST}"));
        }
    }
    if !too_long.is_empty() {
        return Err(too_long.join("\n").into());
    }
    println!("{files} files, none above {LONGEST} lines");
    Ok(Outcome::Passed)
}
