//! What users see: traits, messages, keys of all sizes, and twins that agree.

use std::collections::HashSet;
use std::thread;

use twiceshy::hash::{Hashed, Key, Seed, Sip13, StreamHash};
use twiceshy::{
    Builder, Error, Filter, HugePages, Insert, Inserted, QuotientFilter, Remove, Removed, Stats,
    sizing,
};

fn small() -> QuotientFilter {
    QuotientFilter::builder()
        .slots(200)
        .remainder_bits(20)
        .seed(Seed::from_u64(5))
        .build()
        .expect("a small filter")
}

#[test]
fn filters_can_be_sent_and_shared() {
    fn both<T: Send + Sync>() {}
    both::<QuotientFilter>();
    both::<Builder<QuotientFilter>>();
    both::<Error>();
    both::<Stats>();
    both::<Hashed<'_>>();
    #[cfg(feature = "xxh3")]
    both::<QuotientFilter<twiceshy::hash::Xxh3>>();

    let mut filter = small();
    for key in 0..100_u64 {
        filter.insert(&key).unwrap();
    }
    let shared = &filter;
    thread::scope(|scope| {
        for part in 0..4_u64 {
            scope.spawn(move || {
                assert!((part * 25..part * 25 + 25).all(|key| shared.contains(&key)));
            });
        }
    });
    let sent = thread::spawn(move || filter.len()).join().unwrap();
    assert_eq!(sent, 100);
}

#[test]
fn a_clone_is_a_filter_of_its_own() {
    let mut filter = small();
    filter.insert("both").unwrap();
    let mut copy = filter.clone();
    assert!(copy.iter().eq(filter.iter()));
    copy.insert("copy").unwrap();
    assert_eq!(filter.remove("both"), Ok(Removed::One));
    assert_eq!((filter.len(), copy.len()), (0, 2));
    assert!(copy.contains("both") && copy.contains("copy"));
    assert!(!filter.contains("both") && !filter.contains("copy"));
    assert_eq!(copy.seed(), filter.seed());
    assert_eq!(copy.geometry(), filter.geometry());
    assert_eq!(copy.try_clone().unwrap().len(), 2);
}

/// More than 2 MiB, so that the memory may be mapped.
#[test]
fn a_large_clone_is_a_filter_of_its_own_too() {
    for huge_pages in [HugePages::Ask, HugePages::Never] {
        let mut filter = QuotientFilter::builder()
            .slots(2_000_000)
            .remainder_bits(9)
            .seed(Seed::from_u64(6))
            .huge_pages(huge_pages)
            .build()
            .unwrap();
        assert!(filter.stats().bytes > 1 << 21);
        for key in 0..1_000_u64 {
            filter.insert(&key).unwrap();
        }
        let copy = filter.clone();
        filter.clear();
        assert!(filter.is_empty() && filter.iter().next().is_none());
        assert!((0..1_000_u64).all(|key| copy.contains(&key)));
        assert_eq!(copy.iter().count(), 1_000);
        copy.check_invariants().unwrap();
    }
}

#[test]
fn debug_is_a_summary_without_a_secret() {
    let seed = Seed::from_bytes(*b"sixteen secrets!");
    let build = |seed| {
        let builder = QuotientFilter::builder().slots(77).remainder_bits(7);
        let mut filter = builder.seed(seed).build().unwrap();
        filter.insert("a key").unwrap();
        filter
    };
    let filter = build(seed);
    let summary = format!("{filter:?}");
    assert_eq!(
        summary,
        "QuotientFilter { len: 1, used_slots: 1, slots: 77, remainder_bits: 7, hash: SipHash13, .. }"
    );
    // Nothing in it depends on the seed.
    let other = build(Seed::from_u64(1));
    assert_eq!(format!("{other:?}"), summary);
    assert_eq!(format!("{other:#?}"), format!("{filter:#?}"));
    let builder = |seed| format!("{:?}", QuotientFilter::builder().slots(7).seed(seed));
    assert_eq!(builder(seed), builder(Seed::from_u64(1)));
    let hashed = |seed| format!("{:?}", build(seed).hash("a key"));
    assert_eq!(hashed(seed), hashed(Seed::from_u64(1)));
}

#[test]
fn errors_say_what_is_wrong_and_what_would_do() {
    let mut filter = QuotientFilter::builder()
        .slots(3)
        .remainder_bits(3)
        .seed(Seed::from_u64(1))
        .build()
        .unwrap();
    let full = (0_u64..).find_map(|key| filter.insert(&key).err());
    let full = full.expect("nothing is endless");
    let len = filter.len();
    assert!(matches!(full, Error::Full { used, slots } if used == len && slots >= len));
    let message = full.to_string();
    assert!(message.contains("the filter is full"), "{message}");
    assert!(message.contains(&len.to_string()), "{message}");
    assert!(message.contains("larger capacity"), "{message}");

    let message = |result: Result<QuotientFilter, Error>| match result {
        Ok(filter) => panic!("{filter:?} must not be"),
        Err(error) => {
            assert!(matches!(error, Error::Geometry { .. }), "{error}");
            assert_eq!(format!("{error}"), error.clone().to_string());
            error.to_string()
        }
    };
    for fpr in [0.0, 1.0, -1.0, f64::NAN] {
        assert!(message(QuotientFilter::new(10, fpr)).contains("between 0 and 1"));
    }
    assert!(message(QuotientFilter::new(u64::MAX, 0.1)).contains("too large"));
    let new = QuotientFilter::builder;
    let none = new().slots(0).remainder_bits(3).build();
    assert!(message(none).contains("at least one slot"));
    for bits in [0, 57, u32::MAX] {
        let wide = new().slots(10).remainder_bits(bits).build();
        assert!(message(wide).contains("1 to 56 bits"));
    }
    assert!(message(new().slots(1 << 57).remainder_bits(4).build()).contains("60 bits"));
    // An error is an error.
    let _: Box<dyn std::error::Error + Send + Sync> = Box::new(full);
}

/// A full filter says so to both insertions, and still answers.
#[test]
fn a_full_filter_still_works() {
    let mut filter = small();
    let mut members = Vec::new();
    for key in 0_u64.. {
        match filter.insert(&key) {
            Ok(()) => members.push(key),
            Err(_) => break,
        }
    }
    assert!(filter.load() > 1.0);
    let before: Vec<_> = filter.iter().collect();
    let stats = filter.stats();
    let mut refused = 0;
    for key in (1 << 32)..(1 << 32) + 100_u64 {
        refused += u32::from(filter.clone().insert_unique(&key).is_err());
        refused += u32::from(filter.clone().insert(&key).is_err());
    }
    assert!(refused > 0);
    assert!(filter.iter().eq(before));
    assert_eq!(filter.stats(), stats);
    assert!(members.iter().all(|key| filter.contains(key)));
    for key in &members {
        assert_eq!(filter.remove(key), Ok(Removed::One));
    }
    assert!(filter.is_empty());
    filter.check_invariants().unwrap();
}

#[test]
fn empty_and_enormous_keys_work() {
    let mut filter = small();
    let mut megabytes = vec![7_u8; 5 << 20];
    filter.insert("").unwrap();
    filter.insert(&megabytes[..]).unwrap();
    assert!(filter.contains("") && filter.contains(&megabytes[..]));
    // The last byte counts, and so does the length.
    *megabytes.last_mut().unwrap() ^= 1;
    assert!(!filter.contains(&megabytes[..]));
    assert!(!filter.contains(&megabytes[1..]));
    assert!(!filter.contains("\0") && !filter.contains("\0\0"));
    assert_eq!(filter.remove(""), Ok(Removed::One));
    assert!(!filter.contains(""));
    // What is equal as bytes is the same key.
    filter.insert(&b""[..]).unwrap();
    assert!(filter.contains("") && filter.contains(&String::new()));
}

/// The key methods, the hashed twins and the traits' methods on three equal filters.
fn twins_agree<H: StreamHash>(slots: u64) {
    let build = || -> QuotientFilter<H> {
        QuotientFilter::builder()
            .slots(slots)
            .remainder_bits(3)
            .seed(Seed::from_u64(9))
            .hash::<H>()
            .build()
            .expect("a small filter")
    };
    let (mut by_key, mut by_hash, mut by_trait) = (build(), build(), build());
    let mut results = HashSet::new();
    for number in 0..3_000_u64 {
        let key = number % 501;
        let hashed = Hashed::new::<H, _>(&by_key.seed(), &key);
        assert_eq!(hashed.h0(), by_key.hash(&key).h0());
        let found = by_key.contains(&key);
        assert_eq!(by_hash.contains_hashed(&hashed), found);
        assert_eq!(Filter::contains(&by_trait, &key), found);
        assert_eq!(Filter::contains_hashed(&by_trait, &hashed), found);
        match number % 7 {
            0..3 => {
                let inserted = by_key.insert(&key);
                results.insert(format!("insert {}", inserted.is_ok()));
                assert_eq!(by_hash.insert_hashed(&hashed), inserted);
                assert_eq!(Insert::insert(&mut by_trait, &key), inserted);
            }
            3 => {
                let inserted = by_key.insert_unique(&key);
                results.insert(format!("unique {:?}", inserted.clone().ok()));
                assert_eq!(by_hash.insert_unique_hashed(&hashed), inserted);
                let expected = if found {
                    Ok(Inserted::Present)
                } else {
                    inserted.clone()
                };
                assert_eq!(inserted, expected);
                assert_eq!(by_trait.insert_unique(&key), inserted);
            }
            4 => {
                let inserted = by_key.insert(&key);
                assert_eq!(by_hash.insert_hashed(&hashed), inserted);
                assert_eq!(Insert::insert_hashed(&mut by_trait, &hashed), inserted);
            }
            5 => {
                let removed = by_key.remove(&key);
                results.insert(format!("remove {removed:?}"));
                assert_eq!(by_hash.remove_hashed(&hashed), removed);
                assert_eq!(Remove::remove(&mut by_trait, &key), removed);
            }
            _ => {
                let removed = by_key.remove(&key);
                assert_eq!(by_hash.remove_hashed(&hashed), removed);
                assert_eq!(Remove::remove_hashed(&mut by_trait, &hashed), removed);
            }
        }
        assert_eq!(Filter::len(&by_trait), by_key.len());
        assert_eq!(by_hash.len(), by_key.len());
    }
    assert!(by_key.iter().eq(by_hash.iter()) && by_key.iter().eq(by_trait.iter()));
    let (mut fingerprints, len) = (by_key.iter(), by_key.len() as usize);
    assert_eq!(fingerprints.size_hint(), (len, Some(len)));
    assert_eq!(fingerprints.by_ref().count(), len);
    assert_eq!((fingerprints.next(), fingerprints.size_hint().0), (None, 0));
    assert_eq!(by_key.stats(), Filter::stats(&by_trait));
    // Not by doing nothing: each outcome came up.
    assert_eq!(results.len(), 2 + 3 + 2, "{results:?}");
}

#[test]
fn twins_of_siphash_agree() {
    twins_agree::<Sip13>(300);
}

#[cfg(feature = "xxh3")]
#[test]
fn twins_of_xxh3_agree() {
    twins_agree::<twiceshy::hash::Xxh3>(300);
}

/// Code that is generic over the traits.
#[test]
fn the_traits_are_enough() {
    fn exercise<F: Filter + Insert + Remove>(mut filter: F, keys: &[impl Key]) -> Stats {
        for key in keys {
            filter.insert(key).unwrap();
        }
        assert!(keys.iter().all(|key| filter.contains(key)));
        assert!(!filter.is_empty());
        let stats = filter.stats();
        for key in keys {
            assert_eq!(filter.remove(key), Ok(Removed::One));
        }
        assert!(filter.is_empty());
        stats
    }
    let stats = exercise(small(), &["a", "b", "c", "a"]);
    assert_eq!((stats.items, stats.used_slots, stats.slots), (4, 4, 200));
    assert_eq!(exercise(small(), &[1_u64, 2, 3]).items, 3);
    assert_eq!(exercise(small(), &[(1_u8, "x".to_owned())]).items, 1);
}

#[test]
fn stats_are_what_they_say() {
    let mut filter = small();
    assert_eq!(filter.stats().expected_fpr, 0.0);
    assert_eq!(filter.stats().longest_cluster, 0);
    assert!(filter.stats().bits_per_item.is_infinite());
    let text = filter.stats().to_string();
    assert!(
        text.ends_with("bytes"),
        "what has no meaning is left out: {text}"
    );
    for key in 0..150_u64 {
        filter.insert(&key).unwrap();
    }
    let stats = filter.stats();
    assert_eq!(
        (stats.items, stats.slots, stats.remainder_bits),
        (150, 200, 20)
    );
    assert_eq!(stats.load, 0.75);
    assert_eq!(stats.load, filter.load());
    assert_eq!(stats.bits_per_item, 8.0 * stats.bytes as f64 / 150.0);
    let expected = sizing::expected_fpr(&filter.geometry(), 150);
    assert_eq!(stats.expected_fpr, expected);
    assert!((2..=150).contains(&stats.longest_cluster));
    let text = stats.to_string();
    assert!(
        text.contains("150 items in 200 slots of 20 bits (load 75.0%)"),
        "{text}"
    );
    filter.clear();
    assert_eq!((filter.len(), filter.stats().longest_cluster), (0, 0));
}

/// Without a seed, no two filters hash alike.
#[test]
fn seeds_are_random_unless_given() {
    let (one, other) = (QuotientFilter::new(10, 0.1), QuotientFilter::new(10, 0.1));
    assert_ne!(one.unwrap().seed(), other.unwrap().seed());
    assert_eq!(small().seed(), Seed::from_u64(5));
    assert_eq!(small().hash("key").h0(), small().hash("key").h0());
}
