//! What came out, printed and drawn.
//!
//! | module | what is in it |
//! | --- | --- |
//! | [`chart`] | a panel's results as a chart and as a table |
//! | [`text`] | an experiment on a terminal |
//! | [`page`] | all of them on one page |
//! | [`markdown`] | the skeleton of `docs/results.md` |

pub(crate) mod chart;
pub(crate) mod markdown;
pub(crate) mod page;
pub(crate) mod text;
