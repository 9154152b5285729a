//! Arrays of bits: the Bloom filter and the blocked one, which differ in one rule.

use std::fmt;

use super::probes::sealed::Knowledge as _;
use super::probes::{OneSided, Probes, ones};
use super::sizing::Size;
use crate::batch::ahead;
use crate::bits::{Bytes, Cpu, Isa, dispatch};
use crate::error::Error;
use crate::facade::facade;
use crate::geometry::Geometry;
use crate::hash::{Hashed, Key, Seed, StreamHash, first_word};
use crate::mem::{HugePages, Memory};
use crate::stats::Stats;
use crate::violation::Violation;

/// A filter that sets some bits of an array for each key:
/// [`BloomFilter`](super::BloomFilter), [`BlockedBloomFilter`](super::BlockedBloomFilter),
/// [`WeightedBloomFilter`](super::WeightedBloomFilter) or
/// [`RetouchedBloomFilter`](super::RetouchedBloomFilter), as `P` says.
///
/// It never fills up: more keys than planned for only make it wrong more often. It can't remove
/// a key, because others share its bits.
pub struct BitFilter<H: StreamHash, P: Probes, M = Memory> {
    pub(super) memory: M,
    pub(super) probes: P,
    pub(super) len: u64,
    pub(super) hasher: H::Keyed,
    pub(super) seed: Seed,
    pub(super) cpu: Cpu,
}

facade! {
    [H: StreamHash, M: Bytes, P: Probes] BitFilter<H, P, M>: Hash, Words;
    [H: StreamHash, M: Bytes, P: OneSided] BitFilter<H, P, M>: Filter;
    [H: StreamHash, P: OneSided] BitFilter<H, P>: Insert;
    [H: StreamHash, P: Probes] BitFilter<H, P>: Hashes, Clone;
}

// Compiled for each set of instructions, where that is worth a call: see `Probes::VECTORS`.

dispatch! {
    impl[H: StreamHash, M: Bytes, P: Probes] BitFilter<H, P, M> {
        fn contains_by_vectors(&self, h0: u64) -> bool = contains_on;

        fn contains_hashes(&self, hashes: &[u64], found: &mut [bool]) -> () = contains_hashes_on;
    }
}

dispatch! {
    impl[H: StreamHash, P: Probes] BitFilter<H, P> {
        fn insert_by_vectors(&mut self, h0: u64) -> () = insert_on;
    }
}

impl<H: StreamHash, M: Bytes, P: Probes> BitFilter<H, P, M> {
    #[inline]
    fn cpu(&self) -> Cpu {
        self.cpu
    }

    #[inline(always)]
    fn contains_on<I: Isa>(&self, h0: u64) -> bool {
        self.probes.contains(self.memory.as_ref(), h0)
    }

    #[inline(always)]
    fn contains_hashes_on<I: Isa>(&self, hashes: &[u64], found: &mut [bool]) {
        let (probes, bytes) = (self.probes, self.memory.as_ref());
        let prefetch = |h0| probes.prefetch(bytes, h0);
        ahead(hashes, found, prefetch, |_, h0| probes.contains(bytes, h0));
    }
}

impl<H: StreamHash, P: Probes> BitFilter<H, P> {
    #[inline(always)]
    fn insert_on<I: Isa>(&mut self, h0: u64) {
        self.probes.insert(self.memory.as_mut(), h0);
    }
}

/// Checks the measures of an array; gives its bytes.
pub(super) fn checked_bytes<P: Probes>(bits: u64, hashes: u32) -> Result<usize, Error> {
    if bits == 0 || bits % P::UNIT != 0 {
        return Err(Error::geometry(format!(
            "the bits of this filter are a multiple of {}, not {bits}",
            P::UNIT
        )));
    }
    if !(1..=P::MAX_HASHES).contains(&hashes) {
        return Err(Error::geometry(format!(
            "a key has 1 to {} hashes in this filter, not {hashes}",
            P::MAX_HASHES
        )));
    }
    Geometry::new(bits, 1)?;
    usize::try_from(bits.div_ceil(8))
        .map_err(|_| Error::geometry("its bits are more than any memory has"))
}

impl<H: StreamHash, P: Probes> BitFilter<H, P> {
    pub(super) fn from_parts(
        Size { bits, hashes }: Size,
        knows: P::Knows,
        seed: Seed,
        huge_pages: HugePages,
    ) -> Result<Self, Error> {
        let bytes = checked_bytes::<P>(bits, hashes)?;
        Ok(BitFilter {
            memory: Memory::zeroed(bytes, huge_pages)?,
            probes: P::of(bits, hashes, knows),
            len: 0,
            hasher: H::keyed(&seed),
            seed,
            cpu: Cpu::detect(),
        })
    }

    /// Adds a key.
    #[inline(always)]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) {
        self.set(first_word::<H, K>(&self.hasher, key));
    }

    /// [`insert`](Self::insert) for a key that is hashed already.
    #[inline]
    pub fn insert_hashed(&mut self, key: &Hashed<'_>) {
        self.set(key.h0());
    }

    #[inline(always)]
    fn insert_h0(&mut self, h0: u64) -> Result<(), Error> {
        self.set(h0);
        Ok(())
    }

    #[inline(always)]
    fn set(&mut self, h0: u64) {
        if P::VECTORS {
            self.insert_by_vectors(h0);
        } else {
            self.probes.insert(self.memory.as_mut(), h0);
        }
        self.len = self.len.saturating_add(1);
    }

    #[inline(always)]
    fn prefetch_h0(&self, h0: u64) {
        self.probes.prefetch(self.memory.as_ref(), h0);
    }

    /// A copy, or an error where [`Clone`] would abort for want of memory.
    ///
    /// # Errors
    /// [`Error::Geometry`] if a second array does not fit in memory.
    pub fn try_clone(&self) -> Result<Self, Error> {
        Ok(BitFilter {
            memory: self.memory.try_clone()?,
            ..*self
        })
    }
}

impl<H: StreamHash, P: OneSided> BitFilter<H, P> {
    /// Removes everything and keeps the memory.
    pub fn clear(&mut self) {
        self.memory.as_mut().fill(0);
        self.len = 0;
    }

    /// Adds everything that another filter has, by setting its bits.
    ///
    /// # Errors
    /// [`Error::Merge`] unless bits, hashes and seed are the same; nothing has changed then.
    pub fn union<M: Bytes>(&mut self, other: &BitFilter<H, P, M>) -> Result<(), Error> {
        if self.probes != other.probes || self.seed != other.seed {
            return Err(Error::merge(
                "their bits, hashes or seeds differ; build both with the same ones",
            ));
        }
        let bytes = self.memory.as_mut().iter_mut();
        for (here, there) in bytes.zip(other.memory.as_ref()) {
            *here |= there;
        }
        self.len = self.len.saturating_add(other.len);
        Ok(())
    }
}

impl<H: StreamHash, M: Bytes, P: Probes> BitFilter<H, P, M> {
    #[inline(always)]
    pub(super) fn contains_h0(&self, h0: u64) -> bool {
        if P::VECTORS {
            self.contains_by_vectors(h0)
        } else {
            self.probes.contains(self.memory.as_ref(), h0)
        }
    }

    /// How many keys were inserted, duplicates counted.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Bits of the array.
    #[must_use]
    pub fn bits(&self) -> u64 {
        self.probes.bits()
    }

    /// Bits of a key, the fewest where keys differ.
    #[must_use]
    pub fn hashes(&self) -> u32 {
        self.probes.hashes()
    }

    /// Size, load, space and expected error, from the bits that are set. A slot is a bit. Reads
    /// the whole array.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let bytes = self.memory.as_ref();
        let (set, bits) = (ones(bytes), self.bits());
        Stats {
            items: self.len,
            slots: bits,
            used_slots: set,
            load: set as f64 / bits as f64,
            remainder_bits: 1,
            bytes: bytes.len() as u64,
            bits_per_item: bits as f64 / self.len as f64,
            expected_fpr: self.probes.expected_fpr(bytes),
            longest_cluster: 0,
        }
    }

    /// Verifies what must hold in the array; linear in its size.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn check_invariants(&self) -> Result<(), Violation> {
        let bytes = self.memory.as_ref();
        let behind = (self.bits() % 8) as u32;
        if behind > 0 && bytes.last().is_some_and(|byte| byte >> behind != 0) {
            return Err(Violation::new("the padding is not zero", self.bits()));
        }
        let (set, knows) = (ones(bytes), self.probes.knows());
        let most = knows.most_hashes(self.hashes());
        if set > self.len.saturating_mul(most.into()) {
            return Err(Violation::new("more bits are set than keys can set", set));
        }
        if self.len > 0 && set == 0 && knows.cleared() == 0 {
            return Err(Violation::new("there are keys without a bit", self.len));
        }
        Ok(())
    }
}

impl<H: StreamHash, M: Bytes, P: Probes> fmt::Debug for BitFilter<H, P, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(P::NAME)
            .field("len", &self.len)
            .field("bits", &self.bits())
            .field("hashes", &self.hashes())
            .field("hash", &H::KIND)
            .finish_non_exhaustive()
    }
}
