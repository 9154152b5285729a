//! The extension adaptive filter: it lengthens a fingerprint that was wrong, in fixed space.
//!
//! # The idea
//!
//! As the [adaptive](crate::filters::adaptive) filter, this one answers a mistake by further bits of the
//! member's hash. They don't take slots, though: the extensions of the 64 slots of a block are
//! one arithmetic [`code`] of 56 bits, 0.875 bits a slot, and single bits are appended, no more
//! than it takes.
//!
//! ```text
//!   member  x   q | r | 1 0 1 …          stored   r, extension ""       matches x and z
//!   query   z   q | r | 1 1 0 …          adapt:   r, extension "10"     matches x, not z
//! ```
//!
//! Where a code has no room, other extensions of its block are given up ([`Overflow`]), and
//! their mistakes may come back. That takes no keys: a fingerprint without its extension still
//! matches its key.
//!
//! | | |
//! | --- | --- |
//! | space | `r + 3.125` bits a slot, for ever |
//! | false negatives | none, ever, if the keys given are the right ones |
//! | false-positive rate | `load * 2^-r`, and less the more has been fixed: an extension of `k` bits leaves one in `2^k` of the mistakes of its fingerprint |
//! | lookup | that of the plain filter; where the remainder is found and an extension is near, its block's code is read |
//! | adapt | the keys of one minirun |
//!
//! It remembers fewer mistakes than the [telescoping](crate::filters::telescoping) filter in the same
//! space (an extension takes four bits of code on average where a selector takes two), but each
//! fixes others that were never asked, and lookups of strangers don't touch the codes.
//!
//! Papers: Lee, McCauley, Singh, Stein, "Telescoping Filter: A Practical Adaptive Filter" (2021),
//! section 5, exAF; Lee, "A Practical Adaptive Quotient Filter" (2021), 5.3, EXTQF.
//!
//! ```
//! use twiceshy::ExtensionSet;
//!
//! let mut set = ExtensionSet::new(1_000, 0.1)?;
//! set.insert("robin")?;
//! let wrong: Vec<u64> = (0..20_000).filter(|query| set.contains(query)).collect();
//! for query in &wrong {
//!     set.report_false_positive(query)?;
//! }
//! assert!(wrong.iter().all(|query| !set.contains(query)));
//! assert!(set.contains("robin"));
//! # Ok::<(), twiceshy::Error>(())
//! ```
//!
//! [`code`]: crate::code

mod adapt;
mod file;
#[cfg(test)]
mod tests;

use std::fmt;

use crate::bits::Bytes;
use crate::builder::{Buildable, Builder, Parts};
use crate::code::{Coder, Coding, Extension, Extensions};
use crate::error::Error;
use crate::filters::lettered::{Core, Glimpse, Letters, Refuse};
use crate::hash::{Hashed, Key, Seed, Sip13, StreamHash, first_word};
use crate::mem::Memory;
use crate::sets::keyed::KeyedSet;
use crate::stats::Stats;
use crate::table::{Fingerprint, Geometry, Look, Minirun, Table, Violation};
use crate::traits::{Filter, Insert};

pub use crate::filters::lettered::Overflow;

/// An extension adaptive filter. See the [module](self), or take [`ExtensionSet`], which has
/// the keys as well.
///
/// ```
/// use twiceshy::ExtensionFilter;
///
/// let mut filter = ExtensionFilter::new(1_000, 0.01)?;
/// filter.insert("anna")?;
/// assert!(filter.contains("anna"));
/// # Ok::<(), twiceshy::Error>(())
/// ```
pub struct ExtensionFilter<H: StreamHash = Sip13, M = Memory> {
    core: Core<Coder<Extensions>, M>,
    keyed: H::Keyed,
    seed: Seed,
    overflow: Overflow,
}

/// An [`ExtensionFilter`] together with its keys.
pub type ExtensionSet<H = Sip13> = KeyedSet<ExtensionFilter<H>>;

impl ExtensionSet {
    /// An empty set for `capacity` keys, with a filter of false-positive rate `fpr`, a random
    /// seed and the default hash.
    ///
    /// # Errors
    /// Those of [`Builder::build`].
    pub fn new(capacity: u64, fpr: f64) -> Result<Self, Error> {
        Self::from_builder(ExtensionFilter::builder().capacity(capacity).fpr(fpr))
    }
}

/// A lookup must look at the letters if there may be some up to the slots that have its
/// remainder.
struct BesideEquals;

impl Glimpse for BesideEquals {
    const ASKS_ONLY_EQUALS: bool = true;

    #[inline(always)]
    fn asks(look: &Look<'_>) -> Option<u32> {
        // The caller branches on the answer, too, so this branch is no new one to predict.
        look.any_equal().then(|| look.first_equal())
    }
}

impl ExtensionFilter {
    /// An empty filter for `capacity` keys with a false-positive rate of at most `fpr`, a
    /// random seed, and the default hash, which is safe against keys chosen by an attacker.
    ///
    /// # Errors
    /// [`Error::Geometry`] if there is no such filter or no memory for it,
    /// [`Error::Seed`] if the system has no randomness to give.
    pub fn new(capacity: u64, fpr: f64) -> Result<Self, Error> {
        Self::builder().capacity(capacity).fpr(fpr).build()
    }

    /// For everything else that can be chosen.
    pub fn builder() -> Builder<Self> {
        Builder::new()
    }
}

impl<H: StreamHash> Buildable for ExtensionFilter<H> {
    type WithHash<X: StreamHash> = ExtensionFilter<X>;

    fn from_parts(parts: Parts) -> Result<Self, Error> {
        Ok(ExtensionFilter {
            core: Core::from_parts(&parts, Coder::new(Extensions))?,
            keyed: H::keyed(&parts.seed),
            seed: parts.seed,
            overflow: Overflow::default(),
        })
    }
}

/// Does a key's stream start with an extension?
#[inline]
fn continues(key: &Hashed<'_>, extension: Extension) -> bool {
    extension.is_empty() || key.bits(0, extension.len()) == extension.bits()
}

impl<H: StreamHash, M: Bytes> ExtensionFilter<H, M> {
    /// Hashes a key the way this filter does.
    #[inline]
    pub fn hash<'k, K: Key + ?Sized>(&self, key: &'k K) -> Hashed<'k> {
        Hashed::new::<H, K>(&self.seed, key)
    }

    /// May `key` be a member? `false` is certain.
    #[inline(always)]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        let h0 = first_word::<H, K>(&self.keyed, key);
        match self.core.answer::<BesideEquals>(h0) {
            Some(found) => found,
            None => self.contains_by_words(key),
        }
    }

    /// Kept out of line, so that the common case can be inlined.
    #[inline(never)]
    fn contains_by_words<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.matches(&self.hash(key))
    }

    /// [`contains`](Self::contains) for a key that is hashed already.
    #[inline]
    #[must_use]
    pub fn contains_hashed(&self, key: &Hashed<'_>) -> bool {
        match self.core.answer::<BesideEquals>(key.h0()) {
            Some(found) => found,
            None => self.matches(key),
        }
    }

    fn matches(&self, key: &Hashed<'_>) -> bool {
        let home = self.core.geometry.fingerprint(key.h0());
        let run = self.core.run(home.quotient);
        let found = self.core.find_slot(&run, |value, extension| {
            value == home.remainder && continues(key, extension)
        });
        found.is_some()
    }

    /// The minirun that matches `key`, or `None` if `key` is certainly no member.
    pub fn lookup<K: Key + ?Sized>(&self, key: &K) -> Option<Minirun> {
        self.lookup_hashed(&self.hash(key))
    }

    /// [`lookup`](Self::lookup) for a key that is hashed already.
    #[must_use]
    pub fn lookup_hashed(&self, key: &Hashed<'_>) -> Option<Minirun> {
        self.contains_hashed(key)
            .then(|| Minirun::from_id(self.core.geometry.id(key.h0())))
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

    /// How many fingerprints have an extension. Reads the whole table.
    #[must_use]
    pub fn adapted(&self) -> u64 {
        self.core.count_letters()
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

    /// What happens to the extensions of a block whose code is full.
    #[must_use]
    pub fn overflow(&self) -> Overflow {
        self.overflow
    }

    /// Size, load, space and expected error before anything has adapted. Reads the whole
    /// table.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let items = self.len();
        Stats::of_table(&self.core.table, &self.core.geometry, items, items)
    }

    /// All stored fingerprints without their extensions, in hash order.
    pub fn iter(&self) -> impl Iterator<Item = Fingerprint> + '_ {
        self.core.fingerprints()
    }

    /// Verifies everything that must hold in the table, from scratch. For tests and for the
    /// suspicious; linear in the size of the filter.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn check_invariants(&self) -> Result<(), Violation> {
        self.core.check_invariants()
    }
}

impl<H: StreamHash> ExtensionFilter<H> {
    /// What shall happen to the extensions of a block whose code is full. Default:
    /// [`Overflow::Keep`].
    #[must_use]
    pub fn with_overflow(mut self, overflow: Overflow) -> Self {
        self.overflow = overflow;
        self
    }

    /// Adds a key. A key that is added twice is there twice. Needs no reverse map: where
    /// extensions move into a block whose code is full, some are given up.
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
        match self.core.insert(h0) {
            Ok(()) => Ok(()),
            Err(error) => self.insert_relieved(h0, error),
        }
    }

    /// Tries again after an error, and gives up extensions if that was for want of room.
    #[cold]
    fn insert_relieved(&mut self, h0: u64, error: Error) -> Result<(), Error> {
        match Refuse::block(&error) {
            None => Err(error),
            Some(_) => self.core.insert_beyond(h0, give_up(self.overflow)),
        }
    }

    /// Removes everything and keeps the memory.
    pub fn clear(&mut self) {
        self.core.table.clear();
    }

    /// A copy, or an error where [`Clone`] would abort for want of memory.
    ///
    /// # Errors
    /// [`Error::Geometry`] if a second table does not fit in memory.
    pub fn try_clone(&self) -> Result<Self, Error> {
        Ok(ExtensionFilter {
            core: self.core.try_clone()?,
            ..*self
        })
    }
}

type Lane = <Coder<Extensions> as Coding>::Lane;

/// Makes room in a block by giving up extensions.
fn give_up(
    overflow: Overflow,
) -> impl Fn(&Table<Lane>, u64, &mut Letters<Extension>) -> Result<(), Error> {
    move |_, _, letters| {
        match letters.victim(63, |_| true) {
            Some(victim) if overflow == Overflow::Keep => letters.retain(|slot| slot != victim),
            _ => *letters = Letters::new(),
        }
        Ok(())
    }
}

impl<H: StreamHash> Clone for ExtensionFilter<H> {
    fn clone(&self) -> Self {
        match self.try_clone() {
            Ok(copy) => copy,
            // As `Vec` does; `try_clone` is there for those who would rather know.
            Err(error) => panic!("{error}"),
        }
    }
}

impl<H: StreamHash, M: Bytes> fmt::Debug for ExtensionFilter<H, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExtensionFilter")
            .field("len", &self.len())
            .field("slots", &self.core.geometry.slots())
            .field("remainder_bits", &self.core.geometry.remainder_bits())
            .field("hash", &H::KIND)
            .finish_non_exhaustive()
    }
}

impl<H: StreamHash, M: Bytes> Filter for ExtensionFilter<H, M> {
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

impl<H: StreamHash> Insert for ExtensionFilter<H> {
    #[inline]
    fn insert_hashed(&mut self, key: &Hashed<'_>) -> Result<(), Error> {
        self.insert_hashed(key)
    }

    #[inline]
    fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<(), Error> {
        self.insert(key)
    }
}
