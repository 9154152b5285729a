//! Who asks, and for what.
//!
//! Of every hundred lookups one is for a record that is there; the others are for keys that nobody
//! has put: names that are free, files never seen, links that no list blocks. Both kinds follow
//! Zipf's law: few keys are asked for very often. After a while an attacker comes, and ten of
//! every hundred are theirs.

use anyhow::Context;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rand_distr::{Distribution, Zipf};
use twiceshy_store::attack::Attacker;

use crate::exit::Outcome;

/// Lookups of records that are there, in a hundred.
pub(super) const MEMBERS: u32 = 1;
/// Lookups of the attacker, in a hundred, once they are there.
pub(super) const HOSTILE: u32 = 10;
/// Different keys that are asked for and not there, for each record.
const STRANGERS: u64 = 10;
/// How skewed: the key of rank `k` is asked for in proportion to `1 / k^s`.
const SKEW: f64 = 1.0;
/// One in so many hostile lookups looks for new mistakes, even while old ones still work.
const PROBES: u32 = 5;

/// A key of 13 bytes: short enough to stand on the stack.
pub(super) type Key = [u8; 13];

/// The key with this number. Records are numbered from 0, strangers from the records' end on.
pub(super) fn key(number: u64) -> Key {
    let mut key = *b"user000000000";
    let mut rest = number;
    for digit in key[4..].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    key
}

/// A lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lookup {
    /// Somebody asks for this key.
    Of(Key),
    /// The attacker asks, for what they like best.
    Hostile,
}

/// The lookups, the same for every store.
pub(super) struct Traffic {
    records: u64,
    random: SmallRng,
    members: Zipf<f64>,
    strangers: Zipf<f64>,
}

impl Traffic {
    pub(super) fn new(records: u64, seed: u64) -> Outcome<Self> {
        let zipf = |keys: u64| {
            Zipf::new(keys as f64, SKEW).with_context(|| format!("no Zipf law over {keys} keys"))
        };
        Ok(Traffic {
            records,
            random: SmallRng::seed_from_u64(seed),
            members: zipf(records)?,
            strangers: zipf(records * STRANGERS)?,
        })
    }

    /// The next so many, with the attacker's among them or without.
    pub(super) fn next(&mut self, count: u64, is_attacked: bool) -> Vec<Lookup> {
        (0..count).map(|_| self.one(is_attacked)).collect()
    }

    fn one(&mut self, is_attacked: bool) -> Lookup {
        // Ranks begin at 1. Records next to each other differ in rank by a stride, so that the
        // popular ones are not all on one page of the database.
        match self.random.random_range(0..100) {
            kind if kind >= 100 - HOSTILE && is_attacked => Lookup::Hostile,
            kind if kind < MEMBERS => {
                let rank = self.members.sample(&mut self.random) as u64 - 1;
                Lookup::Of(key(rank.wrapping_mul(STRIDE) % self.records))
            }
            _ => {
                let rank = self.strangers.sample(&mut self.random) as u64 - 1;
                Lookup::Of(key(self.records + rank))
            }
        }
    }
}

/// A prime, and larger than any demo.
const STRIDE: u64 = 2_147_483_647;

/// Somebody who notices which answers are slow: the database was read, and found nothing. They
/// ask for those keys again and again, and look for new ones now and then.
pub(super) struct Hostile {
    random: SmallRng,
    /// Fresh keys that nobody else asks for.
    next: u64,
    attacker: Attacker<Key>,
}

impl Hostile {
    pub(super) fn new(records: u64, seed: u64) -> Self {
        Hostile {
            random: SmallRng::seed_from_u64(seed),
            next: records * (STRANGERS + 1),
            attacker: Attacker::new(usize::MAX),
        }
    }

    /// What they ask for now.
    pub(super) fn ask(&mut self) -> Key {
        let looks_for_new = self.random.random_ratio(1, PROBES);
        let known = (!looks_for_new).then(|| self.attacker.replay()).flatten();
        known.unwrap_or_else(|| {
            self.next += 1;
            key(self.next)
        })
    }

    /// What came of it.
    pub(super) fn hear(&mut self, key: &Key, was_slow: bool) {
        self.attacker.hear(key, was_slow);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_numbers_in_letters() {
        assert_eq!(&key(0), b"user000000000");
        assert_eq!(&key(1_234_567), b"user001234567");
    }

    #[test]
    fn shares_are_as_promised_and_few_keys_are_asked_for_often() {
        let records = 10_000;
        let mut traffic = Traffic::new(records, 7).unwrap();
        let lookups = traffic.next(100_000, true);
        let hostile = lookups.iter().filter(|&&l| l == Lookup::Hostile).count();
        let first_stranger = key(records);
        let of = |member: bool| {
            lookups.iter().filter(move |lookup| match lookup {
                Lookup::Of(key) => (*key < first_stranger) == member,
                Lookup::Hostile => false,
            })
        };
        // Six standard deviations of a binomial: 570 and 189. Beyond: less than 1e-8.
        assert!((hostile as i64 - 10_000).abs() < 570, "{hostile}");
        assert!((of(true).count() as i64 - 1_000).abs() < 189);
        // Over 100,000 keys, 1/k gives the first a share of 1/12.1.
        let top = of(false)
            .filter(|&&l| l == Lookup::Of(first_stranger))
            .count();
        assert!((6_000..9_000).contains(&top), "{top}");
        let calm = traffic.next(10_000, false);
        assert!(calm.iter().all(|&lookup| lookup != Lookup::Hostile));
    }

    #[test]
    fn the_attacker_keeps_what_works_and_drops_what_is_fixed() {
        let mut attacker = Hostile::new(10, 1);
        let first = attacker.ask();
        attacker.hear(&first, false);
        let second = attacker.ask();
        assert_ne!(first, second, "a new probe");
        attacker.hear(&second, true);
        let mut replays = 0;
        for _ in 0..100 {
            let key = attacker.ask();
            replays += i32::from(key == second);
            attacker.hear(&key, key == second);
        }
        assert!(replays > 50, "{replays}");
        // The filter learns: two more questions at the most.
        for _ in 0..100 {
            let key = attacker.ask();
            attacker.hear(&key, false);
        }
        assert!(attacker.attacker.known().is_empty());
    }
}
