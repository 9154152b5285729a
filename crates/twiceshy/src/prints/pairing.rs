//! Which key a fingerprint stands for: found when needed, never stored.
//!
//! A minirun is a multiset of fingerprints, each a *prefix* of a stream of digits. Its state
//! is right when every key can be paired with a fingerprint of its own that is a prefix of
//! the key's stream. Any two prefixes are nested or disjoint (no stream starts with both of
//! two disjoint ones), so greed works:
//!
//! > Go through the fingerprints from the longest to the shortest; pair each with any
//! > unpaired key that it prefixes. If some pairing covers all keys, this one does.
//!
//! *Why.* Take a pairing that covers all keys and agrees with the greedy one as long as
//! possible. Let `f` be the first fingerprint where they differ: greed gives it `x`. In the
//! other pairing `x` has some `g`, which is not longer than `f` (longer ones agree) and
//! prefixes `x` as `f` does, so `g` prefixes `f`. If there `f` has a key `y`, then `g` prefixes
//! `y` too: swap `x` and `y`. If `f` is free there, give it `x` and free `g`. Either way all keys
//! are still covered and the two agree for longer. Where greed finds no key for `f`, `f` has
//! none in the other pairing either, as all its keys are taken by longer fingerprints in
//! both.
//!
//! *The choice of key does not matter.* What is done with a pairing is to extend those
//! fingerprints that match a query `q`, each along its key to the first digit where the key
//! and `q` differ. Suppose greed could give `f` either `x` or `y`, and the other goes to a shorter
//! `g` (which prefixes `f`, as above). If `f` does not match `q` but `g` does, `q` leaves `f`'s
//! prefix somewhere behind `g`, and both keys leave `q` at that same digit with the same
//! digit: `g` becomes the same. If both match, each key's fingerprint ends where that key
//! leaves `q`: the same two results, exchanged. If `g` does not match, neither does `f`.

use super::print::{Print, Stream};

/// A key for each fingerprint, by position; `None` for those without: ghosts and surplus.
pub(crate) struct Pairing {
    pub(crate) key_of: Vec<Option<usize>>,
}

/// Pairs live fingerprints with keys, longest first. `None` if a key stays without.
pub(crate) fn pair<S: Stream>(prints: &[Print], keys: &[S]) -> Option<Pairing> {
    let (pairing, free) = pair_some(prints, keys);
    (!free.contains(&true)).then_some(pairing)
}

/// Pairs live fingerprints with keys, longest first, and says which keys stay without.
pub(crate) fn pair_some<S: Stream>(prints: &[Print], keys: &[S]) -> (Pairing, Vec<bool>) {
    let mut order: Vec<usize> = (0..prints.len())
        .filter(|&i| !prints[i].is_ghost())
        .collect();
    order.sort_by_key(|&i| std::cmp::Reverse(prints[i].extension.len()));
    let mut key_of = vec![None; prints.len()];
    let mut free = vec![true; keys.len()];
    for i in order {
        let key = (0..keys.len()).find(|&key| free[key] && prints[i].prefixes(&keys[key]));
        if let Some(key) = key {
            free[key] = false;
            key_of[i] = Some(key);
        }
    }
    (Pairing { key_of }, free)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Streams of a few digits for exhaustive tests.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Short([u8; 4]);

    impl Stream for Short {
        fn digit(&self, k: usize) -> u64 {
            u64::from(self.0[k])
        }

        fn digits(&self) -> usize {
            self.0.len()
        }
    }

    /// Is there any pairing at all? Tries all of them.
    fn exists(prints: &[Print], keys: &[Short]) -> bool {
        let Some((key, others)) = keys.split_first() else {
            return true;
        };
        (0..prints.len()).any(|i| {
            let mut rest = prints.to_vec();
            let print = rest.remove(i);
            print.prefixes(key) && exists(&rest, others)
        })
    }

    /// All streams over two digits, of which the last two are fixed by the first two.
    fn streams() -> Vec<Short> {
        (0..8_u8)
            .map(|x| Short([x & 1, x >> 1 & 1, x >> 2 & 1, 0]))
            .collect()
    }

    fn all_prints() -> Vec<Print> {
        let mut prints = vec![];
        for length in 0..=3_usize {
            for digits in 0..1_u64 << length {
                prints.push(Print {
                    extension: (0..length).map(|k| digits >> k & 1).collect(),
                    value: 0,
                    count: 1,
                });
            }
        }
        prints
    }

    /// Calls `each` with every multiset of `size` of `items`.
    fn multisets<T: Clone>(
        items: &[T],
        size: usize,
        chosen: &mut Vec<T>,
        each: &mut impl FnMut(&[T]),
    ) {
        if size == 0 {
            each(chosen);
            return;
        }
        for (i, item) in items.iter().enumerate() {
            chosen.push(item.clone());
            multisets(&items[i..], size - 1, chosen, each);
            chosen.pop();
        }
    }

    #[test]
    fn greed_finds_a_pairing_if_there_is_one() {
        let (prints, streams) = (all_prints(), streams());
        let (mut found, mut none) = (0, 0);
        for size in 0..=4 {
            multisets(&prints, size, &mut vec![], &mut |prints| {
                for keys in 0..=size.min(3) {
                    multisets(&streams, keys, &mut vec![], &mut |keys| {
                        let pairing = pair(prints, keys);
                        assert_eq!(pairing.is_some(), exists(prints, keys));
                        if let Some(pairing) = pairing {
                            found += 1;
                            for (print, key) in prints.iter().zip(&pairing.key_of) {
                                assert!(key.is_none_or(|key| print.prefixes(&keys[key])));
                            }
                            let mut paired: Vec<_> = pairing.key_of.iter().flatten().collect();
                            paired.sort();
                            assert!(paired.into_iter().copied().eq(0..keys.len()));
                        } else {
                            none += 1;
                        }
                    });
                }
            });
        }
        assert!(found > 50_000 && none > 50_000, "{found} {none}");
    }

    /// Extends what matches `query`, the way `adapt` does.
    fn adapted(prints: &[Print], keys: &[Short], query: &Short) -> Option<Vec<Print>> {
        let pairing = pair(prints, keys)?;
        let mut result = vec![];
        for (print, key) in prints.iter().zip(pairing.key_of) {
            let Some(key) = key else { continue };
            let mut print = print.clone();
            if print.prefixes(query) {
                print.extend(&keys[key], query).ok()?;
            }
            result.push(print);
        }
        result.sort();
        Some(result)
    }

    #[test]
    fn adapting_loses_no_key_gains_no_mistake_and_ignores_the_order() {
        let (prints, streams) = (all_prints(), streams());
        let mut checked = 0;
        for size in 1..=3 {
            multisets(&prints, size, &mut vec![], &mut |prints| {
                multisets(&streams, size.min(3), &mut vec![], &mut |keys| {
                    for query in streams.iter().filter(|&query| !keys.contains(query)) {
                        let Some(after) = adapted(prints, keys, query) else {
                            continue;
                        };
                        checked += 1;
                        assert!(pair(&after, keys).is_some(), "a key is lost");
                        assert!(
                            !after.iter().any(|print| print.prefixes(query)),
                            "not fixed"
                        );
                        for other in &streams {
                            let before = prints.iter().any(|print| print.prefixes(other));
                            let now = after.iter().any(|print| print.prefixes(other));
                            assert!(before || !now, "a new mistake");
                        }
                        let mut keys = keys.to_vec();
                        for _ in 0..keys.len() {
                            keys.rotate_left(1);
                            assert_eq!(adapted(prints, &keys, query).as_ref(), Some(&after));
                            keys.reverse();
                            assert_eq!(adapted(prints, &keys, query).as_ref(), Some(&after));
                            keys.reverse();
                        }
                    }
                });
            });
        }
        assert!(checked > 3_000, "{checked}");
    }
}
