//! Which keys, how many, and a clock around them.
//!
//! Keys come from a counter through SplitMix64's finaliser, a bijection of 64-bit
//! words: `key(i)` looks random, no two are equal, and no array of them is needed.
//! Members have the numbers `0..members`, strangers those from 2⁴⁰ on, and the strangers
//! of some popularity those from 2⁴¹ on, so a stranger is never a member.
//!
//! [`time`] makes the keys in chunks that fit into the L1 cache and stops the clock
//! meanwhile. The filter under test so sees its keys come from a warm array, as a
//! caller's would, and neither the making of keys nor their memory traffic is in
//! the figures. Reading the clock twice per chunk costs well under 0.1 ns per key.

use std::ops::Range;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::workloads::random::{key, mix};

/// Keys per chunk: 16 KiB, at most half an L1 data cache.
pub(crate) const CHUNK: usize = 2048;

/// Queries per round and kind: 2²¹ at the usual sizes, fewer on tiny filters.
const MAX_QUERIES: u64 = 1 << 21;

/// Queries of a pass by Zipf's law: 10⁷ at the usual sizes, fewer on tiny filters.
const MAX_DRAWS: u64 = 10_000_000;

/// False positives to fix per round at most.
const MAX_ADAPTATIONS: u64 = 20_000;

/// The number of the first key that is no member.
const FIRST_STRANGER: u64 = 1 << 40;

/// The number of the first key that is asked for by Zipf's law; no member either.
const FIRST_RANKED: u64 = 1 << 41;

/// One size and load, and the key streams that go with it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Workload {
    /// log₂ of the slots.
    pub(crate) log2_slots: u32,
    /// The share of the slots that is filled.
    pub(crate) load: f64,
    /// The share of the members that has adapted before the last points of the fill, in
    /// filters that can.
    pub(crate) adapted: f64,
    /// Chooses the keys, and the filters' own seeds where they take one.
    pub(crate) seed: u64,
}

impl Workload {
    /// Slots of a filter that has slots.
    pub(crate) fn slots(&self) -> u64 {
        1 << self.log2_slots
    }

    /// Keys in the filled filter.
    pub(crate) fn members(&self) -> u64 {
        self.at_load(self.load)
    }

    /// Keys in the filter five points of load before it is filled.
    pub(crate) fn members_before_last_points(&self) -> u64 {
        self.at_load(self.load - 0.05)
    }

    fn at_load(&self, load: f64) -> u64 {
        (load * self.slots() as f64) as u64
    }

    /// Queries of each kind.
    pub(crate) fn queries(&self) -> u64 {
        MAX_QUERIES.min(64 * self.slots())
    }

    /// Queries asked before the clock starts, to bring a filter back into the caches
    /// that the others used meanwhile.
    pub(crate) fn warm_up(&self) -> u64 {
        self.queries() / 8
    }

    /// Members that are removed: about 6% of them.
    pub(crate) fn removals(&self) -> u64 {
        self.members() / 16
    }

    /// Members that have adapted before the last points of the fill.
    pub(crate) fn adapted_members(&self) -> u64 {
        (self.adapted * self.members() as f64) as u64
    }

    /// False positives that are fixed, if there are as many: no more than make the
    /// filter fuller by one point of load.
    pub(crate) fn adaptations(&self) -> u64 {
        MAX_ADAPTATIONS.min(self.slots() / 100)
    }

    /// Draws of one pass by Zipf's law.
    pub(crate) fn draws(&self) -> u64 {
        MAX_DRAWS.min(8 * self.members())
    }

    /// The `i`-th member, in order of insertion.
    pub(crate) fn member(&self, i: u64) -> u64 {
        debug_assert!(i < self.members());
        self.key(i)
    }

    /// The `i`-th key that is no member.
    pub(crate) fn stranger(&self, i: u64) -> u64 {
        self.key(FIRST_STRANGER + i)
    }

    /// The key, no member, that is the `rank`-th in popularity.
    pub(crate) fn ranked(&self, rank: u32) -> u64 {
        self.key(FIRST_RANKED + u64::from(rank))
    }

    /// The `i`-th of a stream of members drawn at random, with replacement.
    pub(crate) fn random_member(&self, i: u64) -> u64 {
        let random = mix(self.key(i) ^ 0x5bd1_e995);
        let number = (u128::from(random) * u128::from(self.members())) >> 64;
        self.member(number as u64)
    }

    /// The members to remove: a function from `0..members` to all members, once each.
    ///
    /// A walk by the golden ratio takes old and young members alike; where in the
    /// table they lie is as random as their keys.
    pub(crate) fn removed_member(self) -> impl Fn(u64) -> u64 {
        let members = u128::from(self.members());
        let golden = (members * 0x9e37_79b9_7f4a_7c15) >> 64;
        let step = u128::from(coprime_at_least(golden as u64, self.members()));
        move |i| self.member((u128::from(i) * step % members) as u64)
    }

    /// The key of number `i`. Two streams of different seeds are unrelated.
    fn key(&self, i: u64) -> u64 {
        key(self.seed, i)
    }
}

/// The least number from `from` on that has no factor in common with `n`.
fn coprime_at_least(from: u64, n: u64) -> u64 {
    fn gcd(a: u64, b: u64) -> u64 {
        if b == 0 { a } else { gcd(b, a % b) }
    }
    (from..).find(|&x| gcd(x, n) == 1).unwrap_or(1)
}

/// What [`time`] saw.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    /// Time inside the operation.
    pub(crate) elapsed: Duration,
    /// Keys that went in.
    pub(crate) keys: u64,
    /// The sum of the operation's answers, such as the number of keys found.
    pub(crate) count: u64,
}

impl Timing {
    /// Nanoseconds per key.
    pub(crate) fn ns_per_op(&self) -> f64 {
        self.elapsed.as_nanos() as f64 / self.keys as f64
    }
}

/// Times `operation` on the keys of the given numbers, or whatever it takes instead of
/// keys, chunk by chunk.
pub(crate) fn time<K>(
    numbers: Range<u64>,
    key: impl Fn(u64) -> K,
    mut operation: impl FnMut(&[K]) -> Result<u64>,
) -> Result<Timing> {
    let size = CHUNK * size_of::<u64>() / size_of::<K>();
    let mut timing = Timing {
        elapsed: Duration::ZERO,
        keys: numbers.end - numbers.start,
        count: 0,
    };
    let mut chunk = Vec::with_capacity(size);
    for first in numbers.clone().step_by(size) {
        let last = numbers.end.min(first + size as u64);
        chunk.clear();
        chunk.extend((first..last).map(&key));
        let start = Instant::now();
        let count = operation(&chunk)?;
        timing.elapsed += start.elapsed();
        timing.count += count;
    }
    Ok(timing)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const WORKLOAD: Workload = Workload {
        log2_slots: 12,
        load: 0.9,
        adapted: 0.0,
        seed: 7,
    };

    #[test]
    fn members_are_distinct_and_strangers_are_strange() {
        let members: HashSet<u64> = (0..WORKLOAD.members())
            .map(|i| WORKLOAD.member(i))
            .collect();
        assert_eq!(members.len() as u64, WORKLOAD.members());
        for i in 0..WORKLOAD.queries() {
            assert!(members.contains(&WORKLOAD.random_member(i)));
            assert!(!members.contains(&WORKLOAD.stranger(i)));
            assert!(!members.contains(&WORKLOAD.ranked(i as u32)));
        }
    }

    #[test]
    fn random_members_reach_nearly_all() {
        let drawn: HashSet<u64> = (0..WORKLOAD.queries())
            .map(|i| WORKLOAD.random_member(i))
            .collect();
        assert!(drawn.len() as u64 > WORKLOAD.members() * 99 / 100);
    }

    #[test]
    fn removed_members_are_distinct() {
        let removed: HashSet<u64> = (0..WORKLOAD.members())
            .map(WORKLOAD.removed_member())
            .collect();
        assert_eq!(removed.len() as u64, WORKLOAD.members());
    }

    #[test]
    fn every_key_is_timed_once() {
        let mut seen = Vec::new();
        let timing = time(
            3..5000,
            |i| i,
            |keys| {
                seen.extend_from_slice(keys);
                Ok(keys.len() as u64)
            },
        )
        .unwrap();
        assert_eq!((timing.keys, timing.count), (4997, 4997));
        assert!(seen.into_iter().eq(3..5000));
    }
}
