//! An attacker who repeats a filter's mistakes, to try a store with.
//!
//! Whoever can see that an answer took a read of the database, for a key that is not there, has found a
//! false positive. A filter that does not learn makes it again each time, so the attacker turns the small
//! share of its mistakes into most of its traffic, more of them than any cache holds. (Section 6.4 of
//! *Adaptive Quotient Filters*, figure 6.)
//!
//! ```text
//!          ask for fresh keys ──▶ hear which were slow ──▶ repeat those, in a circle
//! ```
//!
//! ```
//! use twiceshy_store::attack::Attacker;
//! use twiceshy_store::engine::{Counting, InMemory};
//! use twiceshy_store::files::NoFiles;
//! use twiceshy_store::{FilterChoice, StoreBuilder};
//!
//! let builder = StoreBuilder::new().capacity(1_000).filter(FilterChoice::Plain);
//! let store = builder.open(Counting::new(InMemory::new()), NoFiles)?;
//! for i in 0..1_000_u64 {
//!     store.put(i.to_le_bytes(), "a record")?;
//! }
//! // Is there such a record, and did the database have to say so?
//! let reads = || store.engine().counts().reads();
//! let mut attacker = Attacker::new(100);
//! for probe in (1_000..200_000_u64).map(u64::to_le_bytes) {
//!     let before = reads();
//!     assert!(store.get(probe)?.is_none());
//!     attacker.hear(&probe, reads() > before);
//! }
//! let before = reads();
//! for _ in 0..1_000 {
//!     let key = attacker.replay().expect("mistakes");
//!     store.get(key)?;
//! }
//! assert_eq!(reads() - before, 1_000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

/// What an attacker knows: keys that are not there, and were slow.
#[derive(Clone, Debug)]
pub struct Attacker<K> {
    known: Vec<K>,
    most: usize,
    /// The next of them to repeat.
    next: usize,
    /// The one that was repeated last, if its answer was not heard yet.
    asked: Option<usize>,
}

impl<K: Clone + PartialEq> Attacker<K> {
    /// Somebody who knows nothing yet, and will remember so many mistakes: more than a cache holds are
    /// enough.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Attacker {
            known: Vec::new(),
            most,
            next: 0,
            asked: None,
        }
    }

    /// The next mistake to repeat, in a circle; `None` if they know none, and can only look for some
    /// with fresh keys.
    pub fn replay(&mut self) -> Option<K> {
        if self.next >= self.known.len() {
            self.next = 0;
        }
        let key = self.known.get(self.next)?.clone();
        self.asked = Some(self.next);
        self.next += 1;
        Some(key)
    }

    /// What came of their last lookup, for a key that is not there. A fresh key that was slow is
    /// remembered; a repeated one that no longer is, because the filter has learnt, is forgotten.
    ///
    /// Who does not hear what comes of a repeated key goes on repeating it.
    pub fn hear(&mut self, key: &K, was_slow: bool) {
        let asked = self.asked.take();
        let repeated = asked.filter(|&place| self.known[place] == *key);
        match (repeated, was_slow) {
            (None, true) if self.known.len() < self.most => self.known.push(key.clone()),
            (Some(place), false) => {
                // The last one takes its place, and is next.
                self.known.swap_remove(place);
                self.next = place;
            }
            _ => {}
        }
    }

    /// All mistakes that they know.
    #[must_use]
    pub fn known(&self) -> &[K] {
        &self.known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(keys: &[u64]) -> Attacker<u64> {
        let mut attacker = Attacker::new(3);
        for key in keys {
            attacker.hear(key, true);
        }
        attacker
    }

    #[test]
    fn what_was_slow_comes_back_in_a_circle() {
        let mut attacker = with(&[7, 47, 87, 127]);
        attacker.hear(&8, false);
        assert_eq!(attacker.known(), [7, 47, 87]);
        let asked: Vec<_> = (0..7).map_while(|_| attacker.replay()).collect();
        assert_eq!(asked, [7, 47, 87, 7, 47, 87, 7]);
    }

    #[test]
    fn what_is_fixed_is_not_asked_again() {
        let mut attacker = with(&[1, 2, 3]);
        for (was_slow, left) in [(true, 3), (false, 2), (true, 2), (false, 1), (false, 0)] {
            let key = attacker.replay().unwrap();
            attacker.hear(&key, was_slow);
            assert_eq!(attacker.known().len(), left);
            assert_eq!(attacker.known().contains(&key), was_slow);
        }
        assert_eq!(attacker.replay(), None);
        attacker.hear(&9, true);
        assert_eq!(attacker.replay(), Some(9));
    }

    #[test]
    fn who_knows_nothing_has_nothing_to_repeat() {
        assert_eq!(Attacker::<u64>::new(10).replay(), None);
    }
}
