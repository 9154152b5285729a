//! What a measurement is given: what is declared, a place for figures, the progress.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use indicatif::ProgressBar;
use serde::de::DeserializeOwned;

use super::outcome::{Point, X};
use super::spec::{Experiment, Scale, Size};
use crate::filters::{self, Entry};
use crate::workloads::{Source, label};

/// Steps of the progress for each second that a run is expected to take.
pub(crate) const STEPS_PER_SECOND: f64 = 100.0;

/// One experiment at one scale, and where its figures go.
pub(crate) struct Bench<'b> {
    pub(crate) experiment: &'b Experiment,
    pub(crate) scale: Scale,
    pub(crate) size: &'b Size,
    /// An empty folder for databases and files.
    pub(crate) scratch: &'b Path,
    pub(crate) progress: &'b ProgressBar,
    /// Where the progress of the whole run stood at the start.
    pub(crate) started: u64,
    pub(crate) points: Vec<Point>,
    pub(crate) notes: Vec<String>,
}

impl Bench<'_> {
    /// How often everything is to be measured.
    pub(crate) fn rounds(&self) -> usize {
        self.size.rounds
    }

    pub(crate) fn seeds(&self) -> &[u64] {
        &self.experiment.seeds
    }

    /// For what is done once.
    pub(crate) fn seed(&self) -> u64 {
        self.experiment.seeds.first().copied().unwrap_or(1)
    }

    /// The kind's own parameters at this scale.
    pub(crate) fn parameters<T: DeserializeOwned>(&self) -> Result<T> {
        self.size.parameters()
    }

    /// The filters of the declaration.
    pub(crate) fn filters(&self) -> Result<Vec<&'static Entry>> {
        let names = self.experiment.filters.iter();
        names.map(|name| filters::by_name(name)).collect()
    }

    /// The seeds, where each place is measured once for each: as many as there are rounds.
    pub(crate) fn seeds_of_rounds(&mut self) -> Result<Vec<u64>> {
        let (all, rounds) = (self.seeds().to_vec(), self.rounds());
        ensure!(all.len() >= rounds, "{rounds} rounds need as many seeds");
        if rounds < all.len() {
            self.remark(format!("at this scale, the first {rounds} of the seeds"));
        }
        Ok(all[..rounds].to_vec())
    }

    /// Who asks.
    pub(crate) fn workloads(&self) -> &[String] {
        &self.size.workloads
    }

    /// Who asks, where that is one.
    pub(crate) fn workload(&self) -> Result<String> {
        let first = self.workloads().first();
        Ok(first.context("nobody asks")?.clone())
    }

    /// Where the keys of a workload come from; if they are not there, the report says what to run.
    pub(crate) fn source(&mut self, workload: &str, seed: u64) -> Result<Option<Source>> {
        if let Some(command) = Source::missing(workload)? {
            self.remark(format!(
                "{} was left out: its keys are not there. Run `{command}` and then this again.",
                label(workload)
            ));
            return Ok(None);
        }
        Source::open(workload, seed).map(Some)
    }

    /// Adds a sample. Those of a series at a place are noted round by round, so that samples of
    /// the same number belong together. What belongs to a panel that the declaration does not
    /// have is dropped.
    pub(crate) fn note(&mut self, panel: &str, series: &str, x: impl Into<X>, sample: f64) {
        if self.experiment.panel(panel).is_none() {
            return;
        }
        let x = x.into();
        let is_it =
            |point: &&mut Point| point.panel == panel && point.series == series && point.x == x;
        match self.points.iter_mut().rev().find(is_it) {
            Some(point) => point.samples.push(sample),
            None => self.points.push(Point {
                panel: panel.to_owned(),
                series: series.to_owned(),
                x,
                samples: vec![sample],
            }),
        }
    }

    /// Says what a reader must know: something left out, a limit met.
    pub(crate) fn remark(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }

    /// So much of this experiment is done, from 0 to 1.
    pub(crate) fn progress(&self, done: f64) {
        let steps = self.size.seconds * STEPS_PER_SECOND * done.clamp(0.0, 1.0);
        self.progress.set_position(self.started + steps as u64);
    }

    /// So many steps of so many are done.
    pub(crate) fn step(&self, done: usize, of: usize) {
        self.progress(done as f64 / of.max(1) as f64);
    }
}
