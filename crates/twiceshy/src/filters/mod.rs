//! The quotient family: filters that are thin layers on the one table.

pub mod adaptive;
pub mod coded;
pub(crate) mod core;
pub mod counting;

pub mod plain;
mod union;

use crate::bits::Bytes;
use crate::file::Header;
use crate::geometry::Geometry;
use crate::sizing;
use crate::stats::Stats;
use crate::table::{self, Sidecar, Table};

impl Stats {
    /// Those of a filter of the quotient family that holds `items` in so many different
    /// `fingerprints`.
    pub(crate) fn of_table<S: Sidecar, M: Bytes>(
        table: &Table<S, M>,
        geometry: &Geometry,
        items: u64,
        fingerprints: u64,
    ) -> Self {
        let bytes = table.bytes();
        Stats {
            items,
            slots: geometry.slots(),
            used_slots: table.used(),
            load: table.used() as f64 / geometry.slots() as f64,
            remainder_bits: geometry.remainder_bits(),
            bytes,
            bits_per_item: 8.0 * bytes as f64 / items as f64,
            expected_fpr: sizing::expected_fpr(geometry, fingerprints),
            longest_cluster: table.longest_cluster(),
        }
    }
}

/// Slots and bytes of the table of a header; `None` if it can't be addressed.
pub(crate) fn table_size<S: Sidecar>(header: &Header) -> Option<(u64, usize)> {
    let width = header.geometry.remainder_bits() + header.value_bits;
    in_slots(table::size::<S>(header.geometry.slots(), width)?)
}

/// Blocks and bytes of a table as slots and bytes.
pub(crate) fn in_slots((blocks, bytes): (u64, u64)) -> Option<(u64, usize)> {
    Some((blocks.checked_mul(64)?, usize::try_from(bytes).ok()?))
}
