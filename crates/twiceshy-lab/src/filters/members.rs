//! Who the members of a minirun are: the reverse map of the measurements.
//!
//! Members never change, so a list in buckets does what a database would: 8 bytes a
//! member, and a look into it touches few cache lines. A bucket has the members of 16
//! neighbouring slots; an entry has 32 bits of the member's hash, those behind the number
//! of its bucket, and the member's own number.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::rc::Rc;

use anyhow::Result;
use twiceshy::hash::{Hashed, Seed, StreamHash, first_word};
use twiceshy::{Error, Geometry, Minirun, ReverseMap};

use super::REMAINDER_BITS;
use crate::timed::Workload;

/// log₂ of the slots of a bucket.
const BUCKET_BITS: u32 = 4;

/// All members by minirun, for one hash function.
pub(crate) struct Members {
    workload: Workload,
    seed: Seed,
    hash: fn(&Seed, u64) -> Hashed<'static>,
    geometry: Geometry,
    /// Where each bucket begins, and where the last one ends.
    starts: Vec<u32>,
    entries: Vec<u64>,
}

/// A false positive, and what it takes to fix it.
pub(crate) struct Mistake {
    pub(crate) query: Hashed<'static>,
    pub(crate) minirun: Minirun,
    /// All members of the minirun.
    pub(crate) keys: Vec<Hashed<'static>>,
}

impl Members {
    /// Lists the members of the filled filter.
    pub(crate) fn new<H: StreamHash>(workload: &Workload) -> Result<Self> {
        let seed = Seed::from_u64(workload.seed);
        let keyed = H::keyed(&seed);
        let bits = workload.log2_slots - BUCKET_BITS;
        let hashes = || {
            let hash = |i| first_word::<H, u64>(&keyed, &workload.member(i));
            (0..workload.members()).map(move |i| (i, hash(i)))
        };
        // Each bucket's size, one place late; added up, where it begins.
        let mut starts = vec![0_u32; (1 << bits) + 1];
        for (_, h0) in hashes() {
            starts[(h0 >> (64 - bits)) as usize + 1] += 1;
        }
        for bucket in 1..starts.len() {
            starts[bucket] += starts[bucket - 1];
        }
        let mut ends = starts.clone();
        let mut entries = vec![0; usize::try_from(workload.members())?];
        for (number, h0) in hashes() {
            let end = &mut ends[(h0 >> (64 - bits)) as usize];
            entries[*end as usize] = (h0 << bits) >> 32 << 32 | number;
            *end += 1;
        }
        Ok(Members {
            workload: *workload,
            seed,
            hash: |seed, key| Hashed::new::<H, u64>(seed, &key).into_owned(),
            geometry: Geometry::new(workload.slots(), REMAINDER_BITS)?,
            starts,
            entries,
        })
    }

    /// The keys whose first hash words are in a range, of the first `among` members.
    fn within(&self, h0: RangeInclusive<u64>, among: u64) -> impl Iterator<Item = u64> {
        let bits = self.workload.log2_slots - BUCKET_BITS;
        let unknown = (1_u64 << (32 - bits)) - 1;
        let (from, to) = (h0.start() >> (64 - bits), h0.end() >> (64 - bits));
        let may_be = move |known: u64, h0: &RangeInclusive<u64>| {
            known <= *h0.end() && known | unknown >= *h0.start()
        };
        let range = h0.clone();
        let numbers = (from..=to).flat_map(move |bucket| {
            let (start, end) = (
                self.starts[bucket as usize] as usize,
                self.starts[bucket as usize + 1] as usize,
            );
            // All but the last bits of the hash are known without hashing.
            let known = move |entry: u64| (bucket << 32 | entry >> 32) << (32 - bits);
            let range = range.clone();
            let entries = self.entries[start..end].iter();
            entries.filter(move |&&entry| may_be(known(entry), &range))
        });
        numbers
            .map(|entry| entry & u64::from(u32::MAX))
            .filter(move |&number| number < among)
            .map(|number| self.workload.member(number))
            .filter(move |&key| h0.contains(&self.hash(key).h0()))
    }

    /// Hashes a key as the filter does.
    pub(crate) fn hash(&self, key: u64) -> Hashed<'static> {
        (self.hash)(&self.seed, key)
    }

    /// The minirun of a key.
    pub(crate) fn minirun(&self, key: u64) -> Minirun {
        Minirun::from_id(self.geometry.id(self.hash(key).h0()))
    }

    /// All members of the minirun of a key, of the first `among`.
    pub(crate) fn of_minirun(&self, key: u64, among: u64) -> Vec<u64> {
        let range = self.geometry.hash_range(self.minirun(key).id());
        self.within(range, among).collect()
    }

    /// All that it takes to fix the wrong answer to `query`, while the first `among`
    /// members are in the filter.
    pub(crate) fn mistake(&self, query: u64, among: u64) -> Mistake {
        self.mistake_of(query, self.of_minirun(query, among).into_iter())
    }

    /// The same, given all members of the query's minirun.
    pub(crate) fn mistake_of(&self, query: u64, keys: impl Iterator<Item = u64>) -> Mistake {
        Mistake {
            query: self.hash(query),
            minirun: self.minirun(query),
            keys: keys.map(|key| self.hash(key)).collect(),
        }
    }
}

/// The first members as a reverse map.
#[derive(Clone)]
pub(super) struct Among {
    pub(super) members: Rc<Members>,
    pub(super) count: u64,
    /// Removed with the help of the other keys of their minirun. Those that were removed without
    /// were alone in theirs, so nobody asks for them again.
    removed: HashSet<u64>,
}

impl Among {
    pub(super) fn new(members: Rc<Members>) -> Self {
        Among {
            members,
            count: 0,
            removed: HashSet::new(),
        }
    }

    fn left(&self, h0: RangeInclusive<u64>) -> impl Iterator<Item = u64> {
        let keys = self.members.within(h0, self.count);
        keys.filter(|key| !self.removed.contains(key))
    }
}

impl ReverseMap for Among {
    type Error = Error;

    fn keys(&self, h0: RangeInclusive<u64>, mut each: impl FnMut(u64, &[u8])) -> Result<(), Error> {
        for key in self.left(h0) {
            let hashed = self.members.hash(key);
            each(hashed.h0(), hashed.key().unwrap_or_default());
        }
        Ok(())
    }

    /// The members are there already.
    fn insert(&mut self, _: u64, _: &[u8]) -> Result<bool, Error> {
        Ok(false)
    }

    fn remove(&mut self, h0: u64, key: &[u8]) -> Result<bool, Error> {
        let mut keys = self.left(h0..=h0);
        let removed = keys.find(|one| self.members.hash(*one).key() == Some(key));
        drop(keys);
        Ok(removed.is_some_and(|key| self.removed.insert(key)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use twiceshy::hash::Sip13;

    use super::*;

    #[test]
    fn every_minirun_has_its_members() {
        for log2_slots in [8, 13] {
            let workload = Workload {
                log2_slots,
                load: 0.9,
                adapted: 0.0,
                seed: 5,
            };
            let members = Members::new::<Sip13>(&workload).unwrap();
            let among = workload.members() - 10;
            let mut miniruns: BTreeMap<Minirun, Vec<u64>> = BTreeMap::new();
            for key in (0..among).map(|i| workload.member(i)) {
                miniruns.entry(members.minirun(key)).or_default().push(key);
            }
            for keys in miniruns.values() {
                assert_eq!(members.of_minirun(keys[0], among), *keys);
            }
            assert_eq!(members.within(0..=u64::MAX, among).count() as u64, among);
            let late = workload.member(among);
            assert_eq!(
                members.of_minirun(late, among).len() + 1,
                members.of_minirun(late, among + 1).len()
            );
        }
    }
}
