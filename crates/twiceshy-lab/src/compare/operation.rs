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
    /// Ask for members, in random order.
    QueryHit,
    /// Ask for keys that are no members.
    QueryMiss,
    /// Take members out of the full filter, in random order.
    Remove,
}

impl Operation {
    /// All of them, in the order of the table.
    pub(crate) const ALL: &[Operation] = &[
        Operation::Insert,
        Operation::Insert8590,
        Operation::QueryHit,
        Operation::QueryMiss,
        Operation::Remove,
    ];

    /// The name on the command line and in JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Operation::Insert => "insert",
            Operation::Insert8590 => "insert_85_90",
            Operation::QueryHit => "query_hit",
            Operation::QueryMiss => "query_miss",
            Operation::Remove => "remove",
        }
    }

    /// What is timed, for a reader who meets the name for the first time.
    pub(crate) fn about(self) -> &'static str {
        match self {
            Operation::Insert => "add a key, averaged over the fill from empty to full load",
            Operation::Insert8590 => "add a key, averaged over the last 5 points of load only",
            Operation::QueryHit => "look up a key that is in the filter",
            Operation::QueryMiss => "look up a key that is not in the filter",
            Operation::Remove => "remove a key from the filled filter",
        }
    }

    /// Do its rows carry the filter's space and error?
    pub(crate) fn is_query(self) -> bool {
        matches!(self, Operation::QueryHit | Operation::QueryMiss)
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
