//! The weighted Bloom filter: more hashes for keys that are asked for more often.

use std::fmt;

use super::BloomFilter;
use super::file::{Facts, size};
use super::filter::{BitFilter, check_array};
use super::probes::{Scattered, sealed::Probes as _};
use crate::bits::Bytes;
use crate::error::Error;
use crate::file::{FileFilter, FilterKind, Header, file_methods};
use crate::hash::{HashKind, Hashed, Key, Seed, Sip13, StreamHash, first_word};
use crate::mem::{HugePages, Memory};
use crate::stats::Stats;
use crate::traits::{Filter, Insert};
use crate::violation::Violation;

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
            hashes.clamp(1.0, f64::from(Scattered::MAX_HASHES)) as u32
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
/// be answered "no": ask with the same number. (The trait [`Filter`] asks with the
/// fewest and [`Insert`] inserts with the most, which is always safe.)
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
/// filter.insert("anna", 13);
/// filter.insert("otto", 6);
/// assert!(filter.contains("anna", 13) && filter.contains("otto", 6));
/// # Ok::<(), twiceshy::Error>(())
/// ```
pub struct WeightedBloomFilter<H: StreamHash = Sip13, M = Memory> {
    /// With the fewest hashes.
    filter: BitFilter<H, Scattered, M>,
    most: u32,
}

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
        let (least, most) = weights.hashes.iter().fold((u32::MAX, 0), |range, &hashes| {
            (range.0.min(hashes), range.1.max(hashes))
        });
        Ok(WeightedBloomFilter {
            filter: BloomFilter::from_parts(bits, least, seed, HugePages::default())?,
            most,
        })
    }

    /// Adds a key with so many hashes: at most as many as the heaviest class has.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K, hashes: u32) {
        let h0 = first_word::<H, K>(&self.filter.keyed, key);
        self.insert_h0(h0, hashes);
    }

    /// [`insert`](Self::insert) for a key that is hashed already.
    pub fn insert_hashed(&mut self, key: &Hashed<'_>, hashes: u32) {
        self.insert_h0(key.h0(), hashes);
    }

    #[inline]
    fn insert_h0(&mut self, h0: u64, hashes: u32) {
        let hashes = self.clamp(hashes);
        let bytes = self.filter.memory.as_mut();
        self.filter.probes.insert_some(bytes, h0, hashes);
        self.filter.len = self.filter.len.saturating_add(1);
    }

    /// Removes everything and keeps the memory.
    pub fn clear(&mut self) {
        self.filter.clear();
    }
}

impl<H: StreamHash, M: Bytes> WeightedBloomFilter<H, M> {
    /// Outside of the range that it was built for, the nearest.
    #[inline]
    fn clamp(&self, hashes: u32) -> u32 {
        hashes.clamp(self.filter.hashes(), self.most)
    }

    /// May `key`, of a class with so many hashes, be a member? `false` is certain if it was
    /// inserted with as many or more.
    #[inline]
    #[must_use]
    pub fn contains<K: Key + ?Sized>(&self, key: &K, hashes: u32) -> bool {
        self.contains_h0(first_word::<H, K>(&self.filter.keyed, key), hashes)
    }

    /// [`contains`](Self::contains) for a key that is hashed already.
    #[must_use]
    pub fn contains_hashed(&self, key: &Hashed<'_>, hashes: u32) -> bool {
        self.contains_h0(key.h0(), hashes)
    }

    #[inline]
    fn contains_h0(&self, h0: u64, hashes: u32) -> bool {
        let bytes = self.filter.memory.as_ref();
        let hashes = self.clamp(hashes);
        self.filter.probes.contains_some(bytes, h0, hashes)
    }

    /// The fewest and the most hashes of a key.
    #[must_use]
    pub fn hashes(&self) -> std::ops::RangeInclusive<u32> {
        self.filter.hashes()..=self.most
    }

    /// As those of a [`BloomFilter`] with the fewest hashes.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.filter.stats()
    }

    /// The chance that a key of a class with so many hashes is wrongly answered "maybe". Reads
    /// the whole array.
    #[must_use]
    pub fn expected_fpr(&self, hashes: u32) -> f64 {
        let stats = self.filter.stats();
        stats.load.powi(self.clamp(hashes) as i32)
    }

    /// Verifies what must hold in the array.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn check_invariants(&self) -> Result<(), Violation> {
        let filter = &self.filter;
        check_array(filter.memory.as_ref(), filter.bits(), filter.len, self.most)
    }
}

impl<H: StreamHash> Clone for WeightedBloomFilter<H> {
    fn clone(&self) -> Self {
        WeightedBloomFilter {
            filter: self.filter.clone(),
            most: self.most,
        }
    }
}

impl<H: StreamHash, M: Bytes> fmt::Debug for WeightedBloomFilter<H, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeightedBloomFilter")
            .field("len", &self.filter.len())
            .field("bits", &self.filter.bits())
            .field("hashes", &self.hashes())
            .field("hash", &H::KIND)
            .finish_non_exhaustive()
    }
}

impl<H: StreamHash, M: Bytes> Filter for WeightedBloomFilter<H, M> {
    fn hash<'k, K: Key + ?Sized>(&self, key: &'k K) -> Hashed<'k> {
        self.filter.hash(key)
    }

    fn contains_hashed(&self, key: &Hashed<'_>) -> bool {
        self.filter.contains_hashed(key)
    }

    fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.filter.contains(key)
    }

    fn contains_batch_into<K: Key>(&self, keys: &[K], found: &mut Vec<bool>) {
        self.filter.contains_batch_into(keys, found);
    }

    fn contains_batch_hashed_into(&self, keys: &[Hashed<'_>], found: &mut Vec<bool>) {
        self.filter.contains_batch_hashed_into(keys, found);
    }

    fn len(&self) -> u64 {
        self.filter.len()
    }

    fn stats(&self) -> Stats {
        self.stats()
    }
}

impl<H: StreamHash> Insert for WeightedBloomFilter<H> {
    fn insert_hashed(&mut self, key: &Hashed<'_>) -> Result<(), Error> {
        self.insert_h0(key.h0(), self.most);
        Ok(())
    }
}

file_methods! {
    WeightedBloomFilter<H: StreamHash; M>
}

impl<H: StreamHash, M: Bytes> FileFilter<M> for WeightedBloomFilter<H, M> {
    const KIND: FilterKind = FilterKind::WeightedBloom;
    const HASH: HashKind = H::KIND;

    fn header(&self) -> Header {
        let header = self.filter.header();
        let facts = Facts {
            most: self.most,
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

    fn assemble(header: &Header, memory: M) -> Result<Self, Error> {
        Ok(WeightedBloomFilter {
            filter: BitFilter::assemble(header, memory)?,
            most: Facts::of(header).most,
        })
    }

    fn verify(&mut self) -> Result<(), Violation> {
        self.check_invariants()
    }
}
