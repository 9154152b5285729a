//! The default stream hash: SipHash-1-3 with 128 bits of output.
//!
//! SipHash, by Jean-Philippe Aumasson and Daniel J. Bernstein, is a small public-domain
//! algorithm: a state of four words, a round of additions, rotations and exclusive ors,
//! one round per block of the message and three to finish each half of the result. It is
//! written out here, instead of taken from a crate, for two reasons: to absorb blocks that
//! are not the padding of any message, see [`Sip13`], and to be compiled into its caller,
//! which more than halves the time for a key of known length. The crate `siphasher` is the
//! oracle of its tests.

use std::fmt;

use super::{HashKind, Seed, StreamHash};

/// SipHash-1-3 with 128 bits of output, the default: safe against those who know this
/// code and choose the keys, but do not know the seed.
///
/// # The stream
///
/// Pair 0 is the plain SipHash-1-3-128 of the key's bytes under the seed. Pair `n`, from
/// 1 on, is the plain SipHash-1-3-128 of the same bytes under *subkey* `n`.
///
/// ```text
///   pair 0    =  Sip(seed, key bytes)
///   subkey n  =  Sip(seed, [n, 255 << 56])     two raw blocks, no padding
///   pair n    =  Sip(subkey n, key bytes)
/// ```
///
/// # Why the pairs are independent
///
/// SipHash works on blocks of 64 bits. A message becomes blocks by *padding*: its bytes,
/// eight at a time, and a last block with the zero to seven remaining ones below the
/// message's length (modulo 256) in the top byte. A message of two blocks is 8 to 15
/// bytes long, so the top byte of its last block is 8 to 15, too. The two blocks that
/// make a subkey end in a block with top byte 255, so they are the padding of no message
/// at all.
///
/// Hence pair 0 of every key and every subkey are values of one keyed function at
/// *different* points. SipHash is built to be a pseudo-random function: without the seed,
/// its values at different points can't be told from independent random bits, not even by
/// someone who chooses the points. So the subkeys are as good as drawn at random, whatever
/// is known of any pair 0; and the pairs made under each of them are, by the same
/// property, as good as random and independent of all others.
///
/// Two things are assumed here. One is that SipHash-1-3 is what it is built to be; it has
/// fewer rounds than the cautious SipHash-2-4, is the hash of Rust's own hash maps, and we
/// know of no attack on it that would help here. The other is that this extends to two raw
/// blocks: padding is only there to turn messages into blocks one-to-one, which it still
/// does with them added, and no strength is drawn from the value of the length byte.
///
/// What looks simpler is weaker. Deriving the subkey from the plain hash of `n` would
/// make it the first pair of the eight-byte key `n`. Hashing the key with `n` appended
/// would make it the first pair of another, longer key. Changing the seed by `n` leans on
/// SipHash under *related* keys, of which its authors promise nothing. And absorbing `n`
/// as one further block, under the same seed, would let two keys that collide inside the
/// state agree for ever; here every pair is a fresh chance to part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sip13;

impl StreamHash for Sip13 {
    const KIND: HashKind = HashKind::SipHash13;
    type Keyed = State;

    #[inline]
    fn keyed(seed: &Seed) -> State {
        State::new(seed.words())
    }

    #[inline(always)]
    fn first(keyed: &State, key: &[u8]) -> u64 {
        sip13(*keyed, key)[0]
    }

    // `always`: with the length of the key known, the second half of the finish unused and
    // the number zero, what remains is half of the code and done in half of the time.
    #[inline(always)]
    fn pair(seed: &Seed, key: &[u8], number: u64) -> [u64; 2] {
        if number == 0 {
            sip13(State::new(seed.words()), key)
        } else {
            later_pair(seed, key, number)
        }
    }
}

/// Kept out of line: few queries get here.
#[cold]
fn later_pair(seed: &Seed, key: &[u8], number: u64) -> [u64; 2] {
    sip13(State::new(subkey(seed.words(), number)), key)
}

/// The top byte of a subkey's last block: a length that no message of two blocks has.
const SUBKEY: u64 = 255 << 56;

/// The key of pair `number`.
fn subkey(seed: [u64; 2], number: u64) -> [u64; 2] {
    let mut state = State::new(seed);
    state.absorb(number);
    state.absorb(SUBKEY);
    state.finish()
}

/// SipHash-1-3-128 of `bytes`.
#[inline(always)]
fn sip13(mut state: State, bytes: &[u8]) -> [u64; 2] {
    let mut rest = bytes;
    while let Some((block, behind)) = rest.split_first_chunk() {
        state.absorb(u64::from_le_bytes(*block));
        rest = behind;
    }
    state.absorb((bytes.len() as u64) << 56 | tail(rest));
    state.finish()
}

/// Up to seven bytes as a little-endian number. (A loop or a copy of variable length
/// would take longer than all of the hashing.)
#[inline]
fn tail(bytes: &[u8]) -> u64 {
    let len = bytes.len();
    if let (Some(low), Some(high)) = (bytes.first_chunk(), bytes.last_chunk()) {
        // Four to seven bytes: two overlapping halves agree where they overlap.
        let high = u64::from(u32::from_le_bytes(*high)) << (8 * (len - 4));
        u64::from(u32::from_le_bytes(*low)) | high
    } else if len > 0 {
        // One to three: the first, the middle and the last, some of which coincide.
        let byte = |at: usize| u64::from(bytes[at]) << (8 * at);
        byte(0) | byte(len / 2) | byte(len - 1)
    } else {
        0
    }
}

/// The four words of SipHash. As secret as the seed that it is made from.
#[derive(Clone, Copy)]
pub struct State {
    v0: u64,
    v1: u64,
    v2: u64,
    v3: u64,
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("State(..)")
    }
}

impl State {
    /// "somepseudorandomlygeneratedbytes", with the mark of the 128-bit variant.
    #[inline]
    fn new([k0, k1]: [u64; 2]) -> Self {
        State {
            v0: k0 ^ 0x736f_6d65_7073_6575,
            v1: k1 ^ 0x646f_7261_6e64_6f6d ^ 0xee,
            v2: k0 ^ 0x6c79_6765_6e65_7261,
            v3: k1 ^ 0x7465_6462_7974_6573,
        }
    }

    #[inline]
    fn absorb(&mut self, block: u64) {
        self.v3 ^= block;
        self.round();
        self.v0 ^= block;
    }

    #[inline]
    fn finish(mut self) -> [u64; 2] {
        self.v2 ^= 0xee;
        let first = self.squeeze();
        self.v1 ^= 0xdd;
        [first, self.squeeze()]
    }

    #[inline]
    fn squeeze(&mut self) -> u64 {
        self.round();
        self.round();
        self.round();
        self.v0 ^ self.v1 ^ self.v2 ^ self.v3
    }

    #[inline]
    fn round(&mut self) {
        let State { v0, v1, v2, v3 } = self;
        *v0 = v0.wrapping_add(*v1);
        *v2 = v2.wrapping_add(*v3);
        *v1 = v1.rotate_left(13) ^ *v0;
        *v3 = v3.rotate_left(16) ^ *v2;
        *v0 = v0.rotate_left(32);
        *v2 = v2.wrapping_add(*v1);
        *v0 = v0.wrapping_add(*v3);
        *v1 = v1.rotate_left(17) ^ *v2;
        *v3 = v3.rotate_left(21) ^ *v0;
        *v2 = v2.rotate_left(32);
    }
}

#[cfg(test)]
mod tests {
    use siphasher::sip128::SipHasher13;

    use super::super::{mix, tests};
    use super::*;

    fn oracle([k0, k1]: [u64; 2], bytes: &[u8]) -> [u64; 2] {
        // Its words are in the machine's order; its bytes are the same everywhere.
        let hash = SipHasher13::new_with_keys(k0, k1).hash(bytes);
        Seed::from_bytes(hash.as_bytes()).words()
    }

    /// The key 00 01 … 0f and the empty message, as published with `siphasher`.
    #[test]
    fn published_vector() {
        let key = [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908];
        let bytes = [
            0xe7, 0x7e, 0xbc, 0xb2, 0x27, 0x88, 0xa5, 0xbe, 0xfd, 0x62, 0xdb, 0x6a, 0xdd, 0x30,
            0x30, 0x01,
        ];
        assert_eq!(sip13(State::new(key), b""), Seed::from_bytes(bytes).words());
    }

    #[test]
    fn agrees_with_siphasher() {
        let bytes: Vec<u8> = (0..1_u32 << 20).map(|i| mix(u64::from(i)) as u8).collect();
        for len in (0..600).chain([65_535, 65_536, 1 << 20]) {
            let key = [mix(len as u64), mix(!(len as u64))];
            // Not all aligned.
            let message = &bytes[bytes.len() - len..];
            assert_eq!(
                sip13(State::new(key), message),
                oracle(key, message),
                "length {len}"
            );
        }
    }

    #[test]
    fn pair_zero_is_the_plain_hash() {
        let seed = Seed::from_u64(9);
        for key in 0..1000_u64 {
            let key = key.to_le_bytes();
            assert_eq!(Sip13::pair(&seed, &key, 0), oracle(seed.words(), &key));
        }
    }

    /// The subkey is not the hash of the message whose blocks it resembles most, and
    /// pair n is the plain hash under it.
    #[test]
    fn later_pairs_are_rekeyed() {
        let seed = Seed::from_u64(9);
        for number in 1..1000_u64 {
            let subkey = subkey(seed.words(), number);
            assert_ne!(subkey, oracle(seed.words(), &number.to_le_bytes()));
            let pair = Sip13::pair(&seed, b"a key of its own", number);
            assert_eq!(pair, oracle(subkey, b"a key of its own"));
        }
    }

    #[test]
    fn every_input_matters() {
        tests::every_input_matters::<Sip13>();
    }

    #[test]
    fn bits_are_fair() {
        tests::bits_are_fair::<Sip13>();
    }

    /// The stream is part of the file format: these never change.
    #[test]
    fn golden_words() {
        assert_eq!(
            tests::words::<Sip13>(b""),
            [
                0xd1aa_f4f3_baff_38a0,
                0x4d66_c1bf_2fa1_3b8a,
                0x750a_0e05_95a3_6c1a,
                0xb38e_2766_4acb_f032,
                0xed31_f7e0_0519_be3d,
                0x75d5_38a4_b93e_f2ee,
            ]
        );
        assert_eq!(
            tests::words::<Sip13>(&7_u64.to_le_bytes()),
            [
                0x350c_619d_577b_f168,
                0x4c15_dea0_3411_8292,
                0xfb31_9997_8eb5_99e1,
                0x92cd_f569_d90d_c51c,
                0xe150_5ba5_2075_d662,
                0xfc31_4323_4270_5971,
            ]
        );
        assert_eq!(
            tests::words::<Sip13>(b"once bitten, twice shy"),
            [
                0x9ba8_9829_8295_9d20,
                0xa808_7bcd_68f5_4156,
                0xbd23_b000_d899_07f7,
                0x85ea_d8b6_47ca_fc52,
                0xba3c_b707_17cd_4ff4,
                0xfe39_c922_781c_b674,
            ]
        );
    }
}
