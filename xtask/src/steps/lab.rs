//! Every command of the lab works, and leaves the files that it promises. What the figures say is for
//! the lab's own tests, which run every experiment.

use std::fs;

use super::Outcome;
use crate::workspace::{LAB, Workspace};
use crate::{Result, command};

/// Each command at its smallest. `OUT` stands for a folder that is empty at first.
const COMMANDS: [&str; 7] = [
    "list --parts",
    "run 003-table-1 003-figure-8 --scale tiny --out OUT",
    "report OUT --markdown OUT/results.md",
    "compare --scale tiny --filters adaptive qfilter --operations query_hit --out OUT",
    "store --scale tiny --engine redb --out OUT",
    "lists --scale tiny --svg OUT/lists.svg --out OUT",
    "profile --log2-slots 10 --filter adaptive --operation query_hit --count 100",
];

/// What they leave.
const FILES: [&str; 9] = [
    "index.html",
    "results.md",
    "results/003-figure-8-zipf-rate.svg",
    "003-table-1.jsonl",
    "003-figure-8.jsonl",
    "compare.jsonl",
    "store.jsonl",
    "lists.jsonl",
    "lists.svg",
];

pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    // As the tests build it, so that nothing is built again; it is optimised there, too.
    let build = format!("build --workspace --all-features --bin {LAB}");
    command::run(&mut workspace.cargo(&build))?;
    let folder = workspace.target("lab-tiny");
    let there = workspace.root().join(&folder);
    if there.exists() {
        // What an earlier run has left must not pass for this one's.
        fs::remove_dir_all(&there)?;
    }
    for line in COMMANDS {
        let line = line.replace("OUT", &folder.to_string_lossy());
        let mut lab = workspace.built(LAB);
        command::run(lab.args(line.split_whitespace()))?;
    }
    let left = fs::read_dir(&there)?.count();
    let missing = FILES.iter().filter(|file| !there.join(file).exists());
    let missing: Vec<&str> = missing.copied().collect();
    match missing[..] {
        [] => println!("all files are there, {left} in all"),
        _ => return Err(format!("not written: {}", missing.join(", ")).into()),
    }
    Ok(Outcome::Passed)
}
