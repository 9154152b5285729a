//! The measures of a partial-key filter, and what follows from them.

use super::lanes::SLOTS;
use crate::bits::{Below, bytes_of_cells};
use crate::error::Error;
use crate::geometry::Geometry;
use crate::sizing::check_fpr;

/// How the four fingerprints of a bucket are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Packing {
    /// As they are: `w` bits each. The fastest.
    #[default]
    Whole,
    /// Sorted by four of their bits, whose order then need not be stored: `w - 1` bits each.
    /// Reading takes a table of 8 KiB, writing a sort of four numbers.
    SemiSorted,
}

impl Packing {
    /// The number that stands for it in a file.
    pub(super) const fn code(self) -> u8 {
        match self {
            Packing::Whole => 0,
            Packing::SemiSorted => 1,
        }
    }

    pub(super) const fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Packing::Whole),
            1 => Some(Packing::SemiSorted),
            _ => None,
        }
    }
}

/// Buckets of four slots, the width of a fingerprint, and how it is stored.
///
/// ```
/// use twiceshy::cuckoo::{Packing, Shape};
///
/// let shape = Shape::new(1_000, 12, Packing::Whole)?;
/// assert_eq!(shape.slots(), 4_000);
/// // At a load of 90% about 7.2 fingerprints are compared, each of 4095 possible ones.
/// assert!((shape.expected_fpr(3_600) - 7.2 / 4095.0).abs() < 1e-5);
/// # Ok::<(), twiceshy::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    buckets: u64,
    bits: u32,
    packing: Packing,
    /// `2^bits - 1`, at hand for every lookup.
    fingerprints: u64,
}

/// Where a key lives and what is stored of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Home {
    pub(super) bucket: u64,
    /// From 1 on: zero is an empty slot.
    pub(super) fingerprint: u64,
}

impl Shape {
    /// The narrowest fingerprint.
    pub const MIN_BITS: u32 = 4;

    /// The widest fingerprint.
    pub const MAX_BITS: u32 = 32;

    /// So many buckets, any number, of four fingerprints of 4 to 32 bits.
    ///
    /// # Errors
    /// [`Error::Geometry`] if there is no such filter: a hash has 64 bits, and bucket and
    /// fingerprint can take 58 of them.
    pub fn new(buckets: u64, fingerprint_bits: u32, packing: Packing) -> Result<Self, Error> {
        check_bits(fingerprint_bits)?;
        if buckets == 0 {
            return Err(Error::geometry("a filter has at least one bucket"));
        }
        let slots = buckets.checked_mul(SLOTS.into());
        let slots = slots.ok_or_else(|| Error::geometry("so many slots can't be counted"))?;
        Geometry::new(slots, fingerprint_bits)?;
        Ok(Shape {
            buckets,
            bits: fingerprint_bits,
            packing,
            fingerprints: (1 << fingerprint_bits) - 1,
        })
    }

    /// The shape for `capacity` keys at a false-positive rate of at most `fpr` when all of them
    /// are in.
    ///
    /// # Errors
    /// [`Error::Geometry`] if there is none.
    pub fn for_capacity(capacity: u64, fpr: f64, packing: Packing) -> Result<Self, Error> {
        let bits = fingerprint_bits(fpr, f64::from(2 * SLOTS) * PLANNED_LOAD)?;
        Shape::new(buckets_for(capacity)?, bits, packing)
    }

    /// Buckets.
    #[must_use]
    pub fn buckets(&self) -> u64 {
        self.buckets
    }

    /// Slots: four for each bucket.
    #[must_use]
    pub fn slots(&self) -> u64 {
        self.buckets * u64::from(SLOTS)
    }

    /// Bits of a fingerprint.
    #[must_use]
    pub fn fingerprint_bits(&self) -> u32 {
        self.bits
    }

    /// How fingerprints are stored.
    #[must_use]
    pub fn packing(&self) -> Packing {
        self.packing
    }

    /// The different fingerprints that there are: all but zero.
    #[inline]
    pub(super) fn fingerprints(&self) -> u64 {
        self.fingerprints
    }

    /// Bits of a stored bucket.
    pub(super) fn bucket_bits(&self) -> u32 {
        match self.packing {
            Packing::Whole => SLOTS * self.bits,
            Packing::SemiSorted => SLOTS * (self.bits - 1),
        }
    }

    /// Bytes of the table; `None` if they can't be addressed.
    pub(super) fn checked_bytes(&self) -> Option<usize> {
        bytes_of_cells(self.buckets, self.bucket_bits())
    }

    /// Bytes of the table.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.checked_bytes().map_or(u64::MAX, |bytes| bytes as u64)
    }

    /// The chance that a key that was never inserted is answered "maybe", with `items` keys in
    /// the filter.
    ///
    /// A fingerprint and its two buckets are one of `buckets * (2^w - 1) / 2` classes; a query
    /// is wrong if some key is of its class.
    #[must_use]
    pub fn expected_fpr(&self, items: u64) -> f64 {
        let classes = self.buckets as f64 * self.fingerprints() as f64 / 2.0;
        // With one bucket both are the same, and there are twice as many.
        let classes = if self.buckets == 1 {
            2.0 * classes
        } else {
            classes
        };
        -(items as f64 * (-1.0 / classes).ln_1p()).exp_m1()
    }

    /// The high word of `h0 * buckets` is the bucket; the low word, cut to the number of
    /// fingerprints in the same way, the fingerprint. `buckets` are those of the shape.
    #[inline]
    pub(super) fn home(&self, buckets: &Below, h0: u64) -> Home {
        debug_assert_eq!(buckets.end(), self.buckets);
        let (bucket, rest) = buckets.scale(h0);
        let fingerprint = u128::from(rest) * u128::from(self.fingerprints());
        Home {
            bucket,
            fingerprint: 1 + (fingerprint >> 64) as u64,
        }
    }
}

/// The load that a capacity is planned for. Tables of this kind take keys up to about 96%, but
/// the last ones take long.
pub(super) const PLANNED_LOAD: f64 = 0.94;

/// Buckets for so many keys at [`PLANNED_LOAD`], and some more because small tables vary more. An
/// even number, so that no bucket is its own [other](super::alternate) one.
pub(super) fn buckets_for(capacity: u64) -> Result<u64, Error> {
    let slots = u128::from(capacity.max(1)) * 100;
    let luck = 8 + capacity.isqrt() / 2;
    u64::try_from(slots.div_ceil(94) + u128::from(luck))
        .map(|slots| slots.div_ceil(u64::from(2 * SLOTS)) * 2)
        .map_err(|_| Error::geometry(format!("a capacity of {capacity} keys is too large")))
}

/// Fingerprint bits for a false-positive rate of at most `fpr` when a query is compared with so
/// many fingerprints.
pub(super) fn fingerprint_bits(fpr: f64, compared: f64) -> Result<u32, Error> {
    check_fpr(fpr)?;
    let bits = (compared / fpr + 1.0).log2().ceil();
    if bits > f64::from(Shape::MAX_BITS) {
        return Err(Error::geometry(format!(
            "a false-positive rate of {fpr:e} needs fingerprints of more than {} bits",
            Shape::MAX_BITS
        )));
    }
    Ok((bits as u32).max(Shape::MIN_BITS))
}

pub(super) fn check_bits(bits: u32) -> Result<(), Error> {
    if (Shape::MIN_BITS..=Shape::MAX_BITS).contains(&bits) {
        return Ok(());
    }
    Err(Error::geometry(format!(
        "fingerprints have {} to {} bits, not {bits}",
        Shape::MIN_BITS,
        Shape::MAX_BITS
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_filter_keeps_its_promise() {
        for capacity in [1, 10, 1_000, 1_000_003] {
            for fpr in [0.5, 0.1, 0.01, 1.0 / 512.0, 1e-6] {
                for packing in [Packing::Whole, Packing::SemiSorted] {
                    let shape = Shape::for_capacity(capacity, fpr, packing).unwrap();
                    assert!(shape.expected_fpr(capacity) <= fpr, "{shape:?}");
                }
            }
        }
        let shape = Shape::for_capacity(1_000_000, 0.002, Packing::Whole).unwrap();
        assert_eq!(shape.fingerprint_bits(), 12);
    }

    #[test]
    fn homes_cover_everything() {
        let home = |buckets, bits, h0| {
            let shape = Shape::new(buckets, bits, Packing::Whole).unwrap();
            let Home {
                bucket,
                fingerprint,
            } = shape.home(&Below::new(buckets).unwrap(), h0);
            (bucket, fingerprint)
        };
        assert_eq!(home(5, 4, u64::MAX), (4, 15));
        assert_eq!(home(5, 4, 0), (0, 1));
        let last = ((1 << 26) - 1, u64::from(u32::MAX));
        assert_eq!(home(1 << 26, 32, u64::MAX), last);
    }

    #[test]
    fn impossible_wishes_say_why() {
        let message = |result: Result<Shape, Error>| result.unwrap_err().to_string();
        let new = |buckets, bits| message(Shape::new(buckets, bits, Packing::Whole));
        assert!(new(0, 8).contains("at least one bucket"));
        assert!(new(9, 3).contains("4 to 32 bits"));
        assert!(new(9, 33).contains("4 to 32 bits"));
        assert!(new(u64::MAX / 2, 8).contains("counted"));
        assert!(new(1 << 50, 20).contains("60 bits"));
        let fpr = |fpr| message(Shape::for_capacity(9, fpr, Packing::Whole));
        assert!(fpr(1.5).contains("between 0 and 1"));
        assert!(fpr(1e-12).contains("more than 32 bits"));
        assert!(message(Shape::for_capacity(u64::MAX, 0.1, Packing::Whole)).contains("too large"));
    }
}
