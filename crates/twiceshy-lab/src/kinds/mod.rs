//! The ways to measure: each a function that fills a [`Bench`].
//!
//! To add one: a module with such a function, and a line in [`ALL`].

mod adversary;
mod building;
mod equal_space;
mod filled;
pub(crate) mod lists;
mod load_factor;
pub(crate) mod operations;
mod real_keys;
mod repeats;
pub(crate) mod store;
mod stream;
mod threads;

use anyhow::{Context, Result, ensure};

use crate::experiments::bench::Bench;
use crate::experiments::spec::{Experiment, Scale};
use crate::{filters, workloads};

/// A way to measure.
pub(crate) struct Kind {
    /// Its name in a declaration.
    pub(crate) name: &'static str,
    /// What it measures.
    pub(crate) about: &'static str,
    pub(crate) threads: Threads,
    /// Is this a filter that it can compare? `None` if it compares none.
    filter: Option<fn(&str) -> Result<()>>,
    /// How many workloads ask.
    workloads: Workloads,
    pub(crate) run: fn(&mut Bench<'_>) -> Result<()>,
}

/// How many of the declared workloads a kind lets ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Workloads {
    None,
    One,
    Any,
}

/// Where it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Threads {
    /// On one core, and nowhere else.
    Pinned,
    /// Wherever the system likes: it has more threads, or its database has.
    Free,
}

/// Every kind.
pub(crate) const ALL: &[Kind] = &[
    Kind {
        name: "operations",
        about: "time of operations of bare filters, interleaved",
        threads: Threads::Pinned,
        filter: Some(is_filter),
        workloads: Workloads::None,
        run: operations::run,
    },
    Kind {
        name: "building",
        about: "time to get a filled filter: one by one, merged, or at once",
        threads: Threads::Pinned,
        filter: Some(is_filter),
        workloads: Workloads::None,
        run: building::run,
    },
    Kind {
        name: "load-factor",
        about: "throughput of bare filters against the load factor, interleaved",
        threads: Threads::Pinned,
        filter: Some(is_filter),
        workloads: Workloads::One,
        run: load_factor::run,
    },
    Kind {
        name: "filled",
        about: "bits per key, error and accesses of filled filters",
        threads: Threads::Pinned,
        filter: Some(is_filter),
        workloads: Workloads::None,
        run: filled::run,
    },
    Kind {
        name: "repeats",
        about: "false positives of filters of equal space, against |A|/|S|",
        threads: Threads::Free,
        filter: Some(is_filter),
        workloads: Workloads::One,
        run: repeats::run,
    },
    Kind {
        name: "adversary",
        about: "the adversary who keeps what the filter gets wrong, against |Q|/|S|",
        threads: Threads::Free,
        filter: Some(is_filter),
        workloads: Workloads::None,
        run: adversary::run,
    },
    Kind {
        name: "real-keys",
        about: "false positives over time on keys that `cargo xtask data` fetched",
        threads: Threads::Free,
        filter: Some(is_filter),
        workloads: Workloads::One,
        run: real_keys::run,
    },
    Kind {
        name: "stream",
        about: "mistakes, reads, space and speed along a stream of queries, with members that are replaced or not",
        threads: Threads::Pinned,
        filter: Some(is_filter),
        workloads: Workloads::Any,
        run: stream::run,
    },
    Kind {
        name: "threads",
        about: "inserts and lookups by several threads",
        threads: Threads::Free,
        filter: None,
        workloads: Workloads::None,
        run: threads::run,
    },
    Kind {
        name: "lists",
        about: "YES/NO lists: space at every ratio of their lengths, speed, changes",
        threads: Threads::Pinned,
        filter: None,
        workloads: Workloads::None,
        run: lists::run,
    },
    Kind {
        name: "store",
        about: "stores on real databases: inserts, misses, attacks, openings, pauses",
        threads: Threads::Free,
        filter: Some(store::is_front),
        workloads: Workloads::None,
        run: store::run,
    },
];

/// The kind of that name.
pub(crate) fn by_name(name: &str) -> Result<&'static Kind> {
    let kind = ALL.iter().find(|kind| kind.name == name);
    kind.with_context(|| format!("there is no kind {name:?} of measurement"))
}

/// Can the kind of an experiment do what is declared? What it would ignore is refused.
pub(crate) fn check(experiment: &Experiment, scale: Scale) -> Result<()> {
    let kind = by_name(&experiment.kind)?;
    let (filters, name) = (&experiment.filters, kind.name);
    match kind.filter {
        None => ensure!(filters.is_empty(), "the kind {name} ignores filters"),
        Some(_) => ensure!(!filters.is_empty(), "the kind {name} wants filters"),
    }
    if let Some(check) = kind.filter {
        filters.iter().try_for_each(|filter| check(filter))?;
    }
    let asking = &experiment.size(scale)?.workloads;
    match (kind.workloads, asking.len()) {
        (Workloads::None, count) => ensure!(count == 0, "the kind {name} ignores workloads"),
        (Workloads::One, count) => ensure!(count == 1, "the kind {name} wants one workload"),
        (Workloads::Any, count) => ensure!(count > 0, "the kind {name} wants workloads"),
    }
    asking.iter().try_for_each(|text| workloads::check(text))
}

fn is_filter(name: &str) -> Result<()> {
    filters::by_name(name).map(drop)
}
