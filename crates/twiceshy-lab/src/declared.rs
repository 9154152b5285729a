//! The experiments that are declared: those that are built in, or those of a folder.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::experiments::spec::{Experiment, Scale};
use crate::kinds;

/// Names and declarations, collected by `build.rs`.
const SOURCES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/experiments.rs"));

/// Where declarations come from.
#[derive(clap::Args, Debug, Default)]
pub(crate) struct Declared {
    /// Read the declarations of this folder instead of those that are built in
    #[arg(long, value_name = "DIR")]
    experiments: Option<PathBuf>,
}

impl Declared {
    /// All experiments in the order of their names.
    pub(crate) fn all(&self) -> Result<Vec<Experiment>> {
        match &self.experiments {
            Some(folder) => of_folder(folder),
            None => SOURCES
                .iter()
                .map(|(name, text)| parse(name, text))
                .collect(),
        }
    }
}

/// The one of this name that is built in.
pub(crate) fn built_in(name: &str) -> Result<Experiment> {
    let source = SOURCES.iter().find(|source| source.0 == name);
    let (name, text) = source.with_context(|| format!("no experiment is named {name:?}"))?;
    parse(name, text)
}

fn of_folder(folder: &Path) -> Result<Vec<Experiment>> {
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

/// Reads a declaration, and asks its kind what it makes of it.
fn parse(name: &str, text: &str) -> Result<Experiment> {
    let about = || format!("experiments/{name}.toml");
    let experiment = Experiment::parse(name, text).with_context(about)?;
    for scale in Scale::ALL {
        kinds::check(&experiment, scale).with_context(about)?;
    }
    Ok(experiment)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPACE: &str = include_str!("../experiments/003-table-2.toml");

    #[test]
    fn what_a_kind_would_ignore_or_does_not_know_is_refused() {
        parse("n", SPACE).unwrap();
        for (from, to, says) in [
            (
                "kind = \"filled\"",
                "kind = \"spilled\"",
                "no kind \"spilled\"",
            ),
            (
                "seeds =",
                "workloads = [\"zipf\"]\nseeds =",
                "ignores workloads",
            ),
            (
                "\"adaptive\", ",
                "\"clairvoyant\", ",
                "no filter \"clairvoyant\"",
            ),
        ] {
            let error = parse("n", &SPACE.replacen(from, to, 1)).unwrap_err();
            let error = format!("{error:#}");
            assert!(error.contains(says), "{error}");
        }
        let stream = include_str!("../experiments/003-figure-8.toml");
        parse("n", stream).unwrap();
        for (from, to, says) in [
            ("zipf(keys=1e9)", "zipf(kees=1e9)", "no parameter"),
            ("workloads = [\"zipf(keys=1e9)\"]", "", "wants workloads"),
        ] {
            let error = parse("n", &stream.replacen(from, to, 1)).unwrap_err();
            let error = format!("{error:#}");
            assert!(error.contains(says), "{error}");
        }
    }
}
