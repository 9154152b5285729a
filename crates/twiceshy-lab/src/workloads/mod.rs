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
//! | [`spec`] | such strings |
//! | [`uniform`], [`zipf`], [`power_law`] | draws that know nothing of each other |
//! | [`active_set`], [`trace`] | keys that come, are popular for a while, and go |
//! | [`rounds`] | an adversary, who listens to the answers; not by name |
//! | [`churn`] | members that are replaced |
//! | [`source`] | keys for numbers |
//! | [`weighted`], [`real`] | words by their frequency, paths: real keys, if they were fetched |
//! | [`random`] | where all chance comes from |
//!
//! To add one: a file with an iterator over numbers, and an [`Entry`] in [`ALL`].

mod active_set;
pub(crate) mod churn;
mod power_law;
pub(crate) mod random;
mod real;
pub(crate) mod rounds;
pub(crate) mod source;
mod spec;
mod trace;
mod uniform;
mod weighted;
pub(crate) mod zipf;

use std::fmt;

use anyhow::Result;

use spec::Parameters;

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
    let (entry, parameters) = spec::parse(text)?;
    (entry.open)(&parameters, seed)
}

/// Is there such a workload, with such parameters? Nothing is started.
pub(crate) fn check(text: &str) -> Result<()> {
    match text.strip_prefix(source::REAL) {
        Some(name) => real::missing(name).map(drop),
        None => spec::parse(text).map(drop),
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
}
