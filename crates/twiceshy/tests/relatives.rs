//! The cuckoo, vacuum and Bloom filters: the conformance suite at tiny geometries, and what a
//! full filter owes its keys.

mod share;

use twiceshy::bloom::{
    BlockedBloomFilter, BloomFilter, Choice, Class, RetouchedBloomFilter, WeightedBloomFilter,
    Weights,
};
use twiceshy::cuckoo::{
    AdaptiveCuckooFilter, Alternate, Bins, CuckooBuilder, CuckooFilter, Packing, PartialKeyFilter,
    Scheme, VacuumFilter,
};
use twiceshy::hash::{Hashed, Seed};
use twiceshy::{Error, Filter, HugePages, Insert, Removed, View};
use twiceshy_testing::adaptive::universe::Chosen;
use twiceshy_testing::files::{Verdict, judge, repair};
use twiceshy_testing::relatives::CuckooInLockStep;
use twiceshy_testing::{Kind, Report, Shape, Source, Subject, run, run_shaped};

/// All shapes of hashes, and all of them mixed.
fn conform<S: Subject>(name: &str, build: impl Fn() -> S, operations: u64) -> Report {
    let mut total = Report::new();
    for shape in Shape::ALL.map(Some).into_iter().chain([None]) {
        let name: u64 = name
            .bytes()
            .fold(1, |sum, byte| sum * 31 % 1_000_003 + u64::from(byte));
        let mut source = Source::from_seed(name);
        let result = match shape {
            Some(shape) => run_shaped(build(), shape, &mut source, operations),
            None => run(build(), &mut source, operations),
        };
        match result {
            Ok(report) => total += report,
            Err(error) => panic!("{name} {shape:?}: {error}"),
        }
    }
    total
}

fn expect_kinds(total: &Report, kinds: &[Kind]) {
    println!("{total}");
    if share::divisor() == 1 {
        for &kind in kinds {
            assert!(total.count(kind) > 0, "{kind:?} did not occur: {total}");
        }
    }
}

/// Widths on both sides of every edge: of a byte, of four in a `u64` and of four in a `u128`.
const WIDTHS: [u32; 12] = [4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32];

fn conform_partial_key<A: Alternate>(builder: fn() -> CuckooBuilder<A>) {
    let mut total = Report::new();
    for packing in [Packing::Whole, Packing::SemiSorted] {
        for bits in WIDTHS.into_iter().step_by(share::divisor()) {
            for buckets in [1, 2, 3, 7, 16, 33] {
                let build = || -> PartialKeyFilter<Chosen, A> {
                    let builder = builder().hash::<Chosen>().buckets(buckets);
                    let builder = builder.fingerprint_bits(bits).packing(packing);
                    builder
                        .seed(Seed::from_u64(1))
                        .build()
                        .expect("a small filter")
                };
                let name = format!("{packing:?} {bits} bits {buckets} buckets");
                total += conform(&name, build, 500);
            }
        }
    }
    let kinds = [
        Kind::Insert,
        Kind::InsertFull,
        Kind::Remove,
        Kind::Contains,
        Kind::ContainsNot,
        Kind::Clone,
        Kind::Clear,
        Kind::Reload,
    ];
    expect_kinds(&total, &kinds);
}

#[test]
fn cuckoo_filters_conform() {
    conform_partial_key(CuckooFilter::builder);
}

#[test]
fn vacuum_filters_conform() {
    conform_partial_key(VacuumFilter::builder);
}

/// Every scheme, with every layout that it can have.
fn schemes() -> Vec<(Scheme, Bins)> {
    let cyclic = (1..=3).map(|selector_bits| Scheme::Cyclic { selector_bits });
    let both = cyclic.chain([Scheme::Cuckooing]);
    let both = both.flat_map(|scheme| [(scheme, Bins::FourOfOne), (scheme, Bins::TwoOfFour)]);
    both.chain([(Scheme::Swapping, Bins::TwoOfFour)]).collect()
}

#[test]
fn adaptive_cuckoo_filters_conform() {
    let mut total = Report::new();
    for (scheme, layout) in schemes() {
        for bits in [4, 9, 13, 32].into_iter().step_by(share::divisor()) {
            for bins in [1, 2, 5, 40] {
                let build = || {
                    let builder = AdaptiveCuckooFilter::builder(scheme).hash::<Chosen>();
                    let builder = builder.layout(layout).bins(bins).fingerprint_bits(bits);
                    CuckooInLockStep::new(builder.seed(Seed::from_u64(1))).unwrap()
                };
                let name = format!("{scheme:?} {layout:?} {bits} bits {bins} bins");
                total += conform(&name, build, 300);
            }
        }
    }
    let kinds = [
        Kind::Insert,
        Kind::InsertFull,
        Kind::Remove,
        Kind::ContainsNot,
        Kind::Clone,
    ];
    expect_kinds(&total, &kinds);
}

#[test]
fn bloom_filters_conform() {
    let mut total = Report::new();
    for hashes in [1, 2, 7, 20] {
        for bits in [1, 8, 77, 1_000] {
            let build = || -> BloomFilter<Chosen> {
                let builder = BloomFilter::builder().hash::<Chosen>();
                let builder = builder.bits(bits).hashes(hashes).seed(Seed::from_u64(1));
                builder.huge_pages(HugePages::Never).build().unwrap()
            };
            total += conform(&format!("{bits} bits {hashes} hashes"), build, 400);
        }
    }
    for hashes in [1, 3, 7, 8, 9, 16] {
        for blocks in [1, 2, 5] {
            let build = || -> BlockedBloomFilter<Chosen> {
                let builder = BlockedBloomFilter::builder().hash::<Chosen>();
                let builder = builder.bits(512 * blocks).hashes(hashes);
                builder.seed(Seed::from_u64(1)).build().unwrap()
            };
            total += conform(&format!("{blocks} blocks {hashes} hashes"), build, 400);
        }
    }
    let classes = [0.2, 0.8].map(|share| Class {
        members: share,
        queries: 1.0 - share,
    });
    let weights = Weights::new(6.0, &classes).unwrap();
    let build = || -> WeightedBloomFilter<Chosen> {
        WeightedBloomFilter::with_hash(500, &weights, Seed::from_u64(1)).unwrap()
    };
    total += conform("weighted", build, 1_000);
    let kinds = [
        Kind::Insert,
        Kind::ContainsNot,
        Kind::Clone,
        Kind::Clear,
        Kind::Reload,
    ];
    expect_kinds(&total, &kinds);
}

/// Fills a filter until it refuses, and far beyond; nobody may be lost.
fn fill_to_the_brim<A: Alternate>(builder: CuckooBuilder<A>, least_load: f64) {
    let mut filter = builder
        .seed(Seed::from_u64(5))
        .build()
        .expect("a small filter");
    let mut inside = Vec::new();
    let mut refused = 0;
    let mut key = 0_u64;
    while refused < 50 {
        let before = filter.to_bytes();
        match filter.insert(&key) {
            Ok(()) => inside.push(key),
            Err(Error::Full { used, slots }) => {
                assert_eq!((used, slots), (filter.len(), filter.shape().slots()));
                assert!(filter.to_bytes() == before, "a refusal changes nothing");
                refused += 1;
                if refused == 1 {
                    println!("{filter:?}: full at {:.3}", filter.load());
                    assert!(filter.load() >= least_load, "{filter:?} {}", filter.load());
                }
            }
            Err(error) => panic!("{error}"),
        }
        key += 1;
        if refused == 0 && key % 64 != 0 {
            continue;
        }
        assert!(inside.iter().all(|key| filter.contains(key)));
    }
    filter.check_invariants().expect("right");
    // And they can all leave again.
    for key in &inside {
        assert_eq!(filter.remove(key), Ok(Removed::One));
    }
    assert!(filter.is_empty());
    filter.check_invariants().expect("right");
}

#[test]
fn a_full_filter_has_lost_nobody() {
    for buckets in [1, 2, 10, 100, 777] {
        let least = if buckets < 100 { 0.5 } else { 0.9 };
        for packing in [Packing::Whole, Packing::SemiSorted] {
            for bits in [8, 13, 20] {
                let cuckoo = CuckooFilter::builder().buckets(buckets).packing(packing);
                fill_to_the_brim(cuckoo.fingerprint_bits(bits), least);
                let vacuum = VacuumFilter::builder().buckets(buckets).packing(packing);
                fill_to_the_brim(vacuum.fingerprint_bits(bits), least);
            }
        }
    }
}

/// A planned capacity is reached: in none of 2,500 small filters of each kind, nor in larger
/// ones, is a key refused.
#[test]
fn capacities_are_reached() {
    let fill = |capacity: u64, seed: u64| {
        let cuckoo = CuckooFilter::builder().capacity(capacity).fpr(0.01);
        let mut cuckoo = cuckoo.seed(Seed::from_u64(seed)).build().unwrap();
        let vacuum = VacuumFilter::builder().capacity(capacity).fpr(0.01);
        let mut vacuum = vacuum.seed(Seed::from_u64(seed)).build().unwrap();
        for key in 0..capacity {
            if let Err(error) = cuckoo.insert(&key) {
                panic!("cuckoo {capacity}, seed {seed}: key {key}: {error}");
            }
            if let Err(error) = vacuum.insert(&key) {
                panic!("vacuum {capacity}, seed {seed}: key {key}: {error}");
            }
        }
    };
    for seed in 0..100 / share::divisor() as u64 {
        for capacity in 1..25 {
            fill(capacity * capacity, seed);
        }
    }
    fill(20_000, 1);
    fill(300_000, 2);
}

#[test]
fn batches_answer_like_single_queries() {
    let keys: Vec<u64> = (0..3_000).collect();
    fn check<F: Filter + Insert>(mut filter: F, keys: &[u64]) {
        filter.insert_batch(&keys[..1_000]).unwrap();
        assert_eq!(filter.len(), 1_000);
        let single: Vec<bool> = keys.iter().map(|key| filter.contains(key)).collect();
        assert!(single[..1_000].iter().all(|&found| found));
        assert!(!single.iter().all(|&found| found));
        assert_eq!(filter.contains_batch(keys), single);
        let hashed: Vec<Hashed<'_>> = keys.iter().map(|key| filter.hash(key)).collect();
        assert_eq!(filter.contains_batch_hashed(&hashed), single);
        assert_eq!(filter.contains_each(keys).collect::<Vec<_>>(), single);
    }
    check(CuckooFilter::new(1_000, 0.1).unwrap(), &keys);
    check(VacuumFilter::new(1_000, 1e-6).unwrap(), &keys);
    check(BloomFilter::new(1_000, 0.1).unwrap(), &keys);
    check(BlockedBloomFilter::new(1_000, 0.1).unwrap(), &keys);
}

#[test]
fn a_batch_stops_at_the_first_key_without_room() {
    let mut filter = CuckooFilter::builder()
        .buckets(3)
        .fingerprint_bits(9)
        .build()
        .unwrap();
    let interrupted = filter.insert_batch(0..100_u64).unwrap_err();
    assert_eq!(interrupted.inserted, filter.len());
    assert!((0..interrupted.inserted).all(|key| filter.contains(&key)));
}

#[test]
fn unions_have_the_keys_of_both() {
    let build = |seed| {
        let builder = BlockedBloomFilter::builder().capacity(500).fpr(0.01);
        builder.seed(Seed::from_u64(seed)).build().unwrap()
    };
    let (mut one, mut two, mut all) = (build(1), build(1), build(1));
    for key in 0..500_u64 {
        [&mut one, &mut two][key as usize % 2].insert(&key);
        all.insert(&key);
    }
    one.union(&two).unwrap();
    assert_eq!(one.to_bytes(), all.to_bytes());
    let other = build(2);
    assert!(matches!(one.union(&other), Err(Error::Merge { .. })));
    assert_eq!(one.to_bytes(), all.to_bytes());
}

#[test]
fn weights_spend_hashes_where_queries_are() {
    let popular = Class {
        members: 0.1,
        queries: 0.9,
    };
    let others = Class {
        members: 0.9,
        queries: 0.1,
    };
    let weights = Weights::new(10.0, &[popular, others]).unwrap();
    let (often, seldom) = (weights.hashes()[0], weights.hashes()[1]);
    let mut weighted: WeightedBloomFilter =
        WeightedBloomFilter::with_hash(100_000, &weights, Seed::from_u64(1)).unwrap();
    let builder = BloomFilter::builder().bits(100_000).hashes(7);
    let mut plain = builder.seed(Seed::from_u64(1)).build().unwrap();
    let class = |key: u64| if key % 10 == 0 { often } else { seldom };
    for key in 0..10_000_u64 {
        weighted.insert_with(&key, class(key));
        plain.insert(&key);
    }
    assert!((0..10_000_u64).all(|key| weighted.contains_with(&key, class(key))));
    // 90% of the strangers asked for are popular ones.
    let strangers = || (1 << 30..).take(400_000);
    let popular = |key: u64| if key % 10 == 0 { seldom } else { often };
    let plain_wrong = strangers().filter(|key: &u64| plain.contains(key)).count();
    let weighted_wrong = strangers()
        .filter(|key| weighted.contains_with(key, popular(*key)))
        .count();
    println!("{plain_wrong} mistakes, weighted {weighted_wrong}");
    // The model says 2^-7 for all, and .9 * 2^-13 + .1 * 2^-6: about a fourth.
    assert!(weighted_wrong * 3 < plain_wrong);
    assert!(Weights::new(10.0, &[]).is_err());
    assert!(weighted.contains_hashed_with(&weighted.hash(&10_u64), often));
    // Unknown numbers of hashes are taken for the nearest.
    assert!(weighted.contains_with(&10_u64, 64));
    let bytes = weighted.to_bytes();
    let view = View::<WeightedBloomFilter>::new(&bytes).unwrap();
    assert_eq!((view.hashes(), view.most_hashes()), (seldom, often));
}

#[test]
fn retouching_fixes_mistakes_at_an_exact_price() {
    let builder = BloomFilter::builder().capacity(2_000).fpr(0.05);
    let filter = builder.seed(Seed::from_u64(3)).build().unwrap();
    let mut filter = RetouchedBloomFilter::from(filter);
    let members: Vec<u64> = (0..2_000).collect();
    members.iter().for_each(|key| filter.insert(key));
    let strangers: Vec<u64> = (10_000..20_000).collect();
    let hash_all = |filter: &RetouchedBloomFilter, keys: &[u64]| -> Vec<Hashed<'static>> {
        let hashed = keys.iter().map(|key| filter.hash(key).into_owned());
        hashed.collect()
    };
    let count = |filter: &RetouchedBloomFilter, keys: &[u64]| {
        keys.iter().filter(|key| filter.contains(*key)).count() as u64
    };
    let hashed = hash_all(&filter, &members);
    let choices = [
        Choice::FewestMembers,
        Choice::MostMistakes,
        Choice::BestRatio,
    ];
    let mut lost = [0; 3];
    for (choice, lost) in choices.into_iter().zip(&mut lost) {
        let mut filter = filter.clone();
        for _ in 0..20 {
            let mistakes: Vec<u64> = strangers
                .iter()
                .copied()
                .filter(|key| filter.contains(key))
                .collect();
            let Some(mistake) = mistakes.first() else {
                break;
            };
            let wrong = hash_all(&filter, &mistakes);
            let before = (count(&filter, &members), mistakes.len() as u64);
            let price = filter
                .retouch_knowing(mistake, &hashed, &wrong, choice)
                .unwrap();
            assert!(!filter.contains(mistake));
            let after = (count(&filter, &members), count(&filter, &strangers));
            assert_eq!(price.members_lost, before.0 - after.0);
            assert_eq!(price.mistakes_fixed, before.1 - after.1);
            *lost += price.members_lost;
            filter.check_invariants().unwrap();
        }
    }
    println!("members lost: {lost:?}");
    assert!(lost[0] < lost[1]);

    assert_eq!(filter.expected_false_negatives(), 0.0);
    let mistakes: Vec<u64> = strangers
        .into_iter()
        .filter(|key| filter.contains(key))
        .collect();
    for mistake in &mistakes {
        if filter.contains(mistake) {
            let bit = filter.retouch(mistake);
            assert!(bit.is_some_and(|bit| bit < filter.stats().slots));
        }
        assert!(!filter.contains(mistake));
        assert_eq!(filter.retouch(mistake), None);
    }
    let kept = count(&filter, &members) as f64 / members.len() as f64;
    let expected = 1.0 - filter.expected_false_negatives();
    println!("{kept} of the members left, {expected} expected");
    assert!((kept - expected).abs() < 0.1);
    let loaded: RetouchedBloomFilter =
        RetouchedBloomFilter::from_bytes(&filter.to_bytes()).unwrap();
    assert_eq!(loaded.cleared(), filter.cleared());
    assert_eq!(loaded.to_bytes(), filter.to_bytes());
}

/// Damaged files with a right checksum are refused or are filters; no loader or view panics.
#[test]
fn damaged_files_are_refused_or_filters() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");
    let names = [
        "cuckoo",
        "cuckoo-semi-sorted",
        "cuckoo-wide",
        "vacuum",
        "cuckoo-cyclic",
        "cuckoo-swapping",
        "cuckoo-cuckooing",
        "bloom",
        "blocked-bloom",
        "weighted-bloom",
        "retouched-bloom",
    ];
    let mut source = Source::from_seed(1);
    let mut verdicts = [0_u32; 3];
    for name in names {
        let bytes = std::fs::read(format!("{folder}/v1-{name}.bin")).unwrap();
        assert_eq!(judge(&bytes), Verdict::Accepted, "{name}");
        for length in 0..bytes.len() {
            assert_ne!(
                judge(&bytes[..length]),
                Verdict::Accepted,
                "{name} {length}"
            );
        }
        for _ in 0..600 / share::divisor() {
            let mut bytes = bytes.clone();
            for _ in 0..=source.below(3).unwrap() {
                // Half of the damage is in the header.
                let end = if source.one_in(2).unwrap() {
                    128
                } else {
                    bytes.len() as u64
                };
                bytes[source.below(end).unwrap() as usize] ^= 1 << source.below(8).unwrap();
            }
            repair(&mut bytes);
            verdicts[judge(&bytes) as usize] += 1;
        }
    }
    println!("no file, refused, accepted: {verdicts:?}");
    assert!(
        verdicts
            .iter()
            .all(|&count| count > 100 / share::divisor() as u32),
        "{verdicts:?}"
    );
}
