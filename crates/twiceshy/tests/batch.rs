//! Batches give what one call after the other gives, at every length and state.

use twiceshy::batch::Interrupted;
use twiceshy::hash::{Hashed, Seed};
use twiceshy::{AdaptiveFilter, CountingFilter, Error, Filter, Insert, QuotientFilter};

/// Lengths around those of the pieces that batches are cut into.
const LENGTHS: [usize; 9] = [0, 1, 15, 16, 17, 255, 256, 257, 1000];

fn names(from: u32, count: usize) -> Vec<String> {
    (from..).take(count).map(|i| format!("key {i}")).collect()
}

/// All ways to ask many keys give the same answers as asking them one by one.
fn check<F: Filter>(filter: &F) -> usize {
    let mut positives = 0;
    for length in LENGTHS {
        let keys = names(700, length);
        let expected: Vec<bool> = keys.iter().map(|key| filter.contains(key)).collect();
        assert_eq!(filter.contains_batch(&keys), expected);
        let mut found = vec![true; 3];
        filter.contains_batch_into(&keys, &mut found);
        assert_eq!(found, expected);
        let hashed: Vec<Hashed<'_>> = keys.iter().map(|key| filter.hash(key)).collect();
        assert_eq!(filter.contains_batch_hashed(&hashed), expected);
        let each = filter.contains_each(&keys);
        assert_eq!(each.size_hint(), (length, Some(length)));
        assert!(each.eq(expected.iter().copied()));
        positives += expected.iter().filter(|&&found| found).count();
    }
    positives
}

/// A filter of a few blocks with short remainders, so that runs are long and leave their
/// blocks.
macro_rules! small {
    ($filter:ident, $load:expr) => {{
        let mut filter = $filter::builder()
            .slots(1_000)
            .remainder_bits(3)
            .seed(Seed::from_u64(5))
            .build()
            .expect("a small filter");
        filter
            .insert_batch(names(0, $load))
            .expect("there is room for these");
        filter
    }};
}

#[test]
fn a_batch_of_questions_is_answered_as_one_by_one() {
    for load in [0, 1, 500, 900, 1_000, 1_100] {
        let positives = check(&small!(QuotientFilter, load));
        assert_eq!(positives, check(&small!(CountingFilter, load)));
        assert_eq!(positives, check(&small!(AdaptiveFilter, load)));
        assert_eq!(positives > 0, load > 0);
    }
}

#[test]
fn a_batch_of_questions_finds_its_way_among_counts() {
    let mut filter = small!(CountingFilter, 300);
    for key in names(0, 150) {
        filter.insert_count(&key, 1_000).expect("there is room");
    }
    assert!(check(&filter) > 0);
}

#[test]
fn a_batch_of_questions_finds_its_way_among_extensions() {
    let mut filter = small!(AdaptiveFilter, 850);
    let members = names(0, 850);
    let mut fixed = 0;
    for query in names(2_000, 300) {
        let query = filter.hash(&query);
        let Some(minirun) = filter.lookup_hashed(&query) else {
            continue;
        };
        let hashes = filter.geometry().hash_range(minirun.id());
        let hashed = members.iter().map(|key| filter.hash(key));
        let keys: Vec<_> = hashed.filter(|key| hashes.contains(&key.h0())).collect();
        filter.adapt(&query, minirun, &keys).expect("there is room");
        fixed += 1;
    }
    assert!(fixed > 10);
    check(&filter);
    for from in [0, 2_000] {
        let keys = names(from, 850);
        let expected: Vec<_> = keys.iter().map(|key| filter.lookup(key)).collect();
        assert_eq!(filter.lookup_batch(&keys), expected);
        assert!(filter.lookup_each(&keys).eq(expected.iter().copied()));
        let hashed: Vec<_> = keys.iter().map(|key| filter.hash(key)).collect();
        assert_eq!(filter.lookup_batch_hashed(&hashed), expected);
        assert_eq!(filter.contains_batch(&keys).contains(&false), from > 0);
    }
}

#[test]
fn a_batch_of_insertions_does_what_one_by_one_does() {
    for length in LENGTHS {
        let keys = names(0, length);
        let mut filter = small!(QuotientFilter, 0);
        let mut counting = small!(CountingFilter, 0);
        for key in &keys {
            filter.insert(key).expect("there is room");
            counting.insert(key).expect("there is room");
        }
        assert!(filter.iter().eq(small!(QuotientFilter, length).iter()));
        assert!(counting.iter().eq(small!(CountingFilter, length).iter()));
        let adaptive = small!(AdaptiveFilter, length);
        assert_eq!(adaptive.len(), length as u64);
        assert!(keys.iter().all(|key| adaptive.contains(key)));
        adaptive.check_invariants().expect("all in order");
    }
}

#[test]
fn a_batch_that_does_not_fit_says_how_far_it_came() {
    let build = || QuotientFilter::builder().slots(64).remainder_bits(8);
    let mut filter = build().build().expect("a small filter");
    let mut one_by_one = filter.clone();
    let keys = names(0, 1_000);
    let fit = keys
        .iter()
        .take_while(|key| one_by_one.insert(*key).is_ok())
        .count();
    let interrupted = filter.insert_batch(&keys).expect_err("too many");
    assert_eq!(interrupted.inserted, fit as u64);
    assert!(matches!(interrupted.error, Error::Full { .. }));
    assert!(
        interrupted
            .to_string()
            .contains("keys were inserted, then: the filter is full")
    );
    assert_eq!(filter.len(), fit as u64);
    assert!(filter.iter().eq(one_by_one.iter()));
}

#[test]
fn a_batch_stops_where_keys_are_needed() {
    let mut filter = AdaptiveFilter::builder()
        .slots(100)
        .remainder_bits(2)
        .value_bits(1)
        .build()
        .expect("a small filter");
    let keys = names(0, 90);
    let Err(Interrupted {
        inserted, error, ..
    }) = filter.insert_batch(&keys)
    else {
        panic!("with so few bits two keys share a minirun");
    };
    assert!(matches!(error, Error::NeedsKeys { .. }));
    assert_eq!(filter.len(), inserted);
    let (inside, rest) = keys.split_at(inserted as usize);
    assert!(filter.contains_batch(inside).iter().all(|&found| found));
    assert!(matches!(
        filter.insert(&rest[0]),
        Err(Error::NeedsKeys { .. })
    ));
}
