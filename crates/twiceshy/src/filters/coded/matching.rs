//! Which slot belongs to which key: bipartite matching.
//!
//! Fingerprints with selectors are not nested: that two slots fit a key says nothing about
//! which others they fit, so no order of pairing is right by itself. Augmenting paths find a
//! pairing of all keys if there is one:
//!
//! ```text
//! keys   x   y            x takes a; y fits a alone: x moves on to b, y takes a
//!        | \ |
//! slots  b   a
//! ```

/// Gives every one of `keys` keys a slot of its own that fits it. The result has, for each of
/// `slots` slots, its key; `None` if some key gets none.
pub(crate) fn match_all(
    keys: usize,
    slots: usize,
    fits: impl Fn(usize, usize) -> bool,
) -> Option<Vec<Option<usize>>> {
    let mut key_of: Vec<Option<usize>> = vec![None; slots];
    // Which key reached a slot in the search for the key being placed.
    let mut reached: Vec<Option<usize>> = vec![None; slots];
    for key in 0..keys {
        reached.fill(None);
        let mut waiting = vec![key];
        let mut free = None;
        while let (Some(seeker), None) = (waiting.pop(), free) {
            for slot in 0..slots {
                if reached[slot].is_some() || !fits(seeker, slot) {
                    continue;
                }
                reached[slot] = Some(seeker);
                match key_of[slot] {
                    Some(holder) => waiting.push(holder),
                    None => {
                        free = Some(slot);
                        break;
                    }
                }
            }
        }
        // Back along the path: each takes the slot that it reached, and leaves its own.
        let mut slot = free?;
        while let Some(seeker) = reached[slot] {
            let left = key_of.iter().position(|&holder| holder == Some(seeker));
            key_of[slot] = Some(seeker);
            match left {
                Some(left) => slot = left,
                None => break,
            }
        }
    }
    Some(key_of)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tries all ways.
    fn naive(key: usize, keys: usize, slots: usize, edges: u64, taken: u64) -> bool {
        if key == keys {
            return true;
        }
        (0..slots).any(|slot| {
            let fits = edges >> (key * slots + slot) & 1 == 1;
            fits && taken >> slot & 1 == 0 && naive(key + 1, keys, slots, edges, taken | 1 << slot)
        })
    }

    /// Every graph of up to four keys and four slots.
    #[test]
    fn as_good_as_trying_all_ways() {
        let mut matched = 0;
        for (keys, slots) in [
            (0, 2),
            (1, 1),
            (1, 3),
            (2, 2),
            (2, 3),
            (3, 3),
            (3, 2),
            (3, 4),
            (4, 4),
        ] {
            for edges in 0..1_u64 << (keys * slots) {
                let fits = |key: usize, slot: usize| edges >> (key * slots + slot) & 1 == 1;
                let found = match_all(keys, slots, fits);
                assert_eq!(found.is_some(), naive(0, keys, slots, edges, 0));
                let Some(key_of) = found else { continue };
                matched += 1;
                let mut seen = vec![0; keys];
                for (slot, key) in key_of.into_iter().enumerate() {
                    if let Some(key) = key {
                        assert!(fits(key, slot));
                        seen[key] += 1;
                    }
                }
                assert!(seen.iter().all(|&times| times == 1));
            }
        }
        assert!(matched > 10_000, "{matched}");
    }
}
