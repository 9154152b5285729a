//! `list`, `run`, `report`: the papers' tables and figures, measured on this code and judged.
//!
//! ```text
//! experiments/*.toml ──► spec ──► run ──► kinds::… ──► DIR/NAME.jsonl ──► report ──► DIR/index.html
//!  what the paper says          one small module         raw results     verdict        docs/results.md
//!  sizes, filters, claims       for each way to measure                  a pure function
//! ```
//!
//! | module | what is in it |
//! | --- | --- |
//! | [`spec`] | the shape of a declaration |
//! | [`kinds`] | the ways to measure, and the list of them |
//! | [`mod@bench`] | what such a way is given: parameters, a place for figures, the progress |
//! | [`result`] | raw results on disk |
//! | [`verdict`] | claims held against results |
//! | [`run`], [`list`], [`report`] | the commands |
//! | [`page`], [`markdown`], [`chart`] | results drawn |
//!
//! To add an experiment: a file in `experiments/`, and if it measures something new, a function in
//! [`kinds`]. To add a filter: an adapter in [`sets`](crate::sets) or in
//! [`compare::filters`](crate::compare::filters). To add a workload: one in `workloads`.

pub(crate) mod bench;
mod chart;
mod kinds;
pub(crate) mod list;
mod markdown;
mod page;
pub(crate) mod report;
pub(crate) mod result;
pub(crate) mod run;
pub(crate) mod spec;
pub(crate) mod verdict;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use spec::Experiment;

/// Names and declarations, collected by `build.rs`.
const SOURCES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/experiments.rs"));

/// All experiments in the order of their names: those that are built in, or those of a folder.
pub(crate) fn all(folder: Option<&Path>) -> Result<Vec<Experiment>> {
    let parse = |name: &str, text: &str| {
        let experiment = Experiment::parse(name, text);
        experiment.with_context(|| format!("experiments/{name}.toml"))
    };
    let Some(folder) = folder else {
        let sources = SOURCES.iter();
        return sources.map(|(name, text)| parse(name, text)).collect();
    };
    let about = || format!("can't read {}", folder.display());
    let mut experiments = Vec::new();
    for entry in fs::read_dir(folder).with_context(about)? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let text = fs::read_to_string(&path).with_context(about)?;
            experiments.push(parse(&name, &text)?);
        }
    }
    experiments.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(experiments)
}

/// Where declarations come from.
#[derive(clap::Args, Debug, Default)]
pub(crate) struct Declared {
    /// Read the declarations of this folder instead of those that are built in
    #[arg(long, value_name = "DIR")]
    experiments: Option<PathBuf>,
}

impl Declared {
    fn all(&self) -> Result<Vec<Experiment>> {
        all(self.experiments.as_deref())
    }
}

#[cfg(test)]
mod tests;
