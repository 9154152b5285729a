//! Counting without locks.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// True negatives and false positives after which a shard's window moves on.
const WINDOW: u64 = 1 << 14;

/// What a shard counts. On cache lines of its own, so that shards don't slow each other down.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Counters {
    /// The one that nearly every lookup counts up.
    negatives: Striped,
    hits: AtomicU64,
    false_positives: AtomicU64,
    repeated: AtomicU64,
    adaptations: AtomicU64,
    unlearnt: AtomicU64,
    /// How often the filter has grown, and the longest step of that.
    grows: AtomicU64,
    longest_step: Longest,
    records: AtomicU64,
    /// A commit has failed, and nobody knows whether it was made: records may be a few more or
    /// less.
    unsure: AtomicBool,
    window: Window,
    /// A few mistakes that were made, each as half of its hash, to know them again.
    seen: Seen,
}

/// Strangers asked for and mistakes made lately.
#[derive(Debug, Default)]
struct Window {
    /// Strangers that had been asked for when this window began.
    start: AtomicU64,
    mistakes: AtomicU64,
    /// Those of the window before.
    old_strangers: AtomicU64,
    old_mistakes: AtomicU64,
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
    pub(crate) grows: u64,
    pub(crate) longest_step: Duration,
    pub(crate) window_strangers: u64,
    pub(crate) window_mistakes: u64,
}

impl Counters {
    #[inline]
    pub(crate) fn negative(&self) {
        self.negatives.add_one();
    }

    /// How many keys were asked for that were not there.
    fn strangers(&self) -> u64 {
        self.negatives.sum() + self.false_positives.load(Relaxed)
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
        let window = &self.window;
        window.mistakes.fetch_add(1, Relaxed);
        let strangers = self.strangers();
        let lately = strangers.saturating_sub(window.start.load(Relaxed));
        // Rounding errors of a few threads that come here at once do no harm.
        if lately >= WINDOW {
            window.start.store(strangers, Relaxed);
            window.old_strangers.store(lately, Relaxed);
            let mistakes = window.mistakes.swap(0, Relaxed);
            window.old_mistakes.store(mistakes, Relaxed);
        }
    }

    pub(crate) fn adaptation(&self) {
        self.adaptations.fetch_add(1, Relaxed);
    }

    pub(crate) fn unlearnt(&self) {
        self.unlearnt.fetch_add(1, Relaxed);
    }

    /// The filter has grown.
    pub(crate) fn grown(&self) {
        self.grows.fetch_add(1, Relaxed);
    }

    /// A step of growing that began then and ends now.
    pub(crate) fn step_since(&self, start: Instant) {
        self.longest_step.note_since(start);
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
            (&self.hits, &mut sum.hits),
            (&self.false_positives, &mut sum.false_positives),
            (&self.repeated, &mut sum.repeated),
            (&self.adaptations, &mut sum.adaptations),
            (&self.unlearnt, &mut sum.unlearnt),
            (&self.grows, &mut sum.grows),
        ] {
            *sum += counter.load(Relaxed);
        }
        sum.negatives += self.negatives.sum();
        sum.longest_step = sum.longest_step.max(self.longest_step.get());
        let window = &self.window;
        let lately = (self.strangers()).saturating_sub(window.start.load(Relaxed));
        sum.window_strangers += lately + window.old_strangers.load(Relaxed);
        let mistakes = window.mistakes.load(Relaxed);
        sum.window_mistakes += mistakes + window.old_mistakes.load(Relaxed);
    }
}

/// The longest of some times.
#[derive(Debug, Default)]
pub(crate) struct Longest(AtomicU64);

impl Longest {
    /// One that began then and ends now.
    pub(crate) fn note_since(&self, start: Instant) {
        self.0.fetch_max(start.elapsed().as_nanos() as u64, Relaxed);
    }

    pub(crate) fn get(&self) -> Duration {
        Duration::from_nanos(self.0.load(Relaxed))
    }
}

/// Stripes of a counter.
const STRIPES: usize = 8;

/// A counter in several parts. Threads that count at the same time, unless they are many, count in
/// different ones, and their cores need not pass a cache line to and fro.
#[derive(Debug, Default)]
struct Striped([Stripe; STRIPES]);

#[derive(Debug, Default)]
#[repr(align(128))]
struct Stripe(AtomicU64);

impl Striped {
    #[inline]
    fn add_one(&self) {
        self.0[stripe()].0.fetch_add(1, Relaxed);
    }

    fn sum(&self) -> u64 {
        self.0.iter().map(|part| part.0.load(Relaxed)).sum()
    }
}

/// The stripe of this thread.
#[inline]
fn stripe() -> usize {
    const NONE: usize = usize::MAX;
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static OURS: Cell<usize> = const { Cell::new(NONE) });
    OURS.with(|ours| {
        if ours.get() == NONE {
            ours.set(NEXT.fetch_add(1, Relaxed) % STRIPES);
        }
        ours.get() % STRIPES
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_count_together() {
        let counters = Counters::default();
        std::thread::scope(|scope| {
            for _ in 0..3 * STRIPES {
                scope.spawn(|| (0..100).for_each(|_| counters.negative()));
            }
        });
        let mut sum = Counts::default();
        counters.add_to(&mut sum);
        assert_eq!(sum.negatives, 300 * STRIPES as u64);
        assert_eq!(sum.window_strangers, sum.negatives);
    }

    #[test]
    fn the_window_moves_on() {
        let counters = Counters::default();
        let ask = |strangers| {
            (1..strangers).for_each(|_| counters.negative());
            counters.false_positive(strangers);
            let mut sum = Counts::default();
            counters.add_to(&mut sum);
            (sum.window_strangers, sum.window_mistakes)
        };
        assert_eq!(ask(100), (100, 1));
        assert_eq!(ask(WINDOW), (WINDOW + 100, 2));
        // The first two are the window before.
        assert_eq!(ask(50), (WINDOW + 150, 3));
        assert_eq!(ask(WINDOW), (WINDOW + 50, 2));
    }
}
