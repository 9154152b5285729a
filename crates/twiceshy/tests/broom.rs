//! The broom filter: the adaptive filter under the three rules of its paper.

use std::collections::BTreeSet;

use twiceshy::hash::Seed;
use twiceshy::{AdaptiveFilter, BroomSet, Error, Removed, Reported};
use twiceshy_testing::Source;
use twiceshy_testing::adaptive::universe::Chosen;

fn broom(slots: u64, bits: u32) -> BroomSet {
    let builder = AdaptiveFilter::builder().slots(slots).remainder_bits(bits);
    BroomSet::from_builder(builder.seed(Seed::from_u64(3))).expect("a small set")
}

/// Any operations, at tiny geometries: members are found, what is fixed is answered "no", and
/// the invariants hold, prefixes and the frontier included.
#[test]
fn against_a_model() {
    let mut fixed = 0;
    for seed in 0..60 {
        let mut source = Source::from_seed(seed);
        let mut below = |end| source.below(end).expect("a seed never ends");
        let slots = [64, 100, 300][below(3) as usize];
        let mut set = broom(slots, 1 + below(4) as u32).with_step(below(5) as usize);
        let mut members = BTreeSet::new();
        for _ in 0..600 {
            let choice = below(8);
            // Members are few, strangers many.
            let key = below(if choice < 4 { 120 } else { 1_500 });
            match choice {
                0..=2 => match set.insert(&key) {
                    Ok(_) => drop(members.insert(key)),
                    Err(error) => assert!(matches!(error, Error::Full { .. }), "{error}"),
                },
                3 => match set.remove(&key) {
                    Ok(removed) => assert_eq!(removed == Removed::One, members.remove(&key)),
                    Err(error) => assert!(matches!(error, Error::Full { .. }), "{error}"),
                },
                _ => match set.report_false_positive(&key) {
                    Ok(Reported::Fixed(_)) => {
                        fixed += 1;
                        assert!(!members.contains(&key) && !set.contains(&key));
                    }
                    Ok(Reported::Member) => assert!(members.contains(&key)),
                    Ok(_) => assert!(!members.contains(&key)),
                    Err(error) => assert!(matches!(error, Error::Full { .. }), "{error}"),
                },
            }
            assert_eq!(set.len(), members.len() as u64);
            set.check_invariants().expect("as it must be");
        }
        assert!(members.iter().all(|key| set.contains(key)));
    }
    assert!(fixed > 500, "{fixed}");
}

/// Two members of a minirun never match each other's fingerprints, from the moment of their
/// insertion. (In an `AdaptiveSet` that is not so.)
#[test]
fn no_fingerprint_is_a_prefix_of_another() {
    // Streams that agree in the first word and in some bits of the second.
    let key = |second: u64| [5_u64.to_le_bytes(), second.to_le_bytes()].concat();
    let builder = || {
        AdaptiveFilter::builder()
            .slots(100)
            .remainder_bits(4)
            .hash::<Chosen>()
    };
    let mut set = BroomSet::from_builder(builder().seed(Seed::from_u64(1))).unwrap();
    for second in [0, 1 << 63, 1 << 62, 1 << 50, 3 << 49, 1] {
        set.insert(&key(second)[..]).unwrap();
        set.check_invariants().unwrap();
    }
    assert!(set.extension_slots() > 6);
}

/// Removing and inserting a member again makes no mistake come back.
#[test]
fn ghosts_remember() {
    let mut set = broom(2_000, 4).with_step(2);
    for key in 0..1_500_u64 {
        set.insert(&key).unwrap();
    }
    let mut wrong = (1_u64 << 40..).filter(|query| broom_says_maybe(&set, *query));
    let query = wrong.next().unwrap();
    set.report_false_positive(&query).unwrap();
    let phases = set.phases();
    for key in 0..1_500_u64 {
        assert_eq!(set.remove(&key), Ok(Removed::One));
        set.insert(&key).unwrap();
        assert!(!set.contains(&query), "after {key}");
    }
    assert_eq!(set.phases(), phases, "the hash function is the same");
    set.check_invariants().unwrap();
}

fn broom_says_maybe(set: &BroomSet, query: u64) -> bool {
    set.contains(&query)
}

/// However long the filter learns, extensions take `O(n)` slots: in a phase each mistake moves
/// two members, so there are at most `n / 2` of them, each with a digit or two.
#[test]
fn extensions_stay_linear() {
    const MEMBERS: u64 = 500;
    let mut set = broom(3 * MEMBERS, 3);
    for key in 0..MEMBERS {
        set.insert(&key).unwrap();
    }
    let (mut fixed, mut most) = (0_u64, 0);
    for query in 1_u64 << 40.. {
        if let Ok(Reported::Fixed(_)) = set.report_false_positive(&query) {
            fixed += 1;
            most = most.max(set.extension_slots());
            if fixed == 10 * MEMBERS {
                break;
            }
        }
    }
    println!(
        "{fixed} mistakes, {} phases, at most {most} slots",
        set.phases()
    );
    assert!(set.phases() >= 10);
    assert!(most < 2 * MEMBERS, "{most}");
    assert!((0..MEMBERS).all(|key| set.contains(&key)));
    set.check_invariants().unwrap();
}
