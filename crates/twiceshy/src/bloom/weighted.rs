//! The weighted Bloom filter: more hashes for keys that are asked for more often.

use super::filter::BitFilter;
use super::probes::sealed::{FACT_BYTES, Knowledge};
use super::probes::{MAX_SCATTERED, OneSided, Scattered};
use super::sizing::Size;
use crate::bits::Bytes;
use crate::error::Error;
use crate::file::FilterKind;
use crate::hash::{Hashed, Key, Seed, Sip13, StreamHash, first_word};
use crate::mem::{HugePages, Memory};

/// A class of keys, as the caller has come to know it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Class {
    /// Its share of the members.
    pub members: f64,
    /// Its share of the queries for keys that are no members.
    pub queries: f64,
}

/// How many hashes the keys of each class get.
///
/// With `b` bits a key, a mean of `k = b ln 2` hashes is best for the space. A class that is a
/// share `x` of the members and `f` of the wrong queries errs at a rate of `2^-k`, which costs
/// `f 2^-k`; one hash more costs `x` of a hash on average. The total is least where both are in
/// balance, `f 2^-k` proportional to `x`:
///
/// ```text
/// k(class)  =  b ln 2  +  log2(f / x)  -  mean over members of log2(f / x)
/// ```
///
/// rounded to whole hashes, at least one. (*Weighted Bloom Filter*, ISIT 2006.)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weights {
    hashes: Vec<u32>,
}

impl Weights {
    /// The best numbers of hashes for these classes with so many bits for each member.
    ///
    /// # Errors
    /// [`Error::Geometry`] if there is no class, or a share is not positive.
    pub fn new(bits_per_key: f64, classes: &[Class]) -> Result<Self, Error> {
        let good = |share: f64| share.is_finite() && share > 0.0;
        let all_good = classes.iter().all(|c| good(c.members) && good(c.queries));
        if classes.is_empty() || !all_good || !good(bits_per_key) {
            return Err(Error::geometry(
                "weights take the bits for each key and one class or more, all with shares \
                 above zero",
            ));
        }
        let members: f64 = classes.iter().map(|class| class.members).sum();
        let queries: f64 = classes.iter().map(|class| class.queries).sum();
        let gain = |class: &Class| ((class.queries / queries) / (class.members / members)).log2();
        let gains = classes
            .iter()
            .map(|class| class.members / members * gain(class));
        let mean: f64 = gains.sum();
        let best = bits_per_key * std::f64::consts::LN_2;
        let hashes = classes.iter().map(|class| {
            let hashes = (best + gain(class) - mean).round();
            hashes.clamp(1.0, f64::from(MAX_SCATTERED)) as u32
        });
        Ok(Weights {
            hashes: hashes.collect(),
        })
    }

    /// The hashes of each class.
    #[must_use]
    pub fn hashes(&self) -> &[u32] {
        &self.hashes
    }
}

/// A Bloom filter in which keys have different numbers of hashes.
///
/// Keys that are often asked for, and are rarely members, get more hashes and are rarely
/// mistaken; the others pay for it. **What it gives up:** the caller must know the class of a
/// key whenever it inserts *and* asks for it, and must know the classes before the first key
/// comes. It does not learn. A query with more hashes than the key was inserted with may wrongly
/// be answered "no": ask with the same number, by [`contains_with`](BitFilter::contains_with). The methods that
/// take no number are always safe: [`contains`](BitFilter::contains) asks with the fewest, and
/// [`insert`](BitFilter::insert) inserts with the most.
///
/// From *Weighted Bloom Filter* (ISIT 2006); section 2 of the survey of adaptive filters.
///
/// ```
/// use twiceshy::bloom::{Class, WeightedBloomFilter, Weights};
///
/// // One key in ten is popular: 90% of the queries that miss are for such keys.
/// let popular = Class { members: 0.1, queries: 0.9 };
/// let others = Class { members: 0.9, queries: 0.1 };
/// let weights = Weights::new(10.0, &[popular, others])?;
/// assert_eq!(weights.hashes(), [13, 6]); // 7 each if all were alike
///
/// let mut filter = WeightedBloomFilter::new(10_000, &weights)?;
/// filter.insert_with("anna", 13);
/// filter.insert_with("otto", 6);
/// assert!(filter.contains_with("anna", 13) && filter.contains_with("otto", 6));
/// assert!(filter.contains("anna")); // with 6, which is safe where the class is not known
/// # Ok::<(), twiceshy::Error>(())
/// ```
pub type WeightedBloomFilter<H = Sip13, M = Memory> = BitFilter<H, Scattered<Most>, M>;

/// The most hashes of a key of a [`WeightedBloomFilter`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Most(u32);

impl Knowledge for Most {
    const KIND: FilterKind = FilterKind::WeightedBloom;
    const NAME: &'static str = "WeightedBloomFilter";

    #[inline(always)]
    fn most_hashes(&self, _: u32) -> u32 {
        self.0
    }

    fn to_bytes(&self) -> [u8; FACT_BYTES] {
        let mut facts = [0; FACT_BYTES];
        facts[0] = self.0 as u8;
        facts
    }

    fn from_bytes(hashes: u32, [most, rest @ ..]: [u8; FACT_BYTES]) -> Option<Self> {
        let most = u32::from(most);
        let possible = (hashes..=MAX_SCATTERED).contains(&most) && rest == [0; FACT_BYTES - 1];
        possible.then_some(Most(most))
    }
}

impl OneSided for Scattered<Most> {}

impl WeightedBloomFilter {
    /// An empty filter of `bits` bits for keys with these weights, with a random seed and the
    /// default hash.
    ///
    /// # Errors
    /// [`Error::Geometry`] if there is no such filter or no memory for it, [`Error::Seed`] if
    /// the system has no randomness to give.
    pub fn new(bits: u64, weights: &Weights) -> Result<Self, Error> {
        Self::with_hash(bits, weights, Seed::random()?)
    }
}

impl<H: StreamHash> WeightedBloomFilter<H> {
    /// [`new`](WeightedBloomFilter::new) with another hash and a chosen seed.
    ///
    /// # Errors
    /// [`Error::Geometry`] if there is no such filter or no memory for it.
    pub fn with_hash(bits: u64, weights: &Weights, seed: Seed) -> Result<Self, Error> {
        let (fewest, most) = weights.hashes.iter().fold((u32::MAX, 0), |range, &hashes| {
            (range.0.min(hashes), range.1.max(hashes))
        });
        let size = Size {
            bits,
            hashes: fewest,
        };
        Self::from_parts(size, Most(most), seed, HugePages::default())
    }

    /// Adds a key with so many hashes: at most as many as the heaviest class has.
    #[inline]
    pub fn insert_with<K: Key + ?Sized>(&mut self, key: &K, hashes: u32) {
        self.insert_some(first_word::<H, K>(&self.hasher, key), hashes);
    }

    /// [`insert_with`](Self::insert_with) for a key that is hashed already.
    pub fn insert_hashed_with(&mut self, key: &Hashed<'_>, hashes: u32) {
        self.insert_some(key.h0(), hashes);
    }

    fn insert_some(&mut self, h0: u64, hashes: u32) {
        let hashes = self.clamp(hashes);
        self.probes.insert_some(self.memory.as_mut(), h0, hashes);
        self.len = self.len.saturating_add(1);
    }
}

impl<H: StreamHash, M: Bytes> WeightedBloomFilter<H, M> {
    /// Outside of the range that it was built for, the nearest.
    fn clamp(&self, hashes: u32) -> u32 {
        hashes.clamp(self.hashes(), self.most_hashes())
    }

    /// May `key`, of a class with so many hashes, be a member? `false` is certain if it was
    /// inserted with as many or more.
    #[inline]
    #[must_use]
    pub fn contains_with<K: Key + ?Sized>(&self, key: &K, hashes: u32) -> bool {
        self.contains_some(first_word::<H, K>(&self.hasher, key), hashes)
    }

    /// [`contains_with`](Self::contains_with) for a key that is hashed already.
    #[must_use]
    pub fn contains_hashed_with(&self, key: &Hashed<'_>, hashes: u32) -> bool {
        self.contains_some(key.h0(), hashes)
    }

    fn contains_some(&self, h0: u64, hashes: u32) -> bool {
        let hashes = self.clamp(hashes);
        self.probes.contains_some(self.memory.as_ref(), h0, hashes)
    }

    /// The most hashes of a key; the fewest are [`hashes`](Self::hashes).
    #[must_use]
    pub fn most_hashes(&self) -> u32 {
        self.probes.knows.0
    }

    /// The chance that a key of a class with so many hashes is wrongly answered "maybe". Reads
    /// the whole array.
    #[must_use]
    pub fn expected_fpr(&self, hashes: u32) -> f64 {
        self.stats().load.powi(self.clamp(hashes) as i32)
    }
}
