//! A key's stream of words, in hand.

use std::borrow::Cow;
use std::fmt;

use super::{GOLDEN, HashKind, Key, KeyBytes, Seed, StreamHash, mix};
use crate::error::Error;

/// A hashed key that can still make its later words.
///
/// It holds the first two words and what it takes to compute the others: the hash, the
/// seed and the key's bytes, borrowed if the key lends them. Hash once and ask as many
/// filters of the same hash and seed as you like.
///
/// Neither words nor seed appear in its `Debug` output: hashes of known keys are what
/// someone who is after the seed would want to see.
///
/// ```
/// use twiceshy::hash::{Hashed, Seed, Sip13};
///
/// let seed = Seed::from_u64(1);
/// let hashed = Hashed::new::<Sip13, _>(&seed, "teal");
/// assert_eq!(hashed.key(), Some(&b"teal"[..]));
/// assert_eq!(hashed.word(0), hashed.h0());
/// assert_ne!(hashed.word(1_000), hashed.word(1_001));
/// ```
#[derive(Clone)]
pub struct Hashed<'k> {
    /// Pair 0.
    first: [u64; 2],
    source: Source<'k>,
}

/// Where the words come from.
#[derive(Clone)]
enum Source<'k> {
    Key {
        pair: fn(&Seed, &[u8], u64) -> [u64; 2],
        kind: HashKind,
        seed: Seed,
        key: KeyBytes<'k>,
    },
    Words(Cow<'k, [u64]>),
    Mixed,
}

impl<'k> Hashed<'k> {
    /// How many words two different keys may share before they count as inseparable.
    ///
    /// By chance that does not happen before the end of the universe: it takes a hash
    /// that is broken, or words that were [chosen](Hashed::from_words).
    pub const MAX_WORDS: u32 = 64;

    /// Hashes `key` with `H` under `seed`.
    #[inline]
    #[must_use]
    pub fn new<H: StreamHash, K: Key + ?Sized>(seed: &Seed, key: &'k K) -> Self {
        // Hashed where the bytes are made, not where they are kept: a small key read back
        // right after it was moved has to wait for the stores, twice as long as it takes
        // to hash it.
        let first = key.with_bytes(|bytes| H::pair(seed, bytes, 0));
        Hashed::with_key::<H>(seed, first, key.to_bytes())
    }

    /// Hashes a key that is already encoded, such as one that a reverse map returned.
    #[inline]
    #[must_use]
    pub fn from_bytes<H: StreamHash>(seed: &Seed, bytes: &'k [u8]) -> Self {
        Hashed::with_key::<H>(seed, H::pair(seed, bytes, 0), KeyBytes::borrowed(bytes))
    }

    #[inline]
    fn with_key<H: StreamHash>(seed: &Seed, first: [u64; 2], key: KeyBytes<'k>) -> Self {
        Hashed {
            first,
            source: Source::Key {
                pair: H::pair,
                kind: H::KIND,
                seed: *seed,
                key,
            },
        }
    }

    /// A stream of chosen words, without a key: for tests, and for callers with hashes
    /// of their own.
    ///
    /// **All words beyond the slice are zero.** Two streams that differ nowhere in their
    /// slices can't be told apart by any number of bits.
    #[inline]
    #[must_use]
    pub fn from_words(words: &'k [u64]) -> Self {
        let word = |at| words.get(at).copied().unwrap_or(0);
        Hashed {
            first: [word(0), word(1)],
            source: Source::Words(Cow::Borrowed(words)),
        }
    }

    /// A stream that starts with `h0` and goes on with words computed from it by a fixed
    /// mixer, without a key.
    ///
    /// For filters that never look beyond `h0`, and for tests. Equal first words mean
    /// equal streams, so this cannot serve keys whose hash has only 64 bits: where two
    /// of them collide, nothing separates them.
    #[inline]
    #[must_use]
    pub const fn from_h0(h0: u64) -> Hashed<'static> {
        Hashed {
            first: mixed_pair(h0, 0),
            source: Source::Mixed,
        }
    }

    /// The first word, which places the key.
    #[inline]
    #[must_use]
    pub const fn h0(&self) -> u64 {
        self.first[0]
    }

    /// Word `i` of the stream. Words 0 and 1 are at hand; later ones are computed, each
    /// time.
    #[inline]
    #[must_use]
    pub fn word(&self, i: u32) -> u64 {
        let pair = self.pair(u64::from(i / 2));
        pair[(i % 2) as usize]
    }

    /// The key's bytes; `None` if the words were chosen.
    #[must_use]
    pub fn key(&self) -> Option<&[u8]> {
        match &self.source {
            Source::Key { key, .. } => Some(key),
            Source::Words(_) | Source::Mixed => None,
        }
    }

    /// The key's bytes, for a store of keys.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the words were chosen: there is no key then.
    pub(crate) fn stored_key(&self) -> Result<&[u8], Error> {
        self.key().ok_or_else(|| {
            Error::mismatch(
                "a chosen hash has no key to store; hash a key with the filter's `hash`",
            )
        })
    }

    /// The `width` bits of the stream that start at bit `from_bit`, as a number.
    ///
    /// Bit 0 is the most significant bit of `h1`, bit 64 that of `h2`, and so on: the
    /// home fingerprint's word is not part of it. The first bit of the stream is the
    /// most significant bit of the number.
    ///
    /// ```
    /// use twiceshy::hash::Hashed;
    ///
    /// let hashed = Hashed::from_words(&[u64::MAX, 0b1011, 0b01 << 62]);
    /// assert_eq!(hashed.bits(60, 4), 0b1011);
    /// assert_eq!(hashed.bits(60, 6), 0b1011_01);
    /// ```
    ///
    /// # Panics
    /// If `width` is 0 or greater than 56.
    #[inline]
    #[must_use]
    pub fn bits(&self, from_bit: u64, width: u32) -> u64 {
        assert!(
            (1..=56).contains(&width),
            "a width of 1 to 56 bits, not {width}"
        );
        let index = 1 + from_bit / 64;
        let skip = (from_bit % 64) as u32;
        // Not as an array: that would be read as one, while its words may still be on their way to the
        // cache one by one, and a processor waits for the end of that.
        let [even, odd] = self.pair(index / 2);
        let word = if index % 2 == 0 { even } else { odd };
        let top = if skip + width <= 64 {
            word << skip
        } else {
            let next = match index % 2 {
                0 => odd,
                _ => self.pair(index / 2 + 1)[0],
            };
            word << skip | next >> (64 - skip)
        };
        top >> (64 - width)
    }

    /// How many bits the streams of `self` and `other` have in common before they first
    /// differ, from `h1` on and looking at no more than `limit_words` words.
    ///
    /// The result is `64 * limit_words` if they do not differ there. With
    /// [`MAX_WORDS`](Hashed::MAX_WORDS) that means the same key, or inseparable ones.
    #[must_use]
    pub fn common_bits(&self, other: &Hashed<'_>, limit_words: u32) -> u64 {
        let limit = 64 * u64::from(limit_words);
        let mut common = 0;
        let mut number = 0;
        while common < limit {
            let (ours, theirs) = (self.pair(number), other.pair(number));
            // Word 0 is not part of the comparison.
            for at in usize::from(number == 0)..2 {
                let equal = (ours[at] ^ theirs[at]).leading_zeros();
                common += u64::from(equal);
                if equal < 64 {
                    return common.min(limit);
                }
            }
            number += 1;
        }
        limit
    }

    /// Are these the same key, of one place and hashed alike? Chosen hashes have no key behind them: they
    /// are their stream from `h1` on.
    pub(crate) fn is_same_key(&self, other: &Hashed<'_>) -> bool {
        match (self.key(), other.key()) {
            (Some(one), Some(two)) => one == two,
            _ => {
                let words = Hashed::MAX_WORDS - 1;
                self.common_bits(other, words) == 64 * u64::from(words)
            }
        }
    }

    /// Takes the top bits off the first word: their number, and the stream that is left, whose
    /// `h0` is the rest of the word. For those who divide the hashes among `2^bits` filters:
    /// the number names the filter, in hash order, and the filter is asked with the rest.
    ///
    /// ```
    /// use twiceshy::hash::{Hashed, Seed, Sip13};
    ///
    /// let hashed = Hashed::new::<Sip13, _>(&Seed::from_u64(1), "teal");
    /// let (shard, rest) = hashed.clone().split_top(6);
    /// assert_eq!(shard, hashed.h0() >> 58);
    /// assert_eq!(rest.h0(), hashed.h0() << 6);
    /// assert_eq!(rest.bits(0, 40), hashed.bits(0, 40));
    /// ```
    ///
    /// # Panics
    /// If `bits` is greater than 32.
    #[inline]
    #[must_use]
    pub fn split_top(mut self, bits: u32) -> (u64, Self) {
        assert!(bits <= 32, "at most 32 bits, not {bits}");
        let [h0, h1] = self.first;
        if let Source::Mixed = self.source {
            // What is left must go on as it was.
            let words: Vec<u64> = (0..Self::MAX_WORDS).map(|i| self.word(i)).collect();
            self.source = Source::Words(Cow::Owned(words));
        }
        self.first = [h0 << bits, h1];
        // Two steps, because a shift by all 64 bits is none.
        (h0 >> 1 >> (63 - bits), self)
    }

    /// The same stream, independent of whatever lent the key.
    #[must_use]
    pub fn into_owned(self) -> Hashed<'static> {
        Hashed {
            first: self.first,
            source: match self.source {
                Source::Key {
                    pair,
                    kind,
                    seed,
                    key,
                } => Source::Key {
                    pair,
                    kind,
                    seed,
                    key: key.into_owned(),
                },
                Source::Words(words) => Source::Words(Cow::Owned(words.into_owned())),
                Source::Mixed => Source::Mixed,
            },
        }
    }

    /// Words `2 * number` and `2 * number + 1`.
    #[inline]
    fn pair(&self, number: u64) -> [u64; 2] {
        if number == 0 {
            self.first
        } else {
            self.later_pair(number)
        }
    }

    #[cold]
    fn later_pair(&self, number: u64) -> [u64; 2] {
        match &self.source {
            Source::Key {
                pair, seed, key, ..
            } => pair(seed, key, number),
            Source::Words(words) => chosen_pair(words, number),
            Source::Mixed => mixed_pair(self.first[0], number),
        }
    }
}

/// A pair of a stream of chosen words.
fn chosen_pair(words: &[u64], number: u64) -> [u64; 2] {
    let pairs = words.len().div_ceil(2) as u64;
    if number >= pairs {
        return [0; 2];
    }
    // Less than `pairs`, hence no more than a `usize` holds.
    let at = 2 * number as usize;
    [words[at], words.get(at + 1).copied().unwrap_or(0)]
}

/// A pair of the stream behind a chosen `h0`: word `i` is `h0` for 0, a SplitMix64 step
/// from it for others.
const fn mixed_pair(h0: u64, number: u64) -> [u64; 2] {
    let step = number.wrapping_mul(2).wrapping_mul(GOLDEN);
    let even = match number {
        0 => h0,
        _ => mix(h0.wrapping_add(step)),
    };
    [even, mix(h0.wrapping_add(step).wrapping_add(GOLDEN))]
}

impl fmt::Debug for Hashed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Hashed");
        match &self.source {
            Source::Key { kind, key, .. } => out.field("hash", kind).field("key_len", &key.len()),
            Source::Words(words) => out.field("words", &words.len()),
            Source::Mixed => &mut out,
        };
        out.finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Sip13;
    use super::*;

    /// Some streams of every source.
    fn streams() -> Vec<Hashed<'static>> {
        let seed = Seed::from_u64(11);
        vec![
            Hashed::new::<Sip13, _>(&seed, &17_u64).into_owned(),
            Hashed::new::<Sip13, _>(&seed, "").into_owned(),
            Hashed::new::<Sip13, _>(&seed, "a key that is too long to be kept in place")
                .into_owned(),
            Hashed::from_words(&[]),
            Hashed::from_words(&[5]),
            Hashed::from_words(&[1, u64::MAX, 3, 0x8000_0000_0000_0001, 5]),
            Hashed::from_words(&[1, u64::MAX, 3, 0x8000_0000_0000_0000, 5]),
            Hashed::from_h0(99),
        ]
    }

    /// The stream from `h1` on, a bit at a time.
    fn naive(hashed: &Hashed<'_>) -> Vec<u64> {
        let words = (1..8).map(|i| hashed.word(i));
        words
            .flat_map(|word| (0..64).rev().map(move |bit| word >> bit & 1))
            .collect()
    }

    #[test]
    fn bits_against_single_bits() {
        for hashed in streams() {
            let naive = naive(&hashed);
            for from in 0..330 {
                for width in 1..=56 {
                    let expected = naive[from..from + width]
                        .iter()
                        .fold(0, |bits, bit| bits << 1 | bit);
                    let bits = hashed.bits(from as u64, width as u32);
                    assert_eq!(bits, expected, "{width} bits at {from}");
                }
            }
        }
    }

    #[test]
    fn bits_at_the_end_of_counting() {
        for hashed in streams() {
            let last = u64::MAX - 63;
            let whole = hashed.bits(last, 56) << 8 | hashed.bits(last + 56, 8);
            // Word 2^58 is the first one of its pair.
            assert_eq!(hashed.pair(1 << 57)[0], whole);
        }
    }

    #[test]
    #[should_panic(expected = "1 to 56 bits, not 57")]
    fn bits_of_excessive_width() {
        let _ = Hashed::from_h0(1).bits(0, 57);
    }

    #[test]
    #[should_panic(expected = "1 to 56 bits, not 0")]
    fn bits_of_no_width() {
        let _ = Hashed::from_h0(1).bits(0, 0);
    }

    #[test]
    fn common_bits_against_single_bits() {
        for one in streams() {
            for two in streams() {
                let (ones, twos) = (naive(&one), naive(&two));
                let common = ones.iter().zip(&twos).take_while(|(a, b)| a == b).count();
                for limit in 0..=7 {
                    let expected = common.min(64 * limit) as u64;
                    assert_eq!(one.common_bits(&two, limit as u32), expected);
                }
            }
        }
    }

    #[test]
    fn common_bits_ignore_h0() {
        let one = Hashed::from_words(&[1, 7, 8]);
        let two = Hashed::from_words(&[2, 7, 8 + (1 << 20)]);
        assert_eq!(one.common_bits(&two, 64), 64 + 43);
        let three = Hashed::from_words(&[3, 7, 8]);
        assert_eq!(one.common_bits(&three, 64), 64 * 64);
    }

    #[test]
    fn ways_to_the_same_stream() {
        let seed = Seed::from_u64(4);
        let text = String::from("a key that is too long to be kept in place");
        let borrowed = Hashed::new::<Sip13, _>(&seed, &text);
        let bytes = Hashed::from_bytes::<Sip13>(&seed, text.as_bytes());
        let owned = borrowed.clone().into_owned();
        for i in 0..100 {
            let pair = Sip13::pair(&seed, text.as_bytes(), u64::from(i / 2));
            assert_eq!(borrowed.word(i), pair[(i % 2) as usize]);
            assert_eq!(borrowed.word(i), bytes.word(i));
            assert_eq!(borrowed.word(i), owned.word(i));
        }
        assert_eq!(owned.key(), Some(text.as_bytes()));
    }

    #[test]
    fn chosen_words_end_in_zeros() {
        let words: Vec<u64> = (1..=9).collect();
        for len in 0..=words.len() {
            let hashed = Hashed::from_words(&words[..len]);
            for hashed in [hashed.clone(), hashed.into_owned()] {
                for i in 0..20_u32 {
                    let expected = words[..len].get(i as usize).copied().unwrap_or(0);
                    assert_eq!(hashed.word(i), expected);
                }
                assert_eq!(hashed.key(), None);
            }
        }
    }

    #[test]
    fn chosen_h0() {
        let hashed = Hashed::from_h0(7);
        assert_eq!(hashed.h0(), 7);
        assert_eq!(hashed.key(), None);
        for i in 1..20_u64 {
            let expected = mix(i.wrapping_mul(GOLDEN).wrapping_add(7));
            assert_eq!(hashed.word(i as u32), expected);
        }
    }

    #[test]
    fn debug_leaks_nothing() {
        let seed = Seed::from_bytes([0xab; 16]);
        let hashed = Hashed::new::<Sip13, _>(&seed, "the key");
        assert_eq!(
            format!("{hashed:?}"),
            "Hashed { hash: SipHash13, key_len: 7, .. }"
        );
        let words = Hashed::from_words(&[12_345, 67_890]);
        assert_eq!(format!("{words:?}"), "Hashed { words: 2, .. }");
        assert_eq!(format!("{:?}", Hashed::from_h0(12_345)), "Hashed { .. }");
    }

    #[test]
    fn send_and_sync() {
        fn check<T: Send + Sync>() {}
        check::<Hashed<'_>>();
    }
}
