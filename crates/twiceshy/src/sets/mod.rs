//! Filters together with their keys, so that they can't be used wrongly.
//!
//! There is one [`KeyedSet`], over any filter that [learns](Learner) and the store of keys that it
//! needs:
//!
//! | set | filter | its keys are in |
//! | --- | --- | --- |
//! | [`AdaptiveSet`] | [`AdaptiveFilter`](crate::AdaptiveFilter) | a [`ReverseMap`] |
//! | [`TelescopingSet`], [`ExtensionSet`] | [`TelescopingFilter`](crate::TelescopingFilter), [`ExtensionFilter`](crate::ExtensionFilter) | a [`ReverseMap`] |
//! | [`AdaptiveCuckooSet`] | [`AdaptiveCuckooFilter`](crate::cuckoo::AdaptiveCuckooFilter) | a store by cell, [`LockStep`](crate::cuckoo::LockStep) |
//! | [`BroomSet`] | two [`AdaptiveSet`]s and a frontier | memory |

mod adaptive;
pub mod broom;
mod coded;
mod counted;
mod cuckoo;
mod keyed;
pub mod policy;
pub mod reverse_map;

pub use self::adaptive::AdaptiveSet;
pub use self::broom::BroomSet;
pub use self::coded::{ExtensionSet, PlainTelescopingSet, TelescopingSet};
pub use self::counted::{Accesses, Counted};
pub use self::cuckoo::AdaptiveCuckooSet;
pub use self::keyed::{KeyedSet, Learner};
pub use self::policy::Policy;
pub use self::reverse_map::{MemoryMap, ReverseMap};
