//! [apache]: https://github.com/twiceshy/twiceshy/blob/HEAD/LICENSE-APACHE
//! [changelog]: https://github.com/twiceshy/twiceshy/blob/HEAD/CHANGELOG.md
//! [cli]: https://github.com/twiceshy/twiceshy/blob/HEAD/crates/twiceshy-cli/README.md
//! [contributing]: https://github.com/twiceshy/twiceshy/blob/HEAD/CONTRIBUTING.md
//! [design]: https://github.com/twiceshy/twiceshy/blob/HEAD/docs/design.md
//! [format]: https://github.com/twiceshy/twiceshy/blob/HEAD/docs/format.md
//! [mit]: https://github.com/twiceshy/twiceshy/blob/HEAD/LICENSE-MIT
//! [performance]: https://github.com/twiceshy/twiceshy/blob/HEAD/docs/performance.md
//! [results]: https://github.com/twiceshy/twiceshy/blob/HEAD/docs/results.md
//! [store]: https://github.com/twiceshy/twiceshy/blob/HEAD/crates/twiceshy-store/README.md
#![doc = ""]
#![doc = include_str!("../README.md")]

// The one place with unsafe code; see docs/design.md.
#[allow(unsafe_code)]
mod bits;
mod mem;

pub mod any;
pub mod batch;
pub mod bloom;
mod builder;
pub mod bulk;
pub mod cuckoo;
mod entry;
mod error;
mod facade;
pub mod file;
pub mod filters;
mod geometry;
pub mod hash;
pub mod lists;
pub mod merge;
mod minirun;
mod outcome;
mod prints;
#[doc(hidden)]
pub mod raw;
pub mod sets;
pub mod sizing;
mod stats;
mod table;
mod traits;
mod violation;

pub use builder::{Buildable, Builder, Parts};
pub use entry::Entry;
pub use error::Error;
pub use file::View;
pub use filters::adaptive::AdaptiveFilter;
pub use filters::coded::{ExtensionFilter, PlainTelescopingFilter, TelescopingFilter};
pub use filters::counting::CountingFilter;
pub use filters::plain::QuotientFilter;
pub use geometry::{Fingerprint, Geometry};
pub use mem::HugePages;
pub use merge::Merge;
pub use minirun::Minirun;
pub use outcome::{Adapted, Inserted, Leave, Removed, Reported};
pub use sets::{AdaptiveSet, BroomSet, ExtensionSet, Policy, ReverseMap, TelescopingSet};
pub use stats::Stats;
pub use traits::{Adaptive, ContainsEach, Filter, Insert, Remove};
pub use violation::Violation;
