//! An adaptive filter in front of a real database.

pub mod engine;
pub mod files;

pub use engine::{Durability, Engine, EngineError};
