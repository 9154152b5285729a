//! Looking a key up.
//!
//! The table says whether the fingerprint of a key is there, by the first word of its hash. Where it goes on
//! in further slots, the later words decide; few keys need them, so they are made only then.

use std::ops::Range;

use super::Core;
use crate::bits::Bytes;
use crate::hash::Hashed;
use crate::prints::{Digit, Digits, Print, Stream, digits};

impl<M: Bytes> Core<M> {
    /// The first live fingerprint that matches the key.
    pub(crate) fn find(&self, key: &Hashed<'_>) -> Option<Print> {
        self.find_live(key).map(|slots| self.read(slots))
    }

    pub(super) fn find_live(&self, key: &Hashed<'_>) -> Option<Range<u64>> {
        let digits = self.digits(key);
        let minirun = self.table.minirun(self.table.at(key.h0()));
        let mut prints = self.table.prints(minirun);
        prints.find(|print| self.tail_matches(print.clone(), &digits))
    }

    /// What the slots of a fingerprint hold behind its home.
    #[inline(always)]
    pub(super) fn tail(&self, print: Range<u64>) -> impl Iterator<Item = Digit> + '_ {
        let slots = (print.start + 1..print.end).map(|slot| self.table.slot(slot));
        digits(self.table.slot(print.start), slots)
    }

    /// Do the slots of a fingerprint behind its home match a key, and are they no ghost's?
    #[inline(always)]
    pub(super) fn tail_matches(&self, print: Range<u64>, key: &Digits<'_>) -> bool {
        let mut counter = None;
        let mut k = 0;
        for Digit { value, counts } in self.tail(print) {
            if counts {
                counter = Some(counter.unwrap_or(0) | value);
            } else {
                if key.digit(k) != value {
                    return false;
                }
                k += 1;
            }
        }
        counter != Some(0)
    }
}

#[cfg(test)]
mod tests {
    use crate::bits::Cpu;
    use crate::filters::adaptive::AdaptiveFilter;
    use crate::hash::{Hashed, Seed};
    use crate::minirun::Minirun;
    use crate::table::Found;

    #[test]
    fn looks_are_right() {
        let mut seen = [0; 3];
        for (slots, bits, stride) in [(100, 2, 1), (300, 4, 1), (500, 7, 3), (200, 12, 97)] {
            for load in [60, 95, 100, 140] {
                let builder = AdaptiveFilter::builder().slots(slots).remainder_bits(bits);
                let mut filter = builder.seed(Seed::from_u64(load)).build().unwrap();
                // The spare slots as well: far more keys than slots displace everything.
                for key in 0..slots * load / 100 {
                    if filter.insert(&key).is_err() {
                        break;
                    }
                }
                // Marked slots here and there.
                for key in 0..slots / 4 {
                    let hashed = filter.hash(&key);
                    let minirun = filter.core().minirun_of(hashed.h0());
                    let query = filter_query(key, &hashed);
                    let keys = [hashed.into_owned()];
                    let _ = filter.adapt(&query, minirun, &keys);
                }
                let core = filter.core();
                for id in (0..core.table.geometry().ids()).step_by(stride) {
                    let prints = core.contents_of(Minirun::from_id(id)).prints;
                    let right = if prints.is_empty() {
                        Found::No
                    } else if prints.iter().any(|print| print.extension.is_empty()) {
                        Found::Yes
                    } else {
                        Found::Ask
                    };
                    for cpu in Cpu::all() {
                        let table = core.table.on(cpu);
                        let h0 = *table.geometry().hash_range(id).start();
                        let found = table.contains(h0);
                        assert_eq!(found, right, "{slots} {bits} {load} {id}: {prints:?}");
                        let found = table.contains_slow(h0);
                        assert_eq!(found, right, "{slots} {bits} {load} {id}: {prints:?}");
                    }
                    seen[right as usize] += 1;
                }
            }
        }
        assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
    }

    /// A query that shares the minirun of a key and nothing else.
    fn filter_query(key: u64, hashed: &Hashed<'_>) -> Hashed<'static> {
        let words = vec![hashed.h0(), !hashed.word(1), key];
        Hashed::from_words(&words).into_owned()
    }
}
