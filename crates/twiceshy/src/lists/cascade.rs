//! The Bloom cascade: a filter of `Y`, a filter of its mistakes on `N`, a filter of that one's
//! mistakes on `Y`, and so on until there are none.
//!
//! ```text
//!   level 0   holds Y                       not there: NO      mistakes on N: m p
//!   level 1   holds those m p keys of N     not there: YES     mistakes on Y: n / 2
//!   level 2   holds those n / 2 keys of Y   not there: NO      mistakes on the m p: m p / 2
//!   …                                        there at the last level: what that one holds
//! ```
//!
//! The first level has the rate `p = n / (sqrt(2) m)`, which makes the sum smallest, the others one
//! half, so that a level takes 1.44 bits for each key it holds:
//!
//! ```text
//!   1.44 (n log2(1/p) + n + 2 m p)   =   1.44 n (log2(m/n) + 2.9)   bits
//! ```
//!
//! Nothing is promised for keys on neither list: they are answered YES with probability up to `p`,
//! which is one half for lists of equal length. Where a promise is wanted, the first level takes
//! `min(fpr, p)`. Level `l` takes the words `2l` and `2l + 1` of a key's hash stream, so levels are
//! independent of each other.
//!
//! It can't change: one more key on either list can make mistakes on every level.
//!
//! Paper: Larisch et al., "CRLite" (2017); the idea is Tripunitara and Carbunar's (2009).
//!
//! ```
//! use twiceshy::lists::{Answer, Cascade, YesNoList};
//!
//! let revoked: Vec<u32> = (0..100).collect();
//! let good: Vec<u32> = (100..10_000).collect();
//! let list = Cascade::build(&revoked, &good, 1.0)?;
//! assert!(revoked.iter().all(|key| list.answer(key) == Answer::Yes));
//! assert!(good.iter().all(|key| list.answer(key) == Answer::No));
//! # Ok::<(), twiceshy::Error>(())
//! ```

use super::join::{Keys, Lists, Record};
use super::words::{Built, Content, WordList, Words, impossible};
use crate::error::Error;
use crate::file::FilterKind;
use crate::hash::{Hashed, Sip13, StreamHash};

/// A Bloom cascade. See the [module](self).
pub type Cascade<H = Sip13> = WordList<Levels, H>;

/// The levels of a cascade. The words are how many there are; for each its bits and, in the top byte, its
/// hash functions; and the bits of each, in whole words.
#[derive(Clone, Debug)]
pub struct Levels(Vec<Level>);

impl<H: StreamHash> Cascade<H> {
    /// How many levels there are.
    #[must_use]
    pub fn levels(&self) -> usize {
        self.content.0.len()
    }
}

/// More levels than this are there only if two keys can't be told apart.
const MAX_LEVELS: usize = 255;

/// One Bloom filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// The number of the level.
    number: u32,
    bits: u64,
    hashes: u32,
    /// Its first word.
    start: u64,
}

impl Level {
    /// The smallest Bloom filter for so many keys at a rate.
    fn measures(keys: u64, rate: f64) -> (u64, u32) {
        let bits = |hashes: u32| {
            let each = f64::from(hashes);
            -(keys as f64) * each / (-rate.powf(1.0 / each)).ln_1p()
        };
        let fewest = (1..=64).min_by(|&a, &b| bits(a).total_cmp(&bits(b)));
        let hashes = fewest.unwrap_or(1);
        // Words are whole, and a filter of a few keys needs more than the formula for many.
        let words = (bits(hashes) / 64.0).ceil() as u64;
        (words.max(1) * 64, hashes)
    }

    fn word(self) -> u64 {
        self.bits | u64::from(self.hashes) << 56
    }

    /// The bits of a key.
    #[inline]
    fn places(self, key: &Hashed<'_>) -> impl Iterator<Item = u64> {
        let (mut at, step) = (key.word(2 * self.number), key.word(2 * self.number + 1) | 1);
        (0..self.hashes).map(move |_| {
            let place = (u128::from(at) * u128::from(self.bits)) >> 64;
            at = at.wrapping_add(step);
            place as u64
        })
    }

    #[inline]
    fn contains(self, words: &Words, key: &Hashed<'_>) -> bool {
        self.places(key)
            .all(|at| words.bits(self.start, at, 1) == 1)
    }

    fn insert(self, words: &mut Words, key: &Hashed<'_>) {
        for at in self.places(key) {
            let missing = 1 - words.bits(self.start, at, 1);
            words.flip(self.start, at, 1, missing);
        }
    }
}

impl Built for Levels {
    fn build(lists: &Lists<'_>, fpr: f64) -> Result<Words, Error> {
        let (n, m) = (lists.yes.len() as f64, lists.no.len() as f64);
        let first = f64::min(0.5, n / (m * std::f64::consts::SQRT_2));
        let mut rate = f64::min(fpr, first);
        // What this level holds, and what it must not match: both lists, and the keys of each that
        // previous levels leave open.
        let all = |keys: &Keys<'_>| keys.records.clone();
        let mut held: (&Keys<'_>, Vec<Record>) = (&lists.yes, all(&lists.yes));
        let mut others: (&Keys<'_>, Vec<Record>) = (&lists.no, all(&lists.no));
        let mut filters: Vec<(Level, Words)> = Vec::new();
        while !held.1.is_empty() {
            if filters.len() == MAX_LEVELS {
                return Err(Error::Inseparable);
            }
            let (bits, hashes) = Level::measures(held.1.len() as u64, rate);
            let level = Level {
                number: filters.len() as u32,
                bits,
                hashes,
                start: 0,
            };
            let mut words = Words::zeroed(bits.div_ceil(64))?;
            for record in &held.1 {
                level.insert(&mut words, &held.0.key(record));
            }
            let (keys, records) = &mut others;
            records.retain(|record| level.contains(&words, &keys.key(record)));
            filters.push((level, words));
            std::mem::swap(&mut held, &mut others);
            rate = 0.5;
        }

        let count = filters.len() as u64;
        let total: u64 = filters.iter().map(|(_, words)| words.len()).sum();
        let mut words = Words::zeroed(1 + count + total)?;
        words.set(0, count);
        let mut start = 1 + count;
        for (at, (level, bits)) in (1..).zip(&filters) {
            words.set(at, level.word());
            (0..bits.len()).for_each(|i| words.set(start + i, bits.get(i)));
            start += bits.len();
        }
        Ok(words)
    }
}

impl Content for Levels {
    const KIND: FilterKind = FilterKind::Cascade;

    fn read(words: &Words) -> Result<Self, Error> {
        let count = words.get(0);
        if count > MAX_LEVELS as u64 || count >= words.len() {
            return Err(impossible("there are too many levels"));
        }
        let mut start = 1 + count;
        let mut levels = Vec::new();
        for number in 0..count as u32 {
            let word = words.get(1 + u64::from(number));
            let level = Level {
                number,
                bits: word << 8 >> 8,
                hashes: (word >> 56) as u32,
                start,
            };
            let end = start + level.bits.div_ceil(64);
            if level.bits == 0 || level.hashes == 0 || end > words.len() {
                return Err(impossible("a level does not fit"));
            }
            if !words.is_zero_behind(start, end - start, level.bits) {
                return Err(impossible("a level has bits behind its last"));
            }
            levels.push(level);
            start = end;
        }
        match start == words.len() {
            true => Ok(Levels(levels)),
            false => Err(impossible("something stands behind the last level")),
        }
    }

    fn says_yes(&self, words: &Words, key: &Hashed<'_>) -> bool {
        let mut levels = self.0.iter();
        let absent = levels.position(|level| !level.contains(words, key));
        // A key that all levels match is of the list that the last one holds.
        absent.unwrap_or(self.0.len()) % 2 == 1
    }

    fn expected_fpr(&self, words: &Words) -> f64 {
        // Passed with the share of bits that are set, to the power of hash functions.
        let pass = |level: &Level| {
            let range = level.start..level.start + level.bits.div_ceil(64);
            let ones: u64 = range.map(|at| u64::from(words.get(at).count_ones())).sum();
            (ones as f64 / level.bits as f64).powi(level.hashes as i32)
        };
        let (mut yes, mut here) = (0.0, 1.0);
        for level in &self.0 {
            let on = here * pass(level);
            yes += (here - on) * f64::from(level.number % 2);
            here = on;
        }
        yes + here * (self.0.len() % 2) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_as_small_as_bloom_filters_can_be() {
        for (rate, hashes) in [(0.5, 1), (0.25, 2), (1.0 / 512.0, 9)] {
            let (bits, chosen) = Level::measures(1_000_000, rate);
            assert_eq!(chosen, hashes);
            let ideal = 1e6 * std::f64::consts::LOG2_E * (1.0 / rate).log2();
            assert!(
                (bits as f64 / ideal - 1.0).abs() < 0.001,
                "{bits} of {ideal}"
            );
        }
    }
}
