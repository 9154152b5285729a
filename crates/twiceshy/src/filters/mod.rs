//! The quotient family: filters that are thin layers on the one table.

pub mod adaptive;
pub mod coded;
pub(crate) mod core;
pub mod counting;
pub(crate) mod facade;
mod merge;
pub mod plain;
mod union;

pub use self::facade::TableFilter;

use crate::bits::Bytes;
use crate::geometry::{Fingerprint, Geometry};
use crate::mem::HugePages;
use crate::table::{Run, Sidecar, Table, TableOptions};
use crate::violation::Violation;

/// What a table is built from whose slots hold a remainder each and nothing else.
fn bare_options(geometry: &Geometry, huge_pages: HugePages) -> TableOptions {
    TableOptions {
        quotients: geometry.slots(),
        slot_bits: geometry.remainder_bits(),
        ignored_bits: 0,
        huge_pages,
        blocks: None,
    }
}

/// What stands in the slots of such a table, and in whose run, in the order of the slots.
fn bare_fingerprints<S: Sidecar, M: Bytes>(
    table: &Table<S, M>,
) -> impl Iterator<Item = Fingerprint> + '_ {
    let of_run = move |run: Run| {
        (run.start..run.end).map(move |slot| Fingerprint {
            quotient: run.quotient,
            remainder: table.slot(slot).value,
        })
    };
    WithLen {
        items: table.runs().flat_map(of_run),
        left: usize::try_from(table.used()).ok(),
    }
}

/// Items whose number is known beforehand, so that whoever collects them makes room once.
struct WithLen<I> {
    items: I,
    left: Option<usize>,
}

impl<I: Iterator> Iterator for WithLen<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        let item = self.items.next()?;
        self.left = self.left.map(|left| left.saturating_sub(1));
        Some(item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left.unwrap_or(usize::MAX), self.left)
    }
}

/// Verifies such a table, and that its runs are sorted.
fn check_bare<S: Sidecar, M: Bytes>(table: &Table<S, M>) -> Result<(), Violation> {
    table.check_invariants()?;
    let mut last = None;
    for fingerprint in bare_fingerprints(table) {
        if last > Some(fingerprint) {
            return Err(Violation::new("a run is not sorted", fingerprint.quotient));
        }
        last = Some(fingerprint);
    }
    Ok(())
}

/// Blocks and bytes of a table as slots and bytes.
pub(crate) fn in_slots((blocks, bytes): (u64, u64)) -> Option<(u64, usize)> {
    Some((blocks.checked_mul(64)?, usize::try_from(bytes).ok()?))
}
