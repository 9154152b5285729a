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
//! | [`bench`] | what such a way is given: parameters, a place for figures, the progress |
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

use anyhow::{Context, Result};

use spec::Experiment;

/// Names and declarations, collected by `build.rs`.
const SOURCES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/experiments.rs"));

/// All experiments, in the order of their names.
pub(crate) fn all() -> Result<Vec<Experiment>> {
    let parse = |(name, text): &(&str, &str)| {
        let experiment = Experiment::parse(name, text);
        experiment.with_context(|| format!("experiments/{name}.toml"))
    };
    SOURCES.iter().map(parse).collect()
}

#[cfg(test)]
mod tests;
