//! Keys become endless streams of hash words.
//!
//! A filter remembers a few bits of a key's hash. An adaptive filter that gave a wrong
//! answer remembers a few more, as often as it takes, so a hash of any fixed width would
//! one day run out. Here it never does: a key's hash is a stream of 64-bit words
//! `h0, h1, h2, …`, and the later ones are made only when they are needed.
//!
//! ```text
//!           h0               h1               h2               h3
//!   +----------------+----------------+----------------+----------------+--
//!   |63             0|63             0|63             0|63             0| …
//!   +----------------+----------------+----------------+----------------+--
//!   |      home      |  extensions, most significant bit first  --->
//!   |   fingerprint  |^ bit 0          ^ bit 64         ^ bit 128
//!   '------------ pair 0 ------------'  '------------ pair 1 ------------'
//!         one call, at once                  one call, when needed
//! ```
//!
//! * `h0` places the key: quotient and remainder, the *home fingerprint*, are cut from
//!   it, and it is the order in which a reverse map keeps its keys.
//! * `h1` and everything behind it is for *extensions*, the further bits that tell a
//!   stored key from a query that was mistaken for it. [`Hashed::bits`] reads them.
//!
//! Words come in pairs, because both hashes here make 128 bits in one go. Nearly every
//! query ends with `h0` ([`first_word`]); the rest of pair 0
//! serves the few that adapt, and reaching `h2` takes two keys that agree in all of `h1`.
//!
//! # Which hash?
//!
//! | type | kind | made for |
//! | --- | --- | --- |
//! | [`Sip13`] (default) | keyed SipHash-1-3, 128 bits | keys that anybody may choose |
//! | `Xxh3` (feature `xxh3`) | XXH3, 128 bits | keys that no attacker chooses; a few times faster |
//!
//! Whoever can predict which keys collide can fill one minirun of a filter and make
//! every query for it slow or wrong. With [`Sip13`] and a random [`Seed`] that takes the
//! seed, which the filter keeps to itself. Choose `Xxh3` for your own serial numbers, not
//! for what arrives over a network. Any other hash can be had by implementing
//! [`StreamHash`].
//!
//! # Example
//!
//! ```
//! use twiceshy::hash::{Hashed, Seed, Sip13, StreamHash, first_word};
//!
//! let seed = Seed::from_u64(7); // `Seed::random()?` outside of examples
//! let hashed = Hashed::new::<Sip13, _>(&seed, "mallard");
//!
//! // Most lookups need the first word only, and get the same one.
//! assert_eq!(hashed.h0(), first_word::<Sip13, _>(&Sip13::keyed(&seed), "mallard"));
//!
//! // The first nine bits behind the home fingerprint are the top of `h1` …
//! assert_eq!(hashed.bits(0, 9), hashed.word(1) >> 55);
//! // … and the stream goes on for as long as anyone reads.
//! let far = hashed.bits(1_000_000, 32);
//! assert_eq!(far, Hashed::from_bytes::<Sip13>(&seed, b"mallard").bits(1_000_000, 32));
//!
//! // Two different keys part soon: after about one bit, on average.
//! let other = Hashed::new::<Sip13, _>(&seed, "teal");
//! assert!(hashed.common_bits(&other, Hashed::MAX_WORDS) < 64);
//! ```

mod hashed;
mod key;
mod key_bytes;
mod seed;
mod sip;
#[cfg(test)]
mod tests;
#[cfg(feature = "xxh3")]
mod xxh3;

use std::fmt;

pub use hashed::Hashed;
pub use key::Key;
pub use key_bytes::KeyBytes;
pub use seed::Seed;
pub use sip::Sip13;
#[cfg(feature = "xxh3")]
pub use xxh3::Xxh3;

/// A hash function that never runs out: from a seed and a key's bytes it makes word
/// after word, two at a time.
///
/// Implementors are markers without state, chosen by type parameter; [`Sip13`] is the
/// default everywhere.
///
/// # Contract
///
/// * **Deterministic**: the same seed, bytes and number give the same pair, on every
///   machine and in every later version. Files depend on it.
/// * **Uniform**: over random seeds, each bit of the stream is as good as a fair coin,
///   whatever the key.
/// * **Independent**: pairs of different number, and pairs of different keys, have
///   nothing to do with each other. In particular two keys whose pair 0 agrees must not
///   agree in later pairs for that reason: extending one word by mixing it further is
///   *not* a stream hash.
///
/// ```
/// use twiceshy::hash::{HashKind, Hashed, Seed, Sip13, StreamHash};
///
/// /// SipHash that tells apart what two tenants call the same.
/// #[derive(Clone, Copy)]
/// struct Tenant<const ID: u8>;
///
/// impl<const ID: u8> StreamHash for Tenant<ID> {
///     const KIND: HashKind = HashKind::Other;
///     type Keyed = Seed; // nothing is worth preparing
///
///     fn keyed(seed: &Seed) -> Seed {
///         *seed
///     }
///
///     fn first(seed: &Seed, key: &[u8]) -> u64 {
///         Self::pair(seed, key, 0)[0]
///     }
///
///     fn pair(seed: &Seed, key: &[u8], number: u64) -> [u64; 2] {
///         Sip13::pair(seed, &[&[ID], key].concat(), number)
///     }
/// }
///
/// let seed = Seed::from_u64(1);
/// let one = Hashed::new::<Tenant<1>, _>(&seed, "a key");
/// let two = Hashed::new::<Tenant<2>, _>(&seed, "a key");
/// assert_ne!(one.h0(), two.h0());
/// ```
pub trait StreamHash: Copy + Send + Sync + 'static {
    /// The name under which files know this hash; [`HashKind::Other`] for your own.
    const KIND: HashKind;

    /// What of the seed's work is the same for every key: a filter does it once. As
    /// secret as the seed.
    type Keyed: Copy + Send + Sync + 'static;

    /// Prepares [`first`](Self::first).
    fn keyed(seed: &Seed) -> Self::Keyed;

    /// Word 0 of the stream, the one that nearly every query needs and no more: the same
    /// as `pair(seed, key, 0)[0]`.
    fn first(keyed: &Self::Keyed, key: &[u8]) -> u64;

    /// Pair `number` of the stream: its words `2 * number` and `2 * number + 1`.
    fn pair(seed: &Seed, key: &[u8], number: u64) -> [u64; 2];
}

/// Which hash function a filter was built with, as stored in files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum HashKind {
    /// [`Sip13`].
    SipHash13 = 1,
    /// `Xxh3` (feature `xxh3`).
    Xxh3 = 2,
    /// A [`StreamHash`] that this crate does not know; only its author can open the file.
    Other = 255,
}

impl HashKind {
    /// The number that stands for this kind in a file.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The kind that `code` stands for, or `None` if this version knows no such kind.
    #[must_use]
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            1 => Some(HashKind::SipHash13),
            2 => Some(HashKind::Xxh3),
            255 => Some(HashKind::Other),
            _ => None,
        }
    }
}

impl fmt::Display for HashKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            HashKind::SipHash13 => "SipHash-1-3",
            HashKind::Xxh3 => "XXH3",
            HashKind::Other => "other",
        })
    }
}

/// Word `h0` of a key: the one that nearly every query needs, and nothing more.
///
/// The same as `Hashed::new::<H, K>(seed, key).h0()`, but the key never leaves the
/// registers where that is possible, and work that only later words need is not done.
/// `keyed` is `H::keyed(&seed)`.
#[inline(always)]
#[must_use]
pub fn first_word<H: StreamHash, K: Key + ?Sized>(keyed: &H::Keyed, key: &K) -> u64 {
    key.with_bytes(|bytes| H::first(keyed, bytes))
}

/// The golden ratio in 64 bits: an odd step that visits every word.
pub(crate) const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finalizer of SplitMix64: a bijection in which every input bit moves every output
/// bit. It is fixed and public, hence no secret.
#[inline]
pub(crate) const fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
