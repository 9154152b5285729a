//! Filters together with their keys: what experiments on mistakes and learning are made with.
//!
//! [`compare`](crate::compare) times bare filters on 64-bit keys. Here a filter has its keys at
//! hand, of any length, is told of its mistakes, and what it asks of the keys' map is counted.
//!
//! To add a filter: an adapter that implements [`Set`], and an [`Entry`] in [`ALL`].

mod forgetting;
mod keyed;
mod others;
mod plain;

use anyhow::{Context, Result, bail};
use twiceshy::Stats;

/// Every filter.
pub(crate) const ALL: &[Entry] = &[
    keyed::ADAPTIVE,
    keyed::ADAPTIVE_2ND,
    keyed::ADAPTIVE_8TH,
    forgetting::ENTRY,
    keyed::TELESCOPING,
    keyed::TELESCOPING_PLAIN,
    keyed::EXTENSION,
    keyed::CYCLIC_1,
    keyed::CYCLIC_2,
    keyed::CYCLIC_3,
    keyed::SWAPPING,
    keyed::CUCKOOING,
    plain::QUOTIENT,
    plain::CUCKOO,
    plain::VACUUM,
    plain::BLOOM,
    plain::BLOCKED,
    others::QFILTER,
    others::FASTBLOOM,
];

/// A filter's line in the list.
pub(crate) struct Entry {
    /// Its name in `experiments/*.toml` and in the results.
    pub(crate) name: &'static str,
    /// What a reader of the figures must know.
    pub(crate) about: &'static str,
    /// Does it learn from its mistakes?
    pub(crate) learns: bool,
    /// Can keys be removed?
    pub(crate) removes: bool,
    /// Makes an empty one.
    pub(crate) build: fn(&Shape) -> Result<Box<dyn Set>>,
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
    pub(crate) fn fpr(&self) -> f64 {
        0.5_f64.powi(self.bits as i32)
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

/// A filter and its keys.
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

    fn accesses(&self) -> Accesses;

    /// Asks, and reports the mistake if it is one: `key` is no member. Was it one?
    fn ask_stranger(&mut self, key: &[u8]) -> Result<bool> {
        let wrong = self.contains(key);
        if wrong {
            self.report(key)?;
        }
        Ok(wrong)
    }
}

/// The entry of that name.
pub(crate) fn by_name(name: &str) -> Result<&'static Entry> {
    let entry = ALL.iter().find(|entry| entry.name == name);
    entry.with_context(|| {
        let names: Vec<&str> = ALL.iter().map(|entry| entry.name).collect();
        format!(
            "there is no filter {name:?}; there are {}",
            names.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_keeps_its_members_and_learns_if_it_says_so() {
        let shape = Shape {
            slots: 1 << 10,
            load: 0.8,
            bits: 6,
            seed: 3,
        };
        let key = |i: u64| i.to_le_bytes();
        for entry in ALL {
            let mut set = (entry.build)(&shape).unwrap();
            for i in 0..shape.keys() {
                set.insert(&key(i)).unwrap();
            }
            assert_eq!(set.accesses().inserts, shape.keys(), "{}", entry.name);
            let strangers = 1 << 32..(1 << 32) + 3000_u64;
            let wrong: Vec<u64> = strangers.filter(|&i| set.contains(&key(i))).collect();
            assert!(
                wrong.len() > 10 && wrong.len() < 400,
                "{}: {}",
                entry.name,
                wrong.len()
            );
            let mut left = 0;
            for &i in &wrong {
                for _ in 0..8 {
                    set.ask_stranger(&key(i)).unwrap();
                }
                left += u64::from(set.contains(&key(i)));
            }
            assert_eq!(
                left < wrong.len() as u64 / 2,
                entry.learns,
                "{}",
                entry.name
            );
            assert!(
                (0..shape.keys()).all(|i| set.contains(&key(i))),
                "{}",
                entry.name
            );
            assert_eq!(set.remove(&key(0)).is_ok(), entry.removes, "{}", entry.name);
            let space = set.space();
            assert!(
                space.used_bits <= space.bytes as f64 * 8.0 + 1.0,
                "{}",
                entry.name
            );
        }
    }
}
