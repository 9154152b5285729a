//! Engines and files to break a store with, for the store's own tests and those of its engines.
//!
//! | | what it does |
//! | --- | --- |
//! | [`Failing`] | fails the k-th operation, or all from there on |
//! | [`Delayed`] | takes its time for each read, as a slow disk does |
//! | [`Crashing`] | stops at the k-th operation and forgets what was not durable |
//! | [`PowerLoss`] | a disk for redb that loses its power at the k-th operation |
//! | [`LossyFiles`] | the same for the files of filters |
//!
//! All of them number their operations with a [`Cut`], so that a script can be run once to
//! count its operations and then once for each of them, cut right there:
//!
//! ```
//! use std::sync::Arc;
//! use twiceshy_store_testing::{Cut, Failing, FailedWrite};
//! use twiceshy_store::engine::{Changes, Durability, Engine, EngineError, InMemory};
//!
//! fn script(engine: &impl Engine) -> Result<(), EngineError> {
//!     let mut changes = Changes::new();
//!     changes.put(twiceshy_store::engine::Table::Records, "key", "value");
//!     engine.write(&changes, Durability::Buffered)?;
//!     engine.sync()
//! }
//!
//! let cut = Cut::new();
//! let engine = || Failing::new(InMemory::new(), cut.clone(), FailedWrite::NotApplied);
//! script(&engine())?;
//! for k in 0..cut.operations() {
//!     cut.from(k);
//!     assert!(script(&engine()).is_err());
//! }
//! # Ok::<(), EngineError>(())
//! ```
//!
//! One cut can be shared: by a disk and the files beside it, which lose their power together.

mod crashing;
mod cut;
mod delayed;
mod failing;
mod files;
mod power;

pub use self::crashing::Crashing;
pub use self::cut::{Cut, Survivors};
pub use self::delayed::Delayed;
pub use self::failing::{FailedWrite, Failing};
pub use self::files::LossyFiles;
pub use self::power::PowerLoss;
