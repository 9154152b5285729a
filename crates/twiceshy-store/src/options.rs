//! What was chosen when a store or a guard was opened.

use twiceshy::filters::adaptive::Leave;
use twiceshy::hash::Seed;
use twiceshy::sets::policy::Policy;

use crate::engine::Durability;
use crate::filter::{FilterChoice, Measures};
use crate::generation::Plan;
use crate::meta::Series;

/// What happens when the filter is full, of records or of what it has learnt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WhenFull {
    /// It gets twice the slots at the same false-positive rate and keeps what it has learnt,
    /// while it serves. The engine is read, once, in order, and not written.
    #[default]
    Grow,
    /// It gets a new seed, and forgets what it has learnt, while the store serves
    /// ([`rotate`](crate::Store::rotate)). Where there are too many records for it, it grows as well.
    Rotate,
    /// Writes of new keys fail with [`Error::Full`](crate::Error::Full), and nothing more is learnt.
    Refuse,
}

/// How far the building of a filter has come.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// Records read so far.
    pub records: u64,
    /// The share of the hashes that has been gone through, 0 to 1. (It begins again where a
    /// change of seed was under way, which makes two filters.)
    pub done: f64,
}

/// The choices, checked.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) capacity: u64,
    pub(crate) remainder_bits: u32,
    pub(crate) policy: Policy,
    pub(crate) when_full: WhenFull,
    pub(crate) choice: FilterChoice,
    pub(crate) leave: Leave,
    pub(crate) seed: Option<Seed>,
    pub(crate) durability: Durability,
    pub(crate) shard_bits: u32,
}

impl Options {
    /// A generation in this table and under this seed.
    pub(crate) fn plan(&self, series: &Series) -> Plan {
        Plan {
            table: series.table,
            measures: Measures {
                choice: self.choice,
                remainder_bits: self.remainder_bits,
                seed: series.seed,
            },
            bits: self.shard_bits,
            policy: self.policy,
            capacity: self.capacity,
        }
    }
}
