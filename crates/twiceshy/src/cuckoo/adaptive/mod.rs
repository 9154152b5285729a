//! Adaptive cuckoo filters: cyclic, swapping and cuckooing.
//!
//! # The idea
//!
//! A key may have several fingerprints, by several hash functions. When a query was mistaken for
//! a stored key, the key's fingerprint is replaced by another one, which the query shares no
//! more, most likely. For that the filter must know the key, and so it has a key store with the
//! same cells ([`LockStep`]).
//!
//! ```text
//!  cyclic      | f0(x) 0 |   ──►   | f1(x) 1 |                the next function
//!  swapping    | f0(x) | f1(y) |   ──►   | f0(y) | f1(x) |    two change places
//!  cuckooing   | f0(x) | … | . |   ──►   | . | … | f3(x) |    x moves to its other location
//! ```
//!
//! | [`Scheme`] | selector | [bins](Bins) in the papers | states of a key |
//! | --- | --- | --- | --- |
//! | cyclic | `s` = 1, 2, 3 bits a cell | 4 of 1 | `2^s` |
//! | swapping | none | 2 of 4 | 8 |
//! | cuckooing | none | 4 of 1 | 4 |
//!
//! | | |
//! | --- | --- |
//! | space | `w + s` bits a cell, and the keys elsewhere |
//! | false-positive rate, first query | about `4 load / 2^w` with 4 of 1, `8 load / 2^w` with 2 of 4 |
//! | an insertion | reads and moves keys in the store when its locations are full |
//!
//! # What they can't do
//!
//! A key has a fixed number of states, so a filter can be made to come back to one that a query
//! was already mistaken in: with one query for each state, in turn, **every query is a
//! false positive, for ever**. They are good at repeated queries and no match for an adversary;
//! an [`AdaptiveFilter`](crate::AdaptiveFilter) lengthens fingerprints without end, and each
//! mistake is made once. `tests/adaptive_cuckoo.rs` shows both.
//!
//! From *Adaptive Cuckoo Filters* (ALENEX 2018) and *Support Optimality and Adaptive Cuckoo
//! Filters* (WADS 2021), as compared in *Telescoping Filter* (ESA 2021), section 6.

mod builder;
mod cells;
mod file;
mod filter;
mod lock_step;
mod plan;

pub use self::builder::{AdaptiveCuckooBuilder, Cells};
pub use self::filter::AdaptiveCuckooFilter;
pub use self::lock_step::{LockStep, MemoryCells};
pub use self::plan::{Bins, Plan, Scheme};
