//! Bulk load: a filter from all its keys at once.
//!
//! # The idea
//!
//! Slot order is hash order. So a filter need not be filled key by key, each insertion a
//! cache miss and a shift of the slots behind it: hash all keys, sort the hashes, and write
//! the table from front to back, each slot once.
//!
//! ```text
//!   keys ──hash──▶ divide by the top bits ──▶ sort each bucket ──▶ write in order
//!                  | bucket 0 | bucket 1 | …   in the cache         the whole table,
//!                                                                   front to back
//! ```
//!
//! The result is the same, to the byte, as inserting the keys one by one in any order: runs
//! are sorted anyway.
//!
//! | method of [`Builder`] | keys come | extra memory |
//! | --- | --- | --- |
//! | [`build_from`](Builder::build_from), [`build_from_slice`](Builder::build_from_slice), [`build_from_hashes`](Builder::build_from_hashes) | in any order | 4 bytes a key; 8 where fingerprints have more than about 40 bits |
//! | [`build_from_sorted`](Builder::build_from_sorted), [`build_from_sorted_hashes`](Builder::build_from_sorted_hashes) | in hash order | none |
//! | `build_from_sorted_entries` of [`AdaptiveFilter`](crate::AdaptiveFilter), `build_from_sorted_counts` of [`CountingFilter`](crate::CountingFilter) | in hash order, with counts and values | none, or the keys of one minirun |
//!
//! `docs/performance.md` has what they take, and what inserting one by one takes.
//!
//! Where no capacity and no number of slots is set, the number of keys is the capacity, if
//! it is known.
//!
//! # What each filter makes of equal keys
//!
//! As when they are inserted one by one: the plain filter keeps a fingerprint for each, the
//! counting filter counts them, and the adaptive filter, whose keys are a set, is left with
//! surplus fingerprints that the next adaptation or removal of their minirun drops. Give it
//! each key once.
//!
//! # Example
//!
//! ```
//! use twiceshy::QuotientFilter;
//!
//! let filter = QuotientFilter::builder().fpr(0.001).build_from(0..100_000_u64)?;
//! assert!((0..100_000_u64).all(|key| filter.contains(&key)));
//! # Ok::<(), twiceshy::Error>(())
//! ```
//!
//! To show progress, count the keys as they are taken, with
//! [`inspect`](Iterator::inspect) or a progress bar's own iterator. It is all of the work
//! with sorted keys, and about half of it with others.

mod partition;
mod pipeline;
mod sort;
#[cfg(test)]
mod tests;
mod word;

use std::thread;

use self::partition::{Partition, Plan};
use self::pipeline::{divide, pour, too_many};
use self::word::Word;
use crate::builder::{Buildable, Builder};
use crate::error::Error;
use crate::hash::{Key, Seed, StreamHash, first_word};

pub(crate) use self::pipeline::{IntoLoader, Loader};

/// A filter that can be loaded from all its keys at once: those of this crate's quotient
/// family.
pub trait BulkLoad: Buildable + IntoLoader {
    /// Its hash.
    type Hash: StreamHash;
}

impl<F: BulkLoad> Builder<F> {
    /// Builds the filter with these keys, in any order.
    ///
    /// Keys may be lent or given: `&vec`, `["a", "b"]`, `map.keys()` and `0..1000_u64` will all do.
    /// Extra memory: see the [module](crate::bulk). With more than one
    /// [thread](Builder::threads) keys are hashed by this one and sorted by the others; a
    /// slice can also be hashed by all: [`build_from_slice`](Self::build_from_slice).
    ///
    /// ```
    /// use twiceshy::AdaptiveFilter;
    ///
    /// let words = ["once", "bitten", "twice", "shy"];
    /// let filter = AdaptiveFilter::builder().build_from(words)?;
    /// assert!(filter.contains("shy"));
    /// assert_eq!(filter.len(), 4);
    /// # Ok::<(), twiceshy::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Full`] if there are more keys than slots; [`Error::Geometry`] and
    /// [`Error::Seed`] as [`build`](Self::build); [`Error::NeedsKeys`] if two keys share a
    /// minirun of an adaptive filter with value bits.
    pub fn build_from<I>(self, keys: I) -> Result<F, Error>
    where
        I: IntoIterator,
        I::Item: Key,
    {
        let keys = keys.into_iter();
        let job = Job::new(&self, exact_len(&keys))?;
        let keyed = F::Hash::keyed(&job.seed);
        let hash = move |key: I::Item| first_word::<F::Hash, I::Item>(&keyed, &key);
        job.load(keys.map(hash))
    }

    /// [`build_from`](Self::build_from) for a slice, with all threads at work all the time.
    ///
    /// ```
    /// use twiceshy::CountingFilter;
    ///
    /// let keys: Vec<u64> = (0..10_000).map(|i| i % 1_000).collect();
    /// let filter = CountingFilter::builder().threads(2).build_from_slice(&keys)?;
    /// assert_eq!(filter.total(), 10_000);
    /// assert!(filter.count(&7_u64) >= 10);
    /// # Ok::<(), twiceshy::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`build_from`](Self::build_from).
    pub fn build_from_slice<K: Key + Sync>(self, keys: &[K]) -> Result<F, Error> {
        let job = Job::new(&self, Some(keys.len() as u64))?;
        job.load_slice(keys)
    }

    /// [`build_from`](Self::build_from) for keys that are hashed already, given by the first
    /// word of their hash ([`Hashed::h0`](crate::hash::Hashed::h0)), in any order.
    ///
    /// ```
    /// use twiceshy::QuotientFilter;
    /// use twiceshy::hash::{Seed, Sip13, StreamHash, first_word};
    ///
    /// let seed = Seed::from_u64(1);
    /// let keyed = Sip13::keyed(&seed);
    /// let hashes = (0..1_000_u64).map(|key| first_word::<Sip13, _>(&keyed, &key));
    /// let filter = QuotientFilter::builder().seed(seed).build_from_hashes(hashes)?;
    /// assert!(filter.contains(&17_u64));
    /// # Ok::<(), twiceshy::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`build_from`](Self::build_from), and [`Error::Geometry`] if no seed is set: it
    /// must be that of the hashes.
    pub fn build_from_hashes(self, hashes: impl IntoIterator<Item = u64>) -> Result<F, Error> {
        self.known_seed()?;
        let hashes = hashes.into_iter();
        Job::new(&self, exact_len(&hashes))?.load(hashes)
    }

    /// Builds the filter with keys that come in ascending order of the first word of their
    /// hash, as from a scan of a reverse map. Needs no memory beside the filter's.
    ///
    /// ```
    /// use twiceshy::QuotientFilter;
    /// use twiceshy::hash::{Hashed, Seed, Sip13};
    ///
    /// let seed = Seed::from_u64(1);
    /// let mut keys: Vec<u64> = (0..1_000).collect();
    /// keys.sort_by_cached_key(|key| Hashed::new::<Sip13, _>(&seed, key).h0());
    /// let filter = QuotientFilter::builder().seed(seed).build_from_sorted(&keys)?;
    /// assert!(keys.iter().all(|key| filter.contains(key)));
    /// # Ok::<(), twiceshy::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsorted`] if the keys are not in order; others as
    /// [`build_from_hashes`](Self::build_from_hashes).
    pub fn build_from_sorted<I>(self, keys: I) -> Result<F, Error>
    where
        I: IntoIterator,
        I::Item: Key,
    {
        self.known_seed()?;
        let keys = keys.into_iter();
        let job = Job::new(&self, exact_len(&keys))?;
        let keyed = F::Hash::keyed(&job.seed);
        let hash = move |key: I::Item| first_word::<F::Hash, I::Item>(&keyed, &key);
        job.load_sorted(keys.map(hash))
    }

    /// [`build_from_sorted`](Self::build_from_sorted) for keys that are hashed already, given
    /// by the first word of their hash.
    ///
    /// ```
    /// use twiceshy::hash::Seed;
    /// use twiceshy::{Error, QuotientFilter};
    ///
    /// let builder = || QuotientFilter::builder().seed(Seed::from_u64(1));
    /// assert_eq!(builder().build_from_sorted_hashes([1, 5, 5, 9])?.len(), 4);
    /// let Err(error) = builder().build_from_sorted_hashes([1, 5, 4]) else { panic!() };
    /// assert_eq!(error, Error::Unsorted { position: 2 });
    /// # Ok::<(), twiceshy::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`build_from_sorted`](Self::build_from_sorted).
    pub fn build_from_sorted_hashes(
        self,
        hashes: impl IntoIterator<Item = u64>,
    ) -> Result<F, Error> {
        self.known_seed()?;
        let hashes = hashes.into_iter();
        Job::new(&self, exact_len(&hashes))?.load_sorted(hashes)
    }
}

/// A bulk load, ready to begin.
struct Job<F: BulkLoad> {
    loader: F::Loader,
    seed: Seed,
    plan: Plan,
    threads: usize,
}

impl<F: BulkLoad> Job<F> {
    /// Makes the empty table: what is impossible fails before anything is hashed.
    fn new(builder: &Builder<F>, keys: Option<u64>) -> Result<Self, Error> {
        let parts = builder.parts(keys)?;
        let expected = keys.unwrap_or(parts.geometry.slots());
        Ok(Job {
            loader: F::from_parts(parts)?.into_loader(),
            seed: parts.seed,
            plan: Plan::new(&parts.geometry, expected, parts.huge_pages),
            threads: builder.thread_count(),
        })
    }

    fn load_sorted(mut self, hashes: impl Iterator<Item = u64>) -> Result<F, Error> {
        let geometry = self.loader.geometry();
        let mut unsorted = None;
        // Written to at the end only: the rest of the state is the closure's own, so that it
        // can live in registers.
        let report = &mut unsorted;
        let (mut last, mut position) = (0, 0);
        let fingerprints = hashes.map_while(move |h0| {
            if h0 < last {
                *report = Some(position);
                return None;
            }
            last = h0;
            position += 1;
            Some(geometry.fingerprint(h0))
        });
        self.loader.load(fingerprints)?;
        match unsorted {
            Some(position) => Err(Error::Unsorted { position }),
            None => F::from_loader(self.loader, self.seed),
        }
    }

    fn load(self, hashes: impl Iterator<Item = u64>) -> Result<F, Error> {
        if self.plan.shift <= u32::BITS {
            self.load_as::<u32>(hashes)
        } else {
            self.load_as::<u64>(hashes)
        }
    }

    fn load_as<W: Word>(self, hashes: impl Iterator<Item = u64>) -> Result<F, Error> {
        let (geometry, room) = (self.loader.geometry(), self.loader.room());
        let partition = divide::<W>(self.plan, &geometry, room, hashes)?;
        self.pour(&[partition])
    }

    fn load_slice<K: Key + Sync>(self, keys: &[K]) -> Result<F, Error> {
        if self.plan.shift <= u32::BITS {
            self.load_slice_as::<u32, K>(keys)
        } else {
            self.load_slice_as::<u64, K>(keys)
        }
    }

    fn load_slice_as<W: Word, K: Key + Sync>(self, keys: &[K]) -> Result<F, Error> {
        let (geometry, room) = (self.loader.geometry(), self.loader.room());
        let (plan, seed) = (self.plan, self.seed);
        let divide_piece = |keys: &[K]| {
            let keyed = F::Hash::keyed(&seed);
            let hashes = keys
                .iter()
                .map(move |key| first_word::<F::Hash, K>(&keyed, key));
            divide::<W>(plan, &geometry, room, hashes)
        };
        let piece = keys.len().div_ceil(self.threads).max(1);
        if piece >= keys.len() {
            let partition = divide_piece(keys)?;
            return self.pour(&[partition]);
        }
        let partitions: Result<Vec<Partition<W>>, Error> = thread::scope(|scope| {
            let divide_piece = &divide_piece;
            let workers: Vec<_> = keys
                .chunks(piece)
                .map(|keys| scope.spawn(move || divide_piece(keys)))
                .collect();
            let join = |worker: thread::ScopedJoinHandle<'_, _>| match worker.join() {
                Ok(partition) => partition,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            workers.into_iter().map(join).collect()
        });
        let partitions = partitions?;
        let total: u64 = partitions.iter().map(Partition::total).sum();
        if room.is_some_and(|room| total > room) {
            return Err(too_many(room));
        }
        self.pour(&partitions)
    }

    fn pour<W: Word>(mut self, partitions: &[Partition<W>]) -> Result<F, Error> {
        pour(self.plan, partitions, self.threads, &mut self.loader)?;
        F::from_loader(self.loader, self.seed)
    }
}

/// How many items there will be, if the iterator knows.
pub(crate) fn exact_len(items: &impl Iterator) -> Option<u64> {
    match items.size_hint() {
        (least, Some(most)) if least == most => Some(least as u64),
        _ => None,
    }
}
