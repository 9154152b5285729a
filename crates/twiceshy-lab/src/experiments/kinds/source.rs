//! Members and queries of a workload, as bytes: numbers that look random, or real keys.

use anyhow::{Result, ensure};

use super::super::bench::Bench;
use super::super::spec::Scale;
use crate::workloads::real::{self, RealSet};
use crate::workloads::{self, Keys, Queries};

/// Where keys come from.
pub(super) enum Source {
    /// A workload by name, such as `zipf(exponent=1.1)`.
    Numbers { keys: Keys, text: String },
    /// `real:` and the name of a set.
    Real(Box<RealSet>),
}

/// The word in front of a workload's parameters, its name in the results.
pub(super) fn label(workload: &str) -> &str {
    let name = workload.strip_prefix("real:").unwrap_or(workload);
    name.split('(').next().unwrap_or(name)
}

impl Source {
    /// `None` if its keys are not there; the bench is told.
    pub(super) fn open(bench: &mut Bench<'_>, workload: &str, seed: u64) -> Result<Option<Self>> {
        let Some(name) = workload.strip_prefix("real:") else {
            return Ok(Some(Source::Numbers {
                keys: Keys::new(seed),
                text: workload.to_owned(),
            }));
        };
        if bench.scale == Scale::Tiny {
            bench.remark(format!(
                "{name} was left out: to read its millions of keys takes longer than this scale has."
            ));
            return Ok(None);
        }
        if let Some(command) = real::missing(name)? {
            bench.remark(format!(
                "{name} was left out: its keys are not there. `{command}` fetches them."
            ));
            return Ok(None);
        }
        Ok(Some(Source::Real(Box::new(RealSet::load(name, seed)?))))
    }

    /// Takes other keys from now on; real ones stay as they are.
    pub(super) fn reseed(&mut self, seed: u64) {
        if let Source::Numbers { keys, .. } = self {
            *keys = Keys::new(seed);
        }
    }

    /// Are there so many members?
    pub(super) fn check(&self, members: u64) -> Result<()> {
        if let Source::Real(set) = self {
            let there = set.sizes().0;
            ensure!(there >= members, "only {there} of {members} real members");
        }
        Ok(())
    }

    /// Calls `with` with the `i`-th member.
    pub(super) fn member<T>(&self, i: u64, with: impl FnOnce(&[u8]) -> T) -> T {
        match self {
            Source::Numbers { keys, .. } => with(&keys.member(i).to_le_bytes()),
            Source::Real(set) => with(set.member(i).as_bytes()),
        }
    }

    /// Somebody who asks for strangers.
    pub(super) fn queries(&self, seed: u64) -> Result<Box<dyn Queries + '_>> {
        Ok(match self {
            Source::Numbers { text, .. } => workloads::open(text, seed)?,
            Source::Real(set) => Box::new(set.queries(seed)),
        })
    }

    /// The next strangers, in one piece of memory.
    pub(super) fn strangers(&self, queries: &mut dyn Queries, count: u64) -> Strangers {
        let mut strangers = Strangers::default();
        for number in std::iter::from_fn(|| queries.next()).take(count as usize) {
            match self {
                Source::Numbers { keys, .. } => strangers.add(&keys.stranger(number).to_le_bytes()),
                Source::Real(set) => strangers.add(set.stranger(number).as_bytes()),
            }
        }
        strangers
    }
}

/// Many keys.
#[derive(Default)]
pub(super) struct Strangers {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Strangers {
    fn add(&mut self, key: &[u8]) {
        self.bytes.extend_from_slice(key);
        self.ends.push(self.bytes.len());
    }

    pub(super) fn len(&self) -> u64 {
        self.ends.len() as u64
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(&0).chain(&self.ends);
        let ranges = starts.zip(&self.ends);
        ranges.map(|(&start, &end)| &self.bytes[start..end])
    }
}
