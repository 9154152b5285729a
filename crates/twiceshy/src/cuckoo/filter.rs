//! Partial-key filters: the cuckoo filter and the vacuum filter, which differ in one rule.

use std::convert::Infallible;
use std::fmt;

use super::alternate::Alternate;
use super::lanes::{Lanes, SLOTS, Word};
use super::search::{Cell, Occupants, OtherBuckets, Search};
use super::shape::{Home, Packing, Shape};
use super::table::Table;
use crate::bits::{AtBits, AtBytes, Bytes};
use crate::error::Error;
use crate::facade::facade;
use crate::hash::{Hashed, Key, Seed, StreamHash, first_word};
use crate::mem::{HugePages, Memory};
use crate::outcome::Removed;
use crate::stats::Stats;
use crate::violation::Violation;

/// A filter with fingerprints in buckets of four, two buckets for each:
/// [`CuckooFilter`](super::CuckooFilter) or [`VacuumFilter`](super::VacuumFilter), as `A` says.
///
/// # Removing what was never inserted
///
/// The filter has no keys, so it can't tell a member from a false positive. **Removing a key
/// that was never inserted, but whose fingerprint is there, takes another key's fingerprint
/// away, and the filter then wrongly says "no" for that key.** So the caller vouches that the
/// key is a member. Where the keys are at hand, let them vouch:
/// [`AdaptiveCuckooSet`](crate::sets::AdaptiveCuckooSet) compares the key itself.
pub struct PartialKeyFilter<H: StreamHash, A: Alternate, M = Memory> {
    pub(super) core: Core<M, A>,
    pub(super) hasher: H::Keyed,
    pub(super) seed: Seed,
}

/// The filter without its hash function.
pub(super) struct Core<M, A> {
    pub(super) table: Table<M>,
    pub(super) alternate: A,
    pub(super) len: u64,
    pub(super) narrow: Lanes<u64>,
    wide: Lanes<u128>,
    pub(super) way: Way,
    search: Search,
}

/// How buckets are read and changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Four fingerprints fit a `u64`, as they are, and start at a byte, as those of an even number of
    /// bits up to 16 do: see [`one_word`](super::one_word).
    Bytes,
    /// They fit, but start anywhere.
    Bits,
    /// They fit, but are semi-sorted.
    Narrow,
    /// They do not fit.
    Wide,
}

impl Way {
    fn of<M: Bytes>(table: &Table<M>) -> Self {
        let shape = table.shape();
        if shape.fingerprint_bits() > NARROW {
            Way::Wide
        } else if shape.packing() != Packing::Whole {
            Way::Narrow
        } else if table.starts_at_bytes() {
            Way::Bytes
        } else {
            Way::Bits
        }
    }
}

/// The widest fingerprint of which four fit a `u64`.
const NARROW: u32 = 16;

impl<M: Bytes, A: Alternate> Core<M, A> {
    pub(super) fn new(table: Table<M>, alternate: A, len: u64) -> Self {
        let bits = table.shape().fingerprint_bits();
        Core {
            alternate,
            len,
            narrow: Lanes::new(bits.min(NARROW)),
            wide: Lanes::new(bits),
            way: Way::of(&table),
            search: Search::default(),
            table,
        }
    }

    /// The other bucket of a fingerprint.
    #[inline(always)]
    pub(super) fn other(&self, bucket: u64, fingerprint: u64) -> u64 {
        let buckets = self.table.buckets();
        self.alternate.other(buckets, bucket, fingerprint)
    }

    #[inline(always)]
    pub(super) fn contains(&self, h0: u64) -> bool {
        let home = self.table.home(h0);
        if self.way == Way::Bytes {
            self.contains_in_word::<AtBytes>(home)
        } else {
            self.contains_otherwise(home)
        }
    }

    /// Not inlined, so that the loop of a caller that only has `Way::Bytes` stays small.
    #[inline(never)]
    fn contains_otherwise(&self, home: Home) -> bool {
        match self.way {
            Way::Bytes | Way::Bits => self.contains_in_word::<AtBits>(home),
            Way::Narrow => self.contains_in(&self.narrow, home),
            Way::Wide => self.contains_in(&self.wide, home),
        }
    }

    #[inline(never)]
    fn contains_in<W: Word>(&self, lanes: &Lanes<W>, home: Home) -> bool {
        let buckets = [home.bucket, self.other(home.bucket, home.fingerprint)];
        let [here, there] =
            buckets.map(|bucket| lanes.equal(self.table.load(bucket), home.fingerprint));
        here | there != W::ZERO
    }

    pub(super) fn check(&self) -> Result<(), Violation> {
        let used = match self.way {
            Way::Bytes | Way::Bits | Way::Narrow => self.table.count(&self.narrow)?,
            Way::Wide => self.table.count(&self.wide)?,
        };
        if used != self.len {
            return Err(Violation::new("fingerprints are not counted right", used));
        }
        Ok(())
    }
}

impl<A: Alternate> Core<Memory, A> {
    #[inline(always)]
    pub(super) fn insert(&mut self, h0: u64) -> Result<(), Error> {
        if self.way == Way::Bytes {
            self.insert_in_word::<AtBytes>(h0)
        } else {
            self.insert_otherwise(h0)
        }
    }

    /// Behind a call, as [`contains_otherwise`](Self::contains_otherwise).
    #[inline(never)]
    fn insert_otherwise(&mut self, h0: u64) -> Result<(), Error> {
        match self.way {
            Way::Bytes | Way::Bits => self.insert_in_word::<AtBits>(h0),
            Way::Narrow => self.insert_in(&{ self.narrow }, h0),
            Way::Wide => self.insert_in(&{ self.wide }, h0),
        }
    }

    #[inline(never)]
    fn insert_in<W: Word>(&mut self, lanes: &Lanes<W>, h0: u64) -> Result<(), Error> {
        let home = self.table.home(h0);
        let buckets = [home.bucket, self.other(home.bucket, home.fingerprint)];
        for bucket in buckets {
            let here = self.table.load(bucket);
            if let Some(slot) = lanes.empty(here) {
                let here = lanes.with(here, slot, home.fingerprint);
                self.table.store(bucket, here, lanes);
                self.len += 1;
                return Ok(());
            }
        }
        self.insert_by_kicks(lanes, buckets, home.fingerprint)
    }

    #[inline(never)]
    pub(super) fn insert_by_kicks<W: Word>(
        &mut self,
        lanes: &Lanes<W>,
        buckets: [u64; 2],
        fingerprint: u64,
    ) -> Result<(), Error> {
        let mut occupants = Fingerprints {
            table: &mut self.table,
            alternate: self.alternate,
            lanes,
        };
        let Ok(room) = self.search.make_room(&mut occupants, &buckets);
        let Some(cell) = room else {
            return Err(Error::Full {
                used: self.len,
                slots: self.table.shape().slots(),
            });
        };
        occupants.put(cell, fingerprint);
        self.len += 1;
        Ok(())
    }

    #[inline(always)]
    pub(super) fn remove(&mut self, h0: u64) -> Removed {
        if self.way == Way::Bytes {
            self.remove_in_word::<AtBytes>(h0)
        } else {
            self.remove_otherwise(h0)
        }
    }

    /// Behind a call, as [`contains_otherwise`](Self::contains_otherwise).
    #[inline(never)]
    fn remove_otherwise(&mut self, h0: u64) -> Removed {
        match self.way {
            Way::Bytes | Way::Bits => self.remove_in_word::<AtBits>(h0),
            Way::Narrow => self.remove_in(&{ self.narrow }, h0),
            Way::Wide => self.remove_in(&{ self.wide }, h0),
        }
    }

    #[inline(never)]
    fn remove_in<W: Word>(&mut self, lanes: &Lanes<W>, h0: u64) -> Removed {
        let home = self.table.home(h0);
        for bucket in [home.bucket, self.other(home.bucket, home.fingerprint)] {
            let here = self.table.load(bucket);
            if let Some(slot) = lanes.first(lanes.equal(here, home.fingerprint)) {
                self.table.store(bucket, lanes.with(here, slot, 0), lanes);
                self.len -= 1;
                return Removed::One;
            }
        }
        Removed::NotFound
    }
}

/// The occupants are fingerprints, from which their other bucket follows.
struct Fingerprints<'t, W, A> {
    table: &'t mut Table,
    alternate: A,
    lanes: &'t Lanes<W>,
}

impl<W: Word, A: Alternate> Fingerprints<'_, W, A> {
    fn put(&mut self, cell: Cell, fingerprint: u64) {
        let bucket = self.table.load(cell.bucket);
        let bucket = self.lanes.with(bucket, cell.slot, fingerprint);
        self.table.store(cell.bucket, bucket, self.lanes);
    }
}

impl<W: Word, A: Alternate> Occupants for Fingerprints<'_, W, A> {
    type Error = Infallible;
    type Bucket = W;

    fn slots(&self) -> u32 {
        SLOTS
    }

    #[inline(always)]
    fn read(&self, bucket: u64) -> W {
        self.table.load(bucket)
    }

    #[inline(always)]
    fn free(&self, bucket: u64) -> Option<u32> {
        self.lanes.empty(self.table.load(bucket))
    }

    #[inline(always)]
    fn other_buckets(&mut self, from: W, cell: Cell) -> Result<OtherBuckets, Infallible> {
        let fingerprint = self.lanes.get(from, cell.slot);
        let buckets = self.table.buckets();
        let other = self.alternate.other(buckets, cell.bucket, fingerprint);
        Ok(([other, 0, 0], 1))
    }

    fn relocate(&mut self, from: Cell, to: Cell) -> Result<(), Infallible> {
        let fingerprint = self.lanes.get(self.table.load(from.bucket), from.slot);
        self.put(to, fingerprint);
        Ok(())
    }
}

facade! {
    [H: StreamHash, M: Bytes, A: Alternate] PartialKeyFilter<H, A, M>: Hash, Words, Filter;
    [H: StreamHash, A: Alternate] PartialKeyFilter<H, A>: Insert, Hashes, Remove, Clone;
}

impl<H: StreamHash, A: Alternate> PartialKeyFilter<H, A> {
    pub(super) fn from_parts(
        shape: Shape,
        seed: Seed,
        huge_pages: HugePages,
    ) -> Result<Self, Error> {
        let table = Table::new(shape, huge_pages)?;
        Ok(PartialKeyFilter {
            core: Core::new(table, A::new(shape.buckets()), 0),
            hasher: H::keyed(&seed),
            seed,
        })
    }

    #[inline(always)]
    fn insert_h0(&mut self, h0: u64) -> Result<(), Error> {
        self.core.insert(h0)
    }

    /// Adds a key. A key that is added twice is there twice, and takes two removals; there is
    /// room for eight copies at most.
    ///
    /// # Errors
    /// [`Error::Full`] if no room can be made. Nothing has changed then: every key that was
    /// inserted is still found.
    #[inline(always)]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<(), Error> {
        self.core.insert(first_word::<H, K>(&self.hasher, key))
    }

    /// [`insert`](Self::insert) for a key that is hashed already.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn insert_hashed(&mut self, key: &Hashed<'_>) -> Result<(), Error> {
        self.core.insert(key.h0())
    }

    /// Removes one copy of a member. **The caller vouches that it is one**: see
    /// [above](Self#removing-what-was-never-inserted).
    ///
    /// # Errors
    /// None; the `Result` is that of the trait [`Remove`](crate::Remove).
    #[inline(always)]
    pub fn remove<K: Key + ?Sized>(&mut self, key: &K) -> Result<Removed, Error> {
        Ok(self.core.remove(first_word::<H, K>(&self.hasher, key)))
    }

    /// [`remove`](Self::remove) for a key that is hashed already; the caller vouches for it just
    /// the same.
    ///
    /// # Errors
    /// None, as [`remove`](Self::remove).
    #[inline]
    pub fn remove_hashed(&mut self, key: &Hashed<'_>) -> Result<Removed, Error> {
        Ok(self.core.remove(key.h0()))
    }

    /// Removes everything and keeps the memory.
    pub fn clear(&mut self) {
        self.core.table.clear();
        self.core.len = 0;
    }

    /// A copy, or an error where [`Clone`] would abort for want of memory.
    ///
    /// # Errors
    /// [`Error::Geometry`] if a second table does not fit in memory.
    pub fn try_clone(&self) -> Result<Self, Error> {
        let Core { alternate, len, .. } = self.core;
        Ok(PartialKeyFilter {
            core: Core::new(self.core.table.try_clone()?, alternate, len),
            hasher: self.hasher,
            seed: self.seed,
        })
    }
}

impl<H: StreamHash, M: Bytes, A: Alternate> PartialKeyFilter<H, A, M> {
    #[inline(always)]
    fn contains_h0(&self, h0: u64) -> bool {
        self.core.contains(h0)
    }

    /// How many items the filter holds, duplicates counted.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.core.len
    }

    /// Items per slot.
    #[must_use]
    pub fn load(&self) -> f64 {
        self.len() as f64 / self.shape().slots() as f64
    }

    /// Buckets, fingerprint bits and packing.
    #[must_use]
    pub fn shape(&self) -> Shape {
        *self.core.table.shape()
    }

    /// Size, load, space and expected error.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let shape = self.shape();
        let (items, bytes) = (self.len(), self.core.table.bytes().len() as u64);
        Stats {
            expected_fpr: shape.expected_fpr(items),
            ..Stats::of_slots(items, shape.slots(), shape.fingerprint_bits(), bytes)
        }
    }

    /// Verifies everything that must hold in the table, from scratch; linear in its size.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn check_invariants(&self) -> Result<(), Violation> {
        self.core.check()
    }
}

impl<H: StreamHash, M: Bytes, A: Alternate> fmt::Debug for PartialKeyFilter<H, A, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(A::NAME)
            .field("len", &self.len())
            .field("buckets", &self.shape().buckets())
            .field("fingerprint_bits", &self.shape().fingerprint_bits())
            .field("packing", &self.shape().packing())
            .field("hash", &H::KIND)
            .finish_non_exhaustive()
    }
}
