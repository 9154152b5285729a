//! A filter that was loaded at once has the bytes of one that was filled one by one.

use crate::error::Error;
use crate::hash::{GOLDEN, Hashed, Seed, mix};
use crate::{AdaptiveFilter, CountingFilter, QuotientFilter};

fn random(i: u64) -> u64 {
    mix((i + 1).wrapping_mul(GOLDEN))
}

/// Slots, remainder bits, hashes: from nothing to more than there is room for, uniform and
/// not.
fn cases() -> impl Iterator<Item = (u64, u32, Vec<u64>)> {
    let geometries = [
        (1, 1),
        (2, 4),
        (64, 1),
        (65, 3),
        (150, 2),
        (190, 4),
        (1_000, 9),
        (300, 40),
        // Several buckets.
        (90_000, 7),
    ];
    let kinds: [fn(u64) -> u64; 6] = [
        random,
        // Few different ones.
        |i| random(i % 7),
        |_| u64::MAX,
        // In order, and in reverse.
        |i| i << 44,
        |i| !(i << 44),
        // All in the last quotients.
        |i| u64::MAX - random(i) % (1 << 50),
    ];
    geometries.into_iter().flat_map(move |(slots, bits)| {
        // One by one, long runs take long.
        let kinds_here = if slots > 10_000 { 1 } else { kinds.len() };
        kinds.into_iter().take(kinds_here).flat_map(move |kind| {
            let len = [0, 1, slots / 2, slots * 9 / 10, slots + 60, slots * 2];
            len.into_iter()
                .map(move |len| (slots, bits, (0..len).map(kind).collect()))
        })
    })
}

fn sorted(hashes: &[u64]) -> Vec<u64> {
    let mut sorted = hashes.to_vec();
    sorted.sort_unstable();
    sorted
}

/// Each way of loading hashes gives what one by one gives: the same bytes, or no filter.
macro_rules! load_as_inserted {
    ($filter:ident, $slots:expr, $bits:expr, $hashes:expr, $one_by_one:expr) => {{
        let hashes: &[u64] = $hashes;
        let seed = Seed::from_u64(1);
        let builder = || {
            $filter::builder()
                .slots($slots)
                .remainder_bits($bits)
                .seed(seed)
        };
        let mut one_by_one = builder().build().unwrap();
        let inserted: Result<(), Error> = hashes
            .iter()
            .try_for_each(|&h0| $one_by_one(&mut one_by_one, &Hashed::from_h0(h0)));
        let mut loaded = vec![
            builder().build_from_sorted_hashes(sorted(hashes)),
            builder().build_from_hashes(hashes.iter().copied()),
            // Not known how many.
            builder().build_from_hashes(hashes.iter().copied().filter(|_| true)),
        ];
        for threads in 2..=4 {
            let builder = builder().threads(threads);
            loaded.push(builder.build_from_hashes(hashes.iter().copied()));
        }
        for filter in loaded {
            match (&inserted, filter) {
                (Ok(()), Ok(filter)) => {
                    assert_eq!(filter.as_bytes(), one_by_one.as_bytes());
                    assert_eq!(filter.len(), one_by_one.len());
                    assert_eq!(filter.check_invariants(), Ok(()));
                }
                (Err(_), Err(Error::Full { .. })) => {}
                (inserted, loaded) => panic!(
                    "{} slots, {} hashes: {inserted:?} one by one, {loaded:?} at once",
                    $slots,
                    hashes.len()
                ),
            }
        }
        inserted.is_ok()
    }};
}

#[test]
fn the_plain_filter_loads_as_it_is_filled() {
    let mut full = 0;
    for (slots, bits, hashes) in cases() {
        let insert = |filter: &mut QuotientFilter, key: &Hashed<'_>| filter.insert_hashed(key);
        let fits = load_as_inserted!(QuotientFilter, slots, bits, &hashes, insert);
        full += u32::from(!fits);
    }
    assert!(full > 20, "{full} were full");
}

#[test]
fn the_adaptive_filter_loads_as_it_is_filled() {
    let mut full = 0;
    for (slots, bits, hashes) in cases() {
        let insert = |filter: &mut AdaptiveFilter, key: &Hashed<'_>| {
            let inserted = filter.insert_hashed(key)?;
            assert_eq!(inserted, crate::Inserted::New);
            Ok(())
        };
        let fits = load_as_inserted!(AdaptiveFilter, slots, bits, &hashes, insert);
        full += u32::from(!fits);
    }
    assert!(full > 20, "{full} were full");
}

#[test]
fn the_counting_filter_loads_as_it_is_filled() {
    let mut full = 0;
    for (slots, bits, hashes) in cases() {
        let insert = |filter: &mut CountingFilter, key: &Hashed<'_>| filter.insert_hashed(key);
        let fits = load_as_inserted!(CountingFilter, slots, bits, &hashes, insert);
        full += u32::from(!fits);
    }
    assert!(full > 5, "{full} were full");
}

/// Enough for many buckets, uniform and not, and for ids that wait in 8 bytes.
#[test]
fn many_buckets_are_sorted_and_written_in_order() {
    let seed = Seed::from_u64(1);
    for (slots, bits) in [(300_000, 9), (300_000, 24), (200_000, 41)] {
        let builder = || {
            QuotientFilter::builder()
                .slots(slots)
                .remainder_bits(bits)
                .seed(seed)
        };
        let skewed: [fn(u64) -> u64; 3] = [
            random,
            // Most in the first buckets, and all in the last.
            |i| random(i) >> (i % 7),
            |i| !(random(i) >> 20),
        ];
        for (skew, hash) in skewed.into_iter().enumerate() {
            let hashes: Vec<u64> = (0..slots * 19 / 20).map(hash).collect();
            let expected = builder().build_from_sorted_hashes(sorted(&hashes));
            for threads in 1..=4 {
                let loaded = builder().threads(threads).build_from_hashes(hashes.clone());
                match (&expected, loaded) {
                    (Ok(expected), Ok(loaded)) => {
                        assert_eq!(loaded.as_bytes(), expected.as_bytes());
                        assert_eq!(loaded.check_invariants(), Ok(()));
                    }
                    (Err(expected), Err(error)) => assert_eq!(*expected, error),
                    other => panic!("{slots} slots, skew {skew}: {other:?}"),
                }
            }
            assert_eq!(expected.is_ok(), skew != 2);
        }
    }
}

/// Keys, not hashes: all ways, all numbers of threads.
#[test]
fn keys_are_hashed_by_every_thread_alike() {
    let keys: Vec<String> = (0..150_000_u64).map(|i| format!("key {i}")).collect();
    let seed = Seed::from_u64(3);
    let builder = || AdaptiveFilter::builder().capacity(150_000).seed(seed);
    let mut one_by_one = builder().build().unwrap();
    for key in &keys {
        one_by_one.insert(key).unwrap();
    }
    let expected = one_by_one.as_bytes();
    let mut in_order: Vec<&String> = keys.iter().collect();
    in_order.sort_by_cached_key(|key| one_by_one.hash(*key).h0());
    let filter = builder().build_from_sorted(in_order).unwrap();
    assert_eq!(filter.as_bytes(), expected);
    for threads in 0..=5 {
        let builder = || builder().threads(threads);
        assert_eq!(builder().build_from(&keys).unwrap().as_bytes(), expected);
        let filter = builder().build_from_slice(&keys).unwrap();
        assert_eq!(filter.as_bytes(), expected);
        assert_eq!(filter.len(), 150_000);
    }
    // Without a capacity, the number of keys is one.
    let filter = AdaptiveFilter::builder()
        .seed(seed)
        .build_from(&keys)
        .unwrap();
    assert_eq!(filter.as_bytes(), expected);
}

/// Keys with counts and values, against `insert_with` for each, in the same order.
#[test]
fn entries_load_as_insert_with_inserts() {
    let seed = Seed::from_u64(1);
    let (mut several, mut full) = (0, 0);
    for (case, (slots, bits, value_bits)) in (0_u64..)
        .zip([
            (1, 1, 0),
            (3, 1, 2),
            (64, 2, 0),
            (65, 1, 3),
            (130, 4, 1),
            (500, 9, 16),
        ])
        .cycle()
        .take(240)
    {
        let builder = || {
            AdaptiveFilter::builder()
                .slots(slots)
                .remainder_bits(bits)
                .value_bits(value_bits)
                .seed(seed)
        };
        let mut filter = builder().build().unwrap();
        let geometry = filter.geometry();
        // Miniruns with several keys, keys that come twice, streams that agree for long.
        let len = random(case) % (slots * 3 / 2 + 2);
        let words: Vec<[u64; 2]> = (0..len)
            .map(|i| random(case * 1_000 + i))
            .map(|word| {
                [
                    word % 5 * (u64::MAX / 5) / (1 + word / 5 % slots),
                    word >> 61 << 40,
                ]
            })
            .map(|[h0, h1]| [h0, h1 * (case % 3)])
            .collect();
        let mut entries: Vec<(Hashed<'_>, u64, u64)> = words
            .iter()
            .enumerate()
            .map(|(i, words)| {
                let word = random(case * 77 + i as u64);
                let count = [1, 1, 2, 700][(word % 4) as usize];
                (
                    Hashed::from_words(words),
                    count,
                    word >> 8 & ((1 << value_bits) - 1),
                )
            })
            .collect();
        entries.sort_by_key(|(key, _, _)| key.h0());
        let inserted = entries
            .iter()
            .enumerate()
            .try_for_each(|(i, (key, count, value))| {
                let same = |other: &&(Hashed<'_>, u64, u64)| {
                    geometry.id(other.0.h0()) == geometry.id(key.h0())
                };
                let keys: Vec<_> = entries[..i]
                    .iter()
                    .filter(same)
                    .map(|(key, _, _)| key.clone())
                    .collect();
                several += u32::from(keys.len() > 1);
                filter.insert_with(key, *count, *value, &keys).map(|_| ())
            });
        let loaded = builder().build_from_sorted_entries(entries);
        match (inserted, loaded) {
            (Ok(()), Ok(loaded)) => {
                assert_eq!(loaded.as_bytes(), filter.as_bytes(), "case {case}");
                assert_eq!(loaded.len(), filter.len());
                assert_eq!(loaded.check_invariants(), Ok(()));
            }
            (Err(Error::Full { .. }), Err(Error::Full { .. })) => full += 1,
            (inserted, loaded) => panic!("case {case}: {inserted:?} one by one, {loaded:?}"),
        }
    }
    assert!(several > 100 && full > 0, "{several} {full}");
}

#[test]
fn counts_load_as_insert_count_inserts() {
    let seed = Seed::from_u64(1);
    for (slots, bits) in [(1, 1), (65, 1), (100, 3), (200, 9)] {
        let builder = || {
            CountingFilter::builder()
                .slots(slots)
                .remainder_bits(bits)
                .seed(seed)
        };
        let mut filter = builder().build().unwrap();
        let mut counts: Vec<(u64, u64)> = (0..slots / 10 + 1)
            .map(|i| (random(i % 9), [0, 1, 2, 1 << 10, 1 << 40][(i % 5) as usize]))
            .collect();
        counts.sort_unstable();
        for &(h0, count) in &counts {
            filter
                .insert_count_hashed(&Hashed::from_h0(h0), count)
                .unwrap();
        }
        let loaded = builder().build_from_sorted_counts(counts).unwrap();
        assert_eq!(loaded.as_bytes(), filter.as_bytes());
        assert_eq!(loaded.total(), filter.total());
        assert_eq!(loaded.check_invariants(), Ok(()));
    }
}
