//! An experiment: what is declared, what came out, what that means.
//!
//! ```text
//! experiments/*.toml ──► declared, spec ──► run ──► kinds::… ──► outcome ──► verdict ──► drawn
//!  what the paper says                     one small module   DIR/NAME.jsonl  a pure   DIR/index.html
//!  sizes, filters, claims               for each way to measure               function
//! ```
//!
//! | module | what is in it |
//! | --- | --- |
//! | [`spec`] | the shape of a declaration |
//! | [`mod@bench`] | what a way to measure is given: parameters, a place for figures, the progress |
//! | [`outcome`] | raw results, on disk too |
//! | [`verdict`] | claims held against results |
//!
//! To add an experiment: a file in `experiments/`, and if it measures something new, a function in
//! [`kinds`](crate::kinds). To add a filter: an entry in [`filters`](crate::filters). To add a workload: one
//! in [`workloads`](crate::workloads).

pub(crate) mod bench;
pub(crate) mod outcome;
pub(crate) mod spec;
pub(crate) mod verdict;
