//! What is asked for, and in which order.
//!
//! A workload makes *numbers*; a [`Source`] turns a number into a key, so that the same workload asks
//! for words, paths or 64-bit numbers, and a test can say exactly what has to come out. An experiment names one by a string with parameters, and what it leaves out is as
//! in the papers:
//!
//! ```text
//! zipf                                 zipf(exponent=1.1, keys=1e6)
//! active-set(exponent=0.5)             trace(live=512, tail=1.2)
//! real:package-names
//! ```
//!
//! | module | what is in it |
//! | --- | --- |
//! | [`uniform`], [`zipf`], [`power_law`] | draws that know nothing of each other |
//! | [`active_set`], [`trace`] | keys that come, are popular for a while, and go |
//! | [`rounds`] | an adversary, who listens to the answers; not by name |
//! | [`weighted`], [`real`] | words by their frequency, paths: real keys, if they were fetched |
//! | [`random`] | where all chance comes from |
//!
//! To add one: a file with an iterator over numbers, and an [`Entry`] in [`ALL`].

mod active_set;
mod power_law;
pub(crate) mod random;
mod real;
pub(crate) mod rounds;
mod trace;
mod uniform;
mod weighted;
pub(crate) mod zipf;

use std::fmt;

use anyhow::{Context, Result, bail, ensure};

use real::RealSet;

/// Somebody who asks for numbers.
pub(crate) type Queries<'q> = Box<dyn Iterator<Item = u64> + 'q>;

/// A workload's line in the list of workloads.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    /// One sentence for `list`.
    pub(crate) about: &'static str,
    /// Names and defaults.
    pub(crate) parameters: &'static [(&'static str, f64)],
    open: fn(&Parameters, u64) -> Result<Queries<'static>>,
}

/// With its parameters, as an experiment would name it.
impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parameters = self.parameters.iter();
        let parameters: Vec<_> = parameters
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        write!(f, "{}({})", self.name, parameters.join(", "))
    }
}

/// Every workload that can be named.
pub(crate) const ALL: &[Entry] = &[
    uniform::ENTRY,
    zipf::ENTRY,
    power_law::ENTRY,
    active_set::ENTRY,
    trace::ENTRY,
];

/// Starts the workload that a string names. The same string and seed ask the same questions.
///
/// # Errors
/// If there is no such workload or parameter, or a value makes no sense; the message says what
/// there is.
pub(crate) fn open(text: &str, seed: u64) -> Result<Queries<'static>> {
    let (entry, parameters) = parse(text)?;
    (entry.open)(&parameters, seed)
}

/// Is there such a workload, with such parameters? Nothing is started.
pub(crate) fn check(text: &str) -> Result<()> {
    match text.strip_prefix(REAL) {
        Some(name) => real::missing(name).map(drop),
        None => parse(text).map(drop),
    }
}

/// Keys for numbers: members and strangers that look random, all of them different.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keys {
    seed: u64,
}

impl Keys {
    /// The number of the first stranger among all keys of a seed.
    const FIRST_STRANGER: u64 = 1 << 40;

    pub(crate) fn new(seed: u64) -> Self {
        Keys { seed }
    }

    /// The `i`-th member.
    pub(crate) fn member(self, i: u64) -> u64 {
        debug_assert!(i < Self::FIRST_STRANGER);
        random::key(self.seed, i)
    }

    /// The key of a workload's number; never a member.
    pub(crate) fn stranger(self, number: u64) -> u64 {
        random::key(self.seed, Self::FIRST_STRANGER + number)
    }
}

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
            Source::Numbers { text, .. } => open(text, seed)?,
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

/// The parameters of a workload, defaults filled in.
pub(crate) struct Parameters {
    values: Vec<(&'static str, f64)>,
}

impl Parameters {
    /// A parameter that may be any number.
    fn number(&self, name: &str) -> Result<f64> {
        let found = self.values.iter().find(|(known, _)| *known == name);
        Ok(found.with_context(|| format!("no parameter `{name}`"))?.1)
    }

    /// A parameter that must be greater than zero.
    fn positive(&self, name: &str) -> Result<f64> {
        let value = self.number(name)?;
        ensure!(value > 0.0, "`{name}` must be above 0, not {value}");
        Ok(value)
    }

    /// A parameter that is a probability.
    fn share(&self, name: &str) -> Result<f64> {
        let value = self.number(name)?;
        ensure!(
            (0.0..=1.0).contains(&value),
            "`{name}` must be from 0 to 1, not {value}"
        );
        Ok(value)
    }

    /// A parameter that counts something, at least `least` and below 2³².
    fn count(&self, name: &str, least: u32) -> Result<u32> {
        let value = self.number(name)?;
        ensure!(
            value.fract() == 0.0 && (f64::from(least)..=f64::from(u32::MAX)).contains(&value),
            "`{name}` must be a whole number from {least} on, not {value}"
        );
        Ok(value as u32)
    }
}

/// Takes such a string apart.
fn parse(text: &str) -> Result<(&'static Entry, Parameters)> {
    let (name, rest) = match text.split_once('(') {
        Some((name, rest)) => {
            let inside = rest.trim_end().strip_suffix(')');
            (
                name,
                inside.with_context(|| format!("`{text}` lacks its closing bracket"))?,
            )
        }
        None => (text, ""),
    };
    let name = name.trim();
    let Some(entry) = ALL.iter().find(|entry| entry.name == name) else {
        let names: Vec<_> = ALL.iter().map(|entry| entry.name).collect();
        bail!("there is no workload `{name}`, only {}", names.join(", "));
    };
    let mut values = entry.parameters.to_vec();
    for part in rest
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
    {
        let (known, value) = part
            .split_once('=')
            .with_context(|| format!("`{part}` in `{text}` should be `parameter=value`"))?;
        let Some(place) = values.iter_mut().find(|(name, _)| *name == known.trim()) else {
            let names: Vec<_> = entry.parameters.iter().map(|(name, _)| *name).collect();
            bail!(
                "`{name}` has no parameter `{known}`, only {}",
                names.join(", ")
            );
        };
        let value: f64 = value
            .trim()
            .parse()
            .with_context(|| format!("`{known}` in `{text}` should be a number"))?;
        ensure!(
            value.is_finite(),
            "`{known}` in `{text}` should be a number"
        );
        place.1 = value;
    }
    Ok((entry, Parameters { values }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(text: &str, seed: u64) -> Vec<u64> {
        open(text, seed).unwrap().take(5_000).collect()
    }

    #[test]
    fn every_workload_has_defaults_and_repeats_itself() {
        for entry in ALL {
            assert!(!entry.about.is_empty());
            let numbers = first(entry.name, 1);
            assert_eq!(numbers, first(&entry.to_string(), 1), "{entry}");
            assert_eq!(numbers.len(), 5_000, "{}", entry.name);
            assert_eq!(numbers, first(entry.name, 1), "{}", entry.name);
            // All must leave room for the members in front of them.
            let keys = numbers.iter().map(|&number| number >> 40);
            assert_eq!(keys.max(), Some(0), "{}", entry.name);
        }
    }

    #[test]
    fn another_seed_asks_for_others() {
        for name in [
            "uniform(keys=1e6)",
            "zipf",
            "power-law",
            "active-set",
            "trace",
        ] {
            assert_ne!(first(name, 1), first(name, 2), "{name}");
        }
    }

    #[test]
    fn strangers_are_no_members() {
        let keys = Keys::new(4);
        let mut all: Vec<u64> = (0..10_000).map(|i| keys.member(i)).collect();
        all.extend((0..10_000).map(|i| keys.stranger(i)));
        all.sort_unstable();
        assert!(all.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn parameters_replace_defaults() {
        let (entry, parameters) = parse("zipf").unwrap();
        assert_eq!(entry.name, "zipf");
        assert_eq!(parameters.number("exponent").unwrap(), 1.5);
        let (_, parameters) = parse(" zipf ( keys = 1e6 , exponent=0.9 )").unwrap();
        assert_eq!(parameters.count("keys", 1).unwrap(), 1_000_000);
        assert_eq!(parameters.positive("exponent").unwrap(), 0.9);
    }

    #[test]
    fn what_makes_no_sense_is_an_error_that_says_what_does() {
        for (text, says) in [
            ("zipff", "uniform, zipf"),
            ("zipf(s=1)", "exponent, keys"),
            ("zipf(keys=10", "closing"),
            ("zipf(keys)", "parameter=value"),
            ("zipf(keys=many)", "number"),
            ("zipf(keys=NaN)", "number"),
            ("zipf(keys=0.5)", "whole number"),
            ("zipf(keys=-1)", "whole number"),
            ("zipf(exponent=0)", "above 0"),
            ("trace(train=1.5)", "from 0 to 1"),
        ] {
            let error = open(text, 1).err().unwrap().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
