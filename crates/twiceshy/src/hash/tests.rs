//! Tests of what hashes share; what every stream hash must pass comes first, and the tests of each call it.

use super::*;

/// Each bit of words 0 to 5, over sequential integers, is a fair coin to within six
/// standard deviations, and so is its agreement with the same bit of the next word.
pub(super) fn bits_are_fair<H: StreamHash>() {
    const KEYS: u32 = 100_000;
    const WORDS: usize = 6;
    let seed = Seed::from_u64(2024);
    let mut ones = [[0_u32; 64]; WORDS];
    let mut agree = [[0_u32; 64]; WORDS - 1];
    for key in 0..u64::from(KEYS) {
        let hashed = Hashed::new::<H, _>(&seed, &key);
        let words: [u64; WORDS] = std::array::from_fn(|i| hashed.word(i as u32));
        for bit in 0..64 {
            for i in 0..WORDS {
                ones[i][bit] += (words[i] >> bit & 1) as u32;
            }
            for i in 0..WORDS - 1 {
                agree[i][bit] += (!(words[i] ^ words[i + 1]) >> bit & 1) as u32;
            }
        }
    }
    let sigma = f64::from(KEYS).sqrt() / 2.0;
    for count in ones.iter().chain(&agree).flatten() {
        let off = (f64::from(*count) - f64::from(KEYS) / 2.0).abs();
        assert!(off < 6.0 * sigma, "{count} of {KEYS}");
    }
}

/// Keys of every length around the block sizes, and a very long one: determined by
/// the bytes, and changed by the last of them, the length, the seed and the number.
pub(super) fn every_input_matters<H: StreamHash>() {
    let bytes: Vec<u8> = (0..1_u32 << 20).map(|i| mix(u64::from(i)) as u8).collect();
    let seed = Seed::from_u64(1);
    let mut seen = std::collections::HashSet::new();
    for len in (0..300).chain([1 << 20]) {
        for number in 0..4 {
            let mut key = bytes[..len].to_vec();
            let pair = H::pair(&seed, &key, number);
            assert_eq!(pair, H::pair(&seed, &bytes[..len], number));
            assert!(seen.insert(pair[0]) && seen.insert(pair[1]));
            for byte in [0, 8] {
                let mut other = seed.to_bytes();
                other[byte] ^= 1;
                let other = H::pair(&Seed::from_bytes(other), &key, number);
                assert!(seen.insert(other[0]) && seen.insert(other[1]));
            }
            if let Some(last) = key.last_mut() {
                *last ^= 0x80;
                let other = H::pair(&seed, &key, number);
                assert!(seen.insert(other[0]) && seen.insert(other[1]));
            }
        }
    }
}

/// Words 0 to 5 of a few keys under `Seed::from_u64(42)`.
pub(super) fn words<H: StreamHash>(key: &[u8]) -> [u64; 6] {
    let hashed = Hashed::from_bytes::<H>(&Seed::from_u64(42), key);
    std::array::from_fn(|i| hashed.word(i as u32))
}

#[test]
fn codes_are_a_bijection() {
    let known: Vec<u8> = (0..=255)
        .filter(|&code| HashKind::from_code(code).is_some_and(|kind| kind.code() == code))
        .collect();
    assert_eq!(known, [1, 2, 255]);
    let any = (0..=255).filter_map(HashKind::from_code).count();
    assert_eq!(any, known.len());
}

#[test]
fn kinds_have_names() {
    assert_eq!(HashKind::SipHash13.to_string(), "SipHash-1-3");
    assert_eq!(format!("{:>6}", HashKind::Xxh3), "  XXH3");
    assert_eq!(HashKind::Other.to_string(), "other");
}

/// The first outputs of the published SplitMix64 generator with seed 0.
#[test]
fn mix_is_splitmix64() {
    let stream: Vec<u64> = (1..=3).map(|i: u64| mix(i.wrapping_mul(GOLDEN))).collect();
    assert_eq!(
        stream,
        [
            0xe220_a839_7b1d_cdaf,
            0x6e78_9e6a_a1b9_65f4,
            0x06c4_5d18_8009_454f
        ]
    );
}

#[test]
fn first_word_is_h0() {
    let seed = Seed::from_u64(3);
    for key in 0..1000_u64 {
        let hashed = Hashed::new::<Sip13, _>(&seed, &key);
        assert_eq!(
            first_word::<Sip13, _>(&Sip13::keyed(&seed), &key),
            hashed.h0()
        );
    }
    let pair = ("owner", 17_u32);
    let hashed = Hashed::new::<Sip13, _>(&seed, &pair);
    assert_eq!(
        first_word::<Sip13, _>(&Sip13::keyed(&seed), &pair),
        hashed.h0()
    );
}
