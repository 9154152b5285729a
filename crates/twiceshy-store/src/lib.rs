//! An adaptive filter in front of a real database.

mod batch;
mod builder;
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
mod shard;
mod store;
mod sync;

pub use batch::Batch;
pub use builder::{Progress, StoreBuilder, WhenFull};
pub use engine::{Durability, Engine, EngineError};
pub use error::Error;
pub use filter::FilterChoice;
pub use guard::{Check, Guard, GuardError, Ticket};
pub use layout::{Layout, Merged, Split};
pub use store::{Iter, Stats, Store, Verified};
