//! Filters together with their keys, so that they can't be used wrongly.

pub mod broom;
pub mod coded;
pub mod keyed;
pub mod lock_step;
pub mod reverse_map;
