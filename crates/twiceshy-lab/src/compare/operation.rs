//! The operations that are compared.
//!
//! To add one: a variant here with its name and its sentence, and the code that
//! times it in [`measure`](super::measure).

use clap::ValueEnum;
use clap::builder::PossibleValue;

/// Something that a filter is timed at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Operation {
    /// Fill from empty to the final load.
    Insert,
    /// The last five points of load of that fill, where clusters are longest.
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
    /// All of them, in the order of the table.
    pub(crate) const ALL: &[Operation] = &[
        Operation::Insert,
        Operation::Insert8590,
        Operation::InsertBatch,
        Operation::QueryHit,
        Operation::QueryMiss,
        Operation::QueryHitBatch,
        Operation::QueryMissBatch,
        Operation::Adapt,
        Operation::Zipf,
        Operation::ZipfAgain,
        Operation::Remove,
        Operation::BulkLoad,
        Operation::BulkLoadSorted,
        Operation::Merge,
        Operation::LoadFile,
    ];

    /// The name on the command line and in JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Operation::Insert => "insert",
            Operation::Insert8590 => "insert_85_90",
            Operation::InsertBatch => "insert_batch",
            Operation::QueryHit => "query_hit",
            Operation::QueryMiss => "query_miss",
            Operation::QueryHitBatch => "query_hit_batch",
            Operation::QueryMissBatch => "query_miss_batch",
            Operation::Adapt => "adapt",
            Operation::Zipf => "zipf",
            Operation::ZipfAgain => "zipf_again",
            Operation::Remove => "remove",
            Operation::BulkLoad => "bulk_load",
            Operation::BulkLoadSorted => "bulk_load_sorted",
            Operation::Merge => "merge",
            Operation::LoadFile => "load_file",
        }
    }

    /// What is timed, for a reader who meets the name for the first time.
    pub(crate) fn about(self) -> &'static str {
        match self {
            Operation::Insert => "add a key, averaged over the fill from empty to full load",
            Operation::Insert8590 => "add a key, averaged over the last 5 points of load only",
            Operation::InsertBatch => {
                "the same fill from empty to full load, 2048 keys in a call; the others are\n\
                 timed at insert"
            }
            Operation::QueryHit => "look up a key that is in the filter",
            Operation::QueryMiss => "look up a key that is not in the filter",
            Operation::QueryHitBatch => {
                "look up the keys of query_hit, 2048 in a call; the others are timed at query_hit"
            }
            Operation::QueryMissBatch => {
                "look up the keys of query_miss, 2048 in a call; the others are timed at\n\
                 query_miss"
            }
            Operation::Adapt => {
                "fix a false positive of the filled filter, its minirun's keys at hand"
            }
            Operation::Zipf => {
                "look up keys that are not in the filter, Zipf 1.5; if it learns, look up the\n\
                 keys that it takes to fix each false positive and fix it, on the clock"
            }
            Operation::ZipfAgain => "the same stream of keys once more",
            Operation::Remove => "remove a key from the filled filter",
            Operation::BulkLoad => {
                "build the filter from all its keys at once, per key; the others are timed at\n\
                 insert"
            }
            Operation::BulkLoadSorted => {
                "the same from keys that are in the order of their hashes already"
            }
            Operation::Merge => {
                "make one filter of two with half of the keys each, per key; \"cost vs sorted\": how\n\
                 many times as long as bulk_load_sorted takes in the same round"
            }
            Operation::LoadFile => {
                "open the filter's file, which is in memory, and verify it all, per key; \"GB/s\" of\n\
                 the file; \"trusted\": to open it without verification, not per key. Other crates'\n\
                 files are not timed"
            }
        }
    }

    /// What a filter that lacks it does instead: the operation that others are compared with.
    pub(crate) fn instead(self) -> Operation {
        match self {
            Operation::InsertBatch | Operation::BulkLoad | Operation::BulkLoadSorted => {
                Operation::Insert
            }
            Operation::QueryHitBatch => Operation::QueryHit,
            Operation::QueryMissBatch => Operation::QueryMiss,
            operation => operation,
        }
    }

    /// Do its figures mean something only beside those of `other`?
    pub(crate) fn is_read_beside(self, other: Operation) -> bool {
        let is_merge = self == Operation::Merge;
        other == self.instead() || is_merge && other == Operation::BulkLoadSorted
    }

    /// Which operation's mistakes are the error of this query?
    pub(crate) fn misses(self) -> Operation {
        match self {
            Operation::QueryHitBatch | Operation::QueryMissBatch => Operation::QueryMissBatch,
            Operation::Zipf | Operation::ZipfAgain => self,
            _ => Operation::QueryMiss,
        }
    }

    /// Do its rows carry the filter's space and error?
    pub(crate) fn is_query(self) -> bool {
        matches!(
            self,
            Operation::QueryHit
                | Operation::QueryMiss
                | Operation::QueryHitBatch
                | Operation::QueryMissBatch
        ) || self.is_zipf()
    }

    /// Are some keys asked for much more often than others?
    pub(crate) fn is_zipf(self) -> bool {
        matches!(self, Operation::Zipf | Operation::ZipfAgain)
    }

    /// Must it be known who the members are, of a filter that learns?
    pub(crate) fn needs_members(self) -> bool {
        matches!(self, Operation::Adapt | Operation::Remove) || self.is_zipf()
    }
}

impl ValueEnum for Operation {
    fn value_variants<'a>() -> &'a [Self] {
        Operation::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()).help(self.about()))
    }
}
