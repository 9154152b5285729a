//! Counting without locks.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// True negatives and false positives after which a shard's window moves on.
const WINDOW: u64 = 1 << 14;

/// What a shard counts. On cache lines of its own, so that shards don't slow each other down.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Counters {
    negatives: AtomicU64,
    hits: AtomicU64,
    false_positives: AtomicU64,
    repeated: AtomicU64,
    adaptations: AtomicU64,
    unlearnt: AtomicU64,
    records: AtomicU64,
    /// A commit has failed, and nobody knows whether it was made: records may be a few more or
    /// less.
    unsure: AtomicBool,
    /// Strangers asked for and mistakes made in this window and the one before.
    window: [AtomicU64; 4],
    /// A few mistakes that were made, each as half of its hash, to know them again.
    seen: Seen,
}

/// The sums of all shards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) negatives: u64,
    pub(crate) hits: u64,
    pub(crate) false_positives: u64,
    pub(crate) repeated: u64,
    pub(crate) adaptations: u64,
    pub(crate) unlearnt: u64,
    pub(crate) window_strangers: u64,
    pub(crate) window_mistakes: u64,
}

impl Counters {
    #[inline]
    pub(crate) fn negative(&self) {
        self.negatives.fetch_add(1, Relaxed);
        self.window[0].fetch_add(1, Relaxed);
    }

    pub(crate) fn hit(&self) {
        self.hits.fetch_add(1, Relaxed);
    }

    /// A mistake on a query with this hash.
    pub(crate) fn false_positive(&self, hash: u64) {
        self.false_positives.fetch_add(1, Relaxed);
        if self.seen.has_or_add(hash) {
            self.repeated.fetch_add(1, Relaxed);
        }
        let strangers = self.window[0].fetch_add(1, Relaxed);
        self.window[1].fetch_add(1, Relaxed);
        // Rounding errors of a few threads that come here at once do no harm.
        if strangers >= WINDOW {
            for i in 0..2 {
                self.window[2 + i].store(self.window[i].swap(0, Relaxed), Relaxed);
            }
        }
    }

    pub(crate) fn adaptation(&self) {
        self.adaptations.fetch_add(1, Relaxed);
    }

    pub(crate) fn unlearnt(&self) {
        self.unlearnt.fetch_add(1, Relaxed);
    }

    pub(crate) fn records(&self) -> u64 {
        self.records.load(Relaxed)
    }

    pub(crate) fn add_records(&self, records: u64) {
        self.records.fetch_add(records, Relaxed);
    }

    pub(crate) fn remove_records(&self, records: u64) {
        // They can be more than were counted only if that was unsure.
        let less = |counted: u64| Some(counted.saturating_sub(records));
        let _ = self.records.fetch_update(Relaxed, Relaxed, less);
    }

    pub(crate) fn is_unsure(&self) -> bool {
        self.unsure.load(Relaxed)
    }

    pub(crate) fn set_unsure(&self) {
        self.unsure.store(true, Relaxed);
    }

    /// They have been counted.
    pub(crate) fn set_records(&self, records: u64) {
        self.records.store(records, Relaxed);
        self.unsure.store(false, Relaxed);
    }

    /// Adds what was counted here.
    pub(crate) fn add_to(&self, sum: &mut Counts) {
        for (counter, sum) in [
            (&self.negatives, &mut sum.negatives),
            (&self.hits, &mut sum.hits),
            (&self.false_positives, &mut sum.false_positives),
            (&self.repeated, &mut sum.repeated),
            (&self.adaptations, &mut sum.adaptations),
            (&self.unlearnt, &mut sum.unlearnt),
        ] {
            *sum += counter.load(Relaxed);
        }
        let [strangers, mistakes, old_strangers, old_mistakes] =
            self.window.each_ref().map(|counter| counter.load(Relaxed));
        sum.window_strangers += strangers + old_strangers;
        sum.window_mistakes += mistakes + old_mistakes;
    }
}

/// Remembers hashes, each until another takes its place.
#[derive(Debug)]
struct Seen {
    hashes: Box<[AtomicU64]>,
}

impl Default for Seen {
    fn default() -> Self {
        Seen {
            hashes: (0..256).map(|_| AtomicU64::new(0)).collect(),
        }
    }
}

impl Seen {
    fn has_or_add(&self, hash: u64) -> bool {
        // Zero stands for none.
        let hash = hash | 1;
        let at = (hash >> 32) as usize % self.hashes.len();
        self.hashes[at].swap(hash, Relaxed) == hash
    }
}
