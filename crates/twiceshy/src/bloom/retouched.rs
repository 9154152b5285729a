//! The retouched Bloom filter: mistakes that matter are traded for members that don't.

use std::collections::BTreeSet;

use super::BloomFilter;
use super::filter::BitFilter;
use super::probes::sealed::{FACT_BYTES, Knowledge, Probes as _};
use super::probes::{Scattered, is_set, ones};
use crate::file::FilterKind;
use crate::hash::{GOLDEN, Hashed, Key, Sip13, StreamHash, mix};
use crate::mem::Memory;

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
pub type RetouchedBloomFilter<H = Sip13, M = Memory> = BitFilter<H, Scattered<Cleared>, M>;

/// How many bits of a [`RetouchedBloomFilter`] were cleared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cleared(u64);

impl Knowledge for Cleared {
    const KIND: FilterKind = FilterKind::RetouchedBloom;
    const NAME: &'static str = "RetouchedBloomFilter";

    fn cleared(&self) -> u64 {
        self.0
    }

    fn to_bytes(&self) -> [u8; FACT_BYTES] {
        let mut facts = [0; FACT_BYTES];
        facts[1..].copy_from_slice(&self.0.to_le_bytes());
        facts
    }

    fn from_bytes(_: u32, [most, cleared @ ..]: [u8; FACT_BYTES]) -> Option<Self> {
        (most == 0).then(|| Cleared(u64::from_le_bytes(cleared)))
    }
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
        BitFilter {
            probes: Scattered::of(filter.bits(), filter.hashes(), Cleared(0)),
            memory: filter.memory,
            len: filter.len,
            hasher: filter.hasher,
            seed: filter.seed,
            cpu: filter.cpu,
        }
    }
}

impl<H: StreamHash> RetouchedBloomFilter<H> {
    /// Removes everything and keeps the memory; no bit counts as cleared any more.
    pub fn clear(&mut self) {
        self.memory.as_mut().fill(0);
        self.probes.knows = Cleared(0);
        self.len = 0;
    }

    /// Clears one of the bits of a mistake, any one: gives which. `None` if it was answered "no"
    /// already.
    pub fn retouch<K: Key + ?Sized>(&mut self, mistake: &K) -> Option<u64> {
        let hashed = self.hash(mistake);
        if !self.contains_hashed(&hashed) {
            return None;
        }
        let bits: Vec<u64> = self.bits_of(&hashed).into_iter().collect();
        let draw = mix(hashed.h0() ^ GOLDEN.wrapping_mul(self.cleared().wrapping_add(1)));
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
        let hashed = self.hash(mistake);
        if !self.contains_hashed(&hashed) {
            return None;
        }
        let with_bit = |keys: &[Hashed<'_>], bit: u64| -> u64 {
            let found = keys.iter().filter(|key| self.contains_hashed(key));
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
        let positions = self.probes.positions(key.h0());
        positions.take(self.hashes() as usize).collect()
    }

    fn clear_bit(&mut self, bit: u64) {
        debug_assert!(is_set(self.memory.as_ref(), bit));
        self.memory.as_mut()[(bit / 8) as usize] &= !(1 << (bit % 8));
        self.probes.knows.0 = self.cleared().saturating_add(1);
    }

    /// How many bits were cleared.
    #[must_use]
    pub fn cleared(&self) -> u64 {
        self.probes.knows.0
    }

    /// The share of members, about, that are answered "no": those with at least one of their
    /// bits among the cleared ones, if bits are cleared without regard to members.
    #[must_use]
    pub fn expected_false_negatives(&self) -> f64 {
        let set = ones(self.memory.as_ref());
        let kept = set as f64 / set.saturating_add(self.cleared()).max(1) as f64;
        1.0 - kept.powi(self.hashes() as i32)
    }
}
