//! Files of every format, written once and never again: every later version reads them, and
//! writes the same, or the same in a later format.
//!
//! The damaged ones have a right checksum where their name does not say otherwise. To add
//! some, extend `files` or `damaged`, and run the ignored test `write_golden_files`, which
//! leaves those alone that are there.

use std::fs;
use std::path::PathBuf;

use twiceshy::Buildable;
use twiceshy::any;
use twiceshy::bloom::{
    BlockedBloomFilter, BloomFilter, Class, RetouchedBloomFilter, WeightedBloomFilter, Weights,
};
use twiceshy::cuckoo::MemoryCells;
use twiceshy::cuckoo::{
    AdaptiveCuckooFilter, Alternate, CuckooBuilder, CuckooFilter, Packing, Scheme, VacuumFilter,
};
use twiceshy::file::{FilterKind, Stored, View};
use twiceshy::filters::adaptive::Leave;
use twiceshy::hash::{Hashed, Seed};
use twiceshy::sets::{KeyedSet, Learner, MemoryMap};
use twiceshy::{
    AdaptiveFilter, Builder, CountingFilter, Error, ExtensionFilter, Filter, Insert,
    PlainTelescopingFilter, QuotientFilter, TelescopingFilter,
};
use twiceshy_testing::files::{Verdict, judge, repair};

fn path(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    folder.join(format!("{name}.bin"))
}

fn read(name: &str) -> Vec<u8> {
    fs::read(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn plain() -> QuotientFilter {
    let builder = QuotientFilter::builder().slots(50).remainder_bits(9);
    let mut filter = builder
        .seed(Seed::from_u64(1))
        .build()
        .expect("a small filter");
    for key in 0..40_u64 {
        filter.insert(&key).expect("room for it");
    }
    filter.insert("a word").expect("room for it");
    filter.insert("a word").expect("room for it");
    filter
}

fn counting() -> CountingFilter {
    let builder = CountingFilter::builder().slots(60).remainder_bits(7);
    let mut filter = builder
        .seed(Seed::from_u64(2))
        .build()
        .expect("a small filter");
    for key in 0..30_u64 {
        filter.insert_count(&key, count(key)).expect("room for it");
    }
    filter
}

fn count(key: u64) -> u64 {
    match key {
        29 => u64::MAX,
        key if key % 4 == 0 => 1 << key,
        _ => 1,
    }
}

/// Members of the adaptive files: those that stay, and one that became a ghost.
const MEMBERS: std::ops::Range<u64> = 0..40;
const GHOST: u64 = 40;
/// The mistakes that were reported.
const QUERIES: std::ops::Range<u64> = 1_000..1_200;

fn keys_of<'k>(filter: &AdaptiveFilter, members: &'k [u64], key: &Hashed<'_>) -> Vec<Hashed<'k>> {
    let id = filter.geometry().id(key.h0());
    let hashed = members.iter().map(|member| filter.hash(member));
    hashed
        .filter(|member| filter.geometry().id(member.h0()) == id)
        .collect()
}

fn adaptive(value_bits: u32) -> AdaptiveFilter {
    let builder = AdaptiveFilter::builder().slots(100).remainder_bits(3);
    let builder = builder.value_bits(value_bits).seed(Seed::from_u64(3));
    let mut filter = builder.build().expect("a small filter");
    let mut members: Vec<u64> = Vec::new();
    for key in MEMBERS.chain([GHOST]) {
        let hashed = filter.hash(&key);
        let keys = keys_of(&filter, &members, &hashed);
        let value = key & ((1 << value_bits) - 1);
        let count = 1 + u64::from(key == 7) * 999;
        filter
            .insert_with(&hashed, count, value, &keys)
            .expect("room for it");
        members.push(key);
    }
    for query in QUERIES {
        let hashed = filter.hash(&query);
        if let Some(at) = filter.lookup_hashed(&hashed) {
            let keys = keys_of(&filter, &members, &hashed);
            filter.adapt(&hashed, at, &keys).expect("room for it");
        }
    }
    let ghost = filter.hash(&GHOST);
    let keys = keys_of(&filter, &members, &ghost);
    filter
        .remove(&ghost, &keys, Leave::Ghost)
        .expect("room for it");
    filter
}

/// What can be inserted into.
fn filled<F: Insert>(mut filter: F) -> F {
    for key in MEMBERS {
        Insert::insert(&mut filter, &key).expect("room for it");
    }
    filter
}

fn partial_key<A: Alternate>(builder: CuckooBuilder<A>, bits: u32, packing: Packing) -> Vec<u8> {
    let builder = builder.buckets(15).fingerprint_bits(bits).packing(packing);
    let filter = builder.seed(Seed::from_u64(5)).build();
    filled(filter.expect("a small filter")).to_bytes()
}

fn adaptive_cuckoo(scheme: Scheme) -> Vec<u8> {
    let builder = AdaptiveCuckooFilter::builder(scheme)
        .bins(56)
        .fingerprint_bits(6);
    let builder = builder.seed(Seed::from_u64(6));
    let mut filter: AdaptiveCuckooFilter = builder.build().expect("a small filter");
    let mut store = MemoryCells::default();
    for key in MEMBERS {
        let key = filter.hash(&key).into_owned();
        filter.insert_hashed(&key, &mut store).expect("room for it");
    }
    for query in QUERIES {
        let query = filter.hash(&query).into_owned();
        filter
            .adapt_hashed(&query, &mut store)
            .expect("room for it");
    }
    filter.to_bytes()
}

fn bloom() -> BloomFilter {
    let builder = BloomFilter::builder().bits(333).hashes(5);
    filled(
        builder
            .seed(Seed::from_u64(7))
            .build()
            .expect("a small filter"),
    )
}

fn weighted() -> WeightedBloomFilter {
    let classes = [0.2, 0.8].map(|members| Class {
        members,
        queries: 1.0 - members,
    });
    let weights = Weights::new(9.0, &classes).expect("good shares");
    filled(WeightedBloomFilter::with_hash(444, &weights, Seed::from_u64(8)).expect("small"))
}

/// The relatives of the quotient family.
fn relatives() -> Vec<(&'static str, Vec<u8>)> {
    let mut retouched = RetouchedBloomFilter::from(bloom());
    QUERIES.for_each(|query| {
        retouched.retouch(&query);
    });
    let blocked = BlockedBloomFilter::builder().bits(1024).hashes(7);
    let blocked = blocked.seed(Seed::from_u64(9)).build();
    let (cuckoo, vacuum) = (CuckooFilter::builder, VacuumFilter::builder);
    vec![
        ("v1-cuckoo", partial_key(cuckoo(), 9, Packing::Whole)),
        (
            "v1-cuckoo-semi-sorted",
            partial_key(cuckoo(), 12, Packing::SemiSorted),
        ),
        ("v1-cuckoo-wide", partial_key(cuckoo(), 31, Packing::Whole)),
        ("v1-vacuum", partial_key(vacuum(), 12, Packing::Whole)),
        (
            "v1-cuckoo-cyclic",
            adaptive_cuckoo(Scheme::Cyclic { selector_bits: 2 }),
        ),
        ("v1-cuckoo-swapping", adaptive_cuckoo(Scheme::Swapping)),
        ("v1-cuckoo-cuckooing", adaptive_cuckoo(Scheme::Cuckooing)),
        ("v1-bloom", bloom().to_bytes()),
        (
            "v1-blocked-bloom",
            filled(blocked.expect("a small filter")).to_bytes(),
        ),
        ("v1-weighted-bloom", weighted().to_bytes()),
        ("v1-retouched-bloom", retouched.to_bytes()),
    ]
}

#[test]
fn golden_relatives_give_their_answers() {
    fn check<F: Stored>(name: &str, most_mistakes: usize) {
        let bytes = read(name);
        let filter = View::<F>::new(&bytes).unwrap();
        assert_eq!(Filter::len(&filter), 40, "{name}");
        assert!(
            MEMBERS.clone().all(|key| Filter::contains(&filter, &key)),
            "{name}"
        );
        let mistakes = (1_000..11_000_u64).filter(|key| Filter::contains(&filter, key));
        let mistakes = mistakes.count();
        println!("{name}: {mistakes} mistakes in 10,000");
        assert!(mistakes <= most_mistakes, "{name}: {mistakes}");
    }
    check::<CuckooFilter>("v1-cuckoo", 200);
    check::<CuckooFilter>("v1-cuckoo-semi-sorted", 40);
    check::<CuckooFilter>("v1-cuckoo-wide", 0);
    check::<VacuumFilter>("v1-vacuum", 40);
    check::<AdaptiveCuckooFilter>("v1-cuckoo-cyclic", 900);
    check::<AdaptiveCuckooFilter>("v1-cuckoo-swapping", 900);
    check::<AdaptiveCuckooFilter>("v1-cuckoo-cuckooing", 900);
    check::<BloomFilter>("v1-bloom", 1_000);
    check::<BlockedBloomFilter>("v1-blocked-bloom", 100);
    check::<WeightedBloomFilter>("v1-weighted-bloom", 1_000);
    let retouched: RetouchedBloomFilter =
        RetouchedBloomFilter::from_bytes(&read("v1-retouched-bloom")).unwrap();
    assert!(QUERIES.clone().all(|query| !retouched.contains(&query)));
}

/// A set that has learnt.
fn coded<F: Buildable + Learner<MemoryMap, Error = Error>>() -> KeyedSet<F> {
    let builder = Builder::<F>::new().slots(150).remainder_bits(4);
    let mut set = KeyedSet::from_builder(builder.seed(Seed::from_u64(5))).expect("a small set");
    for key in MEMBERS {
        set.insert(&key).expect("room for it");
    }
    for query in QUERIES {
        set.report_false_positive(&query).expect("a stranger");
    }
    set
}

/// All sound files.
fn files() -> Vec<(&'static str, Vec<u8>)> {
    #[allow(unused_mut)]
    let mut files = vec![
        ("v1-plain", plain().to_bytes()),
        ("v2-counting", counting().to_bytes()),
        ("v2-adaptive", adaptive(0).to_bytes()),
        ("v2-adaptive-values", adaptive(3).to_bytes()),
        (
            "v1-telescoping",
            coded::<TelescopingFilter>().filter().to_bytes(),
        ),
        (
            "v1-telescoping-plain",
            coded::<PlainTelescopingFilter>().filter().to_bytes(),
        ),
        (
            "v1-extension",
            coded::<ExtensionFilter>().filter().to_bytes(),
        ),
    ];
    files.extend(relatives());
    #[cfg(feature = "xxh3")]
    {
        let builder = QuotientFilter::builder().slots(50).remainder_bits(5);
        let builder = builder.hash::<twiceshy::hash::Xxh3>();
        let mut filter = builder
            .seed(Seed::from_u64(4))
            .build()
            .expect("a small filter");
        for key in 0..40_u64 {
            filter.insert(&key).expect("room for it");
        }
        files.push(("v1-plain-xxh3", filter.to_bytes()));
    }
    files
}

/// A damaged file: its name, the file it comes from, what was changed, and the message.
type Damage = (&'static str, &'static str, fn(&mut Vec<u8>), &'static str);

const DAMAGED: &[Damage] = &[
    (
        "v1-damaged-checksum",
        "v1-plain",
        |bytes| bytes[200] ^= 4,
        "its checksum is wrong",
    ),
    (
        "v2-damaged-truncated",
        "v2-adaptive",
        |bytes| bytes.truncate(250),
        "it has 250 bytes, where its header says",
    ),
    (
        "v1-damaged-version",
        "v1-plain",
        |bytes| {
            bytes[8] = 77;
            repair(bytes);
        },
        "its format has number 77",
    ),
    (
        "v1-damaged-geometry",
        "v1-plain",
        |bytes| {
            bytes[16..24].copy_from_slice(&(1_u64 << 40).to_le_bytes());
            repair(bytes);
        },
        "where 1099511627776 slots take",
    ),
    (
        "v1-damaged-offset",
        "v1-plain",
        |bytes| {
            bytes[128 + 18 + 72] ^= 1;
            repair(bytes);
        },
        "its table is not one: a block's offset is wrong (at 1)",
    ),
    (
        "v2-damaged-order",
        "v2-counting",
        |bytes| {
            // The remainders of the first block.
            let area = &mut bytes[128 + 26..128 + 26 + 56];
            area.reverse();
            repair(bytes);
        },
        "its table is not one: ",
    ),
    (
        "v2-damaged-ghosts",
        "v2-adaptive",
        |bytes| {
            bytes[56] -= 1;
            bytes[48] += 1;
            repair(bytes);
        },
        "its table is not one: fingerprints are not counted right",
    ),
    (
        "v1-damaged-cuckoo-length",
        "v1-cuckoo",
        |bytes| {
            bytes[40] -= 1;
            bytes[48] -= 1;
            repair(bytes);
        },
        "its table is not one: fingerprints are not counted right",
    ),
    (
        "v1-damaged-cuckoo-order",
        "v1-cuckoo-semi-sorted",
        |bytes| {
            // No multiset of nibbles has this number.
            bytes[128] = 0xff;
            bytes[129] |= 0x0f;
            repair(bytes);
        },
        "its table is not one: a bucket is not sorted (at 0)",
    ),
    (
        "v1-damaged-vacuum-chunks",
        "v1-vacuum",
        |bytes| {
            bytes[91] = 40;
            repair(bytes);
        },
        "of no kind that there is",
    ),
    (
        "v1-damaged-selector",
        "v1-cuckoo-cyclic",
        |bytes| {
            bytes[13] = 0;
            repair(bytes);
        },
        "of no kind that there is",
    ),
    (
        "v1-damaged-bloom-hashes",
        "v1-blocked-bloom",
        |bytes| {
            bytes[88] = 17;
            repair(bytes);
        },
        "of no kind that there is",
    ),
    (
        "v1-damaged-bloom-padding",
        "v1-bloom",
        |bytes| {
            let last = bytes.len() - 1;
            bytes[last] |= 0x80;
            repair(bytes);
        },
        "its table is not one: the padding is not zero",
    ),
    (
        "v1-damaged-code",
        "v1-telescoping",
        |bytes| {
            // The first letter of the first block, which has few and lists them.
            assert_eq!(bytes[128 + 18 + 6], 0xff);
            bytes[128 + 18 + 3] = 0;
            repair(bytes);
        },
        "its table is not one: a block's code is not canonical (at 0)",
    ),
    (
        "v1-damaged-letter",
        "v1-telescoping-plain",
        |bytes| {
            // A selector beside the last slot of all, which is empty.
            let end = bytes.len() - 32 - 32;
            bytes[end - 1] ^= 0x80;
            repair(bytes);
        },
        "its table is not one: an empty slot has a symbol",
    ),
];

#[test]
fn what_is_written_is_golden() {
    for (name, bytes) in files() {
        assert!(bytes == read(name), "{name} would be written differently");
        assert_eq!(judge(&bytes), Verdict::Accepted, "{name}");
    }
}

#[test]
fn golden_files_give_their_answers() {
    let bytes = read("v1-plain");
    let filter = View::<QuotientFilter>::new(&bytes).unwrap();
    assert_eq!(filter.len(), 42);
    assert!((0..40_u64).all(|key| filter.contains(&key)));
    assert!(filter.contains("a word"));
    let mistakes = (1_000..100_000_u64).filter(|key| filter.contains(key));
    assert_eq!(mistakes.count(), 146);

    let bytes = read("v2-counting");
    let filter = View::<CountingFilter>::new(&bytes).unwrap();
    assert!((0..30).all(|key| filter.count(&key) == count(key)));
    assert_eq!(
        filter.total(),
        (0..30).map(|key| u128::from(count(key))).sum()
    );

    for (name, value_bits) in [("v2-adaptive", 0), ("v2-adaptive-values", 3)] {
        let bytes = read(name);
        let filter = View::<AdaptiveFilter>::new(&bytes).unwrap();
        assert_eq!((filter.len(), filter.ghosts()), (40, 1));
        for key in MEMBERS {
            let entry = filter.entry(&key).unwrap();
            assert_eq!(entry.value, key & ((1 << value_bits) - 1));
            assert_eq!(entry.count, if key == 7 { 1_000 } else { 1 });
        }
        // What was learnt is still known.
        assert!(QUERIES.clone().all(|query| !filter.contains(&query)));
        assert!((2_000..3_000_u64).any(|query| filter.contains(&query)));
    }
}

#[test]
fn golden_codes_give_their_answers() {
    let bytes = ["v1-telescoping", "v1-telescoping-plain", "v1-extension"].map(read);
    let coded = View::<TelescopingFilter>::new(&bytes[0]).unwrap();
    let plain = View::<PlainTelescopingFilter>::new(&bytes[1]).unwrap();
    let extended = View::<ExtensionFilter>::new(&bytes[2]).unwrap();
    assert!(MEMBERS.clone().all(|key| coded.contains(&key)));
    assert!(MEMBERS.clone().all(|key| plain.contains(&key)));
    assert!(MEMBERS.clone().all(|key| extended.contains(&key)));
    assert!(coded.adapted() > 0 && plain.adapted() > 0 && extended.adapted() > 0);
}

#[test]
fn golden_damage_is_refused_with_the_right_words() {
    for (name, _, _, message) in DAMAGED {
        let bytes = read(name);
        assert_ne!(judge(&bytes), Verdict::Accepted, "{name}");
        let kind = any::peek(&bytes).map(|info| info.kind);
        let error = match kind {
            // What its own kind says of its header.
            Err(error) => error,
            Ok(FilterKind::Counting) => View::<CountingFilter>::new(&bytes).unwrap_err(),
            Ok(FilterKind::Adaptive) => View::<AdaptiveFilter>::new(&bytes).unwrap_err(),
            Ok(FilterKind::Cuckoo) => View::<CuckooFilter>::new(&bytes).unwrap_err(),
            Ok(FilterKind::Bloom) => View::<BloomFilter>::new(&bytes).unwrap_err(),
            Ok(FilterKind::Telescoping) => View::<TelescopingFilter>::new(&bytes).unwrap_err(),
            Ok(FilterKind::PlainTelescoping) => {
                View::<PlainTelescopingFilter>::new(&bytes).unwrap_err()
            }
            _ => View::<QuotientFilter>::new(&bytes).unwrap_err(),
        };
        assert!(error.to_string().contains(message), "{name}: {error}");
    }
}

/// Writes the golden files that are not there yet. Never delete one to have it written again:
/// if it would differ, the format has changed and needs a new number.
#[test]
#[ignore = "writes into the source tree"]
fn write_golden_files() {
    let damaged = DAMAGED.iter().map(|&(name, from, damage, _)| {
        let mut bytes = read(from);
        damage(&mut bytes);
        (name, bytes)
    });
    let write = |(name, bytes): (&str, Vec<u8>)| {
        if !path(name).exists() {
            fs::write(path(name), bytes).unwrap();
        }
    };
    files().into_iter().for_each(write);
    damaged.for_each(write);
}
