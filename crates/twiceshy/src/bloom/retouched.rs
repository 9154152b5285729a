//! The retouched Bloom filter: mistakes that matter are traded for members that don't.

use std::collections::BTreeSet;
use std::fmt;

use super::BloomFilter;
use super::file::{Facts, size};
use super::filter::check_array;
use super::probes::{is_set, ones};
use crate::error::Error;
use crate::file::{FileFilter, FilterKind, Header, file_methods};
use crate::hash::{GOLDEN, HashKind, Hashed, Key, Sip13, StreamHash, mix};
use crate::mem::Memory;
use crate::stats::Stats;
use crate::violation::Violation;

/// A Bloom filter in which bits can be cleared again, so that a known false positive is answered
/// "no" from then on.
///
/// **What it gives up: members.** Every member that has the cleared bit is answered "no" as
/// well, wrongly. That is why this type is no [`Filter`](crate::Filter), whose users rely on
/// the opposite. It fits where some wrong "maybe"s cost much more than a lost member does, as in
/// the network measurements that it was made for. To fix mistakes at no such price, take an
/// [`AdaptiveFilter`](crate::AdaptiveFilter).
///
/// From *Retouched Bloom Filters* (CoNEXT 2006); section 2 of the survey of adaptive filters.
///
/// ```
/// use twiceshy::bloom::{BloomFilter, Choice, RetouchedBloomFilter};
/// use twiceshy::hash::Hashed;
///
/// let mut filter = RetouchedBloomFilter::from(BloomFilter::new(1_000, 0.1)?);
/// (0..1_000_u64).for_each(|key| filter.insert(&key));
/// let mistake = (5_000_u64..).find(|key| filter.contains(key)).expect("one in ten is");
///
/// // Clear the bit that costs the fewest of the members.
/// let members: Vec<u64> = (0..1_000).collect();
/// let members: Vec<Hashed> = members.iter().map(|key| filter.hash(key)).collect();
/// let price = filter.retouch_knowing(&mistake, &members, &[], Choice::FewestMembers);
/// assert!(!filter.contains(&mistake));
///
/// // The price is exact.
/// let lost = (0..1_000_u64).filter(|key| !filter.contains(key)).count() as u64;
/// assert_eq!(price.expect("it was a mistake").members_lost, lost);
/// # Ok::<(), twiceshy::Error>(())
/// ```
#[derive(Clone)]
pub struct RetouchedBloomFilter<H: StreamHash = Sip13> {
    filter: BloomFilter<H>,
    cleared: u64,
}

/// Which bit of a mistake is cleared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Choice {
    /// The bit of the fewest known members.
    FewestMembers,
    /// The bit of the most known mistakes, which are all fixed at once.
    MostMistakes,
    /// The bit with the fewest members for each mistake.
    BestRatio,
}

/// What a bit that was cleared did to the keys that were given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Price {
    /// The bit that was cleared.
    pub bit: u64,
    /// Of the members given, how many were answered "maybe" before and are not now.
    pub members_lost: u64,
    /// The same of the mistakes given.
    pub mistakes_fixed: u64,
}

impl<H: StreamHash> From<BloomFilter<H>> for RetouchedBloomFilter<H> {
    fn from(filter: BloomFilter<H>) -> Self {
        RetouchedBloomFilter { filter, cleared: 0 }
    }
}

impl<H: StreamHash> RetouchedBloomFilter<H> {
    /// Adds a key. This may set bits that were cleared, and with them bring mistakes back.
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) {
        self.filter.insert(key);
    }

    /// Removes everything and keeps the memory; no bit counts as cleared any more.
    pub fn clear(&mut self) {
        self.filter.clear();
        self.cleared = 0;
    }

    /// Hashes a key the way this filter does.
    #[must_use]
    pub fn hash<'k, K: Key + ?Sized>(&self, key: &'k K) -> Hashed<'k> {
        self.filter.hash(key)
    }

    /// Is `key` thought to be a member? Both answers may be wrong: "yes" as in any filter, "no"
    /// for members that share a cleared bit.
    #[must_use]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.filter.contains(key)
    }

    /// [`contains`](Self::contains) for a key that is hashed already.
    #[must_use]
    pub fn contains_hashed(&self, key: &Hashed<'_>) -> bool {
        self.filter.contains_hashed(key)
    }

    /// Clears one of the bits of a mistake, any one: gives which. `None` if it was answered "no"
    /// already.
    pub fn retouch<K: Key + ?Sized>(&mut self, mistake: &K) -> Option<u64> {
        let hashed = self.filter.hash(mistake);
        if !self.filter.contains_hashed(&hashed) {
            return None;
        }
        let bits: Vec<u64> = self.bits_of(&hashed).into_iter().collect();
        let draw = mix(hashed.h0() ^ GOLDEN.wrapping_mul(self.cleared.wrapping_add(1)));
        let bit = bits[(draw % bits.len() as u64) as usize];
        self.clear_bit(bit);
        Some(bit)
    }

    /// Clears that bit of a mistake which is best for the members and other mistakes that the
    /// caller knows. `None` if the mistake was answered "no" already; nothing has changed then.
    pub fn retouch_knowing<K: Key + ?Sized>(
        &mut self,
        mistake: &K,
        members: &[Hashed<'_>],
        mistakes: &[Hashed<'_>],
        choice: Choice,
    ) -> Option<Price> {
        let hashed = self.filter.hash(mistake);
        if !self.filter.contains_hashed(&hashed) {
            return None;
        }
        let with_bit = |keys: &[Hashed<'_>], bit: u64| -> u64 {
            let found = keys.iter().filter(|key| self.filter.contains_hashed(key));
            found.filter(|key| self.bits_of(key).contains(&bit)).count() as u64
        };
        let prices = self.bits_of(&hashed).into_iter().map(|bit| Price {
            bit,
            members_lost: with_bit(members, bit),
            mistakes_fixed: with_bit(mistakes, bit),
        });
        let price = prices.min_by(|one, two| {
            let fewest = one.members_lost.cmp(&two.members_lost);
            let most = two.mistakes_fixed.cmp(&one.mistakes_fixed);
            match choice {
                Choice::FewestMembers => fewest.then(most),
                Choice::MostMistakes => most.then(fewest),
                // The mistake at hand counts, so that no fraction has a zero below.
                Choice::BestRatio => {
                    let left = u128::from(one.members_lost) * (1 + u128::from(two.mistakes_fixed));
                    let right = u128::from(two.members_lost) * (1 + u128::from(one.mistakes_fixed));
                    left.cmp(&right).then(most)
                }
            }
        })?;
        self.clear_bit(price.bit);
        Some(price)
    }

    fn bits_of(&self, key: &Hashed<'_>) -> BTreeSet<u64> {
        let positions = self.filter.probes.positions(key.h0());
        positions.take(self.filter.hashes() as usize).collect()
    }

    fn clear_bit(&mut self, bit: u64) {
        debug_assert!(is_set(self.filter.memory.as_ref(), bit));
        self.filter.memory.as_mut()[(bit / 8) as usize] &= !(1 << (bit % 8));
        self.cleared = self.cleared.saturating_add(1);
    }

    /// How many keys were inserted, those that are lost included.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.filter.len()
    }

    /// Is it empty?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.filter.is_empty()
    }

    /// How many bits were cleared.
    #[must_use]
    pub fn cleared(&self) -> u64 {
        self.cleared
    }

    /// The share of members, about, that are answered "no": those with at least one of their
    /// bits among the cleared ones, if bits are cleared without regard to members.
    #[must_use]
    pub fn expected_false_negatives(&self) -> f64 {
        let set = ones(self.filter.memory.as_ref());
        let kept = set as f64 / set.saturating_add(self.cleared).max(1) as f64;
        1.0 - kept.powi(self.filter.hashes() as i32)
    }

    /// As those of a [`BloomFilter`].
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.filter.stats()
    }

    /// Verifies what must hold in the array.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn check_invariants(&self) -> Result<(), Violation> {
        let filter = &self.filter;
        check_array(
            filter.memory.as_ref(),
            filter.bits(),
            filter.len,
            filter.hashes(),
        )
    }
}

impl<H: StreamHash> fmt::Debug for RetouchedBloomFilter<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetouchedBloomFilter")
            .field("filter", &self.filter)
            .field("cleared", &self.cleared)
            .finish()
    }
}

file_methods! {
    RetouchedBloomFilter<H: StreamHash>
}

impl<H: StreamHash> FileFilter<Memory> for RetouchedBloomFilter<H> {
    const KIND: FilterKind = FilterKind::RetouchedBloom;
    const HASH: HashKind = H::KIND;

    fn header(&self) -> Header {
        let header = self.filter.header();
        let facts = Facts {
            cleared: self.cleared,
            ..Facts::of(&header)
        };
        Header {
            kind: Self::KIND,
            extra: facts.to_bytes(),
            ..header
        }
    }

    fn table(&self) -> &[u8] {
        self.filter.table()
    }

    fn size(header: &Header) -> Option<(u64, usize)> {
        size(header)
    }

    fn assemble(header: &Header, memory: Memory) -> Result<Self, Error> {
        Ok(RetouchedBloomFilter {
            filter: BloomFilter::assemble(header, memory)?,
            cleared: Facts::of(header).cleared,
        })
    }

    fn verify(&mut self) -> Result<(), Violation> {
        self.check_invariants()
    }
}
