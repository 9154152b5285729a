//! Keys that came a moment ago.
//!
//! A filter is a set, but most kinds take a slot for every copy of a key, and a log names the same
//! few keys a million times. Leaving out all copies would take all keys in memory; this leaves
//! out those of keys that come often, in a constant 1 MiB.

/// Places for keys; a power of two.
const PLACES: usize = 1 << 16;

/// The keys that came last, each in the one place that its hash names, by the first word of it:
/// all that a filter which is filled with hashes knows of a key.
#[derive(Debug)]
pub(super) struct Recent {
    places: Vec<Option<u64>>,
}

impl Recent {
    pub(super) fn new() -> Self {
        Recent {
            places: vec![None; PLACES],
        }
    }

    /// Is this another key than the last one in its place?
    #[inline]
    pub(super) fn is_news(&mut self, hash: u64) -> bool {
        let place = &mut self.places[hash as usize % PLACES];
        place.replace(hash) != Some(hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use twiceshy::hash::{Seed, Sip13, StreamHash, first_word};

    #[test]
    fn copies_of_popular_keys_are_left_out() {
        let keyed = Sip13::keyed(&Seed::from_u64(1));
        let mut recent = Recent::new();
        let mut news = |count: u32, popular: bool| {
            let key = |i: u32| if popular { 7 } else { i };
            let hashes = (0..count).map(|i| first_word::<Sip13, _>(&keyed, &key(i)));
            hashes.filter(|&hash| recent.is_news(hash)).count()
        };
        assert_eq!(news(1_000_000, true), 1);
        assert!(news(1_000_000, false) >= 999_999);
    }
}
