//! [apache]: https://github.com/twiceshy/twiceshy/blob/HEAD/LICENSE-APACHE
//! [changelog]: https://github.com/twiceshy/twiceshy/blob/HEAD/CHANGELOG.md
//! [cli]: https://github.com/twiceshy/twiceshy/blob/HEAD/crates/twiceshy-cli/README.md
//! [contributing]: https://github.com/twiceshy/twiceshy/blob/HEAD/CONTRIBUTING.md
//! [design]: https://github.com/twiceshy/twiceshy/blob/HEAD/docs/design.md
//! [mit]: https://github.com/twiceshy/twiceshy/blob/HEAD/LICENSE-MIT
//! [results]: https://github.com/twiceshy/twiceshy/blob/HEAD/docs/results.md
//! [store]: https://github.com/twiceshy/twiceshy/blob/HEAD/crates/twiceshy-store/README.md
#![doc = ""]
#![doc = include_str!("../README.md")]

// The one place with unsafe code; see docs/design.md.
#[allow(unsafe_code)]
mod bits;
mod mem;

pub mod adaptive;
pub mod any;
pub mod batch;
pub mod bloom;
pub mod broom;
pub mod builder;
pub mod bulk;
pub mod code;
pub mod counting;
pub mod cuckoo;
mod error;
pub mod extension;
pub mod file;
pub mod hash;
pub mod keyed;
mod lettered;
pub mod lists;
pub mod lock_step;
pub mod merge;
pub mod plain;
pub mod quotient;
pub mod reverse_map;
pub mod sizing;
mod stats;
pub mod telescoping;
#[cfg(feature = "testing")]
pub mod testing;
pub mod traits;

pub use adaptive::{AdaptiveFilter, AdaptiveSet};
pub use broom::BroomSet;
pub use builder::Builder;
pub use counting::CountingFilter;
pub use error::Error;
pub use extension::{ExtensionFilter, ExtensionSet};
pub use file::View;
pub use mem::HugePages;
pub use merge::Merge;
pub use plain::{Inserted, QuotientFilter};
pub use reverse_map::ReverseMap;
pub use stats::Stats;
pub use telescoping::{TelescopingFilter, TelescopingSet};
pub use traits::{Adaptive, Filter, Insert, Remove, Removed};
