//! From hash to slot: the quotient, the remainder and the minirun id, for tables of any size.

use std::fmt;
use std::ops::RangeInclusive;

use crate::bits::{Packed, mask_below};
use crate::error::Error;

/// How many slots there are and how many remainder bits each holds.
///
/// The 64-bit hash word `h0` is multiplied by the number of slots `n`. The high word of
/// the 128-bit product is the quotient, the top `r` bits of the low word are the
/// remainder:
///
/// ```text
///   h0 * n   =  [ quotient: 0..n | remainder: r bits | dropped ]
///                 high word        low word
/// ```
///
/// So `n` can be any number, and the map is monotone: slot order is hash order. With
/// `N = n * 2^r`, the *minirun id* is `quotient * 2^r + remainder`, a number below `N`,
/// and all `h0` of one id form a range ([`hash_range`](Self::hash_range)).
///
/// ```
/// use twiceshy::Geometry;
///
/// let geometry = Geometry::new(1_000, 9)?;
/// let id = geometry.id(0x0123_4567_89ab_cdef);
/// assert!(geometry.hash_range(id).contains(&0x0123_4567_89ab_cdef));
/// // Twice the slots, one bit less: every id stays.
/// assert_eq!(Geometry::new(2_000, 8)?.id(0x0123_4567_89ab_cdef), id);
/// # Ok::<(), twiceshy::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    slots: u64,
    remainder_bits: u32,
    /// `64 - remainder_bits`: the bits of the low word that are dropped.
    dropped_bits: u32,
}

/// What a hash says about where a fingerprint lives: its slot and what to store there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint {
    /// The home slot, below [`Geometry::slots`].
    pub quotient: u64,
    /// The [`Geometry::remainder_bits`] bits that are stored.
    pub remainder: u64,
}

impl Geometry {
    /// An id must fit in this many bits.
    pub const MAX_ID_BITS: u32 = 60;

    /// A geometry of `slots` slots and `remainder_bits` bits.
    ///
    /// # Errors
    /// [`Error::Geometry`] unless there is at least one slot, a remainder has 1 to 56
    /// bits, and `slots * 2^remainder_bits` is at most `2^60`.
    pub fn new(slots: u64, remainder_bits: u32) -> Result<Self, Error> {
        if slots == 0 {
            return Err(Error::geometry("a filter needs at least one slot"));
        }
        if !(1..=Packed::MAX_BITS).contains(&remainder_bits) {
            return Err(Error::geometry(format!(
                "a remainder has 1 to {} bits, not {remainder_bits}",
                Packed::MAX_BITS
            )));
        }
        if u128::from(slots) << remainder_bits > 1 << Self::MAX_ID_BITS {
            return Err(Error::geometry(format!(
                "{slots} slots with {remainder_bits}-bit remainders need fingerprints of more \
                 than {} bits; take fewer slots or a higher false-positive rate",
                Self::MAX_ID_BITS
            )));
        }
        Ok(Self::of_table(slots, remainder_bits))
    }

    /// A geometry of 1 to 56 remainder bits, whether ids fit in a word or not: they do unless a table is
    /// built for its own sake.
    pub(crate) fn of_table(slots: u64, remainder_bits: u32) -> Self {
        Geometry {
            slots,
            remainder_bits,
            dropped_bits: 64 - remainder_bits,
        }
    }

    /// Twice the slots, or more if they are very few, with remainders as before: for a filter that is full.
    pub(crate) fn grown(&self) -> Result<Self, Error> {
        // Below two blocks the spare slots outnumber the others, and twice may be no more.
        let times = 128_u64.div_ceil(self.slots).max(2);
        let slots = self.slots.checked_mul(times);
        let slots = slots.ok_or_else(|| Error::geometry("there are too many slots to double"))?;
        Self::new(slots, self.remainder_bits)
    }

    /// Slots that quotients point at.
    #[inline(always)]
    #[must_use]
    pub fn slots(&self) -> u64 {
        self.slots
    }

    /// Bits of a remainder.
    #[inline(always)]
    #[must_use]
    pub fn remainder_bits(&self) -> u32 {
        self.remainder_bits
    }

    /// Where a key with first hash word `h0` lives.
    #[inline(always)]
    #[must_use]
    pub fn fingerprint(&self, h0: u64) -> Fingerprint {
        let product = u128::from(h0) * u128::from(self.slots);
        Fingerprint {
            quotient: (product >> 64) as u64,
            // The mask is free, and tells the compiler that the shift is in range.
            remainder: product as u64 >> (self.dropped_bits & 63),
        }
    }

    /// The minirun id of a hash.
    #[inline]
    #[must_use]
    pub fn id(&self, h0: u64) -> u64 {
        self.id_of(self.fingerprint(h0))
    }

    /// The minirun id of a fingerprint.
    #[inline]
    #[must_use]
    pub fn id_of(&self, fingerprint: Fingerprint) -> u64 {
        fingerprint.quotient << self.remainder_bits | fingerprint.remainder
    }

    /// The fingerprint of a minirun id.
    #[inline]
    #[must_use]
    pub fn fingerprint_of(&self, id: u64) -> Fingerprint {
        Fingerprint {
            quotient: id >> self.remainder_bits,
            remainder: id & mask_below(self.remainder_bits),
        }
    }

    /// How many ids there are: `N = slots * 2^remainder_bits`.
    #[inline]
    #[must_use]
    pub fn ids(&self) -> u64 {
        self.slots << self.remainder_bits
    }

    /// All `h0` whose minirun is `id`, which is below [`ids`](Self::ids): from
    /// `ceil(id * 2^64 / N)` up to, not including, `ceil((id + 1) * 2^64 / N)`.
    /// Ceilings, because `floor(h0 * N / 2^64) == id` means `h0 >= id * 2^64 / N`.
    #[must_use]
    pub fn hash_range(&self, id: u64) -> RangeInclusive<u64> {
        debug_assert!(id < self.ids());
        let first = |id: u64| (u128::from(id) << 64).div_ceil(u128::from(self.ids()));
        // The end of the last id is 2^64, so its inclusive end still fits a word.
        first(id) as u64..=(first(id + 1) - 1) as u64
    }
}

impl fmt::Debug for Geometry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Geometry")
            .field("slots", &self.slots)
            .field("remainder_bits", &self.remainder_bits)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_partition_the_hashes() {
        for (slots, bits) in [
            (1, 1),
            (3, 2),
            (7, 4),
            (64, 5),
            (1000, 9),
            ((1 << 40) + 1, 19),
        ] {
            let geometry = Geometry::new(slots, bits).unwrap();
            let last = geometry.ids() - 1;
            assert_eq!(*geometry.hash_range(0).start(), 0);
            assert_eq!(*geometry.hash_range(last).end(), u64::MAX);
            for id in (0..1000)
                .chain(last.saturating_sub(1000)..last)
                .filter(|&id| id < last)
            {
                let range = geometry.hash_range(id);
                assert_eq!(geometry.id(*range.start()), id);
                assert_eq!(geometry.id(*range.end()), id);
                assert_eq!(*geometry.hash_range(id + 1).start(), range.end() + 1);
                assert_eq!(geometry.id_of(geometry.fingerprint_of(id)), id);
            }
        }
    }

    #[test]
    fn doubling_keeps_every_id() {
        let mut h0 = 1_u64;
        for _ in 0..10_000 {
            h0 = h0.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31) ^ 5;
            let narrow = Geometry::new(12_345, 12).unwrap();
            let wide = Geometry::new(12_345 * 8, 9).unwrap();
            assert_eq!(narrow.id(h0), wide.id(h0));
        }
    }

    #[test]
    fn impossible_geometries_say_why() {
        let message = |slots, bits| Geometry::new(slots, bits).unwrap_err().to_string();
        assert!(message(0, 8).contains("at least one slot"));
        assert!(message(10, 0).contains("1 to 56 bits, not 0"));
        assert!(message(10, 57).contains("1 to 56 bits, not 57"));
        assert!(message((1 << 40) + 1, 20).contains("more than 60 bits"));
        assert!(Geometry::new(1 << 40, 20).is_ok());
    }
}
