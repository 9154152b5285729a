//! The one facade of the quotient family: what all of its filters offer, written once.
//!
//! A filter is a *core* and a hash. The core is the table and what is stored beside it; it takes the
//! first words of hashes, and whole hashed keys where these do not decide. [`TableFilter`] hashes keys
//! for it. What a kind of filter offers beyond that stands beside its core:
//!
//! | filter | core |
//! | --- | --- |
//! | [`QuotientFilter`](crate::QuotientFilter) | `plain::Plain` |
//! | [`CountingFilter`](crate::CountingFilter) | `counting::Counting` |
//! | [`AdaptiveFilter`](crate::AdaptiveFilter) | `core::Core` |
//! | [`TelescopingFilter`](crate::TelescopingFilter), [`ExtensionFilter`](crate::ExtensionFilter) | `coded::core::Coded` |

use std::fmt;

use crate::batch::{Interrupted, Unclear, in_pieces, insert_in_pieces};
use crate::bits::{Bytes, Packed};
use crate::builder::{Buildable, Builder, Parts};
use crate::bulk::{BulkLoad, IntoLoader, Loader};
use crate::error::Error;
use crate::facade::facade;
use crate::file::{self, FileFilter, FilterKind, Header, file_methods};
use crate::geometry::Geometry;
use crate::hash::{HashKind, Hashed, Key, Seed, Sip13, StreamHash, first_word};
use crate::mem::Memory;
use crate::outcome::Removed;
use crate::sizing;
use crate::stats::Stats;
use crate::table::{self, Found, Sidecar, Table};
use crate::traits::Insert;
use crate::violation::Violation;

/// All filters of the quotient family are this one type. You want one of its names:
///
/// | name | what it adds | in |
/// | --- | --- | --- |
/// | [`QuotientFilter`](crate::QuotientFilter) | removal, iteration | [`plain`](super::plain) |
/// | [`CountingFilter`](crate::CountingFilter) | counts | [`counting`](super::counting) |
/// | [`AdaptiveFilter`](crate::AdaptiveFilter) | learns from mistakes, with slots more; values; rebuilding | [`adaptive`](super::adaptive) |
/// | [`TelescopingFilter`](crate::TelescopingFilter), [`PlainTelescopingFilter`](crate::PlainTelescopingFilter), [`ExtensionFilter`](crate::ExtensionFilter) | learn in fixed space | [`coded`](super::coded) |
///
/// This page has the methods of all of them: each block says by its bounds, or by the filter's name, whose
/// they are.
///
/// ```
/// use twiceshy::{CountingFilter, QuotientFilter};
///
/// let mut plain = QuotientFilter::new(1_000, 0.01)?;
/// plain.insert("anna")?;
/// assert!(plain.contains("anna"));
///
/// let mut counting = CountingFilter::new(1_000, 0.01)?;
/// counting.insert("anna")?;
/// counting.insert("anna")?;
/// assert_eq!(counting.count("anna"), 2);
/// # Ok::<(), twiceshy::Error>(())
/// ```
pub struct TableFilter<C, H: StreamHash = Sip13> {
    pub(super) core: C,
    pub(super) hasher: H::Keyed,
    pub(super) seed: Seed,
}

/// What a filter can be asked without knowing its hash. Out of reach outside of this crate.
pub trait TableCore: Sized {
    /// Which files hold it.
    const KIND: FilterKind;

    /// What a filter with this core is called.
    const NAME: &'static str;

    /// The most bits of a value beside a remainder.
    const MAX_VALUE_BITS: u32 = 0;

    /// What rides along with the slots of its table.
    type Lane: Sidecar;

    /// Where the bytes of its table are.
    type Memory: Bytes;

    /// That of a file whose header has been checked.
    ///
    /// # Errors
    /// [`Error::Geometry`] if the bytes are not as many as the header says.
    fn over(header: &Header, memory: Self::Memory) -> Result<Self, Error>;

    /// What a file says about it, as that of a filter `F`.
    fn header<F: FileFilter<Self::Memory>>(&self, seed: Seed) -> Header {
        Header::new::<_, F>(self.table().geometry(), seed, self.len())
    }

    fn table(&self) -> &Table<Self::Lane, Self::Memory>;

    /// May a key with this `h0` be a member? [`Found::Ask`] where only [`matches`](Self::matches) knows.
    #[inline(always)]
    fn contains(&self, h0: u64) -> Found {
        self.table().contains(h0)
    }

    /// [`contains`](Self::contains) where the table has hardly an empty slot: most runs are not in
    /// their home block, and need not be looked for there.
    #[inline(always)]
    fn contains_slow(&self, h0: u64) -> Found {
        self.table().contains_slow(h0)
    }

    /// [`contains`](Self::contains) for many: what it notes as unclear is for
    /// [`contains_slow`](Self::contains_slow).
    #[inline(always)]
    fn contains_many(&self, hashes: &[u64], found: &mut [bool], unclear: &mut Unclear) {
        self.table().contains_many(hashes, found, unclear);
    }

    /// May this key be a member, by all words of its hash? A core that never says [`Found::Ask`] is
    /// never asked.
    fn matches(&self, _key: &Hashed<'_>) -> bool {
        true
    }

    /// How many items there are.
    fn len(&self) -> u64 {
        self.table().used()
    }

    /// In how many different fingerprints.
    fn distinct(&self) -> u64 {
        self.len()
    }

    /// Verifies everything that must hold, from scratch.
    fn check_invariants(&self) -> Result<(), Violation>;

    /// The same, but fast.
    fn verify(&self) -> Result<(), Violation>;
}

/// A core with a table of its own, which can be changed.
pub trait OwnedCore: TableCore<Memory = Memory> {
    /// The same over the bytes of a file.
    type View<'b>: TableCore<Memory = &'b [u8]>;

    /// An empty one.
    fn from_parts(parts: &Parts) -> Result<Self, Error>;

    fn try_clone(&self) -> Result<Self, Error>;

    fn clear(&mut self);
}

/// A core that takes one key after the other.
pub trait InsertCore: OwnedCore {
    /// What is to be said of a key that is in.
    type Done;

    /// Adds the key whose hash begins with `h0`, or if that does not say enough, `key`.
    fn insert<'k>(
        &mut self,
        h0: u64,
        key: impl FnOnce() -> Hashed<'k>,
    ) -> Result<Self::Done, Error>;

    /// Do first words of hashes not say where some keys go?
    fn needs_later_words(&self) -> bool {
        false
    }
}

/// A core in which fingerprints of keys that share one are alike, so that one can go.
pub trait RemoveCore: OwnedCore {
    fn remove(&mut self, h0: u64) -> Result<Removed, Error>;
}

/// A core that can be filled in hash order.
pub trait LoadCore: OwnedCore {
    type Loader: Loader;

    /// Begins to load into an empty core.
    fn into_loader(self) -> Self::Loader;

    fn from_loader(loader: Self::Loader) -> Result<Self, Error>;
}

impl<C: OwnedCore> TableFilter<C> {
    /// An empty filter for `capacity` keys with a false-positive rate of at most `fpr`, a
    /// random seed, and the default hash, which is safe against keys chosen by an
    /// attacker. Leave room for what takes slots beyond one for each key: extensions and ghosts of an
    /// adaptive filter, counts above one of a counting filter.
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

facade! {
    [C: TableCore, H: StreamHash] TableFilter<C, H>: Hash, Filter;
    [C: OwnedCore, H: StreamHash] TableFilter<C, H>: Clone;
    [C: RemoveCore, H: StreamHash] TableFilter<C, H>: Remove;
}

impl<C, H: StreamHash> TableFilter<C, H> {
    pub(crate) fn from_core(core: C, seed: Seed) -> Self {
        TableFilter {
            core,
            hasher: H::keyed(&seed),
            seed,
        }
    }

    /// The filter without its hash.
    pub(crate) fn core(&self) -> &C {
        &self.core
    }

    /// The same, to keep.
    pub(crate) fn into_core(self) -> C {
        self.core
    }

    /// The same, to change.
    pub(crate) fn core_mut(&mut self) -> &mut C {
        &mut self.core
    }

    #[inline(always)]
    pub(super) fn first_word<K: Key + ?Sized>(&self, key: &K) -> u64 {
        first_word::<H, K>(&self.hasher, key)
    }
}

impl<C: TableCore, H: StreamHash> TableFilter<C, H> {
    /// May `key` be a member? `false` is certain; `true` is wrong for a key that was never
    /// inserted at the false-positive rate.
    #[inline(always)]
    #[must_use]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_with(self.first_word(key), key)
    }

    /// [`contains`](Self::contains) for a key whose first word is known.
    #[inline(always)]
    pub(super) fn contains_with<K: Key + ?Sized>(&self, h0: u64, key: &K) -> bool {
        let found = self.core.contains(h0);
        found.or_ask(|| self.matches(key))
    }

    /// Kept out of line, so that the common case can be inlined.
    #[cold]
    #[inline(never)]
    pub(super) fn matches<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.core.matches(&self.hash(key))
    }

    /// [`contains`](Self::contains) for a key that is hashed already, with this filter's hash
    /// and seed. (Under others it is another key, which nothing here can notice.)
    #[inline]
    #[must_use]
    pub fn contains_hashed(&self, key: &Hashed<'_>) -> bool {
        let found = self.core.contains(key.h0());
        found.or_ask(|| self.core.matches(key))
    }

    /// Looks many keys up, and hands on the first words of their hashes and the answers, piece by piece.
    #[inline(always)]
    pub(super) fn each_key<K: Key>(&self, keys: &[K], each: impl FnMut(&[u64], &[bool])) {
        let matches = |key: &K| self.matches(key);
        self.each_piece(keys, |key| self.first_word(key), matches, each);
    }

    /// The same for keys that are hashed already.
    #[inline(always)]
    pub(super) fn each_hashed(&self, keys: &[Hashed<'_>], each: impl FnMut(&[u64], &[bool])) {
        let matches = |key: &Hashed<'_>| self.core.matches(key);
        self.each_piece(keys, Hashed::h0, matches, each);
    }

    #[inline(always)]
    fn each_piece<K>(
        &self,
        keys: &[K],
        hash: impl Fn(&K) -> u64,
        matches: impl Fn(&K) -> bool,
        each: impl FnMut(&[u64], &[bool]),
    ) {
        in_pieces(
            keys,
            hash,
            |hashes, found, unclear| self.core.contains_many(hashes, found, unclear),
            |key, h0| self.core.contains_slow(h0).or_ask(|| matches(key)),
            each,
        );
    }

    fn contains_all<K: Key>(&self, keys: &[K], answers: &mut Vec<bool>) {
        answers.clear();
        answers.reserve(keys.len());
        self.each_key(keys, |_, found| answers.extend_from_slice(found));
    }

    fn contains_all_hashed(&self, keys: &[Hashed<'_>], answers: &mut Vec<bool>) {
        answers.clear();
        answers.reserve(keys.len());
        self.each_hashed(keys, |_, found| answers.extend_from_slice(found));
    }

    /// Asks for the cache lines that a change will touch.
    #[inline(always)]
    pub(super) fn prefetch_h0(&self, h0: u64) {
        let table = self.core.table();
        table.prefetch_to_change(table.at(h0));
    }

    /// How many items the filter holds, duplicates counted: of an adaptive filter one for each member,
    /// ghosts aside; of a counting filter the sum of all counts, or `u64::MAX` if that is larger.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.core.len()
    }

    /// Slots that hold something: one for each fingerprint, and those of extensions, counters and
    /// ghosts.
    #[must_use]
    pub fn used_slots(&self) -> u64 {
        self.core.table().used()
    }

    /// Used slots per slot. Above [`sizing::MAX_LOAD`](crate::sizing::MAX_LOAD) insertions become slow.
    #[must_use]
    pub fn load(&self) -> f64 {
        self.used_slots() as f64 / self.geometry().slots() as f64
    }

    /// Slots and remainder bits.
    #[must_use]
    pub fn geometry(&self) -> Geometry {
        self.core.table().geometry()
    }

    /// Size, load, space and expected error, before anything has adapted. Reads the whole table (for
    /// the longest cluster).
    #[must_use]
    pub fn stats(&self) -> Stats {
        let (table, geometry) = (self.core.table(), self.geometry());
        Stats {
            items: self.len(),
            slots: geometry.slots(),
            used_slots: self.used_slots(),
            load: self.load(),
            remainder_bits: geometry.remainder_bits(),
            bytes: table.bytes(),
            bits_per_item: 8.0 * table.bytes() as f64 / self.len() as f64,
            expected_fpr: sizing::expected_fpr(&geometry, self.core.distinct()),
            longest_cluster: table.longest_cluster(),
        }
    }

    /// The bytes of the table.
    #[cfg(test)]
    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.core.table().as_bytes()
    }

    /// Verifies everything that must hold in the table, from scratch. For tests and for
    /// the suspicious; linear in the size of the filter.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn check_invariants(&self) -> Result<(), Violation> {
        self.core.check_invariants()
    }

    file_methods!(@write
        /// The same keys, counts and seed give the same bytes, until something adapts.
    );
}

impl<C: OwnedCore, H: StreamHash> TableFilter<C, H> {
    /// Removes everything and keeps the memory.
    pub fn clear(&mut self) {
        self.core.clear();
    }

    /// A copy, or an error where [`Clone`] would abort for want of memory.
    ///
    /// # Errors
    /// [`Error::Geometry`] if a second table does not fit in memory.
    pub fn try_clone(&self) -> Result<Self, Error> {
        Ok(TableFilter {
            core: self.core.try_clone()?,
            ..*self
        })
    }

    file_methods!(@read);
}

impl<C: InsertCore, H: StreamHash> TableFilter<C, H> {
    /// Adds a key. In a plain or a counting filter, one that is added twice is there twice, and takes two
    /// removals. An adaptive, telescoping or extension filter has a set of keys: add a key that is no
    /// member yet, as nothing here can tell.
    ///
    /// An adaptive filter says what it did, the others nothing.
    ///
    /// # Errors
    /// [`Error::Full`] if slots are missing; of a counting filter, [`Error::Overflow`] if the count
    /// can't grow; of a telescoping filter, [`Error::NeedsHashes`] if a selector would move into a block
    /// whose code is full; of an adaptive filter, [`Error::NeedsKeys`] if the minirun exists and there are
    /// value bits or a count above one. The last two are done by `insert_with`. Nothing has changed.
    #[inline(always)]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<C::Done, Error> {
        self.insert_with_word(self.first_word(key), key)
    }

    /// [`insert`](Self::insert) for a key that is hashed already.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn insert_hashed(&mut self, key: &Hashed<'_>) -> Result<C::Done, Error> {
        self.core.insert(key.h0(), || key.clone())
    }

    /// [`insert`](Self::insert) for a key whose first word is known.
    #[inline(always)]
    pub(super) fn insert_with_word<K: Key + ?Sized>(
        &mut self,
        h0: u64,
        key: &K,
    ) -> Result<C::Done, Error> {
        let seed = &self.seed;
        self.core.insert(h0, || Hashed::new::<H, K>(seed, key))
    }
}

impl<C: InsertCore, H: StreamHash> TableFilter<C, H> {
    /// Adds keys that are hashed already, given by the first word of their hash
    /// ([`first_word`](crate::hash::first_word)), in their order: the same as [`insert`](Self::insert) for
    /// each key, and faster where the filter is larger than the caches; see [`batch`](crate::batch).
    ///
    /// # Errors
    /// [`Interrupted`] at the first that is refused; those before it are in. With [`Error::Mismatch`] at
    /// once if an adaptive filter has ghosts: which key revives a ghost is said by later words.
    pub fn insert_hashes(
        &mut self,
        hashes: impl IntoIterator<Item = u64>,
    ) -> Result<(), Interrupted> {
        if self.core.needs_later_words() {
            return Err(Interrupted {
                inserted: 0,
                error: Error::mismatch(
                    "the first words of hashes don't say which key revives a ghost; insert the \
                     keys themselves",
                ),
            });
        }
        insert_in_pieces(
            self,
            hashes,
            |_, &h0| h0,
            Self::prefetch_h0,
            |filter, _, h0| {
                let inserted = filter.core.insert(h0, || Hashed::from_h0(h0));
                inserted.map(|_| ())
            },
        )
    }
}

impl<C: InsertCore, H: StreamHash> Insert for TableFilter<C, H> {
    #[inline]
    fn insert_hashed(&mut self, key: &Hashed<'_>) -> Result<(), Error> {
        self.insert_hashed(key).map(|_| ())
    }

    #[inline]
    fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<(), Error> {
        self.insert(key).map(|_| ())
    }

    fn insert_batch<K: Key>(
        &mut self,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<(), Interrupted> {
        insert_in_pieces(
            self,
            keys,
            Self::first_word,
            Self::prefetch_h0,
            |filter, key, h0| filter.insert_with_word(h0, key).map(|_| ()),
        )
    }
}

impl<C: RemoveCore, H: StreamHash> TableFilter<C, H> {
    /// Removes a key once.
    ///
    /// **The caller vouches that the key is a member.** The filter has no keys, so it
    /// can't tell a member from a false positive: removing a key that was never inserted,
    /// but whose fingerprint equals a member's, removes that member, and the filter then
    /// wrongly says "no" for it. A key whose fingerprint isn't there is reported as
    /// [`Removed::NotFound`] and changes nothing.
    ///
    /// # Errors
    /// None; the `Result` is that of the trait [`Remove`](crate::Remove).
    #[inline(always)]
    pub fn remove<K: Key + ?Sized>(&mut self, key: &K) -> Result<Removed, Error> {
        self.core.remove(self.first_word(key))
    }

    /// [`remove`](Self::remove) for a key that is hashed already; the caller vouches for
    /// it just the same.
    ///
    /// # Errors
    /// None, as [`remove`](Self::remove).
    #[inline]
    pub fn remove_hashed(&mut self, key: &Hashed<'_>) -> Result<Removed, Error> {
        self.core.remove(key.h0())
    }
}

impl<C: OwnedCore, H: StreamHash> Buildable for TableFilter<C, H> {
    type WithHash<X: StreamHash> = TableFilter<C, X>;

    fn from_parts(parts: Parts) -> Result<Self, Error> {
        Ok(Self::from_core(C::from_parts(&parts)?, parts.seed))
    }
}

impl<C: LoadCore, H: StreamHash> BulkLoad for TableFilter<C, H> {
    type Hash = H;
}

impl<C: LoadCore, H: StreamHash> IntoLoader for TableFilter<C, H> {
    type Loader = C::Loader;

    fn into_loader(self) -> C::Loader {
        self.core.into_loader()
    }

    fn from_loader(loader: C::Loader, seed: Seed) -> Result<Self, Error> {
        Ok(Self::from_core(C::from_loader(loader)?, seed))
    }
}

impl<C: TableCore, H: StreamHash> FileFilter<C::Memory> for TableFilter<C, H> {
    const KIND: FilterKind = C::KIND;
    const HASH: HashKind = H::KIND;

    fn header(&self) -> Header {
        self.core.header::<Self>(self.seed)
    }

    fn table(&self) -> &[u8] {
        self.core.table().as_bytes()
    }

    fn size(header: &Header) -> Option<(u64, usize)> {
        let width = header.geometry.remainder_bits() + header.value_bits;
        super::in_slots(table::size::<C::Lane>(
            header.geometry.slots(),
            width,
            None,
        )?)
    }

    fn most_value_bits(header: &Header) -> u32 {
        C::MAX_VALUE_BITS.min(Packed::MAX_BITS - header.geometry.remainder_bits())
    }

    fn assemble(header: &Header, memory: C::Memory) -> Result<Self, Error> {
        Ok(Self::from_core(C::over(header, memory)?, header.seed))
    }

    fn verify(&mut self) -> Result<(), Violation> {
        self.core.verify()
    }
}

impl<C: OwnedCore, H: StreamHash> file::sealed::Stored for TableFilter<C, H> {}

impl<C: OwnedCore, H: StreamHash> file::Stored for TableFilter<C, H> {
    type View<'b> = TableFilter<C::View<'b>, H>;
}

impl<C: TableCore, H: StreamHash> fmt::Debug for TableFilter<C, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let geometry = self.geometry();
        f.debug_struct(C::NAME)
            .field("len", &self.len())
            .field("used_slots", &self.used_slots())
            .field("slots", &geometry.slots())
            .field("remainder_bits", &geometry.remainder_bits())
            .field("hash", &H::KIND)
            .finish_non_exhaustive()
    }
}
