//! Deltas: small, exact, and refused where they do not fit.

mod share;

use twiceshy::Error;
use twiceshy::hash::{Seed, Xxh3};
use twiceshy::lists::delta::{Ships, Why, apply, diff};
use twiceshy::lists::static_::Like;
use twiceshy::lists::{List, StaticYesNo, YesNo};
use twiceshy::sets::reverse_map::MemoryMap;
use twiceshy_testing::Source;
use twiceshy_testing::lists::judge_delta;

const FPR: f64 = 1.0 / 512.0;

fn list(yes: &[u64], no: &[u64]) -> StaticYesNo {
    let builder = StaticYesNo::builder().fpr(FPR).headroom(0.03);
    let built = builder.seed(Seed::from_u64(1)).build(yes, no);
    built.expect("two lists without a key in common")
}

fn range(from: u64, count: u64) -> Vec<u64> {
    (from..from + count).collect()
}

/// One entry in a thousand changed: at most 25 bits each, whether keys come, go or both.
#[test]
fn a_changed_entry_takes_less_than_25_bits() {
    let n = 1_000_000 / share::divisor() as u64;
    let changed = n / 1_000;
    let (yes, no) = (range(0, n / 2), range(n, n / 2));
    let old = list(&yes, &no);
    let bits = |yes: &[u64], no: &[u64]| {
        let (new, like) = old.build_like(yes, no, FPR).unwrap();
        assert_eq!(like, Like::Same);
        let (old, new) = (old.to_bytes(), new.to_bytes());
        let delta = diff(&old, &new).unwrap();
        assert!(matches!(delta.ships(), Ships::Changes { .. }));
        assert!(apply(&old, delta.as_bytes()).unwrap() == new);
        delta.as_bytes().len() as f64 * 8.0 / changed as f64
    };
    let come = bits(&[yes.clone(), range(2 * n, changed)].concat(), &no);
    let go = bits(&yes[changed as usize..], &no);
    let half = changed as usize / 2;
    let both = bits(&[&yes[half..], &range(2 * n, half as u64)].concat(), &no);
    let no_only = bits(&yes, &no[changed as usize..]);
    println!("bits a changed entry: {come:.1} come, {go:.1} go, {both:.1} both, {no_only:.1} NO");
    // The mean of many gaps; a thousand of them are within half a bit of the expectation, and
    // with fewer keys the 40 bytes before them weigh more.
    let start = 64.0 * 8.0 / changed as f64;
    assert!(come <= 21.0 + start && go <= 12.0 + start && both <= 17.5 + start);
    assert!(come <= 25.0 && no_only < 3.0);
}

#[test]
fn a_month_of_days() {
    let mut source = Source::from_seed(7);
    let n = 20_000 / share::divisor() as u64;
    let (mut yes, mut no) = (range(0, n), range(1_000_000, 10 * n));
    let mut now = list(&yes, &no);
    let mut file = now.to_bytes();
    let (mut changes, mut whole) = (0, 0);
    for day in 0..30 {
        // The lists grow by two in a hundred a week.
        for i in 0..n / 300 {
            yes.push(2_000_000 + day * n + i);
            no.push(4_000_000 + day * n + i);
        }
        for _ in 0..n / 1_000 {
            yes.swap_remove(source.below(yes.len() as u64).unwrap() as usize);
        }
        let (new, like) = now.build_like(&yes, &no, FPR).unwrap();
        let bytes = new.to_bytes();
        let delta = diff(&file, &bytes).unwrap();
        match (like, delta.ships()) {
            (Like::Same, Ships::Changes { .. }) => changes += 1,
            (Like::Grown, Ships::Whole(Why::Foreign)) => whole += 1,
            other => panic!("day {day}: {other:?}"),
        }
        file = apply(&file, delta.as_bytes()).unwrap();
        assert!(file == bytes, "day {day}");
        now = new;
    }
    assert!(changes >= 20 && whole >= 1, "{changes} and {whole}");
    let last = StaticYesNo::<twiceshy::hash::Sip13>::from_bytes(&file).unwrap();
    assert!(yes.iter().all(|key| last.contains(key)));
    assert!(!no.iter().any(|key| last.contains(key)));
}

#[test]
fn snapshots_of_a_dynamic_list_make_deltas() {
    let seed = Seed::from_u64(4);
    let map = MemoryMap::default();
    let mut list: YesNo = YesNo::with_map(map, 10_000, 10_000, FPR, seed).unwrap();
    for key in 0..9_000_u64 {
        list.add(&key, List::Yes).unwrap();
        list.add(&(key + 100_000), List::No).unwrap();
    }
    let old = list.snapshot().unwrap().to_bytes();
    for key in 0..50_u64 {
        list.remove(&key).unwrap();
        list.add(&(key + 100_000), List::Yes).unwrap();
    }
    let new = list.snapshot().unwrap().to_bytes();
    let delta = diff(&old, &new).unwrap();
    assert!(delta.as_bytes().len() < 400, "{}", delta.as_bytes().len());
    assert!(apply(&old, delta.as_bytes()).unwrap() == new);
}

#[test]
fn foreign_bases_get_the_whole_file_and_wrong_ones_an_error() {
    let (yes, no) = (range(0, 2_000), range(10_000, 2_000));
    let old = list(&yes, &no).to_bytes();
    let other_seed = StaticYesNo::builder().fpr(FPR).seed(Seed::from_u64(2));
    let other_seed = other_seed.build(&yes, &no).unwrap().to_bytes();
    let other_hash = StaticYesNo::builder().fpr(FPR).seed(Seed::from_u64(1));
    let other_hash = other_hash
        .hash::<Xxh3>()
        .build(&yes, &no)
        .unwrap()
        .to_bytes();
    for new in [&other_seed, &other_hash] {
        let delta = diff(&old, new).unwrap();
        assert_eq!(delta.ships(), Ships::Whole(Why::Foreign));
        assert!(apply(&old, delta.as_bytes()).unwrap() == *new);
        let Err(error) = apply(new, delta.as_bytes()) else {
            panic!("the wrong base");
        };
        assert!(matches!(error, Error::Delta { .. }));
        assert!(error.to_string().contains("another version"), "{error}");
    }
    // Everything new: the changes would be larger than the file.
    let (new, _) = list(&yes, &no)
        .build_like(&range(50_000, 2_000), &no, FPR)
        .unwrap();
    let delta = diff(&old, &new.to_bytes()).unwrap();
    assert!(matches!(
        delta.ships(),
        Ships::Changes { .. } | Ships::Whole(Why::Smaller)
    ));
    assert!(apply(&old, delta.as_bytes()).unwrap() == new.to_bytes());
    // Nothing new.
    let delta = diff(&old, &old).unwrap();
    assert!(delta.as_bytes().len() < 60);
    assert!(apply(&old, delta.as_bytes()).unwrap() == old);
    // No lists at all.
    assert!(matches!(diff(b"no list", &old), Err(Error::Format { .. })));
    assert!(matches!(
        apply(&old, b"no delta"),
        Err(Error::Format { .. })
    ));
    assert!(matches!(apply(&old, &old), Err(Error::Format { .. })));
}

#[test]
fn damage_is_refused() {
    let (yes, no) = (range(0, 300), range(10_000, 9_000));
    let old = list(&yes, &no);
    let (new, _) = old
        .build_like(&[&yes[40..], &range(500, 40)].concat(), &no, FPR)
        .unwrap();
    let (old, new) = (old.to_bytes(), new.to_bytes());
    let delta = diff(&old, &new).unwrap().into_bytes();
    for bit in 0..delta.len() * 8 {
        let mut damaged = delta.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(apply(&old, &damaged).is_err(), "bit {bit}");
        // With the right checksum of its own (bytes 32 to 39), it still can't make anything
        // but its target.
        if (32..40).contains(&(bit / 8)) {
            continue;
        }
        assert!(!judge_delta(&old, &mut damaged), "bit {bit}");
    }
    for length in 0..delta.len() {
        assert!(
            !judge_delta(&old, &mut delta[..length].to_vec()),
            "{length} bytes"
        );
    }
    let mut source = Source::from_seed(1);
    for _ in 0..2_000 / share::divisor() {
        let mut damaged = delta.clone();
        for _ in 0..1 + source.below(20).unwrap() {
            let at = 40 + source.below(delta.len() as u64 - 40).unwrap() as usize;
            damaged[at] = source.below(256).unwrap() as u8;
        }
        assert!(!judge_delta(&old, &mut damaged) || damaged[40..] == delta[40..]);
    }
}
