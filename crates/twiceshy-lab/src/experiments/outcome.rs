//! Raw results: JSON lines, one file for each experiment.
//!
//! ```text
//! {"experiment":"003-figure-3","scale":"small","machine":{…},"commit":…,"seeds":[1],"parameters":{…},…}
//! {"panel":"insert","series":"adaptive","x":0.9,"samples":[11.9,12.1,12.0]}
//! …
//! ```
//!
//! The first line says how the others came about; each of those is a place in a plot with one
//! sample for each round. Rounds are interleaved: sample `i` of one series was taken beside sample
//! `i` of another, so their ratio is free of what the machine did meanwhile.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use twiceshy_report::text::number;

use super::spec::{Scale, Size};
use crate::machine::Machine;

/// A place on an axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum X {
    Number(f64),
    Name(String),
}

impl From<f64> for X {
    fn from(x: f64) -> Self {
        X::Number(x)
    }
}

impl From<&str> for X {
    fn from(name: &str) -> Self {
        X::Name(name.to_owned())
    }
}

impl From<String> for X {
    fn from(name: String) -> Self {
        X::Name(name)
    }
}

impl fmt::Display for X {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            X::Number(x) => {
                // Without the digits of a sum of tenths.
                let rounded = (x * 1e9).round() / 1e9;
                write!(f, "{rounded}")
            }
            X::Name(name) => f.write_str(name),
        }
    }
}

/// How the results came about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Head {
    pub(crate) experiment: String,
    pub(crate) scale: Scale,
    /// The hardware, and the commit that was run.
    pub(crate) machine: Machine,
    pub(crate) seeds: Vec<u64>,
    pub(crate) filters: Vec<String>,
    pub(crate) workloads: Vec<String>,
    pub(crate) parameters: Size,
    /// How long it took.
    pub(crate) seconds: f64,
    /// The share of the time that other programs had this core.
    pub(crate) disturbed: Option<f64>,
    /// What was left out, and why.
    pub(crate) notes: Vec<String>,
}

impl Head {
    /// Where it was measured.
    pub(crate) fn place(&self) -> String {
        format!("Measured on {}.", self.machine.describe())
    }

    /// How the results came about, in words.
    pub(crate) fn facts(&self) -> Vec<(&'static str, String)> {
        let commit = self.machine.commit.clone();
        let seeds: Vec<String> = self.seeds.iter().map(u64::to_string).collect();
        let parameters = self.parameters.rest.iter();
        let parameters: Vec<String> = parameters
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        let mut facts = vec![
            (
                "run",
                format!(
                    "scale {}, {} rounds, {} s, commit {}",
                    self.scale,
                    self.parameters.rounds,
                    number(self.seconds),
                    commit
                        .as_deref()
                        .map_or("unknown", |commit| { commit.get(..12).unwrap_or(commit) })
                ),
            ),
            ("seeds", seeds.join(", ")),
            ("parameters", parameters.join(", ")),
        ];
        if let Some(disturbed) = self.disturbed.filter(|share| *share > 0.02) {
            facts.push((
                "disturbed",
                format!(
                    "other programs had this core {:.0}% of the time",
                    disturbed * 100.0
                ),
            ));
        }
        facts
    }
}

/// What was measured at one place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Point {
    pub(crate) panel: String,
    pub(crate) series: String,
    pub(crate) x: X,
    pub(crate) samples: Vec<f64>,
}

/// All of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) head: Head,
    pub(crate) points: Vec<Point>,
}

impl Outcome {
    /// The points of a series, in the order in which they were measured.
    pub(crate) fn series<'o>(
        &'o self,
        panel: &'o str,
        series: &'o str,
    ) -> impl Iterator<Item = &'o Point> {
        let is_it = move |point: &&Point| point.panel == panel && point.series == series;
        self.points.iter().filter(is_it)
    }

    /// A series at a place.
    pub(crate) fn at(&self, panel: &str, series: &str, x: &X) -> Option<&Point> {
        self.points
            .iter()
            .find(|point| point.panel == panel && point.series == series && point.x == *x)
    }

    /// The names of the series of a panel, in the order in which they first appear.
    pub(crate) fn names(&self, panel: &str) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for point in self.points.iter().filter(|point| point.panel == panel) {
            if !names.contains(&&*point.series) {
                names.push(&point.series);
            }
        }
        names
    }

    /// The places of a panel: numbers in ascending order, names as they came.
    pub(crate) fn places(&self, panel: &str) -> Vec<&X> {
        let mut places: Vec<&X> = Vec::new();
        for point in self.points.iter().filter(|point| point.panel == panel) {
            if !places.contains(&&point.x) {
                places.push(&point.x);
            }
        }
        places.sort_by(|a, b| match (a, b) {
            (X::Number(a), X::Number(b)) => a.total_cmp(b),
            _ => std::cmp::Ordering::Equal,
        });
        places
    }

    fn file(folder: &Path, name: &str) -> PathBuf {
        folder.join(name).with_extension("jsonl")
    }

    /// Writes the file of this experiment.
    pub(crate) fn write(&self, folder: &Path) -> Result<()> {
        let mut text = serde_json::to_string(&self.head)?;
        text.push('\n');
        for point in &self.points {
            ensure!(
                point.samples.iter().all(|sample| sample.is_finite()),
                "a figure is no number: {point:?}"
            );
            text.push_str(&serde_json::to_string(point)?);
            text.push('\n');
        }
        let path = Self::file(folder, &self.head.experiment);
        fs::write(&path, text).with_context(|| format!("can't write {}", path.display()))
    }

    /// Reads such a file.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let about = || format!("{} is no file of results", path.display());
        let text = fs::read_to_string(path).with_context(about)?;
        let mut lines = text.lines();
        let head = lines.next().context("it is empty").with_context(about)?;
        let points = lines.map(serde_json::from_str).collect::<Result<_, _>>();
        Ok(Outcome {
            head: serde_json::from_str(head).with_context(about)?,
            points: points.with_context(about)?,
        })
    }

    /// Reads all files of a folder, by name. They must be of one machine.
    pub(crate) fn read_all(folder: &Path) -> Result<BTreeMap<String, Outcome>> {
        let entries = fs::read_dir(folder);
        let entries = entries.with_context(|| format!("can't read {}", folder.display()))?;
        let mut outcomes = BTreeMap::new();
        for entry in entries {
            let path = entry?.path();
            if path
                .extension()
                .is_some_and(|extension| extension == "jsonl")
            {
                let outcome = Outcome::read(&path)?;
                outcomes.insert(outcome.head.experiment.clone(), outcome);
            }
        }
        one_machine(outcomes.values().map(|outcome| &outcome.head))?;
        Ok(outcomes)
    }
}

/// The median and the middle half of some samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Spread {
    /// `None` if there are none.
    pub(crate) fn of(samples: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut samples: Vec<f64> = samples.into_iter().collect();
        samples.sort_by(f64::total_cmp);
        let last = samples.len().checked_sub(1)?;
        let at = |share: f64| {
            let place = share * last as f64;
            let (below, above) = (samples[place as usize], samples[place.ceil() as usize]);
            below + (above - below) * place.fract()
        };
        Some(Spread {
            median: at(0.5),
            low: at(0.25),
            high: at(0.75),
        })
    }

    /// The mean in place of the median, and as far as its standard error to both sides.
    pub(crate) fn of_mean(samples: &[f64]) -> Option<Self> {
        let count = samples.len() as f64;
        let mean = samples.iter().sum::<f64>() / count;
        let variance = samples.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (count - 1.0);
        let error = if samples.len() > 1 {
            (variance / count).sqrt()
        } else {
            0.0
        };
        let least = samples.iter().copied().min_by(f64::total_cmp)?;
        Some(Spread {
            median: mean,
            // Never below what was ever seen.
            low: (mean - error).max(least),
            high: mean + error,
        })
    }
}

/// The median of some samples; no number if there are none.
pub(crate) fn median(samples: impl IntoIterator<Item = f64>) -> f64 {
    Spread::of(samples).map_or(f64::NAN, |spread| spread.median)
}

/// Times of different machines say nothing beside each other.
pub(crate) fn one_machine<'h>(heads: impl IntoIterator<Item = &'h Head>) -> Result<()> {
    let mut first: Option<&Head> = None;
    for head in heads {
        match first {
            None => first = Some(head),
            Some(first) if first.machine.is_same(&head.machine) => {}
            Some(first) => bail!(
                "these results are of different machines, and can't stand in one report:\n  \
                 {}: {}\n  {}: {}\nMeasure all of them on one machine, or into another folder \
                 (--out).",
                first.experiment,
                first.machine.describe(),
                head.experiment,
                head.machine.describe(),
            ),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_is_the_middle_half() {
        assert_eq!(Spread::of([]), None);
        let spread = Spread::of([5.0, 1.0, 2.0, 4.0, 3.0]).unwrap();
        assert_eq!((spread.low, spread.median, spread.high), (2.0, 3.0, 4.0));
        let spread = Spread::of([1.0, 2.0]).unwrap();
        assert_eq!((spread.low, spread.median, spread.high), (1.25, 1.5, 1.75));
    }

    #[test]
    fn a_mean_has_its_standard_error() {
        assert_eq!(Spread::of_mean(&[]), None);
        assert_eq!(Spread::of_mean(&[2.0]), Spread::of([2.0]));
        let spread = Spread::of_mean(&[1.0, 3.0, 5.0, 7.0]).unwrap();
        let error = (20.0_f64 / 3.0 / 4.0).sqrt();
        assert!((spread.median - 4.0).abs() < 1e-12);
        assert!((spread.high - 4.0 - error).abs() < 1e-12);
        assert!((4.0 - spread.low - error).abs() < 1e-12);
        assert_eq!(Spread::of_mean(&[0.0, 0.0, 9.0]).unwrap().low, 0.0);
    }
}
