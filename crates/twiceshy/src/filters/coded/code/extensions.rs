//! Extensions of fingerprints: strings of bits of any length.
//!
//! A fingerprint that has to differ from a query gets the bits of its key's hash up to the
//! first one that differs: `k` bits with probability `2^-k`, each of the `2^k` strings alike.
//! Nothing of this depends on the width of remainders.

use super::coder::{Alphabet, Part};

/// The bits of a key's stream that continue its home fingerprint. The default is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Extension {
    len: u8,
    bits: u32,
}

impl Extension {
    /// The longest extension. A code has room for fewer bits than this.
    pub const MAX_LEN: u32 = 30;

    /// The extension of the `len` lowest bits of `bits`; `None` if that is too long.
    #[must_use]
    pub fn new(len: u32, bits: u64) -> Option<Self> {
        (len <= Self::MAX_LEN).then(|| Extension {
            len: len as u8,
            bits: (bits & ((1 << len) - 1)) as u32,
        })
    }

    /// How many bits there are.
    #[inline]
    #[must_use]
    pub fn len(self) -> u32 {
        u32::from(self.len)
    }

    /// Are there none?
    #[inline]
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The bits; the first one is the most significant.
    #[inline]
    #[must_use]
    pub fn bits(self) -> u64 {
        u64::from(self.bits)
    }
}

/// The alphabet of extensions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extensions;

/// One slot in ten has an extension: with four bits each (two for the length, two for the
/// bits, on average) a block's code is full then.
const NOTHING: u64 = u64::MAX / 10 * 9;

impl Alphabet for Extensions {
    type Symbol = Extension;

    fn nothing(&self) -> u64 {
        NOTHING
    }

    /// ```text
    /// width        |      1 bit      |  2 bits |  3 | …
    ///              |   0    |   1    |         |
    /// ```
    #[inline(always)]
    fn part(&self, width: u64, symbol: Extension) -> Option<Part> {
        let len = symbol.len();
        if !(1..=Extension::MAX_LEN).contains(&len) {
            return None;
        }
        Some(piece(width, len, symbol.bits())).filter(|part| part.width > 0)
    }

    #[inline(always)]
    fn find(&self, width: u64, at: u64) -> Option<(Extension, Part)> {
        // Numbers of length k and more: the last `width >> (k - 1)`. So it is the first power of
        // two down from `width` that is at most as large as the rest, or the one before.
        let rest = width - at;
        let halvings = rest.leading_zeros() - width.leading_zeros();
        let len = halvings + u32::from(rest <= width >> halvings);
        if len > Extension::MAX_LEN {
            return None;
        }
        let (from, share) = of_length(width, len);
        let at = at - from;
        debug_assert!(at < share);
        // The last piece that starts at or before it.
        let bits = (((at + 1) << len) - 1) / share;
        let extension = Extension {
            len: len as u8,
            bits: bits as u32,
        };
        Some((extension, piece(width, len, bits)))
    }

    /// The bits behind a one that says where they begin: up to seven.
    #[inline(always)]
    fn byte_of(&self, symbol: Extension) -> Option<u8> {
        (1..=7)
            .contains(&symbol.len)
            .then(|| 1 << symbol.len | symbol.bits as u8)
    }

    #[inline(always)]
    fn symbol_of(&self, byte: u8) -> Option<Extension> {
        let len = byte.checked_ilog2().filter(|&len| len > 0)?;
        Extension::new(len, u64::from(byte))
    }
}

/// Where the extensions of `len` bits start in an interval, and how many numbers they have:
/// half of what the shorter ones leave.
#[inline(always)]
fn of_length(width: u64, len: u32) -> (u64, u64) {
    let rest = width >> (len - 1);
    (width - rest, rest - (width >> len))
}

/// The numbers of the extension of `len` bits that are `bits`. All `2^len` of them have no more
/// than the interval, and a rounding, so that the products fit a word.
#[inline(always)]
fn piece(width: u64, len: u32, bits: u64) -> Part {
    let (from, share) = of_length(width, len);
    let (low, end) = ((share * bits) >> len, (share * (bits + 1)) >> len);
    Part {
        low: from + low,
        width: end - low,
    }
}
