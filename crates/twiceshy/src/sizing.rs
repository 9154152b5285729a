//! How large a filter must be: know before you allocate.
//!
//! A quotient filter with `n` slots, `r`-bit remainders and `m` items answers "maybe" to a
//! key that was never inserted with probability
//!
//! ```text
//! 1 - (1 - 1 / (n 2^r))^m   ~   (m / n) 2^-r
//! ```
//!
//! so a load `m / n` of 0.95 and `r = 9` give 0.00185. The functions here turn that around.
//!
//! ```
//! use twiceshy::sizing;
//!
//! let geometry = sizing::geometry(1_000_000, 0.002)?;
//! assert_eq!(geometry.remainder_bits(), 9);
//! assert!(sizing::expected_fpr(&geometry, 1_000_000) <= 0.002);
//! # Ok::<(), twiceshy::Error>(())
//! ```

use crate::error::Error;
use crate::geometry::Geometry;
use crate::table::{self, Bare, Marks};

pub use crate::table::spare_slots;

/// The highest load that we recommend: beyond it clusters, and so the time of an
/// insertion, grow without bound. Adaptations need slots as well; this leaves them room.
pub const MAX_LOAD: f64 = 0.95;

/// The geometry for `capacity` items at a false-positive rate of at most `fpr`, reached
/// when all of them are in.
///
/// # Errors
/// [`Error::Geometry`] if the rate is not between 0 and 1 or no geometry has both.
pub fn geometry(capacity: u64, fpr: f64) -> Result<Geometry, Error> {
    Geometry::new(slots(capacity)?, remainder_bits(fpr)?)
}

/// Slots for `capacity` items at [`MAX_LOAD`].
///
/// # Errors
/// [`Error::Geometry`] if that many can't be counted.
pub fn slots(capacity: u64) -> Result<u64, Error> {
    let slots = u128::from(capacity.max(1)) * 100;
    u64::try_from(slots.div_ceil(95))
        .map_err(|_| Error::geometry(format!("a capacity of {capacity} items is too large")))
}

/// Remainder bits for a false-positive rate of at most `fpr` at [`MAX_LOAD`].
///
/// # Errors
/// [`Error::Geometry`] if the rate is not between 0 and 1 (both excluded) or lower than
/// the widest remainder reaches.
pub fn remainder_bits(fpr: f64) -> Result<u32, Error> {
    check_fpr(fpr)?;
    // At least one bit; `expected_fpr` is below load / 2^r.
    let bits = (MAX_LOAD / fpr).log2().ceil().max(1.0);
    if bits > 56.0 {
        return Err(Error::geometry(format!(
            "a false-positive rate of {fpr:e} needs remainders of more than 56 bits"
        )));
    }
    Ok(bits as u32)
}

/// The chance that a key that was never inserted is answered "maybe", with `items` keys
/// in the filter.
#[must_use]
pub fn expected_fpr(geometry: &Geometry, items: u64) -> f64 {
    // 1 - (1 - 1/N)^m, without losing digits for large N.
    let miss = (-1.0 / geometry.ids() as f64).ln_1p();
    -(items as f64 * miss).exp_m1()
}

/// Bytes of a plain quotient filter of this geometry, spare slots and padding included:
/// what [`Stats::bytes`](crate::Stats::bytes) says once it is built.
///
/// ```
/// use twiceshy::{QuotientFilter, sizing};
///
/// let geometry = sizing::geometry(1_000_000, 0.01)?;
/// let filter = QuotientFilter::new(1_000_000, 0.01)?;
/// assert_eq!(sizing::plain_bytes(&geometry), filter.stats().bytes);
/// assert_eq!(sizing::plain_bytes(&geometry) >> 10, 1193); // KiB
/// # Ok::<(), twiceshy::Error>(())
/// ```
#[must_use]
pub fn plain_bytes(geometry: &Geometry) -> u64 {
    let size = table::size::<Bare>(geometry.slots(), geometry.remainder_bits(), None);
    let (_, bytes) = size.expect("a geometry has ids of at most 60 bits");
    bytes
}

/// Bytes of an adaptive quotient filter of this geometry without value bits, spare slots and
/// padding included.
///
/// ```
/// use twiceshy::{AdaptiveFilter, sizing};
///
/// let geometry = sizing::geometry(1_000_000, 0.01)?;
/// let filter = AdaptiveFilter::new(1_000_000, 0.01)?;
/// assert_eq!(sizing::adaptive_bytes(&geometry), filter.stats().bytes);
/// # Ok::<(), twiceshy::Error>(())
/// ```
#[must_use]
pub fn adaptive_bytes(geometry: &Geometry) -> u64 {
    let size = table::size::<Marks>(geometry.slots(), geometry.remainder_bits(), None);
    let (_, bytes) = size.expect("a geometry has ids of at most 60 bits");
    bytes
}

/// A false-positive rate lies between 0 and 1.
pub(crate) fn check_fpr(fpr: f64) -> Result<(), Error> {
    if fpr > 0.0 && fpr < 1.0 {
        return Ok(());
    }
    Err(Error::geometry(format!(
        "a false-positive rate lies between 0 and 1 (0.01 is one in a hundred), not {fpr}"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_filter_keeps_its_promise() {
        for capacity in [1, 10, 1_000, 1_000_003] {
            for fpr in [0.9, 0.5, 0.1, 0.01, 1.0 / 512.0, 1e-6, 1e-9] {
                let geometry = geometry(capacity, fpr).unwrap();
                assert!(expected_fpr(&geometry, capacity) <= fpr);
                assert!(capacity as f64 <= MAX_LOAD * geometry.slots() as f64 + 1e-9);
            }
        }
    }

    #[test]
    fn remainders_are_no_wider_than_needed() {
        assert_eq!(remainder_bits(1.0 / 512.0).unwrap(), 9);
        assert_eq!(remainder_bits(0.01).unwrap(), 7);
        assert_eq!(remainder_bits(0.99).unwrap(), 1);
    }

    #[test]
    fn impossible_wishes_say_why() {
        for fpr in [0.0, 1.0, -0.5, 7.0, f64::NAN, f64::INFINITY] {
            let error = remainder_bits(fpr).unwrap_err().to_string();
            assert!(error.contains("between 0 and 1"), "{error}");
        }
        assert!(
            remainder_bits(1e-30)
                .unwrap_err()
                .to_string()
                .contains("56 bits")
        );
        assert!(
            slots(u64::MAX)
                .unwrap_err()
                .to_string()
                .contains("too large")
        );
        assert!(
            geometry(1 << 50, 1e-9)
                .unwrap_err()
                .to_string()
                .contains("60 bits")
        );
    }

    #[test]
    fn every_geometry_has_a_size() {
        for bits in 1..=56 {
            let most = Geometry::new(1 << (60 - bits), bits).unwrap();
            let least = Geometry::new(1, bits).unwrap();
            assert!(plain_bytes(&most) >= plain_bytes(&least));
            // One quotient has 72 spare slots, which makes two blocks.
            let blocks = 2 * (18 + 8 * u64::from(bits));
            assert_eq!(plain_bytes(&least), blocks + 32);
        }
    }

    #[test]
    fn expected_fpr_matches_the_plain_formula() {
        let geometry = Geometry::new(100, 3).unwrap();
        for items in [0, 1, 50, 100] {
            let plain = 1.0 - (1.0 - 1.0 / 800.0_f64).powi(items);
            assert!((expected_fpr(&geometry, items as u64) - plain).abs() < 1e-12);
        }
    }
}
