//! The promises of the adaptive filter on whole sets of keys with real hashes: monotone, no
//! mistake repeated, no member lost; what breaks that; and when to adapt.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use twiceshy::Buildable;
use twiceshy::Minirun;
use twiceshy::filters::adaptive::Leave;
use twiceshy::hash::{HashKind, Seed, Sip13, StreamHash};
use twiceshy::sets::policy::Policy;
use twiceshy::sets::{Counted, KeyedSet, Learner, MemoryMap};
use twiceshy::{
    AdaptiveFilter, AdaptiveSet, Builder, Error, ExtensionFilter, Inserted, QuotientFilter,
    Removed, Reported, ReverseMap, TelescopingFilter,
};
use twiceshy_testing::Source;

fn set(slots: u64, remainder_bits: u32, seed: u64) -> AdaptiveSet {
    let builder = AdaptiveFilter::builder()
        .slots(slots)
        .remainder_bits(remainder_bits)
        .seed(Seed::from_u64(seed));
    AdaptiveSet::from_builder(builder).expect("a small set")
}

fn filled(slots: u64, remainder_bits: u32, members: u64) -> AdaptiveSet {
    let mut set = set(slots, remainder_bits, 7);
    for key in 0..members {
        assert_eq!(set.insert(&key), Ok(Inserted::New));
    }
    set
}

fn mistakes(set: &AdaptiveSet, queries: impl Iterator<Item = u64>) -> BTreeSet<u64> {
    queries.filter(|query| set.contains(query)).collect()
}

#[test]
fn no_mistake_of_a_million_queries_is_repeated() {
    let (members, queries) = (50_000, 50_000..1_050_000_u64);
    let mut set = filled(200_000, 4, members);
    let mut plain = QuotientFilter::builder()
        .slots(200_000)
        .remainder_bits(4)
        .seed(Seed::from_u64(7))
        .build()
        .unwrap();
    for key in 0..members {
        plain.insert(&key).unwrap();
    }
    let mut fixed = 0_u64;
    for query in queries.clone() {
        if !set.contains(&query) {
            continue;
        }
        match set.report_false_positive(&query) {
            Ok(Reported::Fixed(adapted)) => {
                assert!(adapted.extended >= 1);
                fixed += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    let again = queries.clone().filter(|query| set.contains(query)).count();
    assert_eq!(again, 0, "not one of them is repeated");
    assert!(
        (0..members).all(|key| set.contains(&key)),
        "no member is lost"
    );
    assert_eq!(set.check_invariants(), Ok(()));
    // A plain filter of the same measures and seed makes at least these mistakes, each
    // time.
    let plain_mistakes = queries.filter(|query| plain.contains(query)).count() as u64;
    assert!(fixed > 10_000, "{fixed}");
    assert!(fixed <= plain_mistakes, "{fixed} of {plain_mistakes}");
}

#[test]
fn the_set_of_mistakes_never_grows_over_a_run_of_adapts() {
    let universe = 200..6_000_u64;
    let mut set = filled(250, 3, 200);
    let mut wrong = mistakes(&set, universe.clone());
    let mut adapts = 0;
    while let Some(&query) = wrong.iter().nth(adapts % wrong.len().max(1)) {
        match set.report_false_positive(&query) {
            Ok(Reported::Fixed(_)) => {}
            // The table is small; what is wrong then stays wrong.
            Err(Error::Full { .. }) => break,
            other => panic!("{other:?}"),
        }
        let now = mistakes(&set, universe.clone());
        assert!(now.is_subset(&wrong), "monotone");
        assert!(!now.contains(&query), "fixed");
        assert!(
            (0..200_u64).all(|key| set.contains(&key)),
            "no member is lost"
        );
        wrong = now;
        adapts += 1;
    }
    assert_eq!(set.check_invariants(), Ok(()));
    assert!(adapts > 100, "{adapts}");
}

#[test]
fn a_new_insert_can_bring_mistakes_back_and_only_those_of_its_minirun() {
    let universe = 2_000..40_000;
    let mut set = filled(3_000, 3, 1_000);
    for query in mistakes(&set, universe.clone()) {
        set.report_false_positive(&query).unwrap();
    }
    assert_eq!(mistakes(&set, universe.clone()).len(), 0);
    for key in 1_000..2_000_u64 {
        set.insert(&key).unwrap();
    }
    let back = mistakes(&set, universe);
    assert!(!back.is_empty());
    let geometry = set.filter().geometry();
    let minirun = |key: &u64| geometry.id(set.filter().hash(key).h0());
    let new: BTreeSet<u64> = (1_000..2_000).map(|key| minirun(&key)).collect();
    assert!(back.iter().all(|query| new.contains(&minirun(query))));
}

#[test]
fn removal_forgets_unless_ghosts_are_left() {
    for leave in [Leave::Nothing, Leave::Ghost] {
        let universe = 500..20_000;
        let mut set = filled(2_000, 3, 500);
        for query in mistakes(&set, universe.clone()) {
            set.report_false_positive(&query).unwrap();
        }
        for key in 0..500_u64 {
            assert_eq!(set.remove_leaving(&key, leave), Ok(Removed::One));
            assert_eq!(set.remove_leaving(&key, leave), Ok(Removed::NotFound));
        }
        assert!(set.is_empty() && set.filter().is_empty());
        assert_eq!(set.filter().ghosts() > 0, leave == Leave::Ghost);
        assert_eq!(mistakes(&set, 0..20_000).len(), 0, "ghosts match nothing");
        for key in (0..500_u64).rev() {
            set.insert(&key).unwrap();
        }
        assert_eq!(set.check_invariants(), Ok(()));
        let back = mistakes(&set, universe).len();
        match leave {
            Leave::Nothing => assert!(back > 100, "{back}"),
            Leave::Ghost => assert_eq!(back, 0),
        }
    }
}

#[test]
fn a_rebuild_with_a_new_seed_forgets_everything() {
    let universe = 1_000..50_000;
    let mut old = filled(2_000, 4, 1_000);
    for query in mistakes(&old, universe.clone()) {
        old.report_false_positive(&query).unwrap();
    }
    let mut new = set(2_000, 4, 8);
    for key in old.iter() {
        new.insert(key).unwrap();
    }
    assert_eq!(new.len(), 1_000);
    assert!((0..1_000_u64).all(|key| new.contains(&key)));
    assert_eq!(mistakes(&old, universe.clone()).len(), 0);
    assert!(mistakes(&new, universe).len() > 500);
}

/// Someone who sees the answers and asks again whatever was wrong gains nothing.
#[test]
fn an_adversary_gets_no_more_than_the_false_positive_rate() {
    let mut set = filled(4_000, 5, 2_000);
    let plain_rate = 2_000.0 / (4_000.0 * 32.0);
    let (mut asked, mut wrong) = (0_u64, 0_u64);
    let mut known: Vec<u64> = vec![];
    for fresh in 2_000..42_000_u64 {
        for query in known.iter().rev().take(4).copied().chain([fresh]) {
            asked += 1;
            if set.contains(&query) {
                wrong += 1;
                known.push(query);
                let reported = set.report_false_positive(&query);
                assert!(matches!(reported, Ok(Reported::Fixed(_))));
                break;
            }
        }
    }
    assert!(known.len() as u64 == wrong && wrong > 200, "{wrong}");
    let distinct: BTreeSet<u64> = known.iter().copied().collect();
    assert_eq!(distinct.len() as u64, wrong, "each was wrong once");
    assert!(
        wrong as f64 <= 1.3 * plain_rate * asked as f64,
        "{wrong} of {asked}"
    );
}

/// Asks in rounds and reports; gives how often each query was answered wrongly, and how
/// many adaptations that made.
fn rounds(set: &mut AdaptiveSet, queries: &[u64], rounds: u32) -> (BTreeMap<u64, u32>, u64) {
    let (mut wrong, mut adapted) = (BTreeMap::new(), 0);
    for _ in 0..rounds {
        for query in queries {
            if !set.contains(query) {
                continue;
            }
            *wrong.entry(*query).or_default() += 1;
            match set.report_false_positive(query).expect("there is room") {
                Reported::Fixed(_) => adapted += 1,
                Reported::Waiting => {}
                other => panic!("{other:?}"),
            }
        }
    }
    (wrong, adapted)
}

/// Queries that are answered wrongly, no two of them in one minirun.
fn lone_mistakes(set: &AdaptiveSet) -> Vec<u64> {
    let geometry = set.filter().geometry();
    let mut by_minirun: BTreeMap<Minirun, Vec<u64>> = BTreeMap::new();
    for query in mistakes(set, 1_000..60_000) {
        let minirun = set.filter().lookup(&query).expect("it was positive");
        assert!(
            geometry
                .hash_range(minirun.id())
                .contains(&set.filter().hash(&query).h0())
        );
        by_minirun.entry(minirun).or_default().push(query);
    }
    by_minirun.into_values().map(|queries| queries[0]).collect()
}

#[test]
fn always_repeats_no_mistake() {
    let mut set = filled(3_000, 5, 1_000).with_policy(Policy::Always);
    let queries: Vec<u64> = (1_000..20_000).collect();
    let (wrong, adapted) = rounds(&mut set, &queries, 5);
    assert!(wrong.values().all(|&times| times == 1));
    assert_eq!(adapted, wrong.len() as u64);
}

#[test]
fn never_is_a_plain_filter() {
    let mut set = filled(3_000, 5, 1_000).with_policy(Policy::Never);
    let load = set.filter().load();
    let queries: Vec<u64> = (1_000..20_000).collect();
    let (wrong, adapted) = rounds(&mut set, &queries, 5);
    assert!(!wrong.is_empty() && wrong.values().all(|&times| times == 5));
    assert_eq!((adapted, set.filter().load()), (0, load));
}

/// Reads of the store cost 1, a slot costs `b`. Whatever the number of repeats is, waiting
/// for `b` of them costs at most twice as much as the best that could have been done
/// knowing that number: never adapting, or adapting at the first mistake.
#[test]
fn after_repeats_costs_at_most_twice_the_best() {
    for b in [1, 2, 3, 7] {
        for repeats in 1..=20_u32 {
            let mut set = filled(3_000, 5, 1_000).with_policy(Policy::AfterRepeats(b));
            let queries = lone_mistakes(&set);
            assert!(queries.len() > 50);
            let slots = set.filter().load();
            let (wrong, adapted) = rounds(&mut set, &queries, repeats);
            // A query alone at its minirun is wrong `b` times at most, then never again.
            assert!(wrong.values().all(|&times| times == repeats.min(b)));
            let due = if repeats >= b { queries.len() } else { 0 };
            assert_eq!(adapted, due as u64);
            assert_eq!(set.filter().load() > slots, due > 0);
            let reads: u32 = wrong.values().sum();
            let cost = u64::from(reads) + u64::from(b) * adapted;
            let best = u64::from(repeats.min(1 + b)) * queries.len() as u64;
            assert!(
                cost <= 2 * best,
                "b {b}, {repeats} repeats: {cost} and {best}"
            );
        }
    }
}

/// In general: `b` mistakes for each adaptation, and less than `b` at each minirun that
/// waits for its first.
#[test]
fn after_repeats_pays_for_each_adaptation() {
    for b in [2, 3, 5] {
        let mut set = filled(1_000, 2, 500).with_policy(Policy::AfterRepeats(b));
        let queries: Vec<u64> = (1_000..3_000).collect();
        let miniruns = set.filter().geometry().ids();
        let (wrong, adapted) = rounds(&mut set, &queries, 4);
        let reads: u64 = wrong.values().map(|&times| u64::from(times)).sum();
        let b = u64::from(b);
        assert!(adapted > 0 && reads >= b * adapted);
        assert!(reads < b * adapted + (b - 1) * miniruns);
    }
}

#[test]
fn reports_that_need_nothing() {
    let mut set = filled(3_000, 5, 1_000);
    assert_eq!(set.report_false_positive(&5_u64), Ok(Reported::Member));
    let negative = (1_000_u64..).find(|query| !set.contains(query)).unwrap();
    assert_eq!(
        set.report_false_positive(&negative),
        Ok(Reported::NotPositive)
    );
    assert_eq!(set.insert(&5_u64), Ok(Inserted::Present));
    assert_eq!(set.remove(&negative), Ok(Removed::NotFound));
    assert_eq!(set.len(), 1_000);
}

#[test]
fn a_full_set_refuses_and_goes_on() {
    let mut set = set(20, 2, 3);
    let mut members = vec![];
    for key in 0..2_000_u64 {
        match set.insert(&key) {
            Ok(Inserted::New) => members.push(key),
            Err(Error::Full { .. }) => {}
            other => panic!("{other:?}"),
        }
    }
    assert!(members.len() >= 20);
    let mut refused = 0;
    for query in 2_000..3_000_u64 {
        if set.contains(&query) {
            let result = set.report_false_positive(&query);
            refused += u64::from(matches!(result, Err(Error::Full { .. })));
            assert_eq!(set.contains(&query), result.is_err());
        }
        assert!(members.iter().all(|key| set.contains(key)));
    }
    assert!(refused > 100);
    assert_eq!(set.check_invariants(), Ok(()));
    for key in &members {
        assert_eq!(set.remove(key), Ok(Removed::One));
    }
    assert!(set.is_empty() && set.filter().load() == 0.0);
}

/// A hash that is no hash: all keys of one length are the same to it.
#[derive(Clone, Copy)]
struct LengthOnly;

impl StreamHash for LengthOnly {
    const KIND: HashKind = HashKind::Other;
    type Keyed = Seed;

    fn keyed(seed: &Seed) -> Seed {
        *seed
    }

    fn first(seed: &Seed, key: &[u8]) -> u64 {
        Self::pair(seed, key, 0)[0]
    }

    fn pair(seed: &Seed, key: &[u8], number: u64) -> [u64; 2] {
        Sip13::pair(seed, &[key.len() as u8], number)
    }
}

#[test]
fn inseparable_keys_are_reported_and_lose_nothing() {
    let builder = AdaptiveFilter::builder()
        .hash::<LengthOnly>()
        .slots(100)
        .remainder_bits(6)
        .seed(Seed::from_u64(1));
    let mut set = AdaptiveSet::from_builder(builder).unwrap();
    set.insert("one").unwrap();
    set.insert("two").unwrap();
    assert!(set.contains("six"));
    assert_eq!(set.report_false_positive("six"), Err(Error::Inseparable));
    assert!(set.contains("one") && set.contains("two") && set.contains("six"));
    assert_eq!(set.check_invariants(), Ok(()));
    assert_eq!(set.remove("one"), Ok(Removed::One));
    assert!(set.contains("two"));
    assert_eq!(set.remove("two"), Ok(Removed::One));
    assert!(!set.contains("six") && set.filter().load() == 0.0);
}

/// The set against a set: real hashes, narrow remainders, all of its operations.
#[test]
fn a_set_is_a_set() {
    let mut operations = 0;
    for game in 0..12_u64 {
        let source = &mut Source::from_seed(game);
        let policy = [Policy::Always, Policy::AfterRepeats(2), Policy::Never];
        let leave = if game % 2 == 0 {
            Leave::Nothing
        } else {
            Leave::Ghost
        };
        let builder = AdaptiveFilter::builder()
            .slots(60 + 10 * game)
            .remainder_bits(1 + game as u32 % 4)
            .value_bits(if game % 5 == 0 { 2 } else { 0 })
            .seed(Seed::from_u64(game));
        let mut set = AdaptiveSet::from_builder(builder)
            .unwrap()
            .with_policy(policy[game as usize % 3]);
        let mut members = BTreeSet::new();
        for _ in 0..4_000 {
            let key = source.below(300).unwrap();
            let member = members.contains(&key);
            match source.below(4).unwrap() {
                0 => match set.insert(&key) {
                    Ok(Inserted::Present) => assert!(member),
                    Ok(_) => assert!(members.insert(key)),
                    Err(Error::Full { .. }) => assert!(!member),
                    Err(error) => panic!("{error}"),
                },
                1 => match set.remove_leaving(&key, leave) {
                    Ok(removed) => assert_eq!(removed == Removed::One, members.remove(&key)),
                    Err(Error::Full { .. }) => assert!(member && leave == Leave::Ghost),
                    Err(error) => panic!("{error}"),
                },
                _ => {
                    let positive = set.contains(&key);
                    match set.report_false_positive(&key) {
                        Ok(Reported::Member) => assert!(member),
                        Ok(Reported::NotPositive) => assert!(!positive),
                        Ok(Reported::Fixed(_)) => assert!(!member && !set.contains(&key)),
                        Ok(Reported::Waiting) => assert!(!member && set.contains(&key)),
                        Err(Error::Full { .. }) => assert!(!member && set.contains(&key)),
                        other => panic!("{other:?}"),
                    }
                }
            }
            operations += 1;
            // Every member is there, each with a fingerprint of its own.
            assert_eq!(set.check_invariants(), Ok(()));
            assert_eq!(set.len(), members.len() as u64);
        }
    }
    assert_eq!(operations, 48_000);
}

/// The fast ways by key do what the ways by hash do.
#[test]
fn keys_and_hashes_are_the_same() {
    let mut set = filled(900, 3, 700);
    let queries: Vec<_> = (mistakes(&set, 1_000..4_000).into_iter())
        .take(60)
        .collect();
    for query in &queries {
        set.report_false_positive(query).unwrap();
    }
    // Unextended beside what has just been extended.
    for query in &queries {
        set.insert(query).unwrap();
    }
    let mut by_key = set.filter().clone();
    let mut by_hash = by_key.clone();
    let mut outcomes = [0; 3];
    for key in (0..700_u64).chain(queries) {
        let removed = by_key.remove_known_member(&key);
        let hashed = by_hash.hash(&key);
        assert_eq!(by_hash.remove_known_member_hashed(&hashed), removed);
        outcomes[match removed {
            Ok(Removed::One) => 0,
            Ok(Removed::NotFound) => 1,
            Err(_) => 2,
        }] += 1;
        assert_eq!(
            (by_key.len(), by_key.load()),
            (by_hash.len(), by_hash.load())
        );
        assert_eq!(by_key.check_invariants(), Ok(()));
    }
    assert!(outcomes[0] > 400 && outcomes[2] > 40, "{outcomes:?}");
    for query in 0..4_000_u64 {
        let hashed = by_hash.hash(&query);
        assert_eq!(by_key.contains(&query), by_hash.contains_hashed(&hashed));
        assert_eq!(by_key.lookup(&query), by_hash.lookup_hashed(&hashed));
        assert_eq!(by_key.entry(&query), by_hash.entry_hashed(&hashed));
    }
}

/// A map that fails after some time, in the middle of anything.
#[derive(Default)]
struct Failing {
    map: MemoryMap,
    left: std::cell::Cell<u32>,
}

#[derive(Debug)]
enum Failed {
    Map,
    Filter(Error),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Failed::Filter(error)
    }
}

impl Failing {
    fn step(&self) -> Result<(), Failed> {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        if left == 0 { Err(Failed::Map) } else { Ok(()) }
    }
}

impl ReverseMap for Failing {
    type Error = Failed;

    fn keys(&self, h0: RangeInclusive<u64>, each: impl FnMut(u64, &[u8])) -> Result<(), Failed> {
        self.step()?;
        Ok(self.map.keys(h0, each)?)
    }

    fn insert(&mut self, h0: u64, key: &[u8]) -> Result<bool, Failed> {
        self.step()?;
        Ok(self.map.insert(h0, key)?)
    }

    fn remove(&mut self, h0: u64, key: &[u8]) -> Result<bool, Failed> {
        self.step()?;
        Ok(self.map.remove(h0, key)?)
    }
}

/// Over a map of one's own, with its own error. Whatever it refuses, who is in it is found.
#[test]
fn a_map_that_fails_loses_nobody() {
    fn play<F: Learner<Failing, Error = Failed>>(filter: F) {
        let mut set = KeyedSet::from_parts(filter, {
            let map = Failing::default();
            map.left.set(1);
            map
        })
        .expect("both are empty");
        let source = &mut Source::from_seed(1);
        let (mut failed, mut refused, mut done) = (0, 0, 0);
        for _ in 0..6_000 {
            set.keys().left.set(source.below(6).unwrap() as u32);
            let key = source.below(300).unwrap();
            let result = match source.below(4).unwrap() {
                0 => set.insert(&key).map(|_| ()),
                1 => set.remove(&key).map(|_| ()),
                _ => set.report_false_positive(&key).map(|_| ()),
            };
            match result {
                Ok(()) => done += 1,
                Err(Failed::Map) => failed += 1,
                Err(Failed::Filter(error)) => {
                    assert!(matches!(error, Error::Full { .. }), "{error}");
                    refused += 1;
                }
            }
            for (_, key) in set.keys().map.iter() {
                assert!(set.contains(key), "a member is lost");
            }
        }
        assert!(failed > 500 && done > 2_000, "{failed} {refused} {done}");
    }
    fn built<F: Buildable>() -> F {
        let builder = Builder::<F>::new().slots(300).remainder_bits(2);
        builder.seed(Seed::from_u64(3)).build().expect("small")
    }
    play(built::<AdaptiveFilter>());
    play(built::<TelescopingFilter>());
    play(built::<ExtensionFilter>());
}

/// With another seed the keys move to another map; with the same one they stay.
#[test]
fn a_set_over_a_counted_map_grows_and_is_rebuilt() {
    let keys = Counted::new(MemoryMap::default());
    let filter = AdaptiveFilter::new(100, 0.1).unwrap();
    let mut set = KeyedSet::from_parts(filter, keys).unwrap();
    for key in 0..1_000_u64 {
        if set.insert(&key).is_err() {
            set.grow().unwrap();
            set.insert(&key).unwrap();
        }
    }
    assert_eq!(set.keys().accesses().inserts, 1_000, "one for each key");
    let fresh = AdaptiveFilter::builder().capacity(1_500).fpr(0.01);
    set.rebuild(fresh).unwrap();
    assert_eq!(set.keys().accesses().inserts, 1_000, "into an empty map");
    assert!((0..1_000_u64).all(|key| set.is_member(&key) == Ok(true)));
    assert_eq!(set.check_invariants(), Ok(()));
}
