//! False-positive rates, against bounds that are derived and not felt.
//!
//! A key that was never inserted is answered "maybe" exactly if its fingerprint, one of
//! `N = n 2^r`, is one of the `D` different ones in the table. So over `Q` fresh keys, with
//! a perfect hash:
//!
//! 1. The number `X` of false positives is binomial with mean `Q D / N`. Bernstein's
//!    inequality: `P(|X - mean| >= t) <= 2 exp(-t^2 / (2 (mean + t / 3)))`.
//! 2. `D` itself depends on `m` independent keys, each of which changes it by at most one.
//!    McDiarmid's inequality: `P(|D - E D| >= s) <= 2 exp(-2 s^2 / m)`, and `E D` is `N`
//!    times the rate that `sizing::expected_fpr` promises.
//!
//! Both are set to 10⁻⁹ a test, and there are ten: if one fails, it is not bad luck. (It
//! can't be flaky in any case: seeds are fixed.)

use std::collections::BTreeSet;

use twiceshy::bloom::{BlockedBloomFilter, BloomFilter};
use twiceshy::cuckoo::{
    AdaptiveCuckooFilter, CuckooFilter, MemoryCells, Packing, Scheme, VacuumFilter,
};
use twiceshy::hash::{Seed, Sip13, StreamHash};
use twiceshy::sets::KeyedSet;
use twiceshy::{Filter, Insert, QuotientFilter, sizing};

/// `ln(2 / 1e-9)`.
const LN: f64 = 21.416_413;

/// The smallest `t` for which Bernstein's bound is 10⁻⁹.
fn binomial_slack(mean: f64) -> f64 {
    LN / 3.0 + (LN * LN / 9.0 + 2.0 * LN * mean).sqrt()
}

/// The smallest `s` for which McDiarmid's bound is 10⁻⁹.
fn distinct_slack(keys: u64) -> f64 {
    (keys as f64 * LN / 2.0).sqrt()
}

fn check<H: StreamHash>(slots: u64, remainder_bits: u32, seed: u64) {
    assert!(!slots.is_power_of_two());
    let mut filter: QuotientFilter<H> = QuotientFilter::builder()
        .slots(slots)
        .remainder_bits(remainder_bits)
        .seed(Seed::from_u64(seed))
        .hash::<H>()
        .build()
        .expect("a small filter");
    let members = slots * 95 / 100;
    for key in 0..members {
        filter.insert(&key).expect("5% of the slots are free");
    }
    assert!((0..members).all(|key| filter.contains(&key)));
    filter.check_invariants().expect("order");

    let geometry = filter.geometry();
    let ids = geometry.ids() as f64;
    let different: BTreeSet<u64> = filter.iter().map(|found| geometry.id_of(found)).collect();
    let different = different.len() as f64;
    let expected = sizing::expected_fpr(&geometry, members);
    let off = (different - ids * expected).abs();
    assert!(
        off < distinct_slack(members),
        "{different} different fingerprints, not {}",
        ids * expected
    );
    assert_eq!(filter.stats().expected_fpr, expected);

    // Enough for some hundred false positives, whose slack is a fraction of them.
    let queries = ((400.0 / expected) as u64).max(1_000_000);
    let fresh = 1_u64 << 40;
    let found = (fresh..fresh + queries)
        .filter(|key| filter.contains(key))
        .count() as f64;
    let mean = queries as f64 * different / ids;
    let slack = binomial_slack(mean);
    assert!(slack < mean / 2.0, "the bound would allow anything");
    println!(
        "{slots} slots, r = {remainder_bits}, {}: {found} false positives in {queries}, \
         expected {mean:.0} ± {slack:.0}",
        H::KIND
    );
    assert!(
        (found - mean).abs() < slack,
        "{found} is not {mean} ± {slack}"
    );
}

fn check_widths<H: StreamHash>(seed: u64) {
    check::<H>(100_003, 4, seed);
    check::<H>(77_777, 8, seed + 1);
    check::<H>(65_537, 9, seed + 2);
    check::<H>(54_321, 12, seed + 3);
    check::<H>(100_000, 16, seed + 4);
}

#[test]
fn siphash_keeps_the_promised_rate() {
    check_widths::<Sip13>(10);
}

#[cfg(feature = "xxh3")]
#[test]
fn xxh3_keeps_the_promised_rate() {
    check_widths::<twiceshy::hash::Xxh3>(20);
}

/// The relatives: what a filter says of itself is exact, given its table, so the number of false
/// positives is binomial around it; and what was planned is kept.
fn check_relative<F: Filter + Insert>(mut filter: F, members: u64, planned: f64) {
    for key in 0..members {
        filter.insert(&key).expect("room for it");
    }
    let rate = filter.stats().expected_fpr;
    let queries = ((1_000.0 / rate) as u64).max(200_000);
    let fresh = 1_u64 << 40;
    let found = (fresh..fresh + queries).filter(|key| filter.contains(key));
    let (found, mean) = (found.count() as f64, queries as f64 * rate);
    let slack = binomial_slack(mean) + rate_slack(members, rate) * queries as f64;
    println!(
        "{:?}: {found} in {queries}, expected {mean:.0} ± {slack:.0}",
        filter.stats()
    );
    assert!(
        (found - mean).abs() < slack,
        "{found} is not {mean} ± {slack}"
    );
    assert!(
        rate < planned * 1.1,
        "{rate} is more than the planned {planned}"
    );
}

/// Cuckoo filters promise a mean over all sets of keys: with `m` of them, each of which changes
/// the number of occupied classes by at most one, McDiarmid's inequality as above.
fn rate_slack(members: u64, rate: f64) -> f64 {
    rate * distinct_slack(members) / members as f64
}

#[test]
fn cuckoo_and_vacuum_filters_keep_the_promised_rate() {
    let seed = Seed::from_u64(30);
    for (bits, packing) in [
        (4, Packing::Whole),
        (8, Packing::SemiSorted),
        (9, Packing::Whole),
    ]
    .into_iter()
    .chain([
        (12, Packing::Whole),
        (12, Packing::SemiSorted),
        (17, Packing::Whole),
    ]) {
        let buckets = 15_001;
        let members = 4 * buckets * 85 / 100;
        let planned = 8.0 * 0.85 / f64::from((1_u32 << bits) - 1);
        let builder = CuckooFilter::builder().buckets(buckets).packing(packing);
        let filter = builder.fingerprint_bits(bits).seed(seed).build();
        check_relative(filter.expect("a small filter"), members, planned);
        let builder = VacuumFilter::builder().buckets(70_001).packing(packing);
        let filter = builder.fingerprint_bits(bits).seed(seed).build();
        check_relative(filter.expect("a small filter"), 238_000, planned);
    }
}

#[test]
fn bloom_filters_keep_the_promised_rate() {
    let seed = Seed::from_u64(31);
    for fpr in [0.1, 0.01, 1.0 / 512.0, 0.0005] {
        let filter = BloomFilter::builder().capacity(100_000).fpr(fpr).seed(seed);
        check_relative(filter.build().expect("a small filter"), 100_000, fpr);
        let filter = BlockedBloomFilter::builder().capacity(100_000).fpr(fpr);
        check_relative(
            filter.seed(seed).build().expect("a small filter"),
            100_000,
            fpr,
        );
    }
    for hashes in [1, 3, 8, 11, 16] {
        let filter = BlockedBloomFilter::builder()
            .bits(512 * 3_000)
            .hashes(hashes);
        check_relative(
            filter.seed(seed).build().expect("a small filter"),
            100_000,
            1.0,
        );
    }
}

#[test]
fn adaptive_cuckoo_filters_keep_the_promised_rate() {
    let cyclic = |selector_bits| Scheme::Cyclic { selector_bits };
    for scheme in [
        cyclic(1),
        cyclic(2),
        cyclic(3),
        Scheme::Swapping,
        Scheme::Cuckooing,
    ] {
        let builder = AdaptiveCuckooFilter::builder(scheme).capacity(20_000);
        let builder = builder.fingerprint_bits(8).seed(Seed::from_u64(32));
        let filter: AdaptiveCuckooFilter = builder.build().expect("a small filter");
        let mut set = KeyedSet::from_parts(filter, MemoryCells::default()).expect("both are empty");
        for key in 0..20_000_u64 {
            set.insert(&key).expect("room for it");
        }
        let rate = set.filter().stats().expected_fpr;
        let queries = 200_000;
        let fresh = 1_u64 << 40;
        let found = (fresh..fresh + queries)
            .filter(|key| set.contains(key))
            .count() as f64;
        let mean = queries as f64 * rate;
        let slack = binomial_slack(mean) + rate_slack(20_000, rate) * queries as f64;
        println!("{scheme:?}: {found}, expected {mean:.0} ± {slack:.0}");
        assert!(
            (found - mean).abs() < slack,
            "{found} is not {mean} ± {slack}"
        );
    }
}

#[test]
fn the_slack_is_what_the_inequalities_say() {
    assert!((LN - (2.0_f64 / 1e-9).ln()).abs() < 1e-6);
    for mean in [10.0, 400.0, 1e6] {
        let t = binomial_slack(mean);
        let bound = 2.0 * (-t * t / (2.0 * (mean + t / 3.0))).exp();
        assert!((bound / 1e-9 - 1.0).abs() < 1e-5, "{bound}");
    }
    let s = distinct_slack(95_000);
    let bound = 2.0 * (-2.0 * s * s / 95_000.0).exp();
    assert!((bound / 1e-9 - 1.0).abs() < 1e-5, "{bound}");
}
