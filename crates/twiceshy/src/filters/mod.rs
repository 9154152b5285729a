//! The quotient family: filters that are thin layers on the one [table](crate::table).

pub mod adaptive;
pub mod counting;
pub mod extension;
pub(crate) mod lettered;
pub mod plain;
pub mod telescoping;
