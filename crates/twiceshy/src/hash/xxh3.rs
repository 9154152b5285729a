//! The fast stream hash: XXH3 with 128 bits of output.

use std::fmt;

use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::{GOLDEN, HashKind, Seed, StreamHash, mix};

/// XXH3 with 128 bits of output: about three times as fast as [`Sip13`](super::Sip13) on
/// short keys, more on long ones.
///
/// **Not safe against attackers.** XXH3 is a very good mixer, but not a keyed
/// function: nothing keeps someone from making keys that collide whatever the seed, and
/// such keys collide in every word. Use it for keys that nobody chooses with ill intent.
///
/// # The stream
///
/// XXH3 takes a seed of 64 bits. Pair `n` is `XXH3-128(key bytes, seed n)`, its low half
/// first, with the seeds made from both halves `a` and `b` of the 128-bit [`Seed`]:
///
/// ```text
///   seed 0  =  a + b * G
///   seed n  =  mix(mix(a + n * G) + b)       n >= 1
/// ```
///
/// `G` is the golden ratio in 64 bits, `mix` the finalizer of SplitMix64. Seed 0 does not
/// depend on the key, so it costs nothing in a loop and next to nothing outside of one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Xxh3;

impl StreamHash for Xxh3 {
    const KIND: HashKind = HashKind::Xxh3;
    type Keyed = Keyed;

    #[inline]
    fn keyed(seed: &Seed) -> Keyed {
        let seed = pair_seed(seed, 0);
        Keyed {
            seed,
            flip_of_8: flip_of_8(seed),
        }
    }

    #[inline(always)]
    fn first(keyed: &Keyed, key: &[u8]) -> u64 {
        match key.try_into() {
            Ok(key) => low_half_of_8(keyed.flip_of_8, u64::from_le_bytes(key)),
            Err(_) => xxh3_128_with_seed(key, keyed.seed) as u64,
        }
    }

    #[inline]
    fn pair(seed: &Seed, key: &[u8], number: u64) -> [u64; 2] {
        let both = xxh3_128_with_seed(key, pair_seed(seed, number));
        [both as u64, (both >> 64) as u64]
    }
}

/// What XXH3 makes of the seed alone. As secret as the seed.
#[derive(Clone, Copy)]
pub struct Keyed {
    seed: u64,
    flip_of_8: u64,
}

impl fmt::Debug for Keyed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keyed(..)")
    }
}

/// What XXH3-128 adds to a key of 4 to 8 bytes before it multiplies: two words of its
/// constant secret, and the seed with its lower half mirrored into the upper.
#[inline]
fn flip_of_8(seed: u64) -> u64 {
    const SECRET: u64 = 0xdb97_9083_e96d_d4de ^ 0x1f67_b3b7_a4a4_4072;
    let mirrored = u64::from((seed as u32).swap_bytes()) << 32;
    SECRET.wrapping_add(seed ^ mirrored)
}

/// The low half of the XXH3-128 of eight bytes. Integers are the keys of many filters, and
/// this is half of the instructions of the general function: with fewer of them, more
/// queries are in flight at once while each waits for memory.
#[inline(always)]
fn low_half_of_8(flip: u64, key: u64) -> u64 {
    let product = u128::from(key ^ flip) * u128::from(0x9e37_79b1_85eb_ca87_u64 + (8 << 2));
    let (low, high) = (product as u64, (product >> 64) as u64);
    let high = high.wrapping_add(low << 1);
    let low = low ^ high >> 3;
    let low = (low ^ low >> 35).wrapping_mul(0x9fb2_1c65_1e98_df25);
    low ^ low >> 28
}

/// The 64-bit seed of pair `number`.
#[inline]
fn pair_seed(seed: &Seed, number: u64) -> u64 {
    let [a, b] = seed.words();
    if number == 0 {
        a.wrapping_add(b.wrapping_mul(GOLDEN))
    } else {
        mix(mix(a.wrapping_add(number.wrapping_mul(GOLDEN))).wrapping_add(b))
    }
}

#[cfg(test)]
mod tests {
    use xxhash_rust::xxh3::{Xxh3Builder, xxh3_128};

    use super::super::tests;
    use super::*;

    #[test]
    fn the_first_word_is_that_of_the_crate_at_every_length() {
        for round in 0..10_000_u64 {
            let seed = Seed::from_u64(round / 10);
            let keyed = Xxh3::keyed(&seed);
            let key = mix(round).to_le_bytes();
            assert_eq!(Xxh3::first(&keyed, &key), Xxh3::pair(&seed, &key, 0)[0]);
            let key = vec![round as u8; round as usize % 300];
            assert_eq!(Xxh3::first(&keyed, &key), Xxh3::pair(&seed, &key, 0)[0]);
        }
    }

    #[test]
    fn zero_seed_is_the_plain_hash() {
        let seed = Seed::from_bytes([0; 16]);
        for len in [0, 1, 3, 4, 8, 9, 16, 17, 128, 129, 240, 241, 5000] {
            let key = vec![0x5a; len];
            let plain = xxh3_128(&key);
            assert_eq!(
                Xxh3::pair(&seed, &key, 0),
                [plain as u64, (plain >> 64) as u64]
            );
        }
    }

    /// The one-shot function against the streaming one of the same crate.
    #[test]
    fn agrees_with_the_streaming_hash() {
        let seed = Seed::from_u64(5);
        let bytes: Vec<u8> = (0..1_u32 << 20).map(|i| mix(u64::from(i)) as u8).collect();
        for len in (0..600).chain([65_535, 1 << 20]) {
            for number in 0..3 {
                let mut hasher = Xxh3Builder::new()
                    .with_seed(pair_seed(&seed, number))
                    .build();
                hasher.update(&bytes[..len]);
                let both = hasher.digest128();
                assert_eq!(
                    Xxh3::pair(&seed, &bytes[..len], number),
                    [both as u64, (both >> 64) as u64],
                    "length {len}"
                );
            }
        }
    }

    #[test]
    fn every_input_matters() {
        tests::every_input_matters::<Xxh3>();
    }

    #[test]
    fn bits_are_fair() {
        tests::bits_are_fair::<Xxh3>();
    }

    /// The stream is part of the file format: these never change.
    #[test]
    fn golden_words() {
        assert_eq!(
            tests::words::<Xxh3>(b""),
            [
                0x68d0_2ffa_fc2c_066b,
                0xd7dc_d9a1_a0d3_133b,
                0xff83_9690_0670_80c8,
                0x0f40_3f84_aecb_6ee1,
                0xdf6b_598b_3196_072f,
                0x33e2_9494_765d_4fa7,
            ]
        );
        assert_eq!(
            tests::words::<Xxh3>(&7_u64.to_le_bytes()),
            [
                0xc88c_46ef_0b5a_e4b4,
                0x75cd_db84_4da9_0832,
                0x80ab_2da1_64f3_e7f8,
                0x9299_4068_93bc_5255,
                0x5b50_23e0_b988_870c,
                0xef1b_2b90_15da_4fa9,
            ]
        );
        assert_eq!(
            tests::words::<Xxh3>(b"once bitten, twice shy"),
            [
                0xd863_38e3_37d0_d83c,
                0xf122_5d12_7a5f_2237,
                0xd154_62f0_43f9_1eda,
                0xe8c7_c09b_7bba_2fdf,
                0x3947_2532_9f47_6580,
                0xf5ce_992b_878c_b9d6,
            ]
        );
    }
}
