//! The filters that are compared, one adapter file per crate.
//!
//! To add one: a file that implements [`Contender`] and names itself in an
//! [`Entry`], and that entry in [`ALL`].

mod adaptive;
mod coded;
mod cuckoofilter;
mod fastbloom;
mod ours;
mod qfilter;
mod relatives;
mod swapping;
mod twiceshy;
mod xorf;

use std::hint::black_box;
use std::rc::Rc;

use ::twiceshy::Minirun;
use anyhow::{Result, bail};

use super::members::{Members, Mistake};
use super::operation::Operation;
use super::workload::Workload;

/// Remainder bits of the quotient filters, and −log₂ of the error rate that the
/// others are asked for.
pub(crate) const REMAINDER_BITS: u32 = 9;

/// The filter that the table's ratios refer to.
pub(crate) const REFERENCE: &str = "qfilter";

/// Every filter, in the order of the table.
pub(crate) const ALL: &[Entry] = &[
    self::twiceshy::XXH3,
    self::twiceshy::SIP,
    self::adaptive::XXH3,
    self::adaptive::SIP,
    self::relatives::CUCKOO,
    self::relatives::VACUUM,
    self::relatives::BLOOM,
    self::relatives::BLOCKED,
    self::coded::TELESCOPING,
    self::coded::TELESCOPING_PLAIN,
    self::coded::EXTENSION,
    self::swapping::ENTRY,
    self::qfilter::ENTRY,
    self::fastbloom::ENTRY,
    self::cuckoofilter::ENTRY,
    self::xorf::FUSE8,
    self::xorf::FUSE16,
];

/// A filter's line in the table of filters.
pub(crate) struct Entry {
    /// The name on the command line and in JSON.
    pub(crate) name: &'static str,
    /// What a reader of the figures must know.
    pub(crate) note: &'static str,
    /// What it can't do, [`OURS`] aside.
    pub(crate) lacks: &'static [Operation],
    /// Can it do what only our own filters can?
    pub(crate) ours: bool,
    /// How it learns from its mistakes, if it does.
    pub(crate) learns: Option<Learns>,
    /// Makes an empty one.
    pub(crate) build: fn(&Workload) -> Result<Box<dyn Contender>>,
}

impl Entry {
    /// Can it do `operation`?
    pub(crate) fn can(&self, operation: Operation) -> bool {
        !self.lacks.contains(&operation) && (self.ours || !OURS.contains(&operation))
    }
}

/// What goes with a filter that learns.
pub(crate) struct Learns {
    /// The filter that is the same but for that.
    pub(crate) plain: &'static str,
    /// Lists the members as it needs them.
    pub(crate) members: fn(&Workload) -> Result<Members>,
}

/// In which order keys come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Any,
    ByHash,
}

/// Operations that only our own filters have; files, that only theirs are timed.
pub(crate) const OURS: &[Operation] = &[
    Operation::InsertBatch,
    Operation::QueryHitBatch,
    Operation::QueryMissBatch,
    Operation::BulkLoad,
    Operation::BulkLoadSorted,
    Operation::LoadFile,
];

/// Makes one filter of two. What it was made of lives as long as this, so that a clock around
/// the call does not see it go.
pub(crate) type Merge = Box<dyn FnMut() -> Result<Box<dyn Contender>>>;

/// How much of a file is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    /// Every byte is verified.
    Nothing,
    /// All but the header.
    Table,
}

/// A filter under test.
///
/// An adapter writes the methods that take one key. The measurements call their
/// `_all` twins: as default methods they are compiled for each adapter, so that the
/// loop calls the filter directly and can inline it, and the virtual call is paid
/// once per chunk. `black_box` hides where the keys come from and where the answers
/// go; between the two nothing needs hiding.
pub(crate) trait Contender {
    /// Adds a key.
    fn insert(&mut self, key: u64) -> Result<()>;

    /// Ends the filling, on the clock. Here a static filter does its work.
    fn seal(&mut self) -> Result<()> {
        Ok(())
    }

    /// May the key be a member?
    fn contains(&self, key: u64) -> bool;

    /// Removes a member; was a fingerprint of it there? Filters without removal keep
    /// this default and say so in [`Entry::lacks`]. By reference, as most filters take it: who needs
    /// the key once more reads it once more, and keeps no register for it.
    fn remove(&mut self, _key: &u64) -> bool {
        false
    }

    /// A filter like this one, with these keys and no others, built from all of them at
    /// once. Only [`OURS`](Entry::ours) can.
    fn bulk_load(&self, _keys: &[u64], _order: Order) -> Result<Box<dyn Contender>> {
        bail!("it has no bulk load")
    }

    /// Brings keys into the order of their hashes.
    fn sort_by_hash(&self, _keys: &mut [u64]) {}

    /// Two filters like this one, each with half of the keys, about to be merged. Filters
    /// without a merge keep this default and say so in [`Entry::lacks`].
    fn to_merge(&self, _halves: [&[u64]; 2]) -> Result<Merge> {
        bail!("it has no merge")
    }

    /// Adds all keys in one call; how many? Only [`OURS`](Entry::ours) can.
    fn insert_batch(&mut self, _keys: &[u64]) -> Result<u64> {
        bail!("it has no batches")
    }

    /// How many of the keys may be members? Asks in one call for answers in `found`. Only
    /// [`OURS`](Entry::ours) can.
    fn contains_batch(&self, _keys: &[u64], _found: &mut Vec<bool>) -> Result<u64> {
        bail!("it has no batches")
    }

    /// The filter as a file. Only [`OURS`](Entry::ours) can.
    fn to_file(&self) -> Result<Vec<u8>> {
        bail!("it has no file")
    }

    /// Opens such a file where it lies; how many items has it? Only [`OURS`](Entry::ours)
    /// can.
    fn open(&self, _file: &[u8], _trust: Trust) -> Result<u64> {
        bail!("it has no file")
    }

    /// The memory of the filter's table.
    fn bytes(&self) -> u64;

    /// The same filter, if it learns.
    fn learner(&mut self) -> Option<&mut dyn Learner> {
        None
    }

    /// Asks for keys that are no members, and learns from every mistake if the filter can;
    /// how many were there?
    fn ask_strangers(&mut self, keys: &[u64]) -> Result<u64> {
        Ok(self.contains_all(keys))
    }

    /// Adds all keys; how many?
    fn insert_all(&mut self, keys: &[u64]) -> Result<u64> {
        for &key in black_box(keys) {
            self.insert(key)?;
        }
        Ok(keys.len() as u64)
    }

    /// How many of the keys may be members?
    fn contains_all(&self, keys: &[u64]) -> u64 {
        let found = black_box(keys)
            .iter()
            .map(|&key| u64::from(self.contains(key)));
        black_box(found.sum())
    }

    /// Removes all keys; how many were there?
    fn remove_all(&mut self, keys: &[u64]) -> u64 {
        let removed = black_box(keys)
            .iter()
            .map(|key| u64::from(self.remove(key)));
        black_box(removed.sum())
    }
}

/// A filter that can be told of its mistakes.
pub(crate) trait Learner: Contender {
    /// From now on it can look up who its members are.
    fn meet(&mut self, members: Rc<Members>);

    /// Adds those of the keys to `found` that may be members, each with its minirun.
    fn positives(&self, keys: &[u64], found: &mut Vec<(Minirun, u64)>);

    /// Fixes all mistakes; how many fingerprints were extended?
    fn adapt_all(&mut self, mistakes: &[Mistake]) -> Result<u64>;

    /// Slots that hold something.
    fn used_slots(&self) -> u64;

    /// A copy.
    fn fork(&self) -> Result<Box<dyn Contender>>;
}

/// The entry of that name.
pub(crate) fn by_name(name: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.name == name)
}
