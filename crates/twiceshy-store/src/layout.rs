//! Where the records are.
//!
//! | | [`Merged`] | [`Split`] |
//! | --- | --- | --- |
//! | a record is stored | once, in hash order, under `h0` + key | in key order, under its key |
//! | the reverse map is | the records themselves | a second table: `h0` + key, without values |
//! | a write changes | one entry | one entry, two for a new or deleted key |
//! | a lookup reads | one range, found or not | one entry; and one range if it is a false positive |
//! | ranges of keys | no | [`range`](crate::Store::range) |
//! | a new seed moves | every record | the reverse map |

use std::fmt;
use std::ops::{ControlFlow, RangeInclusive};

use crate::engine::{Changes, EngineError, Snapshot, Table};
use crate::hash_order;

/// How a store lays its records out: [`Merged`] or [`Split`].
pub trait Layout: sealed::Layout + fmt::Debug + Send + Sync + 'static {}

/// Records in hash order, stored once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Merged;

/// Records in key order, and a reverse map beside them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Split;

impl Layout for Merged {}
impl Layout for Split {}

/// Where to look for a record.
#[derive(Clone, Debug)]
pub struct Target<'k> {
    pub(crate) table: Table,
    pub(crate) h0: u64,
    pub(crate) key: &'k [u8],
    /// The hashes of the keys that are wanted if there is no record, to learn from it.
    pub(crate) minirun: Option<RangeInclusive<u64>>,
}

pub(crate) mod sealed {
    use super::{Changes, EngineError, Snapshot, Table, Target};

    /// The two layouts; there are no others.
    pub trait Layout {
        /// Names the layout in a database.
        const CODE: u8;

        /// Its name in messages.
        const NAME: &'static str;

        /// The table that [`iter`](crate::Store::iter) goes through in a generation.
        fn records(hash_order: Table) -> Table;

        /// Bytes of an engine's key that are not the user's.
        fn overhead() -> usize;

        /// Looks for a record. `None`: it is there, and `found` was called with its value. `Some`: it is
        /// not there, and these are all keys of the minirun, if they were wanted.
        ///
        /// # Errors
        /// The engine's.
        fn find(
            snapshot: &impl Snapshot,
            target: &Target<'_>,
            found: impl FnMut(&[u8]),
        ) -> Result<Option<Vec<Vec<u8>>>, EngineError>;

        /// Writes a record.
        fn put(
            changes: &mut Changes,
            hash_order: Table,
            h0: u64,
            key: &[u8],
            value: Vec<u8>,
            is_new: bool,
        );

        /// Deletes a record.
        fn delete(changes: &mut Changes, hash_order: Table, h0: u64, key: &[u8]);
    }
}

impl sealed::Layout for Merged {
    const CODE: u8 = 1;
    const NAME: &'static str = "merged";

    fn records(hash_order: Table) -> Table {
        hash_order
    }

    fn overhead() -> usize {
        hash_order::PREFIX
    }

    fn find(
        snapshot: &impl Snapshot,
        target: &Target<'_>,
        mut found: impl FnMut(&[u8]),
    ) -> Result<Option<Vec<Vec<u8>>>, EngineError> {
        let Some(minirun) = &target.minirun else {
            let entry = hash_order::entry(target.h0, target.key);
            let record = snapshot.get(target.table, &entry, found)?;
            return Ok(record.is_none().then(Vec::new));
        };
        let mut keys = Some(Vec::new());
        hash_order::scan(snapshot, target.table, minirun, |h0, key, value| {
            if h0 == target.h0 && key == target.key {
                found(value);
                keys = None;
                return ControlFlow::Break(());
            }
            if let Some(keys) = &mut keys {
                keys.push(key.to_vec());
            }
            ControlFlow::Continue(())
        })?;
        Ok(keys)
    }

    fn put(
        changes: &mut Changes,
        hash_order: Table,
        h0: u64,
        key: &[u8],
        value: Vec<u8>,
        _is_new: bool,
    ) {
        changes.put(hash_order, hash_order::entry(h0, key), value);
    }

    fn delete(changes: &mut Changes, hash_order: Table, h0: u64, key: &[u8]) {
        changes.delete(hash_order, hash_order::entry(h0, key));
    }
}

impl sealed::Layout for Split {
    const CODE: u8 = 2;
    const NAME: &'static str = "split";

    fn records(_hash_order: Table) -> Table {
        Table::Records
    }

    fn overhead() -> usize {
        // The reverse map has the longer keys.
        hash_order::PREFIX
    }

    fn find(
        snapshot: &impl Snapshot,
        target: &Target<'_>,
        found: impl FnMut(&[u8]),
    ) -> Result<Option<Vec<Vec<u8>>>, EngineError> {
        if snapshot.get(Table::Records, target.key, found)?.is_some() {
            return Ok(None);
        }
        match &target.minirun {
            Some(minirun) => hash_order::keys(snapshot, target.table, minirun).map(Some),
            None => Ok(Some(Vec::new())),
        }
    }

    fn put(
        changes: &mut Changes,
        hash_order: Table,
        h0: u64,
        key: &[u8],
        value: Vec<u8>,
        is_new: bool,
    ) {
        if is_new {
            changes.put(hash_order, hash_order::entry(h0, key), Vec::new());
        }
        changes.put(Table::Records, key, value);
    }

    fn delete(changes: &mut Changes, hash_order: Table, h0: u64, key: &[u8]) {
        changes.delete(hash_order, hash_order::entry(h0, key));
        changes.delete(Table::Records, key);
    }
}
