//! Keys that came a moment ago.
//!
//! A filter is a set, but most kinds take a slot for every copy of a key, and a log names the same
//! few keys a million times. Leaving out all copies would take all keys in memory; this leaves
//! out those of keys that come often, in a constant 1 MiB.

use twiceshy::hash::{Hashed, Seed, Sip13};

use crate::exit::Outcome;

/// Places for keys; a power of two.
const PLACES: usize = 1 << 16;

/// The keys that came last, each in the one place that its hash names, by 128 bits of it: two
/// different keys are taken for one about never.
#[derive(Debug)]
pub(super) struct Recent {
    seed: Seed,
    places: Vec<Option<[u64; 2]>>,
}

impl Recent {
    pub(super) fn new() -> Outcome<Self> {
        Ok(Recent {
            seed: Seed::random()?,
            places: vec![None; PLACES],
        })
    }

    /// Is this another key than the last one in its place?
    pub(super) fn is_news(&mut self, key: &[u8]) -> bool {
        let hashed = Hashed::from_bytes::<Sip13>(&self.seed, key);
        let words = [hashed.word(0), hashed.word(1)];
        let place = &mut self.places[words[0] as usize % PLACES];
        place.replace(words) != Some(words)
    }

    /// Forgets all keys. From here on it answers as it did from the start.
    pub(super) fn forget(&mut self) {
        self.places.fill(None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_popular_keys_are_left_out() {
        let mut recent = Recent::new().unwrap();
        let mut news = |count: u32, popular: bool| {
            let key = |i: u32| if popular { 7 } else { i }.to_le_bytes();
            (0..count).filter(|&i| recent.is_news(&key(i))).count()
        };
        assert_eq!(news(1_000_000, true), 1);
        assert!(news(1_000_000, false) >= 999_999);
    }

    #[test]
    fn both_passes_see_the_same() {
        let mut recent = Recent::new().unwrap();
        let mut pass = || {
            let keys = (0..200_000_u64).map(|i| (i * i % 50_021).to_le_bytes());
            let news = keys.filter(|key| recent.is_news(key)).count();
            recent.forget();
            news
        };
        assert_eq!(pass(), pass());
    }
}
