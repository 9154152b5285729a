//! The papers' behaviour, against derived bounds; see the tests of `telescoping`.

use super::*;
use crate::outcome::{Removed, Reported};

/// `ln(2 / 1e-9)`.
const LN: f64 = 21.416_413;

fn slack(mean: f64) -> f64 {
    LN / 3.0 + (LN * LN / 9.0 + 2.0 * LN * mean).sqrt()
}

const MEMBERS: u64 = 12_000;
const STRANGERS: u64 = 1 << 40;

fn filled(bits: u32, overflow: Overflow) -> ExtensionSet {
    let filter = ExtensionFilter::builder()
        .slots(MEMBERS * 100 / 95)
        .remainder_bits(bits)
        .seed(Seed::from_u64(4))
        .build()
        .expect("a small filter");
    let mut set = KeyedSet::from_filter(filter.with_overflow(overflow));
    for key in 0..MEMBERS {
        set.insert(&key).expect("5% of the slots are free");
    }
    set
}

/// Asks, reports what is wrong, and gives how often that was, and how many extensions were
/// given up. None is left unfixed: one that agrees with its member in more bits than a code
/// holds, 22, has a chance of 2⁻²² each.
fn ask(set: &mut ExtensionSet, queries: impl IntoIterator<Item = u64>) -> (u64, u64) {
    let (mut wrong, mut forgotten) = (0, 0);
    for query in queries {
        match set.report_false_positive(&query) {
            Ok(Reported::NotPositive) => {}
            Ok(Reported::Fixed(fixed)) => {
                assert_eq!(fixed.unfixed, 0);
                assert!(!set.contains(&query));
                wrong += 1;
                forgotten += fixed.forgotten;
            }
            other => panic!("{other:?}"),
        }
    }
    (wrong, forgotten)
}

/// An extension of `k` bits leaves `2^-k` of its fingerprint's mistakes, also of those that
/// nobody has asked for: given the table, the chance of a fresh query is the sum of
/// `2^-k / N` over all slots (slots that share a minirun and match the same queries aside, which
/// are fewer than `n / 2^r` of them), and the number of mistakes is binomial.
#[test]
fn serendipity() {
    let mut set = filled(8, Overflow::Keep);
    let queries = 200 * MEMBERS;
    let wrong = |set: &ExtensionSet| {
        let others = 2 * STRANGERS..2 * STRANGERS + queries;
        others.filter(|query| set.contains(query)).count() as f64
    };
    let mean = |set: &ExtensionSet| {
        let core = &set.filter.core;
        let mut sum = 0.0;
        for run in core.table.runs() {
            for entry in core.entries(&run) {
                sum += 0.5_f64.powi(entry.letter.len() as i32);
            }
        }
        queries as f64 * sum / core.geometry.ids() as f64
    };
    let (before, expected) = (wrong(&set), mean(&set));
    assert!((before - expected).abs() < slack(expected) + expected / 256.0);
    ask(&mut set, STRANGERS..STRANGERS + 30 * MEMBERS);
    let (after, less) = (wrong(&set), mean(&set));
    println!("{before} of {queries} before, {after} after; {expected:.0} and {less:.0} expected");
    assert!((after - less).abs() < slack(less) + less / 256.0);
    assert!(less < 0.97 * expected && after < before - slack(expected) / 2.0);
}

/// Mistakes stay fixed as long as codes have room: with remainders of eight bits and one
/// query an item, six extensions or more in a block have a chance below 10⁻³, and none of
/// what was asked for comes back but for those.
#[test]
fn mistakes_stay_fixed() {
    let mut set = filled(8, Overflow::Keep);
    let (wrong, forgotten) = ask(&mut set, STRANGERS..STRANGERS + MEMBERS);
    assert!(wrong > 20);
    let (again, _) = ask(&mut set, STRANGERS..STRANGERS + MEMBERS);
    assert!(
        again <= forgotten,
        "{again} came back, {forgotten} forgotten"
    );
    set.check_invariants().expect("all members are there");
}

/// Keeping what can be kept is better than the paper's rule.
#[test]
fn degradation() {
    for per_item in [4, 10, 20] {
        let mut shares = Vec::new();
        for overflow in [Overflow::Keep, Overflow::Rebuild] {
            let mut set = filled(8, overflow);
            let queries = STRANGERS..STRANGERS + per_item * MEMBERS;
            let (wrong, _) = ask(&mut set, queries.clone());
            let (again, forgotten) = ask(&mut set, queries);
            set.check_invariants().expect("all members are there");
            shares.push((again as f64 / wrong as f64, forgotten));
        }
        println!("{per_item} queries an item: {shares:?} (keep, rebuild) come back, forgotten");
        assert!(shares[0].0 <= shares[1].0 + 0.01);
    }
}

/// Every width of remainders, filled, fixed, and emptied again.
#[test]
fn every_width() {
    for bits in (1..=12).chain([20, 31, 45]) {
        let builder = ExtensionFilter::builder().slots(200).remainder_bits(bits);
        let mut set = ExtensionSet::from_builder(builder.seed(Seed::from_u64(1))).unwrap();
        for key in 0..180_u64 {
            set.insert(&key).unwrap();
        }
        for query in STRANGERS..STRANGERS + 2_000 {
            set.report_false_positive(&query).unwrap();
        }
        set.check_invariants().unwrap();
        for key in 0..180_u64 {
            assert_eq!(set.remove(&key), Ok(Removed::One));
            if key % 30 == 0 {
                set.check_invariants().unwrap();
            }
        }
        assert!(set.is_empty() && set.filter().is_empty());
        assert_eq!(set.filter().adapted(), 0);
    }
}

/// What a filter costs its store: one range for each mistake, whether codes have room or not.
#[test]
fn accesses_are_counted() {
    let mut set = filled(8, Overflow::Keep);
    let before = set.accesses();
    let (wrong, _) = ask(&mut set, STRANGERS..STRANGERS + 20 * MEMBERS);
    let after = set.accesses();
    assert_eq!(after.reads - before.reads, 2 * wrong);
    assert!(after.keys - before.keys < 2 * wrong);
}

#[test]
fn keys_that_do_not_fit_are_refused() {
    let mut set = filled(4, Overflow::Keep);
    let query = (STRANGERS..).find(|query| set.contains(query)).unwrap();
    let mut filter = set.filter.clone();
    let hashed = filter.hash(&query);
    let at = filter.lookup_hashed(&hashed).unwrap();
    let before = filter.to_bytes();
    let range = filter.geometry().hash_range(at.id());
    let other = (0..MEMBERS).find(|key| !range.contains(&filter.hash(key).h0()));
    let other = filter.hash(&other.unwrap()).into_owned();
    for keys in [vec![other], vec![hashed.clone()]] {
        let result = filter.adapt(&hashed, at, &keys);
        assert!(matches!(result, Err(Error::Mismatch { .. })));
    }
    assert_eq!(filter.to_bytes(), before);
    assert!(matches!(
        set.report_false_positive(&query),
        Ok(Reported::Fixed(_))
    ));
}
