//! The naive oracle and the conformance suite of `twiceshy`.
//!
//! Every filter of the library, and any filter built on it, is proved the same way: a long
//! and mean sequence of operations is played on the filter and on something too simple to
//! be wrong, and after every step the two must agree and the filter's invariants hold.
//!
//! ```text
//!    Source ──────► operation ──┬──► the filter under test (a `Subject`) ──► answer ─┐
//!    a seed, or       and       │                                                    ├─ equal?
//!    a fuzzer's       hash ─────┴──► the oracle: a sorted multiset ────────► answer ─┘
//!    bytes           (`Shape`)
//! ```
//!
//! | module | what it has |
//! | --- | --- |
//! | [`source`] | where random choices come from: a seed, or bytes that a fuzzer wrote |
//! | [`hashes`] | hashes that hurt: all in one run, in one cluster, at block edges, … |
//! | [`oracle`] | the sorted multiset of fingerprints |
//! | [`conformance`] | the suite itself, and [`Subject`], what it needs to know of a filter |
//! | [`adaptive`] | the oracle of the adaptive filter, whose answers change with what it learns |
//! | [`keyed`] | the same for the telescoping and the extension filter |
//! | [`relatives`] | the cuckoo and Bloom filters under the suite |
//! | [`lists`] | exactness of YES/NO lists, static and dynamic |
//! | [`files`] | what every loader must do with every file, however damaged |
//! | [`fuzz`] | the bodies of the fuzz targets |
//!
//! # Putting a filter under the suite
//!
//! Implement [`Filter`](twiceshy::Filter) and [`Insert`](twiceshy::Insert), which users want
//! anyway, and [`Subject`]. Its few required methods place the fingerprints; every other
//! method is an ability that a filter may lack, in which case the suite leaves that out:
//! removing, files and views, other sizes, merging, bulk loading.
//! Then give a small, empty filter to [`run`]: small tables get full, and their edges are
//! near. Whatever is true of a filter with a thousand blocks goes wrong with five already.
//!
//! Here is a filter that keeps one copy of each fingerprint and never forgets:
//!
//! ```
//! use twiceshy::hash::{Hashed, Key, Seed};
//! use twiceshy_testing::{Exactness, Kind, Source, Subject, run};
//! use twiceshy::{Error, Filter, Geometry, Insert, Inserted, QuotientFilter, Stats};
//!
//! #[derive(Clone)]
//! struct Seen(QuotientFilter);
//!
//! impl Filter for Seen {
//!     fn hash<'k, K: Key + ?Sized>(&self, key: &'k K) -> Hashed<'k> {
//!         self.0.hash(key)
//!     }
//!     fn contains_hashed(&self, key: &Hashed<'_>) -> bool {
//!         self.0.contains_hashed(key)
//!     }
//!     fn len(&self) -> u64 {
//!         self.0.len()
//!     }
//!     fn stats(&self) -> Stats {
//!         self.0.stats()
//!     }
//! }
//!
//! impl Insert for Seen {
//!     fn insert_hashed(&mut self, key: &Hashed<'_>) -> Result<(), Error> {
//!         self.0.insert_unique_hashed(key).map(|_| ())
//!     }
//! }
//!
//! impl Subject for Seen {
//!     const EXACTNESS: Exactness = Exactness::Set;
//!
//!     fn geometry(&self) -> Geometry {
//!         self.0.geometry()
//!     }
//!     fn check(&self) -> Result<(), String> {
//!         self.0.check_invariants().map_err(|violation| violation.to_string())
//!     }
//!     fn ids(&self) -> Option<Vec<u64>> {
//!         let geometry = self.0.geometry();
//!         Some(self.0.iter().map(|fingerprint| geometry.id_of(fingerprint)).collect())
//!     }
//! }
//!
//! let seen = QuotientFilter::builder().slots(100).remainder_bits(5).seed(Seed::from_u64(1));
//! let report = run(Seen(seen.build()?), &mut Source::from_seed(1), 10_000)?;
//! assert_eq!(report.operations(), 10_000);
//! assert!(report.count(Kind::InsertFull) > 0, "it was filled to the brim");
//! assert_eq!(report.count(Kind::Remove), 0, "it can't");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The error of [`run`] says what differed, at which operation, and after which: with the
//! same seed it happens again. A test of a new filter sums up its reports and asserts that
//! every [`Kind`] of operation it can do did occur, so that it can't pass by doing nothing.
//!
//! A fuzz target is the same call with [`Source::from_bytes`]: the run ends where the bytes
//! do.

pub mod adaptive;
pub mod conformance;
pub mod files;
pub mod fuzz;
pub mod hashes;
pub mod keyed;
pub mod lists;
pub mod oracle;
pub mod relatives;
mod report;
pub mod source;
mod stop;
mod subject;
mod subjects;

pub use conformance::{run, run_shaped};
pub use hashes::{Hashes, Shape};
pub use oracle::Oracle;
pub use report::{Kind, Report};
pub use source::{Exhausted, Source};
pub use subject::{Exactness, Subject};
