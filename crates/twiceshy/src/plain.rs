//! The plain quotient filter.
//!
//! A set of fingerprints, each a quotient (where it lives) and a remainder (what is
//! stored there); see [`quotient`](crate::quotient) for how the table works. It answers
//! "maybe" when the fingerprint of the asked key is in the table, so it never says "no"
//! for a member, and says "maybe" for another key with probability `(m / n) 2^-r`.
//!
//! | | |
//! | --- | --- |
//! | space | `r + 2.25` bits a slot, `(r + 2.25) / load` bits an item |
//! | false-positive rate | `1 - (1 - 1/(n 2^r))^m`, about `load * 2^-r` |
//! | lookup | one or two cache lines, no data-dependent branch inside a block |
//! | insert, remove | the same, and `O(1/(1 - load)^2)` slots moved, many at a time |
//!
//! Unlike a Bloom filter it can remove, can be iterated, and keeps duplicates apart.

use std::fmt;
use std::iter::FusedIterator;

use crate::bits::{Isa, Operation};
use crate::builder::{Buildable, Builder, Parts};
use crate::error::Error;
use crate::hash::{Hashed, Key, Seed, Sip13, StreamHash, first_word};
use crate::mem::Memory;
use crate::quotient::{
    Bare, Fingerprint, Geometry, Run, Runs, Short, Table, TableOptions, Violation,
};
use crate::stats::Stats;
use crate::traits::{Filter, Insert, Remove, Removed};

/// A quotient filter: approximate membership with removal, iteration and duplicates.
///
/// ```
/// use twiceshy::{QuotientFilter, Removed};
///
/// let mut filter = QuotientFilter::new(1_000, 0.001)?;
/// filter.insert("anna")?;
/// filter.insert("anna")?; // kept twice
/// assert!(filter.contains("anna"));
///
/// assert_eq!(filter.remove("anna")?, Removed::One);
/// assert!(filter.contains("anna"), "one copy is left");
/// assert_eq!(filter.remove("anna")?, Removed::One);
/// assert_eq!(filter.remove("anna")?, Removed::NotFound);
/// # Ok::<(), twiceshy::Error>(())
/// ```
pub struct QuotientFilter<H: StreamHash = Sip13> {
    core: Core,
    keyed: H::Keyed,
    seed: Seed,
}

/// The filter without its hash function: what the operations work on.
struct Core {
    table: Table<Bare>,
    geometry: Geometry,
}

/// What an insertion that keeps one copy did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inserted {
    /// The fingerprint was new.
    New,
    /// An equal fingerprint was there already, of this key or another; nothing changed.
    Present,
}

impl QuotientFilter {
    /// An empty filter for `capacity` keys with a false-positive rate of at most `fpr`, a
    /// random seed, and the default hash, which is safe against keys chosen by an
    /// attacker.
    ///
    /// # Errors
    /// [`Error::Geometry`] if there is no such filter or no memory for it,
    /// [`Error::Seed`] if the system has no randomness to give.
    pub fn new(capacity: u64, fpr: f64) -> Result<Self, Error> {
        Self::builder().capacity(capacity).fpr(fpr).build()
    }

    /// For everything else that can be chosen, another hash among them.
    pub fn builder() -> Builder<Self> {
        Builder::new()
    }
}

impl<H: StreamHash> Buildable for QuotientFilter<H> {
    type WithHash<X: StreamHash> = QuotientFilter<X>;

    fn from_parts(parts: Parts) -> Result<Self, Error> {
        let table = Table::new(TableOptions {
            quotients: parts.geometry.slots(),
            slot_bits: parts.geometry.remainder_bits(),
            ignored_bits: 0,
            huge_pages: parts.huge_pages,
        })?;
        Ok(QuotientFilter {
            core: Core {
                table,
                geometry: parts.geometry,
            },
            keyed: H::keyed(&parts.seed),
            seed: parts.seed,
        })
    }
}

impl<H: StreamHash> QuotientFilter<H> {
    /// Hashes a key the way this filter does, for the methods that take a [`Hashed`] key: of
    /// this filter, or of another one with the same hash and seed.
    #[inline]
    #[must_use]
    pub fn hash<'k, K: Key + ?Sized>(&self, key: &'k K) -> Hashed<'k> {
        Hashed::new::<H, K>(&self.seed, key)
    }

    /// May `key` be a member? `false` is certain; `true` is wrong for a key that was never
    /// inserted at the false-positive rate.
    #[inline]
    #[must_use]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_h0(first_word::<H, K>(&self.keyed, key))
    }

    /// [`contains`](Self::contains) for a key that is hashed already, with this filter's hash
    /// and seed. (Under others it is another key, which nothing here can notice.)
    #[inline]
    #[must_use]
    pub fn contains_hashed(&self, key: &Hashed<'_>) -> bool {
        self.contains_h0(key.h0())
    }

    #[inline(always)]
    fn contains_h0(&self, h0: u64) -> bool {
        let core = &self.core;
        core.table.cpu().run(Contains { core, h0 })
    }

    /// Adds a key. A key that is added twice is there twice, and takes two removals.
    ///
    /// # Errors
    /// [`Error::Full`] if no slot is left; nothing has changed then.
    #[inline(always)]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<(), Error> {
        self.insert_h0(first_word::<H, K>(&self.keyed, key))
    }

    /// [`insert`](Self::insert) for a key that is hashed already.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn insert_hashed(&mut self, key: &Hashed<'_>) -> Result<(), Error> {
        self.insert_h0(key.h0())
    }

    #[inline(always)]
    fn insert_h0(&mut self, h0: u64) -> Result<(), Error> {
        let core = &mut self.core;
        core.table.cpu().run(InsertOne { core, h0 })
    }

    /// Adds a key unless its fingerprint is there already, so that the filter keeps one
    /// copy. Don't mix this with [`remove`](Self::remove): two keys that share a
    /// fingerprint share that copy.
    ///
    /// # Errors
    /// [`Error::Full`] if no slot is left; nothing has changed then.
    #[inline]
    pub fn insert_unique<K: Key + ?Sized>(&mut self, key: &K) -> Result<Inserted, Error> {
        self.insert_unique_h0(first_word::<H, K>(&self.keyed, key))
    }

    /// [`insert_unique`](Self::insert_unique) for a key that is hashed already.
    ///
    /// # Errors
    /// As [`insert_unique`](Self::insert_unique).
    #[inline]
    pub fn insert_unique_hashed(&mut self, key: &Hashed<'_>) -> Result<Inserted, Error> {
        self.insert_unique_h0(key.h0())
    }

    #[inline]
    fn insert_unique_h0(&mut self, h0: u64) -> Result<Inserted, Error> {
        if self.contains_h0(h0) {
            return Ok(Inserted::Present);
        }
        self.insert_h0(h0).map(|()| Inserted::New)
    }

    /// Removes one copy of a key.
    ///
    /// **The caller vouches that the key is a member.** The filter has no keys, so it
    /// can't tell a member from a false positive: removing a key that was never inserted,
    /// but whose fingerprint equals a member's, removes that member, and the filter then
    /// wrongly says "no" for it. A key whose fingerprint isn't there is reported as
    /// [`Removed::NotFound`] and changes nothing.
    ///
    /// # Errors
    /// None; the `Result` is that of the trait [`Remove`].
    #[inline(always)]
    pub fn remove<K: Key + ?Sized>(&mut self, key: &K) -> Result<Removed, Error> {
        Ok(self.remove_h0(first_word::<H, K>(&self.keyed, key)))
    }

    /// [`remove`](Self::remove) for a key that is hashed already; the caller vouches for
    /// it just the same.
    ///
    /// # Errors
    /// None, as [`remove`](Self::remove).
    #[inline]
    pub fn remove_hashed(&mut self, key: &Hashed<'_>) -> Result<Removed, Error> {
        Ok(self.remove_h0(key.h0()))
    }

    #[inline(always)]
    fn remove_h0(&mut self, h0: u64) -> Removed {
        let core = &mut self.core;
        core.table.cpu().run(RemoveOne { core, h0 })
    }

    /// Removes everything and keeps the memory.
    pub fn clear(&mut self) {
        self.core.table.clear();
    }

    /// How many items the filter holds, duplicates counted.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.core.table.used()
    }

    /// Is it empty?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Items per slot. Above [`sizing::MAX_LOAD`](crate::sizing::MAX_LOAD) insertions become slow.
    #[must_use]
    pub fn load(&self) -> f64 {
        self.len() as f64 / self.core.geometry.slots() as f64
    }

    /// Slots and remainder bits.
    #[must_use]
    pub fn geometry(&self) -> Geometry {
        self.core.geometry
    }

    /// The seed of the hash. Keep it from those who may choose keys.
    #[must_use]
    pub fn seed(&self) -> Seed {
        self.seed
    }

    /// All fingerprints in hash order, duplicates as often as they were inserted.
    #[must_use]
    pub fn iter(&self) -> Iter<'_> {
        Iter {
            table: &self.core.table,
            runs: self.core.table.runs(),
            run: None,
            left: self.len(),
        }
    }

    /// Size, load, space and expected error. Reads the whole table (for the longest
    /// cluster).
    #[must_use]
    pub fn stats(&self) -> Stats {
        let items = self.len();
        Stats::of_table(&self.core.table, &self.core.geometry, items, items)
    }

    /// A copy, or an error where [`Clone`] would abort for want of memory.
    ///
    /// # Errors
    /// [`Error::Geometry`] if a second table does not fit in memory.
    pub fn try_clone(&self) -> Result<Self, Error> {
        Ok(QuotientFilter {
            core: Core {
                table: self.core.table.try_clone()?,
                geometry: self.core.geometry,
            },
            ..*self
        })
    }

    /// Verifies everything that must hold in the table, from scratch. For tests and for
    /// the suspicious; linear in the size of the filter.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn check_invariants(&self) -> Result<(), Violation> {
        self.core.table.check_invariants()?;
        let mut last = None;
        for fingerprint in self.iter() {
            if last > Some(fingerprint) {
                return Err(Violation::new("a run is not sorted", fingerprint.quotient));
            }
            last = Some(fingerprint);
        }
        Ok(())
    }
}

// Operations are two words, so that they travel in registers.

struct Contains<'f> {
    core: &'f Core,
    h0: u64,
}

impl Operation for Contains<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<I: Isa>(self) -> bool {
        let Contains { core, h0 } = self;
        let fingerprint = core.geometry.fingerprint(h0);
        match core.table.probe::<I, Bare>(fingerprint) {
            Some(found) => found,
            None => core.contains_beyond(h0),
        }
    }
}

/// The long ways, kept out of the short ones: they would cost those their registers.
impl Core {
    #[inline(never)]
    fn contains_beyond(&self, h0: u64) -> bool {
        self.table.cpu().run(ContainsBeyond { core: self, h0 })
    }

    #[inline(never)]
    fn insert_beyond(&mut self, h0: u64) -> Result<(), Error> {
        self.table.cpu().run(InsertBeyond { core: self, h0 })
    }

    #[inline(never)]
    fn remove_beyond(&mut self, h0: u64) -> Removed {
        self.table.cpu().run(RemoveBeyond { core: self, h0 })
    }
}

struct ContainsBeyond<'f> {
    core: &'f Core,
    h0: u64,
}

impl Operation for ContainsBeyond<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<I: Isa>(self) -> bool {
        let Core { table, geometry } = self.core;
        let Fingerprint {
            quotient,
            remainder,
        } = geometry.fingerprint(self.h0);
        table.run_holds(&table.run::<I>(quotient), remainder)
    }
}

struct InsertOne<'f> {
    core: &'f mut Core,
    h0: u64,
}

impl Operation for InsertOne<'_> {
    type Output = Result<(), Error>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Result<(), Error> {
        let InsertOne { core, h0 } = self;
        let Fingerprint {
            quotient,
            remainder,
        } = core.geometry.fingerprint(h0);
        match core.table.insert_short::<I, Bare>(quotient, remainder, ()) {
            Short::Done(result) => result,
            Short::NotHere => core.insert_beyond(h0),
        }
    }
}

struct InsertBeyond<'f> {
    core: &'f mut Core,
    h0: u64,
}

impl Operation for InsertBeyond<'_> {
    type Output = Result<(), Error>;

    #[inline(always)]
    fn run<I: Isa>(self) -> Result<(), Error> {
        let Core { table, geometry } = self.core;
        let Fingerprint {
            quotient,
            remainder,
        } = geometry.fingerprint(self.h0);
        let run = table.run::<I>(quotient);
        let at = table.upper_bound(&run, remainder);
        table.open_home::<I>(&run, at, remainder, ())
    }
}

struct RemoveOne<'f> {
    core: &'f mut Core,
    h0: u64,
}

impl Operation for RemoveOne<'_> {
    type Output = Removed;

    #[inline(always)]
    fn run<I: Isa>(self) -> Removed {
        let RemoveOne { core, h0 } = self;
        let fingerprint = core.geometry.fingerprint(h0);
        match core.table.remove_short::<I, Bare, false>(fingerprint) {
            Short::Done(removed) => removed,
            Short::NotHere => core.remove_beyond(h0),
        }
    }
}

struct RemoveBeyond<'f> {
    core: &'f mut Core,
    h0: u64,
}

impl Operation for RemoveBeyond<'_> {
    type Output = Removed;

    #[inline(always)]
    fn run<I: Isa>(self) -> Removed {
        let Core { table, geometry } = self.core;
        let Fingerprint {
            quotient,
            remainder,
        } = geometry.fingerprint(self.h0);
        let run = table.run::<I>(quotient);
        match table.find_value(&run, remainder) {
            Some(at) => {
                table.close::<I>(&run, at);
                Removed::One
            }
            None => Removed::NotFound,
        }
    }
}

/// The fingerprints of a [`QuotientFilter`] in hash order.
pub struct Iter<'f> {
    table: &'f Table<Bare>,
    runs: Runs<'f, Bare, Memory>,
    /// What is left of the run being read.
    run: Option<Run>,
    /// Fingerprints still to come.
    left: u64,
}

impl Iterator for Iter<'_> {
    type Item = Fingerprint;

    fn next(&mut self) -> Option<Fingerprint> {
        let mut run = match self.run.take() {
            Some(run) if run.start < run.end => run,
            _ => self.runs.next()?,
        };
        let remainder = self.table.slot(run.start).value;
        run.start += 1;
        self.run = Some(run);
        self.left -= 1;
        Some(Fingerprint {
            quotient: run.quotient,
            remainder,
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.left).ok();
        (left.unwrap_or(usize::MAX), left)
    }
}

impl FusedIterator for Iter<'_> {}

impl fmt::Debug for Iter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Iter")
            .field("left", &self.left)
            .finish_non_exhaustive()
    }
}

impl<'f, H: StreamHash> IntoIterator for &'f QuotientFilter<H> {
    type Item = Fingerprint;
    type IntoIter = Iter<'f>;

    fn into_iter(self) -> Iter<'f> {
        self.iter()
    }
}

impl<H: StreamHash> Clone for QuotientFilter<H> {
    fn clone(&self) -> Self {
        match self.try_clone() {
            Ok(copy) => copy,
            // As `Vec` does; `try_clone` is there for those who would rather know.
            Err(error) => panic!("{error}"),
        }
    }
}

impl<H: StreamHash> fmt::Debug for QuotientFilter<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QuotientFilter")
            .field("len", &self.len())
            .field("slots", &self.core.geometry.slots())
            .field("remainder_bits", &self.core.geometry.remainder_bits())
            .field("hash", &H::KIND)
            .finish_non_exhaustive()
    }
}

impl<H: StreamHash> Filter for QuotientFilter<H> {
    #[inline]
    fn hash<'k, K: Key + ?Sized>(&self, key: &'k K) -> Hashed<'k> {
        self.hash(key)
    }

    #[inline]
    fn contains_hashed(&self, key: &Hashed<'_>) -> bool {
        self.contains_hashed(key)
    }

    #[inline]
    fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains(key)
    }

    fn len(&self) -> u64 {
        self.len()
    }

    fn stats(&self) -> Stats {
        self.stats()
    }
}

impl<H: StreamHash> Insert for QuotientFilter<H> {
    #[inline]
    fn insert_hashed(&mut self, key: &Hashed<'_>) -> Result<(), Error> {
        self.insert_hashed(key)
    }

    #[inline]
    fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<(), Error> {
        self.insert(key)
    }
}

impl<H: StreamHash> Remove for QuotientFilter<H> {
    #[inline]
    fn remove_hashed(&mut self, key: &Hashed<'_>) -> Result<Removed, Error> {
        self.remove_hashed(key)
    }

    #[inline]
    fn remove<K: Key + ?Sized>(&mut self, key: &K) -> Result<Removed, Error> {
        self.remove(key)
    }
}
