//! The records, and the keys of those that are not there.
//!
//! As elsewhere, keys come from a counter through a bijection: they look random, no two are
//! equal, and nobody has to keep them.

use std::ops::Range;

use crate::workloads::random::mix;

/// A key of a record.
pub(super) type Key = [u8; 16];

/// The number of the first key that is no record's.
const FIRST_STRANGER: u64 = 1 << 40;

/// How many records, and how long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Data {
    pub(super) keys: u64,
    pub(super) value_bytes: usize,
}

impl Data {
    /// The key of record `i`.
    pub(super) fn member(self, i: u64) -> Key {
        debug_assert!(i < FIRST_STRANGER);
        key(i)
    }

    /// The `i`-th key without a record.
    pub(super) fn stranger(self, i: u64) -> Key {
        key(FIRST_STRANGER + i)
    }

    /// Many of them.
    pub(super) fn strangers(self, numbers: Range<u64>) -> Vec<Key> {
        numbers.map(|i| self.stranger(i)).collect()
    }

    /// The value of record `i`: bytes that no engine can compress.
    pub(super) fn value(self, i: u64) -> Vec<u8> {
        let words = (0..self.value_bytes.div_ceil(8) as u64).map(|j| mix(mix(i) ^ j));
        let mut value: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
        value.truncate(self.value_bytes);
        value
    }

    /// Bytes of all records, as they stand in the merged layout: hash, key, value.
    pub(super) fn bytes(self) -> u64 {
        self.keys * (8 + size_of::<Key>() + self.value_bytes) as u64
    }

    /// Parts to divide the filter into: 64, unless that would make them small. Small ones differ in
    /// their load, and some would have to grow.
    pub(super) fn shards(self) -> usize {
        (self.keys / 16_384).clamp(1, 64).next_power_of_two() as usize
    }

    /// The capacity to ask for so that `keys` records fill 90% of the slots. A store leaves room for
    /// the differences between its shards: four times the square root of the capacity of each.
    pub(super) fn capacity(self) -> u64 {
        let shards = self.shards() as f64;
        let root = (4.0 + self.keys as f64 / shards).sqrt() - 2.0;
        (root * root * shards) as u64
    }
}

fn key(i: u64) -> Key {
    let word = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut key = [0; 16];
    key[..8].copy_from_slice(&mix(word).to_le_bytes());
    key[8..].copy_from_slice(&mix(!word).to_le_bytes());
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_differ_and_values_have_their_length() {
        let data = Data {
            keys: 1000,
            value_bytes: 13,
        };
        let keys = (0..1000).flat_map(|i| [data.member(i), data.stranger(i)]);
        let distinct: std::collections::BTreeSet<Key> = keys.collect();
        assert_eq!(distinct.len(), 2000);
        assert_eq!(data.value(7).len(), 13);
        assert_ne!(data.value(7), data.value(8));
    }
}
