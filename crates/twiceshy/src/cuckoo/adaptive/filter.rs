//! The filter, whose changes go hand in hand with a key store.

use std::fmt;
use std::marker::PhantomData;

use super::cells::{Cells, Content};
use super::lock_step::LockStep;
use super::plan::{Identity, Plan, Scheme};
use crate::bits::Bytes;
use crate::cuckoo::search::{Cell, Occupants, OtherBuckets, Search};
use crate::error::Error;
use crate::facade::facade;
use crate::hash::{GOLDEN, Hashed, Key, Seed, Sip13, StreamHash, mix};
use crate::mem::{HugePages, Memory};
use crate::outcome::{Adapted, Removed, Reported};
use crate::stats::Stats;
use crate::violation::Violation;

/// An adaptive cuckoo filter: fingerprints in cells, and the keys in the same cells of a store.
///
/// Every change takes the store, always the same one, which nobody else changes.
/// [`AdaptiveCuckooSet`](crate::sets::AdaptiveCuckooSet) has both in one, and can't be used wrongly.
pub struct AdaptiveCuckooFilter<H: StreamHash = Sip13, M = Memory> {
    pub(super) cells: Cells<M>,
    pub(super) len: u64,
    pub(super) seed: Seed,
    hash: PhantomData<fn() -> H>,
    search: Search,
    /// Adaptations so far, from which swapping draws its partners.
    adaptations: u64,
}

impl<H: StreamHash> AdaptiveCuckooFilter<H> {
    pub(super) fn from_parts(plan: Plan, seed: Seed, huge_pages: HugePages) -> Result<Self, Error> {
        Ok(Self::over(Cells::new(plan, huge_pages)?, 0, seed))
    }

    /// Adds a key, a second copy of it too, and puts it into the store. It must have bytes: see
    /// [`Hashed::key`].
    ///
    /// # Errors
    /// [`Error::Full`] if no room can be made; nothing has changed then, and every key is still
    /// found. [`Error::Mismatch`] if the key has no bytes. The store's, after which keys may
    /// have moved, each with its fingerprint.
    pub fn insert_hashed<S: LockStep>(
        &mut self,
        key: &Hashed<'_>,
        store: &mut S,
    ) -> Result<(), S::Error> {
        let bytes = key.stored_key()?;
        let plan = *self.cells.plan();
        let identity = plan.identity(key);
        let bins = plan.bins_of(&identity);
        let free = |&bucket: &u64| {
            let slot = self.cells.free(bucket)?;
            Some(Cell { bucket, slot })
        };
        let cell = match bins.iter().find_map(free) {
            Some(cell) => cell,
            None => {
                let mut occupants = Keys::new::<H>(&mut self.cells, store, &self.seed);
                let room = self.search.make_room(&mut occupants, bins)?;
                room.ok_or_else(|| self.full())?
            }
        };
        let number = self.cells.number(cell);
        store.put(number, bytes)?;
        let content = content_at(&plan, &identity, cell, 0);
        self.cells.set(cell, content);
        self.len += 1;
        Ok(())
    }

    /// Removes one copy of a key, if it is a member: the store is asked, so this takes nobody
    /// else's fingerprint.
    ///
    /// # Errors
    /// The store's, and [`Error::Mismatch`] if the key has no bytes; nothing has changed then.
    pub fn remove_hashed<S: LockStep>(
        &mut self,
        key: &Hashed<'_>,
        store: &mut S,
    ) -> Result<Removed, S::Error> {
        match self.find(key, store)? {
            Some(cell) => {
                let number = self.cells.number(cell);
                store.take(number)?;
                self.cells.set(cell, Content::default());
                self.len -= 1;
                Ok(Removed::One)
            }
            None => Ok(Removed::NotFound),
        }
    }

    /// Tells the filter that a query was answered "maybe" and may be no member. If it is none,
    /// each key that it was mistaken for gets another fingerprint.
    ///
    /// # Errors
    /// [`Error::Full`] if no key can move (cuckooing); nothing has changed then but keys that
    /// moved before. The store's. [`Error::Mismatch`] if the key has no bytes.
    pub fn adapt_hashed<S: LockStep>(
        &mut self,
        query: &Hashed<'_>,
        store: &mut S,
    ) -> Result<Reported, S::Error> {
        if !self.contains_hashed(query) {
            return Ok(Reported::NotPositive);
        }
        if self.find(query, store)?.is_some() {
            return Ok(Reported::Member);
        }
        self.change_matches(query, store).map(Reported::Fixed)
    }

    /// Gives each key that matches a query another fingerprint.
    pub(crate) fn change_matches<S: LockStep>(
        &mut self,
        query: &Hashed<'_>,
        store: &mut S,
    ) -> Result<Adapted, S::Error> {
        // One after the other: a change may move what else matches.
        let mut matches: Vec<Cell> = self.cells.matches(query).collect();
        // Two of the locations may be the same.
        matches.sort_unstable();
        matches.dedup();
        let mut adapted = Adapted::default();
        for _ in 0..matches.len() {
            let Some(cell) = self.cells.matches(query).next() else {
                break;
            };
            self.change(cell, store)?;
            adapted.extended += 1;
        }
        Ok(adapted)
    }

    /// Gives the key of a cell another fingerprint.
    fn change<S: LockStep>(&mut self, cell: Cell, store: &mut S) -> Result<(), S::Error> {
        self.adaptations += 1;
        let plan = *self.cells.plan();
        match plan.scheme() {
            Scheme::Cyclic { selector_bits } => {
                let selector = (self.cells.get(cell).selector + 1) % (1 << selector_bits);
                let identity = Keys::new::<H>(&mut self.cells, store, &self.seed).identity(cell)?;
                let content = content_at(&plan, &identity, cell, selector);
                self.cells.set(cell, content);
            }
            Scheme::Swapping => {
                let slots = plan.layout().slots();
                let draw = mix(GOLDEN.wrapping_mul(self.adaptations)) % u64::from(slots - 1);
                let other = Cell {
                    slot: (cell.slot + 1 + draw as u32) % slots,
                    ..cell
                };
                let mut occupants = Keys::new::<H>(&mut self.cells, store, &self.seed);
                occupants.exchange(cell, other)?;
            }
            Scheme::Cuckooing => {
                let mut occupants = Keys::new::<H>(&mut self.cells, store, &self.seed);
                if !self.search.evict(&mut occupants, cell)? {
                    return Err(self.full().into());
                }
            }
        }
        Ok(())
    }

    fn full(&self) -> Error {
        Error::Full {
            used: self.len,
            slots: self.plan().cells(),
        }
    }

    /// Removes everything. The store is the caller's to empty.
    pub fn clear(&mut self) {
        self.cells.clear();
        self.len = 0;
    }

    /// A copy, or an error where [`Clone`] would abort for want of memory.
    ///
    /// # Errors
    /// [`Error::Geometry`] if a second table does not fit in memory.
    pub fn try_clone(&self) -> Result<Self, Error> {
        let mut copy = Self::over(self.cells.try_clone()?, self.len, self.seed);
        copy.adaptations = self.adaptations;
        Ok(copy)
    }
}

impl<H: StreamHash, M: Bytes> AdaptiveCuckooFilter<H, M> {
    pub(super) fn over(cells: Cells<M>, len: u64, seed: Seed) -> Self {
        AdaptiveCuckooFilter {
            cells,
            len,
            seed,
            hash: PhantomData,
            search: Search::default(),
            adaptations: 0,
        }
    }

    /// May `key` be a member? `false` is certain.
    #[inline]
    #[must_use]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hashed(&self.hash(key))
    }

    /// [`contains`](Self::contains) for a key that is hashed already.
    #[inline]
    #[must_use]
    pub fn contains_hashed(&self, key: &Hashed<'_>) -> bool {
        self.cells.matches(key).next().is_some()
    }

    /// The first cell that matches a key; `None` if it is certainly no member.
    #[must_use]
    pub fn lookup_hashed(&self, key: &Hashed<'_>) -> Option<u64> {
        let cell = self.cells.matches(key).next()?;
        Some(self.cells.number(cell))
    }

    /// Is the key a member? Reads the stored keys that match it, so this is certain.
    ///
    /// # Errors
    /// The store's, and [`Error::Mismatch`] if the key has no bytes.
    pub fn is_member_hashed<S: LockStep>(
        &self,
        key: &Hashed<'_>,
        store: &S,
    ) -> Result<bool, S::Error> {
        Ok(self.find(key, store)?.is_some())
    }

    /// The cell of a member.
    fn find<S: LockStep>(&self, key: &Hashed<'_>, store: &S) -> Result<Option<Cell>, S::Error> {
        let bytes = key.stored_key()?;
        for cell in self.cells.matches(key) {
            let same = store.read(self.cells.number(cell), |stored| stored == bytes)?;
            if same == Some(true) {
                return Ok(Some(cell));
            }
        }
        Ok(None)
    }

    /// How many keys the filter holds, duplicates counted.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Keys per cell.
    #[must_use]
    pub fn load(&self) -> f64 {
        self.len as f64 / self.plan().cells() as f64
    }

    /// Its measures.
    #[must_use]
    pub fn plan(&self) -> Plan {
        *self.cells.plan()
    }

    /// Size, load, space and expected error of a first query.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let plan = self.plan();
        let bytes = self.cells.bytes().len() as u64;
        Stats {
            expected_fpr: plan.expected_fpr(self.len),
            ..Stats::of_slots(self.len, plan.cells(), plan.fingerprint_bits(), bytes)
        }
    }

    /// Verifies what must hold in the table.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn check_invariants(&self) -> Result<(), Violation> {
        let used = self.cells.count()?;
        if used != self.len {
            return Err(Violation::new("fingerprints are not counted right", used));
        }
        Ok(())
    }

    /// Verifies the table, and that filter and store go in lock-step: each fingerprint is one of
    /// the key in its cell, which may lie there, and no other cell has a key.
    ///
    /// # Errors
    /// [`Error::Mismatch`] with the first invariant that does not hold. The store's.
    pub fn check_lock_step<S: LockStep>(&self, store: &S) -> Result<(), S::Error> {
        self.check_invariants().map_err(Error::from)?;
        let broken = |what, cell| Err(Error::from(Violation::new(what, cell)).into());
        let plan = self.plan();
        for number in 0..plan.cells() {
            let cell = self.cells.cell(number);
            let Content {
                fingerprint,
                selector,
            } = self.cells.get(cell);
            let right = store.read(number, |key| {
                let identity = plan.identity(&Hashed::from_bytes::<H>(&self.seed, key));
                // By any of the locations that are this one.
                (0..).zip(plan.bins_of(&identity)).any(|(choice, &bin)| {
                    let function = plan.function(selector, cell.slot, choice) as usize;
                    bin == cell.bucket && identity.fingerprints[function] == fingerprint
                })
            })?;
            match right {
                Some(false) => return broken("a key is not of its cell", number),
                Some(true) if fingerprint != 0 => {}
                None if fingerprint == 0 => {}
                _ => return broken("a key or fingerprint is alone", number),
            }
        }
        Ok(())
    }
}

/// What a cell holds of a key.
fn content_at(plan: &Plan, identity: &Identity, cell: Cell, selector: u32) -> Content {
    let mut choices = (0..).zip(plan.bins_of(identity));
    let here = choices.find(|&(_, &bin)| bin == cell.bucket);
    let (choice, _) = here.expect("a key lies in one of its bins");
    let function = plan.function(selector, cell.slot, choice) as usize;
    Content {
        fingerprint: identity.fingerprints[function],
        selector,
    }
}

/// The occupants are keys: where one could live as well is asked of the store, once.
struct Keys<'t, S> {
    cells: &'t mut Cells,
    store: &'t mut S,
    seed: &'t Seed,
    hash: fn(&Plan, &Seed, &[u8]) -> Identity,
    /// Cells that were read.
    known: Vec<(Cell, Identity)>,
}

impl<'t, S: LockStep> Keys<'t, S> {
    fn new<H: StreamHash>(cells: &'t mut Cells, store: &'t mut S, seed: &'t Seed) -> Self {
        Keys {
            cells,
            store,
            seed,
            hash: |plan, seed, key| plan.identity(&Hashed::from_bytes::<H>(seed, key)),
            known: Vec::new(),
        }
    }

    fn identity(&mut self, cell: Cell) -> Result<Identity, S::Error> {
        let known = self.known.iter().rev();
        let mut known = known.filter(|(other, _)| *other == cell);
        if let Some((_, identity)) = known.next() {
            return Ok(*identity);
        }
        let number = self.cells.number(cell);
        let plan = self.cells.plan();
        let identity = self
            .store
            .read(number, |key| (self.hash)(plan, self.seed, key))?;
        let Some(identity) = identity.filter(|id| plan.bins_of(id).contains(&cell.bucket)) else {
            return Err(Error::mismatch(format!(
                "the store has not the key of cell {number}; use the store that the filter was \
                 filled with, and nobody else changes"
            ))
            .into());
        };
        self.known.push((cell, identity));
        Ok(identity)
    }

    /// Two cells of one bin, the first of which has a key, change places.
    fn exchange(&mut self, one: Cell, two: Cell) -> Result<(), S::Error> {
        let first = self.identity(one)?;
        if self.cells.get(two).fingerprint == 0 {
            return self.relocate(one, two);
        }
        let second = self.identity(two)?;
        let numbers = (self.cells.number(one), self.cells.number(two));
        self.store.swap(numbers.0, numbers.1)?;
        let plan = *self.cells.plan();
        let selectors = [one, two].map(|cell| self.cells.get(cell).selector);
        self.cells
            .set(two, content_at(&plan, &first, two, selectors[0]));
        self.cells
            .set(one, content_at(&plan, &second, one, selectors[1]));
        Ok(())
    }
}

impl<S: LockStep> Occupants for Keys<'_, S> {
    type Error = S::Error;
    /// A cell is known by its key, which is read when it is looked at.
    type Bucket = ();

    fn slots(&self) -> u32 {
        self.cells.plan().layout().slots()
    }

    fn free(&self, bucket: u64) -> Option<u32> {
        self.cells.free(bucket)
    }

    fn read(&self, _: u64) {}

    fn other_buckets(&mut self, (): (), cell: Cell) -> Result<OtherBuckets, S::Error> {
        let identity = self.identity(cell)?;
        let (mut elsewhere, mut count) = ([0; 3], 0);
        for &bin in self.cells.plan().bins_of(&identity) {
            if bin != cell.bucket && !elsewhere[..count].contains(&bin) {
                elsewhere[count] = bin;
                count += 1;
            }
        }
        Ok((elsewhere, count))
    }

    fn relocate(&mut self, from: Cell, to: Cell) -> Result<(), S::Error> {
        let identity = self.identity(from)?;
        let numbers = (self.cells.number(from), self.cells.number(to));
        self.store.relocate(numbers.0, numbers.1)?;
        let selector = self.cells.get(from).selector;
        let content = content_at(self.cells.plan(), &identity, to, selector);
        self.cells.set(to, content);
        self.cells.set(from, Content::default());
        Ok(())
    }
}

impl<H: StreamHash, M: Bytes> fmt::Debug for AdaptiveCuckooFilter<H, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AdaptiveCuckooFilter")
            .field("len", &self.len)
            .field("plan", self.cells.plan())
            .field("hash", &H::KIND)
            .finish_non_exhaustive()
    }
}

/// Keys of a batch whose cache lines are prefetched at once.
const PIECE: usize = 64;

facade! {
    [H: StreamHash, M: Bytes] AdaptiveCuckooFilter<H, M>: Hash, Filter;
    [H: StreamHash] AdaptiveCuckooFilter<H>: Clone;
}

impl<H: StreamHash, M: Bytes> AdaptiveCuckooFilter<H, M> {
    fn contains_all<K: Key>(&self, keys: &[K], found: &mut Vec<bool>) {
        found.clear();
        for piece in keys.chunks(PIECE) {
            let hashed: Vec<Hashed<'_>> = piece.iter().map(|key| self.hash(key)).collect();
            self.contains_piece(&hashed, found);
        }
    }

    fn contains_all_hashed(&self, keys: &[Hashed<'_>], found: &mut Vec<bool>) {
        found.clear();
        for piece in keys.chunks(PIECE) {
            self.contains_piece(piece, found);
        }
    }

    fn contains_piece(&self, keys: &[Hashed<'_>], found: &mut Vec<bool>) {
        keys.iter().for_each(|key| self.cells.prefetch(key));
        found.extend(keys.iter().map(|key| self.contains_hashed(key)));
    }
}
