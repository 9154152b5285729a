//! The filters under test: one [`Entry`] a filter, from which experiments take it with its keys, or
//! alone to time it.
//!
//! | module | what is in it |
//! | --- | --- |
//! | [`ours`] | our filters, by name |
//! | [`alone`] | any of them on its own, whatever it can do |
//! | [`keyed`] | those that learn, with their keys |
//! | [`operation`] | what one is timed at |
//! | [`forgetting`] | an adaptive one that starts anew when it is full |
//! | [`members`] | the keys that it takes to learn, for the clock |
//! | [`qfilter`], [`fastbloom`], [`cuckoofilter`], [`xorf`] | other crates |
//!
//! To add one: an [`Entry`] in [`ALL`]; if it is of another crate, a file with its adapter.

mod alone;
mod cuckoofilter;
mod fastbloom;
mod forgetting;
mod keyed;
pub(crate) mod members;
mod operation;
mod ours;
mod qfilter;
#[cfg(test)]
mod tests;
mod xorf;

use std::hint::black_box;
use std::rc::Rc;

use anyhow::{Context, Result, bail, ensure};
use twiceshy::hash::Seed;
use twiceshy::{Minirun, Removed, Stats};

use crate::timed::Workload;
use members::{Members, Mistake};
pub(crate) use operation::Operation;

/// Every filter, in the order of the tables.
pub(crate) const ALL: &[Entry] = &[
    ours::ADAPTIVE,
    ours::ADAPTIVE_SIP,
    ours::ADAPTIVE_2ND,
    ours::ADAPTIVE_8TH,
    forgetting::ENTRY,
    ours::QUOTIENT,
    ours::QUOTIENT_SIP,
    ours::COUNTING,
    ours::TELESCOPING,
    ours::TELESCOPING_UNCODED,
    ours::EXTENSION,
    ours::CYCLIC_1,
    ours::CYCLIC_2,
    ours::CYCLIC_3,
    ours::SWAPPING,
    ours::CUCKOOING,
    ours::CUCKOO,
    ours::VACUUM,
    ours::BLOOM,
    ours::BLOCKED,
    qfilter::ENTRY,
    fastbloom::ENTRY,
    cuckoofilter::ENTRY,
    xorf::FUSE8,
    xorf::FUSE16,
];

/// Remainder bits of the quotient filters that are timed, and −log₂ of the error that others are asked
/// for.
pub(crate) const REMAINDER_BITS: u32 = 9;

/// Makes an empty filter.
type Build<T> = fn(&Shape) -> Result<Box<T>>;

/// A filter's line in the list.
pub(crate) struct Entry {
    /// Its name in `experiments/*.toml`, on the command line and in the results.
    pub(crate) name: &'static str,
    /// What a reader of the figures must know.
    pub(crate) about: &'static str,
    /// Does it learn from its mistakes?
    pub(crate) learns: bool,
    /// Makes an empty one with its keys beside it.
    with_keys: Option<Build<dyn Set>>,
    /// Makes an empty one alone.
    alone: Option<Build<dyn Contender>>,
}

impl Entry {
    /// An empty one with its keys beside it, which is told of its mistakes.
    pub(crate) fn set(&self, shape: &Shape) -> Result<Box<dyn Set>> {
        let build = self.with_keys;
        build.with_context(|| format!("{} is not measured with its keys", self.name))?(shape)
    }

    /// An empty one alone, to be timed.
    pub(crate) fn contender(&self, workload: &Workload) -> Result<Box<dyn Contender>> {
        let build = self.alone;
        build.with_context(|| format!("{} is not timed", self.name))?(&Shape {
            slots: workload.slots(),
            load: workload.load,
            bits: REMAINDER_BITS,
            seed: workload.seed,
        })
    }

    /// Is it among those that are timed?
    pub(crate) fn is_timed(&self) -> bool {
        self.alone.is_some()
    }
}

/// The entry of that name.
pub(crate) fn by_name(name: &str) -> Result<&'static Entry> {
    let entry = ALL.iter().find(|entry| entry.name == name);
    entry.with_context(|| {
        let names: Vec<&str> = ALL.iter().map(|entry| entry.name).collect();
        format!(
            "there is no filter {name:?}; there are {}",
            names.join("; ")
        )
    })
}

/// How large a filter is to be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Slots, or what comes to the same.
    pub(crate) slots: u64,
    /// The share of the slots that keys will fill; what Bloom filters are planned for.
    pub(crate) load: f64,
    /// An error of about 2^-bits, in a full filter: bits of a remainder; cuckoo filters take
    /// three more, or two where a query is compared with four fingerprints only.
    pub(crate) bits: u32,
    pub(crate) seed: u64,
}

impl Shape {
    /// Keys that it is planned for.
    pub(crate) fn keys(&self) -> u64 {
        (self.load * self.slots as f64) as u64
    }

    /// A rate of 2^-bits.
    fn fpr(&self) -> f64 {
        0.5_f64.powi(self.bits as i32)
    }

    fn hash_seed(&self) -> Seed {
        Seed::from_u64(self.seed)
    }
}

/// What a filter has asked of the map of its keys, beside what the caller asked for itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Accesses {
    pub(crate) inserts: u64,
    /// Keys that were moved.
    pub(crate) updates: u64,
    pub(crate) reads: u64,
}

/// Space of a filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Space {
    /// All of its table.
    pub(crate) bytes: u64,
    /// Bits of it that hold something: used slots, with their share of everything else.
    pub(crate) used_bits: f64,
}

impl Space {
    fn of(stats: &Stats) -> Self {
        Space {
            bytes: stats.bytes,
            used_bits: stats.bytes as f64 * 8.0 * stats.load,
        }
    }
}

/// A filter and its keys, of any length: for experiments on mistakes and learning.
pub(crate) trait Set {
    /// Adds a key that is no member.
    fn insert(&mut self, key: &[u8]) -> Result<()>;

    /// Removes a member.
    fn remove(&mut self, _key: &[u8]) -> Result<()> {
        bail!("it can't remove")
    }

    /// May it be a member?
    fn contains(&self, key: &[u8]) -> bool;

    /// Its answer for `key` was "maybe", and the store behind it had no such key.
    fn report(&mut self, _key: &[u8]) -> Result<()> {
        Ok(())
    }

    fn space(&self) -> Space;

    /// What it has asked of its keys; nothing if it needs none.
    fn accesses(&self) -> Accesses {
        Accesses::default()
    }
}

/// In which order keys come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Any,
    ByHash,
}

/// How much of a file is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    /// Every byte is verified.
    Nothing,
    /// All but the header.
    Table,
}

/// Makes one filter of two. What it was made of lives as long as this, so that a clock around
/// the call does not see it go.
pub(crate) type Merge = Box<dyn FnMut() -> Result<Box<dyn Contender>>>;

/// A filter alone, of 64-bit keys: for the clock.
///
/// An adapter writes the methods that take one key. The measurements call their
/// `_all` twins: as default methods they are compiled for each adapter, so that the
/// loop calls the filter directly and can inline it, and the virtual call is paid
/// once per chunk. `black_box` hides where the keys come from and where the answers
/// go; between the two nothing needs hiding.
pub(crate) trait Contender {
    /// Can it do `operation`? What it can't, its methods refuse.
    fn can(&self, operation: Operation) -> bool {
        operation.is_for_all()
    }

    /// Adds a key.
    fn insert(&mut self, key: u64) -> Result<()>;

    /// Ends the filling, on the clock. Here a static filter does its work.
    fn seal(&mut self) -> Result<()> {
        Ok(())
    }

    /// May the key be a member?
    fn contains(&self, key: u64) -> bool;

    /// Removes a member; was a fingerprint of it there? By reference, as most filters take it: who
    /// needs the key once more reads it once more, and keeps no register for it.
    fn remove(&mut self, _key: &u64) -> bool {
        false
    }

    /// A filter like this one, with these keys and no others, built from all of them at once.
    fn bulk_load(&self, _keys: &[u64], _order: Order) -> Result<Box<dyn Contender>> {
        bail!("it has no bulk load")
    }

    /// Brings keys into the order of their hashes.
    fn sort_by_hash(&self, _keys: &mut [u64]) {}

    /// Two filters like this one, each with half of the keys, about to be merged.
    fn to_merge(&self, _halves: [&[u64]; 2]) -> Result<Merge> {
        bail!("it has no merge")
    }

    /// Adds all keys in one call; how many?
    fn insert_batch(&mut self, _keys: &[u64]) -> Result<u64> {
        bail!("it has no batches")
    }

    /// How many of the keys may be members? Asks in one call for answers in `found`.
    fn contains_batch(&self, _keys: &[u64], _found: &mut Vec<bool>) -> Result<u64> {
        bail!("it has no batches")
    }

    /// The filter as a file.
    fn to_file(&self) -> Result<Vec<u8>> {
        bail!("it has no file")
    }

    /// Opens such a file where it lies; how many items has it?
    fn open(&self, _file: &[u8], _trust: Trust) -> Result<u64> {
        bail!("it has no file")
    }

    /// The memory of the filter's table.
    fn bytes(&self) -> u64;

    /// The same filter, if it learns with the help of [`Members`].
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

/// A filter that can be told of its mistakes, with its members looked up elsewhere.
pub(crate) trait Learner: Contender {
    /// Lists the members as it needs them.
    fn members(&self, workload: &Workload) -> Result<Members>;

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

/// A member was removed.
fn expect_one(removed: Removed) -> Result<()> {
    ensure!(removed == Removed::One, "a member was not there");
    Ok(())
}
