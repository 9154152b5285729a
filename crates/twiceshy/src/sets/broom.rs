//! The broom filter: it cleans up its mistakes, and then its own fingerprints.
//!
//! # The idea
//!
//! The broom filter was the first filter with a proof: whatever an adversary asks, and
//! whatever answers it has seen, each query is wrong with probability at most the filter's
//! rate. It extends fingerprints, as our [adaptive](crate::filters::adaptive) filter does. What it has
//! beyond that are three rules, and this module is the adaptive filter under those rules:
//!
//! | rule | why | by |
//! | --- | --- | --- |
//! | *No fingerprint is a prefix of another*: an insertion extends both sides until it is so | the one member behind a wrong answer is known at once | [`AdaptiveSet::insert_apart`] |
//! | *Ghosts*: a removed fingerprint leaves its extension behind, for the next insertion that it fits | removing and inserting again makes no mistake come back | [`Leave::Ghost`] |
//! | *Another hash function*, a few keys at a time | extensions never take more than `O(n)` bits | a frontier |
//!
//! The last one: each time that an extension grows, the two smallest members above the
//! *frontier* (in the order of their bytes) move to the next hash function, and the frontier
//! with them. A query up to the frontier is hashed with the next function, one above it with the
//! old. When the frontier has passed all members, the next phase begins:
//!
//! ```text
//!   members in order   a  b  c  d | e  f  g  h …
//!                      next hash  ^  old hash
//!                              frontier
//! ```
//!
//! So no operation ever rebuilds everything. A query that was fixed stays fixed until its member
//! moves; then it is a new query to a new function.
//!
//! # What differs from the paper
//!
//! There, both functions share one table, and there are two levels of it for constant worst-case
//! times. Here each function has an adaptive filter of its own, so a set takes the space of two
//! tables; in return the old function's ghosts and extensions go with its table, all at once.
//! The hash never runs out of bits, so keys can be strings of any length.
//!
//! Papers: Bender et al., "Bloom filters, adaptivity, and the dictionary problem" (2018), as the
//! survey of adaptive filters tells it (4.2), and Lee, "A Practical Adaptive Quotient Filter",
//! 5.1.
//!
//! ```
//! use twiceshy::BroomSet;
//!
//! let mut set = BroomSet::new(1_000, 0.1)?;
//! for key in 0..500_u64 {
//!     set.insert(&key)?;
//! }
//! for query in 1_000..40_000_u64 {
//!     if set.contains(&query) {
//!         set.report_false_positive(&query)?;
//!         assert!(!set.contains(&query));
//!     }
//! }
//! assert!((0..500_u64).all(|key| set.contains(&key)));
//! assert!(set.phases() > 0, "all of them have changed their hash function");
//! # Ok::<(), twiceshy::Error>(())
//! ```

use std::collections::BTreeSet;
use std::ops::Bound;

use super::AdaptiveSet;
use crate::builder::Builder;
use crate::error::Error;
use crate::filters::adaptive::AdaptiveFilter;
use crate::geometry::Geometry;
use crate::hash::{Hashed, Key, Seed, Sip13, StreamHash};
use crate::outcome::{Inserted, Leave, Removed, Reported};

/// A set of keys and a broom filter in front of it. See the [module](self).
#[derive(Clone, Debug)]
pub struct BroomSet<H: StreamHash = Sip13> {
    /// Members above the frontier.
    old: AdaptiveSet<H>,
    /// Members up to the frontier.
    next: AdaptiveSet<H>,
    /// The last member that has moved; none at the start of a phase.
    frontier: Option<Box<[u8]>>,
    /// All members, in the order of their bytes.
    order: BTreeSet<Box<[u8]>>,
    /// How many members move whenever an extension grows.
    step: usize,
    phases: u64,
}

impl BroomSet {
    /// An empty set for `capacity` keys, with filters of false-positive rate `fpr`. Give it
    /// more capacity than keys: extensions and ghosts take slots as well.
    ///
    /// # Errors
    /// As [`AdaptiveFilter::new`].
    pub fn new(capacity: u64, fpr: f64) -> Result<Self, Error> {
        Self::from_builder(AdaptiveFilter::builder().capacity(capacity).fpr(fpr))
    }
}

impl<H: StreamHash> BroomSet<H> {
    /// An empty set with filters built to order. The seed is that of the first hash function;
    /// each further one is made from the one before by a keyed hash.
    ///
    /// # Errors
    /// Those of [`Builder::build`].
    pub fn from_builder(builder: Builder<AdaptiveFilter<H>>) -> Result<Self, Error> {
        let old = AdaptiveSet::from_builder(builder)?;
        let next = successor(&old)?;
        Ok(BroomSet {
            old,
            next,
            frontier: None,
            order: BTreeSet::new(),
            step: 2,
            phases: 0,
        })
    }

    /// How many members move to the next hash function whenever an extension grows, at least
    /// two. Default: two.
    #[must_use]
    pub fn with_step(mut self, members: usize) -> Self {
        self.step = members.max(2);
        self
    }

    /// Which of both filters answers for a key.
    #[inline]
    fn is_behind(&self, key: &[u8]) -> bool {
        self.frontier.as_deref().is_some_and(|last| key <= last)
    }

    fn side(&self, key: &[u8]) -> &AdaptiveSet<H> {
        if self.is_behind(key) {
            &self.next
        } else {
            &self.old
        }
    }

    fn side_mut(&mut self, key: &[u8]) -> &mut AdaptiveSet<H> {
        if self.is_behind(key) {
            &mut self.next
        } else {
            &mut self.old
        }
    }

    /// Adds a key, if it is not a member already.
    ///
    /// # Errors
    /// [`Error::Full`] if no slot is left, [`Error::Inseparable`] if hashes agree for ever;
    /// nothing has changed then.
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<Inserted, Error> {
        key.with_bytes(|bytes| {
            let side = self.side_mut(bytes);
            let before = extensions(side);
            let insertion = side.insert_apart(bytes)?;
            let has_grown = extensions(side) > before;
            if insertion != Inserted::Present {
                self.order.insert(bytes.into());
                if has_grown {
                    self.advance();
                }
            }
            Ok(insertion)
        })
    }

    /// Removes a key, if it is a member, and leaves a ghost.
    ///
    /// # Errors
    /// [`Error::Full`] if there is no slot for the ghost; nothing has changed then.
    pub fn remove<K: Key + ?Sized>(&mut self, key: &K) -> Result<Removed, Error> {
        key.with_bytes(|bytes| {
            let removed = self.side_mut(bytes).remove_leaving(bytes, Leave::Ghost)?;
            self.order.remove(bytes);
            Ok(removed)
        })
    }

    /// May `key` be a member? `false` is certain.
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        key.with_bytes(|bytes| self.side(bytes).contains(bytes))
    }

    /// The store behind the filter did not have this key: learn from it, and move on. Harmless
    /// for keys that are members, or that the filter answers "no" already.
    ///
    /// # Errors
    /// [`Error::Full`] if slots are missing, [`Error::Inseparable`] if hashes agree for ever; the
    /// filter goes on as it was, with this mistake unfixed.
    pub fn report_false_positive<K: Key + ?Sized>(&mut self, key: &K) -> Result<Reported, Error> {
        key.with_bytes(|bytes| {
            let reported = self.side_mut(bytes).report_false_positive(bytes)?;
            if let Reported::Fixed(_) = reported {
                self.advance();
                if self.contains(bytes) {
                    // Moving on has brought a new function to it, and it is unlucky again.
                    self.side_mut(bytes).report_false_positive(bytes)?;
                }
            }
            Ok(reported)
        })
    }

    /// Moves some members to the next hash function, and begins a phase when there are no
    /// more. A member that finds no room there waits.
    fn advance(&mut self) {
        for _ in 0..self.step {
            let above = match &self.frontier {
                Some(last) => Bound::Excluded(last.clone()),
                None => Bound::Unbounded,
            };
            let Some(key) = self.order.range((above, Bound::Unbounded)).next().cloned() else {
                self.begin_phase();
                return;
            };
            if self.next.insert_apart(&key[..]).is_err() {
                return;
            }
            let _ = self
                .old
                .remove(&key[..])
                .expect("a removal that leaves nothing needs no room");
            self.frontier = Some(key);
        }
        let is_last = self.frontier.as_ref() == self.order.last();
        if is_last {
            self.begin_phase();
        }
    }

    fn begin_phase(&mut self) {
        // Without memory for another table, the phase goes on; the next adaptation tries again.
        if let Ok(empty) = successor(&self.next) {
            self.old = std::mem::replace(&mut self.next, empty);
            self.frontier = None;
            self.phases += 1;
        }
    }

    /// How many keys there are.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.order.len() as u64
    }

    /// Is it empty?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// How often all members have changed their hash function.
    #[must_use]
    pub fn phases(&self) -> u64 {
        self.phases
    }

    /// Slots that extensions and ghosts take beyond the members' own.
    #[must_use]
    pub fn extension_slots(&self) -> u64 {
        extensions(&self.old) + extensions(&self.next)
    }

    /// Slots and remainder bits of each of both tables.
    #[must_use]
    pub fn geometry(&self) -> Geometry {
        self.old.filter().geometry()
    }

    /// The keys, in the order of their bytes.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.order.iter().map(|key| &**key)
    }

    /// Verifies both filters, that every member is where the frontier says, and that no
    /// fingerprint matches another's key (so that none is a prefix of another).
    ///
    /// # Errors
    /// [`Error::Mismatch`] with the first invariant that does not hold.
    pub fn check_invariants(&self) -> Result<(), Error> {
        for (side, behind) in [(&self.old, false), (&self.next, true)] {
            side.check_invariants()?;
            for key in side.iter() {
                if self.is_behind(key) != behind || !self.order.contains(key) {
                    return Err(Error::mismatch("a key is on the wrong side"));
                }
                if side.filter().matching(&side.filter().hash(key)) != 1 {
                    return Err(Error::mismatch("a fingerprint is a prefix of another"));
                }
            }
        }
        if self.old.len() + self.next.len() != self.len() {
            return Err(Error::mismatch("a key is missing"));
        }
        Ok(())
    }
}

/// An empty set of the same measures with another hash function, which nobody can know who
/// does not know this one.
fn successor<H: StreamHash>(set: &AdaptiveSet<H>) -> Result<AdaptiveSet<H>, Error> {
    let (geometry, seed) = (set.filter().geometry(), set.filter().seed());
    let next = Hashed::from_bytes::<Sip13>(&seed, b"twiceshy: the next hash function");
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&next.word(0).to_le_bytes());
    bytes[8..].copy_from_slice(&next.word(1).to_le_bytes());
    let builder = Builder::<AdaptiveFilter<H>>::new()
        .slots(geometry.slots())
        .remainder_bits(geometry.remainder_bits())
        .seed(Seed::from_bytes(bytes));
    AdaptiveSet::from_builder(builder)
}

/// Slots beyond one for each member.
fn extensions<H: StreamHash>(set: &AdaptiveSet<H>) -> u64 {
    set.filter().used_slots() - set.filter().len()
}
