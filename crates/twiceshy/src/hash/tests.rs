//! What every stream hash must pass; its tests call these.

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
