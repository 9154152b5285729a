//! The counting filter against a map of counts.

use std::collections::BTreeMap;

use twiceshy::hash::{Hashed, Seed};
use twiceshy::{CountingFilter, Error, Geometry, Removed};
use twiceshy_testing::adaptive::universe::Chosen;
use twiceshy_testing::{Kind, Report, Shape, Source, run_shaped};

fn counting(slots: u64, bits: u32) -> CountingFilter {
    CountingFilter::builder()
        .slots(slots)
        .remainder_bits(bits)
        .seed(Seed::from_u64(1))
        .build()
        .expect("a small filter")
}

#[test]
fn conforms() {
    let mut total = Report::new();
    for slots in [1, 64, 65, 130] {
        for bits in [1, 2, 5, 9, 16] {
            for shape in Shape::ALL {
                // With hashes that are their keys, so that batches of keys have a shape too.
                let builder = CountingFilter::builder().hash::<Chosen>();
                let builder = builder.slots(slots).remainder_bits(bits);
                let filter = builder.seed(Seed::from_u64(1)).build().unwrap();
                let mut source = Source::from_seed(slots * 100 + u64::from(bits));
                let report = run_shaped(filter, shape, &mut source, 4_000);
                total += report.unwrap_or_else(|error| panic!("{error}"));
            }
        }
    }
    println!("{total}");
    assert_eq!(total.operations(), 4 * 5 * 8 * 4_000);
    // What it can't do.
    let missing = [
        Kind::InsertOnce,
        Kind::InsertOncePresent,
        Kind::InsertOnceFull,
    ];
    assert_eq!(total.missing().collect::<Vec<_>>(), missing);
}

/// Counts of all sizes, added and taken away in random portions.
#[test]
fn counts_match_a_map() {
    let mut operations = 0;
    for slots in [1, 50, 128, 200] {
        for bits in [1, 2, 3, 8, 31] {
            let mut filter = counting(slots, bits);
            let geometry = Geometry::new(slots, bits).unwrap();
            let mut map: BTreeMap<u64, u64> = BTreeMap::new();
            let mut state = slots * 1_000 + u64::from(bits);
            let mut random = |below: u64| {
                state = state
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
                (state >> 33) % below
            };
            for _ in 0..20_000 {
                operations += 1;
                let id = random(geometry.ids().min(slots));
                let key = Hashed::from_h0(*geometry.hash_range(id).start());
                let portion =
                    [1, 2, 3, random(1_000), 1 << random(64), u64::MAX][random(6) as usize];
                let before = map.get(&id).copied().unwrap_or(0);
                if random(2) == 0 {
                    match filter.insert_count_hashed(&key, portion) {
                        Ok(()) => {
                            map.insert(id, before.checked_add(portion).expect("no overflow"));
                        }
                        Err(Error::Overflow) => assert!(before.checked_add(portion).is_none()),
                        Err(error) => assert!(matches!(error, Error::Full { .. }), "{error}"),
                    }
                } else {
                    let removed = filter.remove_count_hashed(&key, portion).unwrap();
                    assert_eq!(removed, before.min(portion));
                    map.insert(id, before - removed);
                }
                map.retain(|_, count| *count > 0);
                assert_eq!(
                    filter.count_hashed(&key),
                    map.get(&id).copied().unwrap_or(0)
                );
                assert_eq!(
                    filter.total(),
                    map.values().map(|&count| u128::from(count)).sum()
                );
                filter.check_invariants().unwrap();
            }
            let read: Vec<_> = filter
                .iter()
                .map(|(found, count)| (geometry.id_of(found), count))
                .collect();
            assert_eq!(read, map.into_iter().collect::<Vec<_>>());
        }
    }
    assert_eq!(operations, 400_000);
}

#[test]
fn an_overflow_is_an_error_and_changes_nothing() {
    let mut filter = counting(100, 9);
    filter.insert_count("anna", u64::MAX).unwrap();
    assert_eq!(filter.insert("anna"), Err(Error::Overflow));
    assert_eq!(filter.count("anna"), u64::MAX);
    assert_eq!(filter.remove("anna"), Ok(Removed::One));
    assert_eq!(filter.insert("anna"), Ok(()));
    assert_eq!(filter.remove_all("anna"), Ok(u64::MAX));
    assert!(filter.is_empty());
}

#[test]
fn a_singleton_costs_no_extra_slot_and_counts_the_logarithm() {
    let mut filter = counting(1_000, 8);
    filter.insert("anna").unwrap();
    assert_eq!(filter.stats().used_slots, 1);
    filter.insert("anna").unwrap();
    assert_eq!(filter.stats().used_slots, 2);
    filter.insert_count("anna", 253).unwrap();
    assert_eq!((filter.count("anna"), filter.stats().used_slots), (255, 2));
    filter.insert("anna").unwrap();
    assert_eq!((filter.count("anna"), filter.stats().used_slots), (256, 3));
    filter.insert_count("anna", u64::MAX - 256).unwrap();
    assert_eq!(filter.stats().used_slots, 9);
}
