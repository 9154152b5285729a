//! The operations that filters are timed at.
//!
//! To add one: a variant here with its name, the code that times it in the kind `operations`, and a
//! panel in `experiments/compare.toml`, which says what it is.

use std::fmt;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// Something that a filter is timed at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub(crate) enum Operation {
    /// Fill from empty to the final load.
    Insert,
    /// The last five points of load of that fill, where clusters are longest.
    #[serde(rename = "insert_85_90")]
    #[value(name = "insert_85_90")]
    Insert8590,
    /// The same fill, many keys in one call.
    InsertBatch,
    /// Ask for members, in random order.
    QueryHit,
    /// Ask for keys that are no members.
    QueryMiss,
    /// Ask for the same members, many in one call.
    QueryHitBatch,
    /// Ask for the same keys that are no members, many in one call.
    QueryMissBatch,
    /// Fix false positives, with the keys that it takes at hand.
    Adapt,
    /// Ask for keys that are no members, some much more often than others, and fix each
    /// false positive at once.
    Zipf,
    /// The same queries once more.
    ZipfAgain,
    /// Take members out of the full filter, in random order.
    Remove,
    /// Build the filter from all its keys, in any order.
    BulkLoad,
    /// Build the filter from all its keys, in the order of their hashes.
    BulkLoadSorted,
    /// Make one filter of two with half of the keys each.
    Merge,
    /// Open the filter's file, and verify it.
    LoadFile,
}

impl Operation {
    /// The operation of that name.
    pub(crate) fn by_name(name: &str) -> Option<Self> {
        Operation::from_str(name, false).ok()
    }

    /// Can every filter do it?
    pub(super) fn is_for_all(self) -> bool {
        matches!(
            self,
            Operation::Insert
                | Operation::Insert8590
                | Operation::QueryHit
                | Operation::QueryMiss
                | Operation::Zipf
                | Operation::ZipfAgain
        )
    }

    /// Must it be known who the members are, of a filter that learns?
    pub(crate) fn needs_members(self) -> bool {
        matches!(
            self,
            Operation::Adapt | Operation::Remove | Operation::Zipf | Operation::ZipfAgain
        )
    }
}

/// Its name on the command line, in declarations and in results.
impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.to_possible_value();
        f.write_str(value.as_ref().map_or("", |value| value.get_name()))
    }
}
