//! Members and queries of a workload, as bytes: numbers that look random, or real keys.

use anyhow::{Result, ensure};

use super::real::{self, RealSet};
use super::{Keys, Queries};

/// In front of the name of a set of real keys.
pub(crate) const REAL: &str = "real:";

/// Where keys come from.
pub(crate) enum Source {
    /// A workload by name, such as `zipf(exponent=1.1)`.
    Numbers { keys: Keys, text: String },
    /// `real:` and the name of a set.
    Real(Box<RealSet>),
}

/// The word in front of a workload's parameters, its name in the results.
pub(crate) fn label(workload: &str) -> &str {
    let name = workload.strip_prefix("real:").unwrap_or(workload);
    name.split('(').next().unwrap_or(name)
}

impl Source {
    /// # Errors
    /// If real keys are not there, or there is no such set.
    pub(crate) fn open(workload: &str, seed: u64) -> Result<Self> {
        Ok(match workload.strip_prefix(REAL) {
            Some(name) => Source::Real(Box::new(RealSet::load(name, seed)?)),
            None => Source::Numbers {
                keys: Keys::new(seed),
                text: workload.to_owned(),
            },
        })
    }

    /// What to run first, if it takes real keys and they are not there.
    pub(crate) fn missing(workload: &str) -> Result<Option<String>> {
        match workload.strip_prefix(REAL) {
            Some(name) => real::missing(name),
            None => Ok(None),
        }
    }

    /// Takes other keys from now on; real ones stay as they are.
    pub(crate) fn reseed(&mut self, seed: u64) {
        if let Source::Numbers { keys, .. } = self {
            *keys = Keys::new(seed);
        }
    }

    /// How many members and strangers there are, if not as many as anybody likes.
    pub(crate) fn sizes(&self) -> Option<(u64, u64)> {
        match self {
            Source::Numbers { .. } => None,
            Source::Real(set) => Some(set.sizes()),
        }
    }

    /// Are there so many members?
    pub(crate) fn check(&self, members: u64) -> Result<()> {
        let there = self.sizes().map_or(members, |sizes| sizes.0);
        ensure!(there >= members, "only {there} of {members} real members");
        Ok(())
    }

    /// Calls `with` with the `i`-th member.
    pub(crate) fn member<T>(&self, i: u64, with: impl FnOnce(&[u8]) -> T) -> T {
        match self {
            Source::Numbers { keys, .. } => with(&keys.member(i).to_le_bytes()),
            Source::Real(set) => with(set.member(i).as_bytes()),
        }
    }

    /// Somebody who asks for strangers.
    pub(crate) fn queries(&self, seed: u64) -> Result<Queries<'_>> {
        Ok(match self {
            Source::Numbers { text, .. } => super::open(text, seed)?,
            Source::Real(set) => Box::new(set.queries(seed)),
        })
    }

    /// Calls `with` with the stranger of a number.
    pub(crate) fn stranger<T>(&self, number: u64, with: impl FnOnce(&[u8]) -> T) -> T {
        match self {
            Source::Numbers { keys, .. } => with(&keys.stranger(number).to_le_bytes()),
            Source::Real(set) => with(set.stranger(number).as_bytes()),
        }
    }

    /// The next strangers, in one piece of memory.
    pub(crate) fn strangers(&self, queries: &mut Queries<'_>, count: u64) -> Strangers {
        let mut strangers = Strangers::default();
        for number in queries.take(count as usize) {
            self.stranger(number, |key| strangers.add(key));
        }
        strangers
    }
}

/// Many keys.
#[derive(Default)]
pub(crate) struct Strangers {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Strangers {
    fn add(&mut self, key: &[u8]) {
        self.bytes.extend_from_slice(key);
        self.ends.push(self.bytes.len());
    }

    pub(crate) fn len(&self) -> u64 {
        self.ends.len() as u64
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(&0).chain(&self.ends);
        let ranges = starts.zip(&self.ends);
        ranges.map(|(&start, &end)| &self.bytes[start..end])
    }
}
