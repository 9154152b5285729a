//! What a measurement is given.

use std::path::Path;

use anyhow::Result;
use indicatif::ProgressBar;
use serde::de::DeserializeOwned;

use super::result::{Point, X};
use super::spec::{Experiment, Scale, Size};
use crate::compare::filters::{self, Entry};
use crate::sets;

/// Steps of the progress for each second that a run is expected to take.
pub(super) const STEPS_PER_SECOND: f64 = 100.0;

/// One experiment at one scale, and where its figures go.
pub(crate) struct Bench<'b> {
    pub(crate) experiment: &'b Experiment,
    pub(crate) scale: Scale,
    pub(super) size: &'b Size,
    /// An empty folder for databases and files.
    pub(crate) scratch: &'b Path,
    pub(super) progress: &'b ProgressBar,
    /// Where the progress of the whole run stood at the start.
    pub(super) started: u64,
    pub(super) points: Vec<Point>,
    pub(super) notes: Vec<String>,
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

    /// The filters of the declaration, each with its keys.
    pub(crate) fn sets(&self) -> Result<Vec<&'static sets::Entry>> {
        let names = self.experiment.filters.iter();
        names.map(|name| sets::by_name(name)).collect()
    }

    /// The filters of the declaration, bare, under their names in [`compare`](crate::compare).
    pub(crate) fn contenders(&self) -> Result<Vec<&'static Entry>> {
        let names = self.experiment.filters.iter();
        let find = |name: &String| {
            let entry = filters::by_name(name);
            entry.ok_or_else(|| anyhow::anyhow!("there is no filter {name:?} in `compare`"))
        };
        names.map(find).collect()
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
