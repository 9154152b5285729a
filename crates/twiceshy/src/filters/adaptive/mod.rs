//! The adaptive quotient filter: told of a mistake, it never repeats it.
//!
//! # The idea
//!
//! A quotient filter stores a *prefix* of each key's hash: quotient and remainder. A query
//! whose hash starts with a stored prefix is answered "maybe", wrongly so if it is not a
//! member. When the store behind the filter finds that out, the filter appends further bits
//! of the *member's* hash, its *extension*, to the stored prefix, until the query's hash
//! does not start with it any more:
//!
//! ```text
//!   member  x   011|d|d'd"…            stored   011|d          matches x and z
//!   query   z   011|d|zz'…             adapt:   011|d|d'       matches x, not z
//! ```
//!
//! The extension stands in the slots behind the home slot; one bit a slot says whether it goes on.
//! Extending needs the member's key, so somebody must keep the keys: the *reverse map*, an
//! ordered set of (`h0`, key) that is only read when a mistake is fixed. The fingerprints of
//! one quotient and remainder, a *minirun*, are a multiset; which belongs to which key is not
//! stored but found when needed (see the source of `pairing`). [`AdaptiveSet`](crate::AdaptiveSet) bundles filter and
//! reverse map so that nothing can go wrong; with a database of your own as the reverse
//! map, use [`AdaptiveFilter`] by these rules:
//!
//! 1. A positive answer names its minirun. Read *all* keys of it
//!    ([`Geometry::hash_range`](crate::Geometry::hash_range)) from the reverse map. If the query is among them it is a
//!    member; otherwise it is a false positive: [`adapt`](AdaptiveFilter::adapt) with these
//!    keys.
//! 2. Keys are a set: insert a key once. A key inserted twice leaves a surplus fingerprint,
//!    which the next adapt or remove of its minirun drops.
//!
//! # What it promises
//!
//! | | |
//! | --- | --- |
//! | false negatives | none, ever, if the rules are kept |
//! | space | `r + v + 3.25` bits a slot, one slot a member, one more for each extension digit |
//! | false-positive rate | at most `1 - (1 - 1/(n 2^r))^m`, like a plain filter; falls as it adapts |
//! | *monotone* | adapting never makes a new false positive: the set of them only shrinks |
//! | *strong* | over any `q` queries, even by an adversary, about `fpr * q` mistakes at most |
//! | adapt | one minirun read, `1 + O(2^-w)` slots opened on average for each mistake fixed |
//!
//! What breaks them: a new insert may match an old query again (it starts unextended); a
//! removal and re-insertion forgets what was learnt, unless a ghost is left
//! ([`Leave::Ghost`]); a rebuild with a new seed forgets all, which is also what makes an
//! attacker's knowledge worthless. Each is observed by a test.
//!
//! Paper: Wen et al., "Adaptive Quotient Filters" (2024).

mod adapt;
mod batch;
pub(crate) mod bulk;
mod hand_over;
mod insert;
mod iter;
pub mod rebuild;
mod remove;

use super::core::Core;
use super::facade::{TableCore, TableFilter};
use crate::bits::Bytes;
use crate::builder::Builder;
use crate::entry::Entry;
use crate::error::Error;
use crate::hash::{Hashed, Key, Sip13, StreamHash};
use crate::mem::Memory;
use crate::minirun::Minirun;
use crate::outcome::Adapted;
use crate::table::Found;
use crate::traits::Adaptive;

pub use self::iter::StoredFingerprint;
pub use crate::outcome::Leave;

/// An adaptive quotient filter. See the [module](self) for how to use it rightly, or take
/// [`AdaptiveSet`](crate::AdaptiveSet).
///
/// Its methods are those of all table filters ([`TableFilter`]), and of its own
/// [`lookup`](AdaptiveFilter::lookup), [`adapt`](AdaptiveFilter::adapt),
/// [`insert_with`](AdaptiveFilter::insert_with), [`remove`](AdaptiveFilter::remove),
/// [`iter`](AdaptiveFilter::iter) and others. [`insert`](AdaptiveFilter::insert) says what it did.
///
/// ```
/// use twiceshy::AdaptiveFilter;
/// use twiceshy::hash::Seed;
///
/// let mut filter = AdaptiveFilter::builder()
///     .slots(100)
///     .remainder_bits(4)
///     .seed(Seed::from_u64(1))
///     .build()?;
/// let members: Vec<u64> = (0..80).collect();
/// for key in &members {
///     filter.insert(key)?;
/// }
///
/// // A query that is wrongly answered "maybe" …
/// let query = (80_u64..).find(|query| filter.contains(query)).unwrap();
/// let query = filter.hash(&query);
/// let minirun = filter.lookup_hashed(&query).unwrap();
/// // … is fixed with the keys of its minirun, here found by looking at all of them,
/// let range = filter.geometry().hash_range(minirun.id());
/// let keys: Vec<_> = members.iter().map(|key| filter.hash(key)).collect();
/// let keys: Vec<_> = keys.into_iter().filter(|key| range.contains(&key.h0())).collect();
/// filter.adapt(&query, minirun, &keys)?;
/// // … and is not repeated.
/// assert!(!filter.contains_hashed(&query));
/// assert!(members.iter().all(|key| filter.contains(key)));
/// # Ok::<(), twiceshy::Error>(())
/// ```
pub type AdaptiveFilter<H = Sip13, M = Memory> = TableFilter<Core<M>, H>;

impl<H: StreamHash> Builder<AdaptiveFilter<H>> {
    /// Bits of a value that goes with each fingerprint, 0 to 16. Default: 0. One makes a
    /// yes/no tag, more make a small map.
    pub fn value_bits(self, bits: u32) -> Self {
        self.set_value_bits(bits)
    }
}

impl<H: StreamHash, M: Bytes> AdaptiveFilter<H, M> {
    /// [`contains`](Self::contains) where the table has hardly an empty slot: most runs are not
    /// in their home block, and need not be looked for there.
    #[inline]
    pub(crate) fn contains_slow<K: Key + ?Sized>(&self, key: &K) -> bool {
        let found = self.core.table.contains_slow(self.first_word(key));
        found.or_ask(|| self.matches(key))
    }

    /// Is no key with this first word a member, whatever words follow? For callers who have
    /// the word and would rather not make the others for the many keys that end here.
    ///
    /// ```
    /// use twiceshy::AdaptiveFilter;
    ///
    /// let mut filter = AdaptiveFilter::new(100, 0.001)?;
    /// filter.insert("anna")?;
    /// assert!(!filter.denies(filter.hash("anna").h0()));
    /// let strangers = (0..1_000_u64).filter(|key| !filter.denies(filter.hash(key).h0()));
    /// assert!(strangers.count() < 10);
    /// # Ok::<(), twiceshy::Error>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn denies(&self, h0: u64) -> bool {
        self.core.contains(h0) == Found::No
    }

    /// [`contains_hashed`](Self::contains_hashed) for callers who have the first word only. `hash`
    /// makes the others where that does not decide.
    ///
    /// ```
    /// use twiceshy::AdaptiveFilter;
    ///
    /// let mut filter = AdaptiveFilter::new(100, 0.001)?;
    /// filter.insert("anna")?;
    /// let h0 = filter.hash("anna").h0();
    /// assert!(filter.contains_by(h0, || filter.hash("anna")));
    /// # Ok::<(), twiceshy::Error>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn contains_by<'k>(&self, h0: u64, hash: impl FnOnce() -> Hashed<'k>) -> bool {
        let found = self.core.contains(h0);
        found.or_ask(|| self.core.matches(&hash()))
    }

    /// The minirun that matches `key`, or `None` if `key` is certainly no member.
    #[inline(always)]
    pub fn lookup<K: Key + ?Sized>(&self, key: &K) -> Option<Minirun> {
        let h0 = self.first_word(key);
        self.contains_with(h0, key)
            .then(|| self.core.minirun_of(h0))
    }

    /// [`lookup`](Self::lookup) for a key that is hashed already.
    #[inline]
    #[must_use]
    pub fn lookup_hashed(&self, key: &Hashed<'_>) -> Option<Minirun> {
        self.contains_hashed(key)
            .then(|| self.core.minirun_of(key.h0()))
    }

    /// The count and value of a member. Of a key that is no member it may be another's.
    pub fn entry<K: Key + ?Sized>(&self, key: &K) -> Option<Entry> {
        self.entry_hashed(&self.hash(key))
    }

    /// [`entry`](Self::entry) for a key that is hashed already.
    #[must_use]
    pub fn entry_hashed(&self, key: &Hashed<'_>) -> Option<Entry> {
        self.core.find(key).map(|print| Entry {
            count: print.count,
            value: print.value,
        })
    }

    /// Bits of a value beside each remainder.
    #[must_use]
    pub fn value_bits(&self) -> u32 {
        self.core.widths.value_bits
    }

    /// How many live fingerprints match a key.
    pub(crate) fn matching(&self, key: &Hashed<'_>) -> usize {
        let contents = self.core.contents_of(self.core.minirun_of(key.h0()));
        let digits = self.core.digits(key);
        let live = contents.prints.iter().filter(|print| !print.is_ghost());
        live.filter(|print| print.prefixes(&digits)).count()
    }

    /// Ghosts: removed fingerprints that keep what was learnt.
    #[must_use]
    pub fn ghosts(&self) -> u64 {
        self.core.ghosts
    }
}

impl<H: StreamHash> Adaptive for AdaptiveFilter<H> {
    type Place = Minirun;

    #[inline]
    fn lookup_hashed(&self, key: &Hashed<'_>) -> Option<Minirun> {
        self.lookup_hashed(key)
    }

    fn adapt(
        &mut self,
        query: &Hashed<'_>,
        at: Minirun,
        stored: &[Hashed<'_>],
    ) -> Result<Adapted, Error> {
        self.adapt(query, at, stored)
    }
}
