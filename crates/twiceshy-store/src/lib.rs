#![doc = include_str!("../README.md")]
//!
//! # How it works
//!
//! ```text
//!            get ──▶ filter ── no ─────────────────────────▶ None       no read
//!                      │ maybe
//!                      ▼
//!                 one range of the engine: all keys of that minirun
//!                      ├─ the key is among them ───────────▶ Some(value)
//!                      └─ it is not: a false positive ─────▶ None
//!                            └─ these keys tell the filter how to avoid it from now on
//! ```
//!
//! **The engine is the truth.** A put adds its fingerprint first and commits second, a delete
//! commits first and drops its fingerprint second, so at no moment is there a record that the
//! filter denies. The filter's file is a cache: after a crash it is built again from one scan of
//! the records, with all that a stale file and the journal of mistakes still know.
//!
//! **Two layouts.** [`Merged`] stores each record once, in hash order, so that the one read that
//! verifies also teaches. [`Split`] stores records in key order and a reverse map beside them,
//! and has [`range`](Store::range).
//!
//! **It serves while it changes.** The filter is divided into shards, each with a lock that is
//! held for as long as a filter takes to answer. A full shard grows, and a change of seed moves
//! records, a few hundred at a time, behind a frontier. A lookup waits for no commit, no image of
//! the filter and no checkpoint; one that learns takes a few such steps along. So does a write
//! (a batch takes more of them the larger it is, and lets the filter grow to the end where it
//! finds no room), and once in some hundred thousand lessons a write saves the filter; writers
//! wait for a checkpoint. [`Stats::longest_step`] and [`Stats::longest_pause`] say how long that
//! has taken at most.
//!
//! **Attackers.** The hash is keyed with a secret seed; whoever knows code and keys but not the
//! seed can't tell which keys collide. Whoever watches the engine learns of mistakes as they
//! are fixed. [`rotate`](Store::rotate) changes the seed.
//!
//! The invariants, the lock order and the arguments are in `docs/design.md` of the repository.
//!
//! # Where to start
//!
//! | you have | take |
//! | --- | --- |
//! | nothing yet | [`Store::open_dir`], or [`StoreBuilder`] for another engine or layout |
//! | a database of your own | [`StoreBuilder::guard`], see [`guard`] |
//! | a filter and keys in memory | [`twiceshy::AdaptiveSet`] |
//! | a doubt | [`FilterChoice::Plain`] and [`FilterChoice::None`] in the same store, to compare |

pub mod attack;
mod batch;
mod builder;
mod cores;
mod counters;
pub mod engine;
mod error;
pub mod files;
mod filter;
mod generation;
pub mod guard;
mod hash_order;
mod image;
mod journal;
mod layout;
mod meta;
mod options;
mod store;
mod sync;
mod turn;

pub use batch::Batch;
pub use builder::StoreBuilder;
pub use engine::{Durability, Engine, EngineError};
pub use error::Error;
pub use filter::FilterChoice;
pub use guard::{Check, Guard, GuardError, Ticket};
pub use layout::{Layout, Merged, Split};
pub use options::{Progress, WhenFull};
pub use store::{Iter, Record, Stats, Store, Verified};
