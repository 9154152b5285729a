//! Merging: what adaptive filters have learnt, counts, values, ghosts, errors.
//!
//! That the bytes are those of one-by-one insertion is proved inside the crate, where they
//! can be seen.

mod sides;

use std::collections::BTreeMap;

use proptest::prelude::*;
use sides::{Filter, Side, adaptive, geometry, keys_of, stream, universe};
use twiceshy::filters::adaptive::Leave;
use twiceshy::hash::{Hashed, Seed};
use twiceshy::{AdaptiveFilter, CountingFilter, Error, Merge, QuotientFilter};
use twiceshy::{Entry, Minirun};
use twiceshy_testing::Source;
use twiceshy_testing::adaptive::universe::Chosen;

/// Into the same geometry the union answers "maybe" exactly where one of the inputs does: no
/// member is lost, nothing learnt is lost. The next adaptation drops what is surplus.
#[test]
fn a_union_answers_what_its_inputs_answer() {
    let (mut merged, mut full, mut shared, mut dropped, mut ghosts) = (0, 0, 0, 0, 0);
    for seed in 0..600 {
        let source = &mut Source::from_seed(seed);
        let (slots, bits) = (1 + source.below(150).unwrap(), 1 + source.below(4).unwrap());
        let geometry = geometry(slots, bits as u32);
        let universe = universe(&geometry, source).unwrap();
        let inputs = 1 + source.below(5).unwrap();
        let sides: Vec<_> = (0..inputs)
            .map(|_| Side::new(geometry, &universe, source).unwrap())
            .collect();
        let mut result = match Filter::merge(sides.iter().map(|side| &side.filter)) {
            Ok(result) => result,
            Err(Error::Full { used, .. }) => {
                let needed: u64 = sides
                    .iter()
                    .map(|side| side.filter.stats().used_slots)
                    .sum();
                assert_eq!(used, needed);
                full += 1;
                continue;
            }
            Err(error) => panic!("seed {seed}: {error}"),
        };
        merged += 1;
        assert_eq!(result.check_invariants(), Ok(()));
        let sum =
            |of: fn(&Filter) -> u64| -> u64 { sides.iter().map(|side| of(&side.filter)).sum() };
        assert_eq!(result.len(), sum(Filter::len));
        assert_eq!(result.ghosts(), sum(Filter::ghosts));
        ghosts += result.ghosts();
        for key in &universe.keys {
            let any = sides.iter().any(|side| side.contains(key));
            assert_eq!(result.contains_hashed(&key.keyed()), any, "seed {seed}");
        }

        // All mistakes that are left are fixed, with the keys of both sides.
        let mut members: Vec<_> = sides.iter().flat_map(|side| side.members.clone()).collect();
        let all = members.len();
        members.sort_unstable();
        members.dedup();
        shared += all - members.len();
        let mut adapted = BTreeMap::new();
        for (i, query) in universe.keys.iter().enumerate() {
            let key = query.keyed();
            if members.contains(&i) || !result.contains_hashed(&key) {
                continue;
            }
            let keys = keys_of(&universe, &members, query.minirun);
            match result.adapt(&key, Minirun::from_id(query.minirun), &keys) {
                Ok(report) => {
                    dropped += report.dropped;
                    assert!(!result.contains_hashed(&key));
                    adapted.insert(query.minirun, keys.len() as u64);
                }
                Err(error) => assert!(matches!(error, Error::Full { .. }), "{error}"),
            }
        }
        assert_eq!(result.check_invariants(), Ok(()));
        for &i in &members {
            assert!(result.contains_hashed(&universe.keys[i].keyed()));
        }
        // Where an adaptation was, there is one fingerprint for each key.
        for (&minirun, &keys) in &adapted {
            let keys_now = keys_of(&universe, &members, minirun);
            let mut emptied = result.clone();
            for (left, key) in (0..keys_now.len()).rev().zip(&keys_now) {
                let before = emptied.len();
                let rest = &keys_now[keys_now.len() - 1 - left..];
                emptied.remove(key, rest, Leave::Nothing).unwrap();
                assert_eq!(emptied.len(), before - 1, "of {keys} keys");
            }
        }
    }
    assert!(merged > 300 && full > 10, "{merged} merged, {full} full");
    assert!(
        shared > 1_000 && dropped > 100 && ghosts > 300,
        "{shared} {dropped} {ghosts}"
    );
}

/// Miniruns that one side has alone keep their counts and values, at any width.
#[test]
fn counts_and_values_are_kept() {
    for (bits, value_bits) in [(3, 1), (3, 3), (5, 16), (9, 0)] {
        let geometry = geometry(300, bits);
        let mut sides = [0; 3].map(|_| adaptive::<Chosen>(geometry, value_bits));
        let mut expected = Vec::new();
        let source = &mut Source::from_seed(u64::from(bits));
        for i in 0..150 {
            let id = i * (geometry.ids() / 150);
            let key = Hashed::from_h0(*geometry.hash_range(id).start());
            let count = source.pick(&[1, 1, 2, 9, 600]).unwrap();
            let value = source.below(1 << value_bits).unwrap();
            sides[i as usize % 3]
                .insert_with(&key, count, value, &[])
                .unwrap();
            expected.push((key, Entry::new(count, value)));
        }
        for times in 0..3 {
            let merged = Merge::of(&sides).doubled(times).build().unwrap();
            assert_eq!(merged.check_invariants(), Ok(()));
            assert_eq!(merged.len(), 150);
            for (key, entry) in &expected {
                assert_eq!(
                    merged.entry_hashed(key),
                    Some(*entry),
                    "{bits} {value_bits} {times}"
                );
            }
        }
    }
}

/// The same keys on different sides, with counts and values: the resolver is asked where the
/// fingerprints match a common key and disagree, and nowhere else.
#[test]
fn collisions_go_to_the_resolver() {
    let geometry = geometry(100, 5);
    let minirun = 40 << 5 | 9;
    let key = |bytes: &[u8]| stream(geometry, minirun, bytes);
    let (x, y) = (key(&[1]), key(&[2]));
    let new = || adaptive::<twiceshy::hash::Sip13>(geometry, 3);

    // The same value on both sides is no collision; the surplus one goes later.
    let (mut a, mut b) = (new(), new());
    a.insert_with(&x, 1, 6, &[]).unwrap();
    b.insert_with(&x, 1, 6, &[]).unwrap();
    let both = AdaptiveFilter::merge([&a, &b]).unwrap();
    assert_eq!(
        (both.len(), both.entry_hashed(&x)),
        (2, Some(Entry::new(1, 6)))
    );

    // Different values are.
    let mut c = new();
    c.insert_with(&y, 1, 2, &[]).unwrap();
    let error = AdaptiveFilter::merge([&a, &c]).unwrap_err().to_string();
    assert!(
        error.contains(&format!("collide in minirun {minirun}")),
        "{error}"
    );
    assert!(error.contains("`Merge::resolve`"), "{error}");
    let mut seen = Vec::new();
    let (mut merged, report) = Merge::of([&a, &c])
        .resolve(|collision| {
            assert_eq!(collision.minirun, Minirun::from_id(minirun));
            seen.extend(collision.entries.iter().map(|it| (it.source, it.entry)));
            Ok(Entry::new(1, 7))
        })
        .build_reported()
        .unwrap();
    seen.sort_unstable_by_key(|side| side.0);
    assert_eq!(seen, [(0, Entry::new(1, 6)), (1, Entry::new(1, 2))]);
    assert_eq!(report.resolved, 1);
    assert_eq!(merged.check_invariants(), Ok(()));
    for key in [&x, &y] {
        assert_eq!(merged.entry_hashed(key), Some(Entry::new(1, 7)));
    }
    // Each member has a fingerprint of its own: mistakes can be fixed, members removed.
    let query = key(&[3]);
    let keys = [x.clone(), y.clone()];
    let adapted = merged
        .adapt(&query, Minirun::from_id(minirun), &keys)
        .unwrap();
    assert_eq!((adapted.extended, adapted.dropped), (2, 0));
    merged.remove(&x, &keys, Leave::Nothing).unwrap();
    assert!(!merged.contains_hashed(&x) && merged.contains_hashed(&y));

    // Told apart already, they do not collide.
    let mut d = new();
    d.insert_with(&y, 1, 2, &[]).unwrap();
    for (filter, key) in [(&mut a, &x), (&mut d, &y)] {
        let minirun = Minirun::from_id(minirun);
        filter
            .adapt(&query, minirun, std::slice::from_ref(key))
            .unwrap();
    }
    let apart = AdaptiveFilter::merge([&a, &d]).unwrap();
    assert_eq!(apart.entry_hashed(&x), Some(Entry::new(1, 6)));
    assert_eq!(apart.entry_hashed(&y), Some(Entry::new(1, 2)));

    // Nonsense from a resolver is an error, and so is its own.
    for entry in [Entry::new(0, 1), Entry::new(1, 8)] {
        let result = Merge::of([&b, &c]).resolve(|_| Ok(entry)).build();
        let error = result.unwrap_err().to_string();
        assert!(error.contains("that the resolver gave"), "{error}");
    }
    let result = Merge::of([&b, &c])
        .resolve(|_| Err(Error::Overflow))
        .build();
    assert_eq!(result.unwrap_err(), Error::Overflow);
}

#[test]
fn counts_above_one_collide_even_if_they_are_equal() {
    let geometry = geometry(100, 8);
    let minirun = 40 << 8 | 9;
    let x = stream(geometry, minirun, &[1]);
    let y = stream(geometry, minirun, &[1, 1]);
    let new = || adaptive::<twiceshy::hash::Sip13>(geometry, 0);
    let (mut a, mut b, mut c) = (new(), new(), new());
    a.insert_with(&x, 3, 0, &[]).unwrap();
    b.insert_with(&x, 3, 0, &[]).unwrap();
    c.insert_hashed(&y).unwrap();
    let sum = |filters: &[&AdaptiveFilter]| {
        Merge::of(filters.iter().copied())
            .resolve(|collision| Ok(Entry::new(collision.total()?, 0)))
            .build()
    };
    for others in [[&a, &b], [&a, &c], [&c, &a]] {
        assert!(matches!(
            AdaptiveFilter::merge(others),
            Err(Error::Merge { .. })
        ));
    }
    let merged = sum(&[&a, &b, &c]).unwrap();
    assert_eq!(merged.check_invariants(), Ok(()));
    for key in [&x, &y] {
        assert_eq!(merged.entry_hashed(key), Some(Entry::new(7, 0)));
    }
    // What was settled once is no collision with itself.
    let (again, report) = Merge::of([&merged]).doubled(1).build_reported().unwrap();
    assert_eq!(report.resolved, 0);
    assert_eq!(again.entry_hashed(&x), Some(Entry::new(7, 0)));
}

#[test]
fn mismatches_name_the_difference() {
    let plain = |slots, bits, seed| {
        let builder = QuotientFilter::builder().slots(slots).remainder_bits(bits);
        builder.seed(Seed::from_u64(seed)).build().unwrap()
    };
    let message = |a: &QuotientFilter, b: &QuotientFilter| match QuotientFilter::merge([a, b]) {
        Ok(_) => panic!("must not merge"),
        Err(error) => {
            assert!(matches!(error, Error::Merge { .. }));
            error.to_string()
        }
    };
    let base = plain(100, 8, 77);
    let other_seed = message(&base, &plain(100, 8, 78));
    assert!(other_seed.contains("filter 1 has another seed than filter 0"));
    assert!(
        !other_seed.contains("77") && !other_seed.contains("78"),
        "a secret"
    );
    let other_bits = message(&base, &plain(100, 9, 77));
    assert!(other_bits.contains("100 * 2^9 = 51200"), "{other_bits}");
    assert!(other_bits.contains("100 * 2^8 = 25600"), "{other_bits}");
    assert!(message(&base, &plain(300, 8, 77)).contains("300 * 2^8"));
    assert!(QuotientFilter::merge([&base, &plain(400, 6, 77)]).is_ok());

    let values = |bits| adaptive::<Chosen>(geometry(100, 8), bits);
    let error = Filter::merge([&values(1), &values(3)])
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("filter 1 has 3 value bits, filter 0 has 1"),
        "{error}"
    );
    let none: [&Filter; 0] = [];
    let error = Filter::merge(none).unwrap_err().to_string();
    assert!(error.contains("give at least one"), "{error}");
}

#[test]
fn counts_that_overflow_are_an_error_or_the_resolvers_business() {
    let counting = |count| {
        let builder = CountingFilter::builder().slots(100).remainder_bits(9);
        let mut filter = builder.seed(Seed::from_u64(1)).build().unwrap();
        filter.insert_count("anna", count).unwrap();
        filter.insert("otto").unwrap();
        filter
    };
    let (large, small) = (counting(u64::MAX - 5), counting(5));
    let merged = CountingFilter::merge([&large, &small]).unwrap();
    assert_eq!((merged.count("anna"), merged.count("otto")), (u64::MAX, 2));
    assert_eq!(merged.total(), large.total() + small.total());
    assert_eq!(merged.check_invariants(), Ok(()));
    let result = CountingFilter::merge([&merged, &small]);
    assert_eq!(result.unwrap_err(), Error::Overflow);
    let max = Merge::of([&merged, &small])
        .resolve(|collision| {
            let counts = collision.entries.iter().map(|it| it.entry.count);
            Ok(Entry::new(counts.max().unwrap_or(1), 0))
        })
        .build()
        .unwrap();
    assert_eq!((max.count("anna"), max.count("otto")), (u64::MAX, 2));
    let result = Merge::of([&merged, &small])
        .resolve(|_| Ok(Entry::new(1, 1)))
        .build();
    assert!(matches!(result, Err(Error::Merge { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        // A failure is a test to be written, not a file to be kept.
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Counting filters against the sum of maps, through any doublings and halvings.
    #[test]
    fn counts_are_the_sums_of_maps(
        slots in 1..60_u64,
        bits in 3..6_u32,
        inputs in prop::collection::vec(
            prop::collection::vec((0..2_000_u64, prop_oneof![1..3_u64, 1..5_000_u64]), 0..12),
            1..5,
        ),
        sizes in prop::collection::vec(0..3_u32, 5),
    ) {
        let wanted = geometry(slots, bits);
        let mut sums: BTreeMap<u64, u64> = BTreeMap::new();
        let mut filters = vec![];
        for (input, &size) in inputs.iter().zip(&sizes) {
            let builder = CountingFilter::builder().slots(slots).remainder_bits(bits);
            let filter = builder.seed(Seed::from_u64(1)).build().unwrap();
            let mut filter = Merge::of([&filter]).doubled(size).build().unwrap();
            for &(id, count) in input {
                let id = id % wanted.ids();
                let key = Hashed::from_h0(*wanted.hash_range(id).start());
                if filter.insert_count_hashed(&key, count).is_ok() {
                    *sums.entry(id).or_default() += count;
                }
            }
            filters.push(filter);
        }
        let result = Merge::of(&filters).slots(slots << sizes[4]).build();
        match result {
            Ok(merged) => {
                prop_assert_eq!(merged.check_invariants(), Ok(()));
                let geometry = merged.geometry();
                let found: Vec<_> = merged.iter().map(|(f, n)| (geometry.id_of(f), n)).collect();
                prop_assert_eq!(found, sums.into_iter().collect::<Vec<_>>());
            }
            Err(error) => prop_assert!(matches!(error, Error::Full { .. }), "{error}"),
        }
    }
}
