//! YES/NO lists: exact on both lists, whatever their sizes.

mod share;

use std::collections::BTreeMap;
use std::error::Error;

use twiceshy::hash::Seed;
use twiceshy::lists::dynamic::{DynamicList, Form, Untagged};
use twiceshy::lists::tagged::Tagged;
use twiceshy::lists::{
    Answer, Bloomier, BuildList, Cascade, IntegratedXor, List, ListFile, StaticYesNo, TaggedYesNo,
    YesNo, YesNoList,
};
use twiceshy::sets::reverse_map::MemoryMap;
use twiceshy_testing::Source;
use twiceshy_testing::lists::{Moves, check_static, play_any};

/// Lengths from 1:1000 to 1000:1, and empty lists.
const LENGTHS: [(u64, u64); 12] = [
    (0, 0),
    (0, 1_000),
    (1_000, 0),
    (1, 1),
    (20, 20_000),
    (200, 20_000),
    (1_100, 11_000),
    (5_500, 5_500),
    (11_000, 1_100),
    (22_000, 220),
    (22_000, 22),
    (70, 63),
];

/// Every length at every rate from 2^-2 to 2^-16, and none.
fn check_all<L: BuildList + ListFile>() -> u64 {
    let mut answers = 0;
    let step = share::divisor();
    for (i, (yes, no)) in LENGTHS.into_iter().enumerate() {
        for bits in (0..=16_i32)
            .filter(|bits| bits % 2 == 0 || *bits == 9)
            .step_by(step)
        {
            let seed = i as u64 * 100 + bits as u64;
            match check_static::<L>(yes, no, f64::from(-bits).exp2(), seed) {
                Ok(checked) => answers += checked,
                Err(error) => panic!("{error}"),
            }
        }
    }
    answers
}

/// With the others below and the game, more than ten million answers.
const ANSWERS: u64 = 2_000_000;

#[test]
fn static_lists_are_exact() {
    assert!(check_all::<StaticYesNo>() > ANSWERS / share::divisor() as u64);
}

#[test]
fn cascades_are_exact() {
    assert!(check_all::<Cascade>() > ANSWERS / share::divisor() as u64);
}

#[test]
fn bloomier_filters_are_exact() {
    assert!(check_all::<Bloomier>() > ANSWERS / share::divisor() as u64);
}

#[test]
fn integrated_xor_filters_are_exact() {
    assert!(check_all::<IntegratedXor>() > ANSWERS / share::divisor() as u64);
}

/// Dynamic lists of ordinary keys, grown from nothing: keys come in any order, a tenth moves,
/// a tenth goes.
fn churn<F: Form>(yes: u64, no: u64, fpr: f64, seed: u64) -> Result<u64, Box<dyn Error>> {
    let seeded = Seed::from_u64(seed);
    let mut list: DynamicList<F> =
        DynamicList::with_map(MemoryMap::default(), 10, 10, fpr, seeded)?;
    let mut truth = BTreeMap::new();
    let mut source = Source::from_seed(seed);
    let total = yes + no;
    for _ in 0..total {
        let key = source.below(total)?;
        let wish = match source.below(total + total / 5)? {
            draw if draw < yes => Some(List::Yes),
            draw if draw < total => Some(List::No),
            _ => None,
        };
        match wish {
            Some(which) => {
                list.add(&key, which)?;
                truth.insert(key, which);
            }
            None => {
                list.remove(&key)?;
                truth.remove(&key);
            }
        }
    }
    list.check_invariants()?;
    for (key, which) in &truth {
        let right = match which {
            List::Yes => Answer::Yes,
            List::No => Answer::No,
        };
        assert_eq!(list.answer(key), right);
        assert_eq!(list.lookup_exact(key)?, Some(*which));
    }
    // Strangers: the promised share, and no more than five deviations above it.
    let strangers = total.max(2_000);
    let wrong = (0..strangers).filter(|i| list.answer(&(i + total)) == Answer::Yes);
    let expected = fpr * strangers as f64;
    assert!(wrong.count() as f64 <= expected + 5.0 * expected.sqrt() + 5.0);
    Ok(truth.len() as u64 * 2)
}

#[test]
fn dynamic_lists_are_exact() {
    let mut answers = 0;
    for (i, (yes, no)) in LENGTHS.into_iter().enumerate().skip(3) {
        for bits in [2, 5, 9, 16].into_iter().step_by(share::divisor()) {
            let fpr = f64::from(-bits).exp2();
            answers += churn::<Untagged>(yes, no, fpr, i as u64).unwrap();
            answers += churn::<Tagged>(yes, no, fpr, i as u64).unwrap();
        }
    }
    assert!(answers > 500_000 / share::divisor() as u64);
}

#[test]
fn the_game_of_dynamic_lists() {
    let mut total = Moves::default();
    for seed in 0..400 / share::divisor() as u64 {
        match play_any(&mut Source::from_seed(seed), 250) {
            Ok(moves) => {
                total.added += moves.added;
                total.moved += moves.moved;
                total.removed += moves.removed;
                total.failed += moves.failed;
                total.inseparable += moves.inseparable;
                total.grown += moves.grown;
                total.answers += moves.answers;
                total.deltas += moves.deltas;
            }
            Err(error) => panic!("seed {seed}: {error}"),
        }
    }
    let share = share::divisor() as u64;
    let Moves {
        added,
        moved,
        removed,
        failed,
        inseparable,
        grown,
        answers,
        deltas,
    } = total;
    assert!(
        [added, moved, removed]
            .iter()
            .all(|&count| count > 5_000 / share),
        "{total:?}"
    );
    assert!(
        [failed, deltas].iter().all(|&count| count > 1_000 / share),
        "{total:?}"
    );
    assert!(inseparable > 10 / share && grown > 50 / share, "{total:?}");
    assert!(answers > 3_000_000 / share, "{total:?}");
}

/// What the promise for other keys is worth: strangers answered YES against the exact
/// expectation, within five deviations (a failure by chance: less than 1 in 10^6 each).
#[test]
fn strangers_are_answered_yes_as_often_as_expected() {
    fn check<L: BuildList>(fpr: f64) {
        let yes: Vec<u64> = (0..5_000).collect();
        let no: Vec<u64> = (5_000..105_000).collect();
        let list = L::build_seeded(&yes, &no, fpr, Seed::from_u64(3)).unwrap();
        let queries = 1_000_000 / share::divisor() as u64;
        let wrong = (0..queries)
            .filter(|i| list.answer(&(i + 1_000_000)).is_yes())
            .count();
        let expected = list.expected_fpr() * queries as f64;
        assert!(list.expected_fpr() <= fpr);
        let off = (wrong as f64 - expected).abs();
        assert!(off <= 5.0 * expected.sqrt() + 5.0, "{wrong} of {expected}");
    }
    for fpr in [0.3, 1.0 / 512.0] {
        check::<StaticYesNo>(fpr);
        check::<Cascade>(fpr);
        check::<Bloomier>(fpr);
        check::<IntegratedXor>(fpr);
    }
}

#[test]
fn a_key_on_both_lists_is_refused() {
    fn check<L: BuildList>() {
        let (yes, no) = ([1_u64, 2, 3], [7_u64, 3]);
        let Err(error) = L::build_seeded(&yes, &no, 0.1, Seed::from_u64(1)) else {
            panic!("3 is on both lists");
        };
        assert!(error.to_string().contains("decide on one"), "{error}");
    }
    check::<StaticYesNo>();
    check::<Cascade>();
    check::<Bloomier>();
    check::<IntegratedXor>();
}

#[test]
fn impossible_rates_say_why() {
    let none: [u64; 0] = [];
    for fpr in [0.0, -1.0, 2.0, f64::NAN] {
        let error = StaticYesNo::build(&none, &none, fpr)
            .unwrap_err()
            .to_string();
        assert!(error.contains("above 0 and at most 1"), "{error}");
        assert!(Cascade::build(&none, &none, fpr).is_err());
        assert!(Bloomier::build(&none, &none, fpr).is_err());
        assert!(IntegratedXor::build(&none, &none, fpr).is_err());
        assert!(YesNo::new(1, 1, fpr).is_err());
        assert!(TaggedYesNo::new(1, 1, fpr).is_err());
    }
    assert!(Bloomier::build(&none, &none, 1e-12).is_err());
}

#[test]
fn resizing_keeps_lists_and_remainders() {
    let mut list = YesNo::new(10, 10, 1.0 / 512.0).unwrap();
    for key in 0..3_000_u64 {
        let which = if key % 3 == 0 { List::Yes } else { List::No };
        list.add(&key, which).unwrap();
    }
    let bits = list.filter().geometry().remainder_bits();
    for (yes, no) in [(50_000, 0), (0, 0)] {
        list.resize(yes, no).unwrap();
        list.check_invariants().unwrap();
        assert_eq!(list.filter().geometry().remainder_bits(), bits);
        assert!((0..3_000_u64).all(|key| list.answer(&key).is_yes() == (key % 3 == 0)));
    }
    assert!(list.filter().load() > 0.8);
    // Another list over the same map is the same filter.
    let (seed, geometry) = (list.filter().seed(), list.filter().geometry());
    let bytes = list.filter().to_bytes();
    let again: YesNo = YesNo::with_geometry(list.into_map(), geometry, seed).unwrap();
    assert!(again.filter().to_bytes() == bytes);
    assert_eq!(again.len_of(List::Yes), 1_000);
}

/// One-off lists are full, and as large as the plan says.
#[test]
fn static_lists_are_full() {
    for (yes, no) in [
        (30_000, 300),
        (30_000, 30_000),
        (20_000, 200_000),
        (15_000, 960_000),
    ] {
        for fpr in [1.0, 1.0 / 512.0] {
            let no = no / share::divisor() as u64;
            let yes: Vec<u64> = (0..yes).collect();
            let no: Vec<u64> = (0..no).map(|i| i + 1_000_000).collect();
            let list = StaticYesNo::builder().fpr(fpr).seed(Seed::from_u64(5));
            let list = list.build(&yes, &no).unwrap();
            assert!(list.load() >= 0.99, "{} of {list:?}", list.load());
            list.check_invariants().unwrap();
            let (n, m) = (yes.len() as u64, no.len() as u64);
            let plan = twiceshy::lists::plan::smallest(n, m, fpr).unwrap();
            let bits = list.bytes() as f64 * 8.0;
            assert!((bits / plan.bits - 1.0).abs() < 0.02, "{bits} of {plan:?}");
        }
    }
}
