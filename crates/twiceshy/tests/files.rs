//! Files: what is written is read back, and what is damaged is refused.

use std::io::{self, Read};

use twiceshy::any;
use twiceshy::file::{FilterKind, HEADER_BYTES, Info, VERSION, View};
use twiceshy::filters::adaptive::Leave;
use twiceshy::hash::{HashKind, Hashed, Seed, Sip13};
use twiceshy::{AdaptiveFilter, CountingFilter, Error, Filter, QuotientFilter};
use twiceshy_testing::Source;
use twiceshy_testing::files::{Verdict, judge, repair};

fn plain(slots: u64, bits: u32, keys: impl IntoIterator<Item = u64>) -> QuotientFilter {
    let builder = QuotientFilter::builder().slots(slots).remainder_bits(bits);
    let mut filter = builder
        .seed(Seed::from_u64(7))
        .build()
        .expect("a small filter");
    for key in keys {
        filter.insert(&key).expect("room for it");
    }
    filter
}

fn counting(slots: u64, bits: u32, keys: impl IntoIterator<Item = u64>) -> CountingFilter {
    let builder = CountingFilter::builder().slots(slots).remainder_bits(bits);
    let mut filter = builder
        .seed(Seed::from_u64(7))
        .build()
        .expect("a small filter");
    for key in keys {
        let count = if key % 3 == 0 { 1 << (key % 40) } else { 1 };
        filter.insert_count(&key, count).expect("room for it");
    }
    filter
}

fn adaptive(
    slots: u64,
    bits: u32,
    value_bits: u32,
    keys: impl IntoIterator<Item = u64>,
) -> AdaptiveFilter {
    let builder = AdaptiveFilter::builder().slots(slots).remainder_bits(bits);
    let builder = builder.value_bits(value_bits).seed(Seed::from_u64(7));
    let mut filter = builder.build().expect("a small filter");
    let mut members: Vec<u64> = Vec::new();
    for key in keys {
        let hashed = filter.hash(&key);
        let keys = minirun(&filter, &members, &hashed);
        let value = key & ((1 << value_bits) - 1);
        let count = if key % 7 == 0 { 1 + key } else { 1 };
        if value_bits == 0 && count == 1 && keys.is_empty() {
            filter.insert(&key).expect("room for it");
        } else {
            filter
                .insert_with(&hashed, count, value, &keys)
                .expect("room for it");
        }
        members.push(key);
    }
    filter
}

/// Those of the members that share the minirun of a key.
fn minirun<'k>(filter: &AdaptiveFilter, members: &'k [u64], key: &Hashed<'_>) -> Vec<Hashed<'k>> {
    let id = filter.geometry().id(key.h0());
    let hashed = members.iter().map(|member| filter.hash(member));
    hashed
        .filter(|member| filter.geometry().id(member.h0()) == id)
        .collect()
}

/// Fixes mistakes, and leaves ghosts of some members.
fn learn(filter: &mut AdaptiveFilter, members: &mut Vec<u64>, queries: std::ops::Range<u64>) {
    for query in queries {
        let hashed = filter.hash(&query);
        if let Some(at) = filter.lookup_hashed(&hashed) {
            let keys = minirun(filter, members, &hashed);
            let _ = filter.adapt(&hashed, at, &keys);
        }
    }
    for gone in (0..members.len()).rev().step_by(5) {
        let key = members[gone];
        let hashed = filter.hash(&key);
        let keys = minirun(filter, members, &hashed);
        filter
            .remove(&hashed, &keys, Leave::Ghost)
            .expect("room for it");
        members.remove(gone);
    }
}

/// A small filter of each kind that has everything a table can have.
fn small_files() -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    for (slots, bits) in [(1, 1), (40, 2), (60, 3), (120, 4)] {
        let fill = slots * 8 / 10;
        files.push(plain(slots, bits, 0..fill).to_bytes());
        files.push(counting(slots, bits, 0..fill / 3).to_bytes());
        for value_bits in [0, 2] {
            let mut members: Vec<u64> = (1..1 + fill / 3).collect();
            let mut filter = adaptive(slots, bits, value_bits, members.iter().copied());
            files.push(filter.to_bytes());
            learn(&mut filter, &mut members, 1_000..1_100);
            files.push(filter.to_bytes());
        }
    }
    files
}

#[test]
fn small_files_are_rich() {
    let infos: Vec<_> = small_files()
        .iter()
        .map(|bytes| {
            assert_eq!(judge(bytes), Verdict::Accepted);
            any::peek(bytes).unwrap()
        })
        .collect();
    let any = |is: &dyn Fn(&Info) -> bool| infos.iter().any(is);
    assert!(any(&|info| info.ghosts > 0));
    assert!(any(&|info| info.items > info.fingerprints.into()));
    assert!(any(&|info| info.kind == FilterKind::Adaptive
        && info.used_slots > info.fingerprints + 2 * info.ghosts + 3));
    assert!(any(&|info| info.value_bits > 0 && info.fingerprints > 0));
}

#[test]
fn filters_survive_a_round_trip() {
    let keys = || 0..1_500;
    let filter = plain(2_000, 6, keys());
    let bytes = filter.to_bytes();
    let mut written = Vec::new();
    filter.write_to(&mut written).unwrap();
    assert_eq!(written, bytes);
    let mut loaded: QuotientFilter = QuotientFilter::from_bytes(&bytes).unwrap();
    let view = View::<QuotientFilter>::new(&bytes).unwrap();
    assert_eq!(Filter::len(&view), 1_500);
    assert_eq!(view.seed(), filter.seed());
    for key in 0..10_000_u64 {
        assert_eq!(loaded.contains(&key), filter.contains(&key));
        assert_eq!(view.contains(&key), filter.contains(&key));
    }
    assert!(view.iter().eq(filter.iter()));
    // What is loaded can be changed like any other.
    let mut filter = filter;
    for key in 10_000..10_200_u64 {
        loaded.insert(&key).unwrap();
        filter.insert(&key).unwrap();
    }
    assert_eq!(loaded.to_bytes(), filter.to_bytes());

    let filter = counting(2_000, 6, 0..700);
    let bytes = filter.to_bytes();
    let loaded: CountingFilter = CountingFilter::read_from(&bytes[..]).unwrap();
    let view = View::<CountingFilter>::new(&bytes).unwrap();
    assert_eq!(
        (loaded.total(), view.total()),
        (filter.total(), filter.total())
    );
    for key in 0..10_000_u64 {
        assert_eq!(loaded.count(&key), filter.count(&key));
        assert_eq!(view.count(&key), filter.count(&key));
    }
    assert_eq!(loaded.to_bytes(), bytes);

    for value_bits in [0, 3] {
        let mut members: Vec<u64> = (0..1_000).collect();
        let mut filter = adaptive(2_000, 4, value_bits, members.iter().copied());
        learn(&mut filter, &mut members, 5_000..6_000);
        let bytes = filter.to_bytes();
        let loaded: AdaptiveFilter = AdaptiveFilter::from_bytes(&bytes).unwrap();
        let view = View::<AdaptiveFilter>::new(&bytes).unwrap();
        assert_eq!(
            (loaded.len(), loaded.ghosts()),
            (filter.len(), filter.ghosts())
        );
        for key in 0..10_000_u64 {
            assert_eq!(loaded.lookup(&key), filter.lookup(&key));
            assert_eq!(view.entry(&key), filter.entry(&key));
        }
        assert!(members.iter().all(|key| view.contains(key)));
        assert_eq!(loaded.to_bytes(), bytes);
        // What was learnt goes on.
        let (mut one, mut two) = (filter, loaded);
        learn(&mut one, &mut members.clone(), 6_000..7_000);
        learn(&mut two, &mut members, 6_000..7_000);
        assert_eq!(one.to_bytes(), two.to_bytes());
    }
}

#[test]
fn the_order_of_insertion_makes_no_difference() {
    let mut source = Source::from_seed(3);
    let mut keys: Vec<u64> = (0..900).collect();
    let files = |keys: &[u64]| {
        let keys = || keys.iter().copied();
        let mut removed = plain(1_000, 5, keys());
        for key in (0..900_u64).step_by(2) {
            let _ = removed.remove(&key).unwrap();
        }
        let mut plain_adaptive = AdaptiveFilter::builder();
        plain_adaptive = plain_adaptive.slots(1_000).remainder_bits(5);
        let mut plain_adaptive = plain_adaptive.seed(Seed::from_u64(1)).build().unwrap();
        for key in keys() {
            plain_adaptive.insert(&key).unwrap();
        }
        [
            plain(1_000, 5, keys()).to_bytes(),
            removed.to_bytes(),
            counting(4_000, 5, keys()).to_bytes(),
            plain_adaptive.to_bytes(),
        ]
    };
    let expected = files(&keys);
    for _ in 0..5 {
        for i in (1..keys.len()).rev() {
            keys.swap(i, source.below(i as u64 + 1).unwrap() as usize);
        }
        assert!(files(&keys) == expected);
    }
    let odd = plain(1_000, 5, (1..900).step_by(2));
    assert!(odd.to_bytes() == expected[1], "removed keys leave no trace");
}

/// Flips every bit of small files: the checksum sees it, or the header is impossible.
#[test]
fn every_flipped_bit_is_noticed() {
    for bytes in small_files() {
        for bit in 0..bytes.len() * 8 {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let verdict = judge(&bytes);
            assert_ne!(verdict, Verdict::Accepted, "bit {bit}");
            assert!(verdict == Verdict::Refused || bit < HEADER_BYTES * 8);
        }
    }
}

#[test]
fn every_truncation_is_noticed_and_so_is_more() {
    for bytes in small_files() {
        for len in 0..bytes.len() {
            assert_eq!(judge(&bytes[..len]), Verdict::NoFile, "{len} bytes");
            let error = QuotientFilter::<Sip13>::read_from(&bytes[..len]).unwrap_err();
            let expected = if len == 0 { "start with" } else { "ends after" };
            let other = error.to_string().contains("not the plain filter");
            assert!(error.to_string().contains(expected) || other, "{error}");
        }
        let mut longer = bytes.clone();
        longer.push(0);
        let error = file_error(&longer);
        assert!(error.contains("where its header says"), "{error}");
    }
    // A stream may go on behind the file.
    let bytes = plain(100, 5, 0..50).to_bytes();
    let twice = [&bytes[..], &bytes[..], b"end"].concat();
    let mut reader = &twice[..];
    for _ in 0..2 {
        let filter: QuotientFilter = QuotientFilter::read_from(&mut reader).unwrap();
        assert_eq!(filter.to_bytes(), bytes);
    }
    assert_eq!(reader, b"end");
}

/// The message for a file that no loader takes.
fn file_error(bytes: &[u8]) -> String {
    let error = match any::peek(bytes).map(|info| info.kind) {
        Ok(FilterKind::Counting) => {
            CountingFilter::<Sip13>::from_bytes(bytes).expect_err("damaged")
        }
        Ok(FilterKind::Adaptive) => {
            AdaptiveFilter::<Sip13>::from_bytes(bytes).expect_err("damaged")
        }
        Ok(_) => QuotientFilter::<Sip13>::from_bytes(bytes).expect_err("damaged"),
        // An impossible header of whatever kind.
        Err(error) => {
            QuotientFilter::<Sip13>::from_bytes(bytes).expect_err("damaged");
            error
        }
    };
    error.to_string()
}

/// Overwrites, swaps, copies and cuts.
fn damage(bytes: &mut Vec<u8>, source: &mut Source<'_>) {
    for _ in 0..1 + source.below(4).expect("endless") {
        let len = bytes.len() as u64;
        let mut at = || source.below(len).expect("endless") as usize;
        let (one, two, length) = (at(), at(), at() % 32);
        match source.below(6).expect("endless") {
            0 => bytes[one] ^= 1 << (two % 8),
            1 => bytes[one] = source.word().expect("endless") as u8,
            2 => bytes.swap(one, two),
            3 => {
                let end = (one + length).min(bytes.len());
                bytes[one..end].fill((two % 2 * 255) as u8);
            }
            4 => {
                let end = (one + length).min(bytes.len());
                let two = two.min(bytes.len() - (end - one));
                bytes.copy_within(one..end, two);
            }
            _ => bytes.truncate(one.max(1)),
        }
    }
}

#[test]
fn random_damage_is_noticed() {
    let files = small_files();
    let mut source = Source::from_seed(5);
    for round in 0..100_000 {
        let original = &files[round % files.len()];
        let mut bytes = original.clone();
        damage(&mut bytes, &mut source);
        if bytes != *original {
            assert_ne!(judge(&bytes), Verdict::Accepted, "round {round}");
        }
    }
}

/// With a right checksum, a file is refused exactly if its table breaks an invariant, which
/// `judge` verifies.
#[test]
fn damage_behind_a_right_checksum_is_judged_by_the_invariants() {
    let files = small_files();
    let mut source = Source::from_seed(6);
    let mut verdicts = [0; 3];
    for round in 0..200_000 {
        let mut bytes = files[round % files.len()].clone();
        // Most damage goes to the table: headers are impossible soon.
        if source.one_in(8).unwrap() {
            damage(&mut bytes, &mut source);
        } else {
            let mut table = bytes.split_off(HEADER_BYTES);
            let len = table.len();
            damage(&mut table, &mut source);
            table.resize(len, 0);
            bytes.append(&mut table);
        }
        repair(&mut bytes);
        verdicts[judge(&bytes) as usize] += 1;
    }
    assert!(verdicts.iter().all(|&count| count > 1_000), "{verdicts:?}");
}

/// Tables of noise: nothing to read there, but views must take it.
#[test]
fn unverified_views_of_noise_answer_something() {
    let mut source = Source::from_seed(8);
    for file in small_files() {
        for round in 0..300 {
            let mut bytes = file.clone();
            for byte in &mut bytes[HEADER_BYTES..] {
                let noise = source.word().unwrap();
                // Dense, thin and in between.
                *byte = match round % 3 {
                    0 => noise as u8,
                    1 => (noise & noise >> 8 & noise >> 16) as u8,
                    _ => (noise | noise >> 8 | noise >> 16) as u8,
                };
            }
            repair(&mut bytes);
            assert_eq!(judge(&bytes), Verdict::Refused);
        }
        for fill in [0, 0xff] {
            let mut bytes = file.clone();
            bytes[HEADER_BYTES..].fill(fill);
            repair(&mut bytes);
            judge(&bytes);
        }
    }
}

#[test]
fn headers_say_what_is_wrong() {
    let file = plain(100, 5, 0..50).to_bytes();
    let with = |at: usize, field: &[u8]| {
        let mut bytes = file.clone();
        bytes[at..at + field.len()].copy_from_slice(field);
        repair(&mut bytes);
        file_error(&bytes)
    };
    let says = |error: String, what: &str| assert!(error.contains(what), "{error}");
    says(with(0, b"T"), "does not start with \"twiceshy\"");
    says(
        with(8, &3_u16.to_le_bytes()),
        "number 3; this library reads numbers 1 to 2",
    );
    says(with(8, &0_u16.to_le_bytes()), "number 0; this library");
    says(
        with(8, &2_u16.to_le_bytes()),
        "number 2; this library reads plain filters of number 1",
    );
    says(with(10, &[9]), "a filter of kind 9");
    says(with(10, &[2]), "number 1; this library reads counting");
    says(with(8, &[2, 0, 2]), "its table has");
    says(with(11, &[9]), "its hash has number 9");
    says(
        with(11, &[2]),
        "hash XXH3, not the plain filter with the hash SipHash-1-3",
    );
    says(with(12, &[0]), "1 to 56 bits, not 0");
    says(with(12, &[6]), "where 100 slots take");
    says(with(13, &[1]), "at most 0 are possible");
    says(with(14, &[1]), "bytes 14 and 15");
    says(with(16, &0_u64.to_le_bytes()), "at least one slot");
    says(with(16, &u64::MAX.to_le_bytes()), "60 bits");
    says(with(16, &(1_u64 << 55).to_le_bytes()), "its table has");
    says(with(40, &u64::MAX.to_le_bytes()), "contradict");
    says(with(48, &49_u64.to_le_bytes()), "contradict");
    says(with(56, &1_u64.to_le_bytes()), "contradict");
    says(with(64, &1_u128.to_le_bytes()), "contradict");
    says(with(80, &7_u64.to_le_bytes()), "its table has 7 bytes");
    says(with(119, &[1]), "kept for later use");
    let mut used = 49_u64.to_le_bytes().to_vec();
    used.extend(49_u64.to_le_bytes());
    says(with(40, &used), "number of used slots is wrong");
    let mut bytes = file.clone();
    bytes[127] ^= 1;
    says(file_error(&bytes), "its checksum is wrong");
}

#[test]
fn peek_tells_what_a_file_is() {
    let bytes = counting(200, 9, 0..20).to_bytes();
    let info = any::peek(&bytes[..HEADER_BYTES]).unwrap();
    assert_eq!(info.version, VERSION);
    assert_eq!(
        (info.kind, info.hash),
        (FilterKind::Counting, HashKind::SipHash13)
    );
    assert_eq!(
        (info.geometry.slots(), info.geometry.remainder_bits()),
        (200, 9)
    );
    assert_eq!(
        (info.fingerprints, info.ghosts, info.value_bits),
        (20, 0, 0)
    );
    assert_eq!(info.items, counting(200, 9, 0..20).total());
    assert_eq!(info.file_bytes, bytes.len() as u64);
    let debug = format!(
        "{info:?} {:?}",
        View::<CountingFilter>::new(&bytes).unwrap()
    );
    assert!(!debug.to_lowercase().contains("seed"), "{debug}");
}

/// A header may promise any length: memory is taken for what arrives.
#[test]
fn a_lying_stream_costs_no_memory() {
    // The largest table that there could be.
    let mut bytes = plain(100, 5, 0..50).to_bytes();
    let slots = 1_u64 << 50;
    let table = twiceshy::sizing::plain_bytes(&twiceshy::Geometry::new(slots, 5).unwrap());
    bytes[16..24].copy_from_slice(&slots.to_le_bytes());
    bytes[80..88].copy_from_slice(&table.to_le_bytes());
    repair(&mut bytes);
    assert_eq!(
        any::peek(&bytes).unwrap().file_bytes,
        table + HEADER_BYTES as u64
    );
    let endless = bytes.as_slice().chain(io::repeat(0)).take(10 << 20);
    let error = QuotientFilter::<Sip13>::read_from(endless).unwrap_err();
    assert!(
        error.to_string().contains("it ends after 10485760 bytes"),
        "{error}"
    );
}

#[test]
fn a_reader_that_fails_is_quoted() {
    struct Broken(usize);
    impl Read for Broken {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.0.checked_sub(1) {
                Some(left) => {
                    self.0 = left;
                    buffer[0] = b"twiceshy"[7 - left];
                    Ok(1)
                }
                None => Err(io::Error::new(io::ErrorKind::TimedOut, "no answer")),
            }
        }
    }
    let error = AdaptiveFilter::<Sip13>::read_from(Broken(8)).unwrap_err();
    assert_eq!(error.to_string(), "the file could not be read: no answer");
    let Error::Io { kind, .. } = error else {
        panic!("{error}");
    };
    assert_eq!(kind, io::ErrorKind::TimedOut);
}
