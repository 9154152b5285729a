//! Filters whose kind is known only at run time, through every kind and hash.
#![allow(clippy::unwrap_used, reason = "a failure in a helper is a failed test")]

use std::fs;
use std::path::{Path, PathBuf};
use std::slice::from_ref;

use twiceshy::any::{self, AnyFilter, AnyList};
use twiceshy::batch::Interrupted;
use twiceshy::bloom::{Class, WeightedBloomFilter, Weights};
use twiceshy::file::FilterKind;
use twiceshy::filters::adaptive::Leave;
use twiceshy::hash::{HashKind, Seed, Sip13, StreamHash, first_word};
use twiceshy::{AdaptiveFilter, CountingFilter, Error, View};

const KINDS: [FilterKind; 12] = [
    FilterKind::Plain,
    FilterKind::Counting,
    FilterKind::Adaptive,
    FilterKind::Telescoping,
    FilterKind::PlainTelescoping,
    FilterKind::Extension,
    FilterKind::Cuckoo,
    FilterKind::Vacuum,
    FilterKind::AdaptiveCuckoo,
    FilterKind::Bloom,
    FilterKind::BlockedBloom,
    FilterKind::RetouchedBloom,
];

const HASHES: &[HashKind] = &[
    HashKind::SipHash13,
    #[cfg(feature = "xxh3")]
    HashKind::Xxh3,
];

const N: u64 = 500;

fn key(i: u64) -> Vec<u8> {
    format!("key {i}").into_bytes()
}

fn filled(kind: FilterKind, hash: HashKind, keys: std::ops::Range<u64>) -> AnyFilter {
    let builder = AnyFilter::builder(kind).hash(hash).capacity(N).fpr(0.01);
    let mut filter = builder.seed(Seed::from_u64(7)).build().unwrap();
    keys.for_each(|i| filter.insert(&key(i)).unwrap());
    filter
}

fn to_bytes(filter: &AnyFilter) -> Vec<u8> {
    let mut bytes = Vec::new();
    filter.write_to(&mut bytes).unwrap();
    bytes
}

fn has_all(filter: &AnyFilter, mut keys: std::ops::Range<u64>) -> bool {
    keys.all(|i| filter.contains(&key(i)))
}

#[test]
fn every_kind_and_hash_goes_to_a_file_and_back() {
    for kind in KINDS {
        for &hash in HASHES {
            let filter = filled(kind, hash, 0..N);
            assert!(has_all(&filter, 0..N), "{kind}, {hash}");
            let bytes = to_bytes(&filter);
            assert_eq!(any::peek(&bytes).unwrap(), filter.info());

            let mut back = AnyFilter::read_from(&bytes[..]).unwrap();
            assert_eq!((back.info().kind, back.info().hash), (kind, hash));
            assert_eq!(back.seed(), Seed::from_u64(7));
            assert_eq!(back.stats(), filter.stats());
            assert!(has_all(&back, 0..N));
            // One in a hundred, and 10,000 questions: more than 200 are a wrong filter, or
            // ten standard deviations.
            let wrong = (N..N + 10_000).filter(|&i| back.contains(&key(i))).count();
            assert!(wrong < 200, "{kind}: {wrong} of 10,000");

            // Another one like it.
            back.clear();
            assert_eq!(back.stats().items, 0);
            (0..N).for_each(|i| back.insert(&key(i)).unwrap());
            assert_eq!(to_bytes(&back), bytes, "{kind}, {hash}");
        }
    }
}

/// The first words of the hashes of keys.
fn hashes<H: StreamHash>(filter: &AnyFilter, keys: std::ops::Range<u64>) -> Vec<u64> {
    let keyed = H::keyed(&filter.seed());
    keys.map(|i| first_word::<H, _>(&keyed, &key(i))).collect()
}

#[test]
fn hashes_make_the_filter_that_their_keys_make() {
    for kind in KINDS {
        for &hash in HASHES {
            let by_keys = filled(kind, hash, 0..N);
            let mut by_hashes = filled(kind, hash, 0..0);
            let hashes = match hash {
                #[cfg(feature = "xxh3")]
                HashKind::Xxh3 => hashes::<twiceshy::hash::Xxh3>(&by_keys, 0..N),
                _ => hashes::<Sip13>(&by_keys, 0..N),
            };
            let (first, rest) = hashes.split_at(300);
            let inserted = by_hashes.insert_hashes(first).and_then(|()| {
                // Of no keys at all, nobody can be missing.
                by_hashes.insert_hashes(&[])?;
                by_hashes.insert_hashes(rest)
            });
            match inserted {
                Ok(()) => assert_eq!(to_bytes(&by_hashes), to_bytes(&by_keys), "{kind}, {hash}"),
                Err(Interrupted { inserted, error }) => {
                    assert_eq!((kind, inserted), (FilterKind::AdaptiveCuckoo, 0));
                    assert!(error.to_string().contains("the keys themselves"), "{error}");
                }
            }
        }
    }
}

#[test]
fn hashes_that_find_no_room_say_how_many_did() {
    for kind in [FilterKind::Plain, FilterKind::Adaptive, FilterKind::Cuckoo] {
        let mut filter = filled(kind, HASHES[0], 0..0);
        let hashes = hashes::<Sip13>(&filter, 0..10 * N);
        let Interrupted { inserted, error } = filter.insert_hashes(&hashes).unwrap_err();
        assert!(matches!(error, Error::Full { .. }), "{kind}: {error}");
        assert_eq!(filter.stats().items, inserted);
        assert!(inserted >= N && has_all(&filter, 0..inserted), "{kind}");
    }
}

/// Which key revives a ghost is said by words behind the first.
#[test]
fn hashes_are_refused_where_ghosts_are() {
    let mut filter = AdaptiveFilter::builder()
        .slots(64)
        .remainder_bits(2)
        .seed(Seed::from_u64(7))
        .build()
        .unwrap();
    filter.insert("anna").unwrap();
    let anna = filter.hash("anna");
    let mistake = (0..100_000_u64).find(|i| filter.contains(i)).unwrap();
    let place = filter.lookup(&mistake).unwrap();
    let query = filter.hash(&mistake);
    filter.adapt(&query, place, from_ref(&anna)).unwrap();
    filter.remove(&anna, from_ref(&anna), Leave::Ghost).unwrap();
    assert_eq!(filter.ghosts(), 1);
    let mut any = AnyFilter::read_from(&filter.to_bytes()[..]).unwrap();
    let Interrupted { inserted, error } = any.insert_hashes(&[1, 2]).unwrap_err();
    assert_eq!(inserted, 0);
    assert!(matches!(error, Error::Mismatch { .. }), "{error}");
    any.clear();
    any.insert_hashes(&[1, 2]).unwrap();
    assert_eq!(any.stats().items, 2);
}

#[test]
fn an_empty_set_is_a_filter_as_well() {
    for kind in KINDS {
        let filter = AnyFilter::builder(kind).build().unwrap();
        let filter = AnyFilter::read_from(&to_bytes(&filter)[..]).unwrap();
        assert_eq!(filter.stats().items, 0);
        assert!(!filter.contains(b"anna"));
    }
}

#[test]
fn unions_of_those_that_have_them() {
    for kind in KINDS {
        let halves = [
            filled(kind, HASHES[0], 0..400),
            filled(kind, HASHES[0], 400..800),
        ];
        match (AnyFilter::merge(&halves), kind) {
            // More than one has slots for, so it has doubled.
            (Ok(union), FilterKind::Plain | FilterKind::Counting | FilterKind::Adaptive) => {
                assert!(has_all(&union, 0..800), "{kind}");
                assert_eq!(union.stats().slots, 2 * halves[0].stats().slots);
            }
            (Ok(union), FilterKind::Bloom | FilterKind::BlockedBloom) => {
                assert!(has_all(&union, 0..800), "{kind}");
            }
            (Err(Error::Merge { reason }), _) => assert!(reason.contains("keys"), "{reason}"),
            (other, _) => panic!("{kind}: {other:?}"),
        }
    }
    assert!(matches!(AnyFilter::merge(&[]), Err(Error::Merge { .. })));
}

#[test]
fn a_union_of_different_filters_names_the_difference() {
    let plain = || filled(FilterKind::Plain, HASHES[0], 0..10);
    let merge = |other: AnyFilter| AnyFilter::merge(&[plain(), other]).unwrap_err().to_string();
    let counting = filled(FilterKind::Counting, HASHES[0], 0..10);
    assert!(merge(counting).contains("filter 1 is counting with SipHash-1-3, filter 0 is plain"));
    let builder = AnyFilter::builder(FilterKind::Plain).capacity(N);
    assert!(merge(builder.seed(Seed::from_u64(8)).build().unwrap()).contains("another seed"));
}

#[test]
fn sizes_change_where_no_key_is_needed() {
    for kind in KINDS {
        let filter = filled(kind, HASHES[0], 0..N);
        match filter.doubled() {
            Ok(doubled) => {
                assert_eq!(doubled.stats().slots, 2 * filter.stats().slots);
                assert!(has_all(&doubled, 0..N), "{kind}");
                assert_eq!(to_bytes(&doubled.halved().unwrap()), to_bytes(&filter));
            }
            Err(error) => {
                assert!(error.to_string().contains("keys"), "{kind}: {error}");
                assert!(filter.halved().is_err());
            }
        }
    }
}

#[test]
fn conversions_keep_every_member_or_say_why_not() {
    use FilterKind::*;
    let family = [
        Plain,
        Counting,
        Adaptive,
        Telescoping,
        PlainTelescoping,
        Extension,
    ];
    for from in KINDS {
        let filter = filled(from, HASHES[0], 0..N);
        for to in KINDS.into_iter().chain([WeightedBloom, Cascade]) {
            let can = matches!(from, Plain | Counting | Adaptive) && family.contains(&to)
                || (from, to) == (Bloom, RetouchedBloom);
            match filter.convert(to) {
                Ok(converted) if can => {
                    assert!(has_all(&converted, 0..N), "{from} to {to}");
                    assert_eq!(converted.info().kind, to);
                    assert_eq!(converted.seed(), filter.seed());
                    assert_eq!(converted.info().geometry, filter.info().geometry);
                    // It is a filter like any other, also after its file was verified.
                    AnyFilter::read_from(&to_bytes(&converted)[..]).unwrap();
                }
                Err(error) if !can => assert!(error.to_string().contains("keys"), "{error}"),
                other => panic!("{from} to {to}: {other:?}"),
            }
        }
    }
}

#[test]
fn counts_survive_where_they_can() {
    let mut filter = AdaptiveFilter::builder().capacity(100).build().unwrap();
    let anna = filter.hash("anna");
    filter.insert_with(&anna, 7, 0, &[]).unwrap();
    filter.insert("otto").unwrap();
    let any = AnyFilter::read_from(&filter.to_bytes()[..]).unwrap();
    let counting = to_bytes(&any.convert(FilterKind::Counting).unwrap());
    let counting = View::<CountingFilter>::new(&counting).unwrap();
    assert_eq!((counting.count("anna"), counting.count("otto")), (7, 1));
    let twice = AnyFilter::merge(&[any.convert(FilterKind::Counting).unwrap(), {
        any.convert(FilterKind::Counting).unwrap()
    }]);
    let twice = to_bytes(&twice.unwrap());
    assert_eq!(
        View::<CountingFilter>::new(&twice).unwrap().count("anna"),
        14
    );
}

/// A golden file, or the same in a later format, if there is one.
fn today(path: &Path) -> Vec<u8> {
    let name = path.file_name().unwrap().to_str().unwrap();
    let later = path.with_file_name(name.replacen("v1-", "v2-", 1));
    fs::read(if later.exists() { &later } else { path }).unwrap()
}

/// Every golden file of a filter opens, and every damaged one and every list is an error.
#[test]
fn golden_files_open() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut kinds = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let bytes = fs::read(&path).unwrap();
        if cfg!(not(feature = "xxh3")) && name.contains("xxh3") {
            continue;
        }
        if let Ok(list) = AnyList::read_from(&bytes[..]) {
            assert!(name.contains("list"), "{name}");
            let mut again = Vec::new();
            list.write_to(&mut again).unwrap();
            assert_eq!(again, today(&path), "{name}");
            assert!(format!("{list:?}").contains("info"));
            kinds.push(list.info().kind);
        }
        match AnyFilter::read_from(&bytes[..]) {
            Ok(filter) => {
                assert!(
                    !name.contains("damaged") && !name.contains("list"),
                    "{name}"
                );
                assert_eq!(to_bytes(&filter), today(&path), "{name}");
                kinds.push(filter.info().kind);
            }
            Err(error) => {
                assert!(
                    name.contains("damaged") || name.contains("list"),
                    "{name}: {error}"
                );
            }
        }
    }
    let lists = [40, 41, 42, 43, 44].map(|code| FilterKind::from_code(code).unwrap());
    assert!(
        KINDS.iter().chain(&lists).all(|kind| kinds.contains(kind)),
        "{kinds:?}"
    );
}

#[test]
fn what_takes_more_than_a_file_has_says_so() {
    let filter = filled(FilterKind::AdaptiveCuckoo, HASHES[0], 0..10);
    let mut opened = AnyFilter::read_from(&to_bytes(&filter)[..]).unwrap();
    let error = opened.insert(b"anna").unwrap_err();
    assert!(matches!(error, Error::Mismatch { .. }), "{error}");
    opened.clear();
    opened.insert(b"anna").unwrap();

    let error = AnyFilter::builder(FilterKind::WeightedBloom)
        .build()
        .unwrap_err();
    assert!(error.to_string().contains("WeightedBloomFilter"), "{error}");
    let error = AnyFilter::builder(FilterKind::Seesaw).build().unwrap_err();
    assert!(error.to_string().contains("list"), "{error}");
    let error = AnyFilter::builder(FilterKind::Plain)
        .hash(HashKind::Other)
        .build();
    assert!(matches!(error, Err(Error::Format { .. })));
}

/// A weighted filter is built with its type, and then asked and filled like any other: always on
/// the safe side.
#[test]
fn weighted_filters_are_on_the_safe_side() {
    let class = |members, queries| Class { members, queries };
    let weights = Weights::new(10.0, &[class(0.1, 0.9), class(0.9, 0.1)]).unwrap();
    let mut typed = WeightedBloomFilter::new(10_000, &weights).unwrap();
    typed.insert_with(&key(1)[..], 6);
    let mut any = AnyFilter::read_from(&typed.to_bytes()[..]).unwrap();
    any.insert(&key(2)).unwrap();
    let third = hashes::<Sip13>(&any, 3..4);
    any.insert_hashes(&third).unwrap();
    assert!((1..4).all(|i| any.contains(&key(i))) && !any.contains(&key(4)));
}
