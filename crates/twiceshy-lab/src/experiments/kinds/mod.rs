//! The ways to measure: each a function that fills a [`Bench`].
//!
//! To add one: a module with such a function, and a line in [`ALL`].

mod accesses;
mod adversary;
mod building;
mod churn;
mod equal_space;
mod filling;
mod lists;
mod load_factor;
mod micro;
mod real_keys;
mod repeats;
mod source;
mod space;
mod store;
mod stream;
mod threads;

use anyhow::Result;

use super::bench::Bench;

/// A way to measure.
pub(crate) struct Kind {
    /// Its name in a declaration.
    pub(crate) name: &'static str,
    /// What it measures.
    pub(crate) about: &'static str,
    pub(crate) threads: Threads,
    pub(crate) run: fn(&mut Bench<'_>) -> Result<()>,
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
        name: "micro",
        about: "time of operations of bare filters, interleaved",
        threads: Threads::Pinned,
        run: micro::run,
    },
    Kind {
        name: "space",
        about: "bits per key and error of filled filters",
        threads: Threads::Pinned,
        run: space::run,
    },
    Kind {
        name: "repeats",
        about: "false positives of filters of equal space, against |A|/|S|",
        threads: Threads::Free,
        run: repeats::run,
    },
    Kind {
        name: "adversary",
        about: "the adversary who keeps what the filter gets wrong, against |Q|/|S|",
        threads: Threads::Free,
        run: adversary::run,
    },
    Kind {
        name: "load-factor",
        about: "throughput of bare filters against the load factor, interleaved",
        threads: Threads::Pinned,
        run: load_factor::run,
    },
    Kind {
        name: "real-keys",
        about: "false positives over time on keys that `cargo xtask data` fetched",
        threads: Threads::Free,
        run: real_keys::run,
    },
    Kind {
        name: "accesses",
        about: "what a filter asks of the map of its keys while it is filled",
        threads: Threads::Pinned,
        run: accesses::run,
    },
    Kind {
        name: "building",
        about: "time to get a filled filter: one by one, merged, or at once",
        threads: Threads::Pinned,
        run: building::run,
    },
    Kind {
        name: "stream",
        about: "mistakes, reads, space and speed along a stream of queries",
        threads: Threads::Pinned,
        run: stream::run,
    },
    Kind {
        name: "churn",
        about: "mistakes while members are replaced",
        threads: Threads::Pinned,
        run: churn::run,
    },
    Kind {
        name: "threads",
        about: "inserts and lookups by several threads",
        threads: Threads::Free,
        run: threads::run,
    },
    Kind {
        name: "lists",
        about: "space of YES/NO lists at every ratio of their lengths",
        threads: Threads::Pinned,
        run: lists::run,
    },
    Kind {
        name: "filling",
        about: "inserts of stores on real databases while their filters fill",
        threads: Threads::Free,
        run: filling::run,
    },
    Kind {
        name: "store",
        about: "inserts, misses and attacks of stores on real databases",
        threads: Threads::Free,
        run: store::run,
    },
];

/// The kind of that name.
pub(crate) fn by_name(name: &str) -> Option<&'static Kind> {
    ALL.iter().find(|kind| kind.name == name)
}
