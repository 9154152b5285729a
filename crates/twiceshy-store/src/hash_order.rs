//! Tables in hash order: entries under `h0` + key.
//!
//! ```text
//!   byte   0                8
//!          | h0, high byte  | the key …
//!          | first          |
//! ```
//!
//! Bytes are compared from the left, so the order is that of the hashes, and keys with equal
//! hashes stand side by side. A minirun is a range of it.

use std::ops::{Bound, ControlFlow, RangeInclusive};

use crate::engine::{EngineError, Snapshot, Table};

/// Bytes before the key.
pub(crate) const PREFIX: usize = 8;

/// The bytes of a hash in the order of hashes.
pub(crate) fn prefix(h0: u64) -> [u8; PREFIX] {
    h0.swap_bytes().to_le_bytes()
}

/// The key of an entry.
pub(crate) fn entry(h0: u64, key: &[u8]) -> Vec<u8> {
    let mut entry = Vec::with_capacity(PREFIX + key.len());
    entry.extend_from_slice(&prefix(h0));
    entry.extend_from_slice(key);
    entry
}

/// The hash and the key of an entry; `None` if it is too short to be one.
pub(crate) fn split(entry: &[u8]) -> Option<(u64, &[u8])> {
    let (prefix, key) = entry.split_first_chunk::<PREFIX>()?;
    Some((u64::from_le_bytes(*prefix).swap_bytes(), key))
}

/// Calls `each` with hash, key and value of the entries in a range of hashes, in order, until
/// it breaks.
pub(crate) fn scan(
    snapshot: &impl Snapshot,
    table: Table,
    hashes: &RangeInclusive<u64>,
    mut each: impl FnMut(u64, &[u8], &[u8]) -> ControlFlow<()>,
) -> Result<(), EngineError> {
    let from = prefix(*hashes.start());
    let end = hashes.end().checked_add(1).map(prefix);
    let to = match &end {
        Some(end) => Bound::Excluded(&end[..]),
        None => Bound::Unbounded,
    };
    snapshot.range(table, (Bound::Included(&from), to), |entry, value| {
        match split(entry) {
            Some((h0, key)) => each(h0, key, value),
            // Not ours; `verify` reports it.
            None => ControlFlow::Continue(()),
        }
    })
}

/// All keys in a range of hashes.
pub(crate) fn keys(
    snapshot: &impl Snapshot,
    table: Table,
    hashes: &RangeInclusive<u64>,
) -> Result<Vec<Vec<u8>>, EngineError> {
    let mut keys = Vec::new();
    scan(snapshot, table, hashes, |_, key, _| {
        keys.push(key.to_vec());
        ControlFlow::Continue(())
    })?;
    Ok(keys)
}
