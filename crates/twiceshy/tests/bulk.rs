//! Bulk loads as a user sees them: which keys are there, and which errors come when.

use twiceshy::hash::{Hashed, Seed, Sip13};
use twiceshy::{AdaptiveFilter, CountingFilter, Error, QuotientFilter};

const SEED: u64 = 7;

fn seed() -> Seed {
    Seed::from_u64(SEED)
}

fn message<T>(result: Result<T, Error>) -> String {
    match result {
        Ok(_) => panic!("must fail"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn every_kind_of_key_can_be_given_or_lent() {
    let new = || QuotientFilter::builder().fpr(1e-6);
    let words = vec!["anna".to_owned(), "otto".to_owned()];
    for filter in [
        new().build_from(&words).unwrap(),
        new().build_from(words.clone()).unwrap(),
        new().build_from(["anna", "otto"]).unwrap(),
        new().build_from([&b"anna"[..], b"otto"]).unwrap(),
        new().build_from_slice(&["anna", "otto"]).unwrap(),
    ] {
        assert!(filter.contains("anna") && filter.contains("otto"));
        assert!(!filter.contains("eve"));
        assert_eq!(filter.len(), 2);
    }
    let filter = new().build_from((0..10_u64).filter(|_| true));
    assert!(message(filter).contains("set `capacity` or `slots`"));
    assert!(new().build_from(Vec::<u64>::new()).unwrap().is_empty());
}

#[test]
fn a_loaded_filter_goes_on_like_any_other() {
    let keys: Vec<u64> = (0..20_000).collect();
    let mut filter = AdaptiveFilter::builder()
        .capacity(25_000)
        .seed(seed())
        .build_from(&keys)
        .unwrap();
    for key in 20_000..25_000_u64 {
        filter.insert(&key).unwrap();
    }
    assert!((0..25_000_u64).all(|key| filter.contains(&key)));
    let mut one_by_one = AdaptiveFilter::builder()
        .capacity(25_000)
        .seed(seed())
        .build()
        .unwrap();
    for key in 0..25_000_u64 {
        one_by_one.insert(&key).unwrap();
    }
    assert_eq!(filter.stats(), one_by_one.stats());
    assert_eq!(filter.check_invariants(), Ok(()));
}

#[test]
fn iteration_is_the_same_as_one_by_one() {
    let keys: Vec<u64> = (0..5_000).map(|i| i % 3_000).collect();
    let plain = || QuotientFilter::builder().capacity(6_000).seed(seed());
    let counting = || CountingFilter::builder().capacity(6_000).seed(seed());
    let (mut one, mut counted) = (plain().build().unwrap(), counting().build().unwrap());
    for key in &keys {
        one.insert(key).unwrap();
        counted.insert(key).unwrap();
    }
    for threads in 1..=4 {
        let loaded = plain().threads(threads).build_from_slice(&keys).unwrap();
        assert!(loaded.iter().eq(one.iter()));
        let loaded = counting().threads(threads).build_from_slice(&keys).unwrap();
        assert!(loaded.iter().eq(counted.iter()));
        assert_eq!(loaded.total(), 5_000);
    }
}

#[test]
fn too_many_keys_are_an_error_that_says_what_to_do() {
    for threads in [1, 3] {
        let slots = || QuotientFilter::builder().slots(1_000).threads(threads);
        let keys: Vec<u64> = (0..100_000).collect();
        assert!(message(slots().build_from(&keys)).contains("larger capacity"));
        assert!(message(slots().build_from_slice(&keys)).contains("larger capacity"));
        // Even if they never end.
        assert!(message(slots().build_from(0_u64..)).contains("larger capacity"));
    }
    // There is room for all, but not behind the last quotient.
    let hashes = vec![u64::MAX; 500];
    let builder = QuotientFilter::builder().slots(1_000).seed(seed());
    let result = builder.build_from_hashes(hashes);
    assert!(matches!(result, Err(Error::Full { used: 1.., .. })));
}

#[test]
fn disorder_is_an_error_that_names_its_place() {
    let builder = || AdaptiveFilter::builder().slots(100).seed(seed());
    for (hashes, position) in [(vec![5, 4], 1), (vec![0, 0, 9, 9, 8, 10], 4)] {
        let unsorted = Err(Error::Unsorted { position });
        let result = builder().build_from_sorted_hashes(hashes.clone());
        assert_eq!(result.map(|filter| filter.len()), unsorted);
        let entries = hashes.iter().map(|&h0| (Hashed::from_h0(h0), 1, 0));
        let result = builder().build_from_sorted_entries(entries);
        assert_eq!(result.map(|filter| filter.len()), unsorted);
        let counts = hashes.iter().map(|&h0| (h0, 1));
        let result = CountingFilter::builder()
            .slots(100)
            .seed(seed())
            .build_from_sorted_counts(counts);
        assert_eq!(result.map(|filter| filter.len()), unsorted);
    }
    let keys: Vec<u64> = (0..100).collect();
    let said = message(builder().build_from_sorted(&keys));
    assert!(
        said.contains("position") && said.contains("in any order"),
        "{said}"
    );
}

#[test]
fn hashes_need_their_seed() {
    let says = |text: String| assert!(text.contains("set `seed`"), "{text}");
    let new = || QuotientFilter::builder().slots(10);
    says(message(new().build_from_hashes([1])));
    says(message(new().build_from_sorted_hashes([1])));
    says(message(new().build_from_sorted([1_u64])));
    let adaptive = AdaptiveFilter::builder().slots(10);
    says(message(adaptive.build_from_sorted_entries([])));
    let counting = CountingFilter::builder().slots(10);
    says(message(counting.build_from_sorted_counts([])));
}

#[test]
fn values_need_keys_where_a_minirun_has_two() {
    let builder = || {
        AdaptiveFilter::builder()
            .slots(100)
            .remainder_bits(3)
            .value_bits(2)
            .seed(seed())
    };
    let far_apart = (0..50).map(|i| i << 58);
    let filter = builder().build_from_hashes(far_apart).unwrap();
    assert_eq!(
        filter
            .entry_hashed(&Hashed::from_h0(3 << 58))
            .unwrap()
            .value,
        0
    );
    let minirun = filter.lookup_hashed(&Hashed::from_h0(3 << 58)).unwrap();
    let twice = [3 << 58, 9, 3 << 58 | 1];
    let result = builder().build_from_hashes(twice);
    assert_eq!(result.map(|f| f.len()), Err(Error::NeedsKeys { minirun }));
}

#[test]
fn entries_are_checked() {
    let key = || Hashed::new::<Sip13, _>(&seed(), "key").into_owned();
    let build = |count, value| {
        AdaptiveFilter::builder()
            .slots(10)
            .value_bits(3)
            .seed(seed())
            .build_from_sorted_entries([(key(), count, value)])
    };
    assert!(message(build(1, 8)).contains("more than 3 bits"));
    assert!(message(build(0, 1)).contains("at least one"));
    let entry = build(u64::MAX, 7).unwrap().entry("key").unwrap();
    assert_eq!((entry.count, entry.value), (u64::MAX, 7));
}

#[test]
fn counts_that_overflow_are_an_error() {
    let build = |counts: [(u64, u64); 2]| {
        CountingFilter::builder()
            .slots(100)
            .seed(seed())
            .build_from_sorted_counts(counts)
    };
    assert_eq!(
        build([(1, u64::MAX), (1, 1)]).map(|f| f.len()),
        Err(Error::Overflow)
    );
    let filter = build([(1, u64::MAX), (1 << 63, 1)]).unwrap();
    assert_eq!(filter.total(), 1 << 64);
}
