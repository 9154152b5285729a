//! How large a YES/NO list is, and which remainders make it smallest.
//!
//! # The formulas
//!
//! With `n` keys in `Y`, `m` in `N`, `q` quotients and `r` remainder bits, the NO keys that share
//! the home fingerprint of a given YES key are Poisson with mean `μ = m / (q 2^r)`. A YES key needs
//! its extension digit `j` (of `r` bits each) if one of them also shares the digits before, so
//! the slots that extensions take for a YES key are
//!
//! ```text
//! x  =  Σ_{j ≥ 0}  1 - exp(-μ 2^(-r j))
//! ```
//!
//! all slots are `U = n (1 + x)`, and of the keys on neither list
//!
//! ```text
//! ε  =  n exp(-μ) / (q 2^r)        plus what the extended ones match: at most n / (q 4^r)
//! ```
//!
//! are answered YES: only fingerprints without extension matter.
//!
//! # The rule
//!
//! A slot takes `r + 3.25` bits. Narrow remainders make cheap slots and many extensions; wide ones
//! the opposite. Both `x` and `U` follow from `r`, so all widths are tried and the smallest list
//! wins: about `r = log2(m/n) + 2` while that is above `log2(1/ε)`, and `log2(1/ε)` otherwise. How
//! many quotients? As few as the rate allows, but not fewer than `U - 2 sqrt(U)`: from there on the
//! table has next to no empty slot, and nothing is left to save.
//!
//! ![bits per YES key against the ratio of the lists](https://github.com/twiceshy/twiceshy/blob/HEAD/docs/lists.svg)
//!
//! The plot (`docs/lists.svg`, drawn by `twiceshy-lab lists`) has the size per YES key against the
//! ratio of the lists, beside the [`lower_bound`] of theorem 7 and other structures. The distance
//! to the bound is the metadata (3.25 bits a slot, of which 1.25 would be needed) and, around
//! `m/n = 1/ε`, the granularity of extensions: a digit where a bit would do.
//!
//! ```
//! use twiceshy::lists::plan;
//!
//! let plan = plan::smallest(10_000, 1_000_000, 1.0 / 512.0)?;
//! assert_eq!(plan.remainder_bits, 9);
//! assert!((14.0..14.6).contains(&(plan.bits / 10_000.0)));
//! assert!((9.0..9.5).contains(&(plan::lower_bound(10_000, 1_000_000, 1.0 / 512.0) / 10_000.0)));
//! # Ok::<(), twiceshy::Error>(())
//! ```

use super::check_rate;
use crate::bits::Packed;
use crate::error::Error;
use crate::geometry::Geometry;

/// Bits of a slot beside its remainder.
pub(super) const METADATA_BITS: f64 = 3.25;

/// The measures of a list, as they are expected before its keys are looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// Bits of a remainder.
    pub remainder_bits: u32,
    /// Slots that quotients point at.
    pub quotients: f64,
    /// Slots that are used: one for each YES key, and those of the extensions.
    pub used: f64,
    /// Bits of the table.
    pub bits: f64,
}

/// The slots that extensions take for each YES key: `Σ_{j ≥ 0} 1 - exp(-μ 2^(-r j))`.
///
/// ```
/// use twiceshy::lists::plan::extension_slots;
///
/// assert_eq!(extension_slots(0.0, 9), 0.0);
/// // Half a NO key for each fingerprint: two in five YES keys need one more slot.
/// assert!((extension_slots(0.5, 9) - 0.3944).abs() < 1e-3);
/// ```
#[must_use]
pub fn extension_slots(mu: f64, remainder_bits: u32) -> f64 {
    let scale = f64::exp2(-f64::from(remainder_bits));
    let (mut mu, mut sum) = (mu, 0.0);
    while mu > 1e-12 {
        sum -= f64::exp_m1(-mu);
        mu *= scale;
    }
    sum
}

/// The least bits that any list of `yes` and `no` keys can have at rate `fpr` (theorem 7):
/// `n log2(max(1/ε, m/n)) + log2(e) min(ε m, n)`.
#[must_use]
pub fn lower_bound(yes: u64, no: u64, fpr: f64) -> f64 {
    if yes == 0 {
        return 0.0;
    }
    let (n, m) = (yes as f64, no as f64);
    n * f64::max(1.0 / fpr, m / n).log2() + std::f64::consts::LOG2_E * f64::min(fpr * m, n)
}

/// The smallest list of `yes` and `no` keys that answers YES to at most the share `fpr` of
/// other keys. A rate of 1 promises nothing for them.
///
/// # Errors
/// [`Error::Geometry`] if the rate is not between 0 and 1, or no list has these measures.
pub fn smallest(yes: u64, no: u64, fpr: f64) -> Result<Plan, Error> {
    check_rate(fpr)?;
    let plans = (1..=Packed::MAX_BITS).map(|bits| of_width(yes as f64, no as f64, fpr, bits));
    let possible = plans.filter(|plan| {
        let quotients = (plan.quotients.ceil() as u64).saturating_add(1);
        Geometry::new(quotients, plan.remainder_bits).is_ok()
    });
    possible
        .min_by(|a, b| a.bits.total_cmp(&b.bits))
        .ok_or_else(|| {
            Error::geometry(format!(
                "{yes} YES keys at a rate of {fpr:e} need fingerprints of more than {} bits",
                Geometry::MAX_ID_BITS
            ))
        })
}

/// The list with remainders of this width.
fn of_width(n: f64, m: f64, fpr: f64, remainder_bits: u32) -> Plan {
    let fingerprints = f64::exp2(f64::from(remainder_bits));
    let (mut quotients, mut used) = (n.max(1.0), n);
    let mut least = 1.0;
    for _ in 0..100 {
        let mu = m / (quotients * fingerprints);
        used = n * (1.0 + extension_slots(mu, remainder_bits));
        let unextended = n * (-mu).exp() + n / fingerprints;
        let unextended = unextended.min(n);
        least = unextended / (fingerprints * fpr);
        let next = f64::max(least, fullest(used));
        if (next - quotients).abs() < 0.5 {
            break;
        }
        quotients = next;
    }
    // Where the rate asks for more quotients than slots are used, the last runs spill.
    let load = used / quotients;
    let spill = match load < 1.0 && quotients == least {
        true => f64::min(quotients.sqrt(), 1.0 / (1.0 - load)),
        false => 0.0,
    };
    let slots = f64::max(used, quotients + spill);
    Plan {
        remainder_bits,
        quotients,
        used,
        bits: slots * (f64::from(remainder_bits) + METADATA_BITS),
    }
}

/// How few quotients leave next to no empty slot in a table with so many used ones: two
/// standard deviations fewer than slots.
pub(super) fn fullest(used: f64) -> f64 {
    f64::max(1.0, used - 2.0 * used.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_are_counted_as_the_sum_says() {
        for bits in [1, 2, 9] {
            for mu in [1e-6, 0.1, 1.0, 50.0] {
                let term = |j: i32| 1.0 - (-mu * f64::exp2(-f64::from(bits) * f64::from(j))).exp();
                let sum: f64 = (0..64).map(term).sum();
                assert!((extension_slots(mu, bits as u32) - sum).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn plans_keep_their_rate_and_stay_above_the_bound() {
        for (n, m) in [
            (0, 0),
            (1, 0),
            (0, 9),
            (1_000, 10),
            (1_000_000, 1_000),
            (500, 500_000),
        ] {
            for fpr in [1.0, 0.25, 1.0 / 512.0, 1e-5] {
                let plan = smallest(n, m, fpr).unwrap();
                let ids = plan.quotients * f64::exp2(f64::from(plan.remainder_bits));
                let mu = m as f64 / ids;
                assert!(n as f64 * (-mu).exp() / ids <= fpr * 1.01, "{n} {m} {fpr}");
                assert!(plan.bits >= lower_bound(n, m, fpr));
            }
        }
    }

    #[test]
    fn impossible_wishes_say_why() {
        for fpr in [0.0, -1.0, 1.5, f64::NAN] {
            let error = smallest(10, 10, fpr).unwrap_err().to_string();
            assert!(error.contains("above 0 and at most 1"), "{error}");
        }
        let error = smallest(1 << 50, 0, 1e-9).unwrap_err().to_string();
        assert!(error.contains("60 bits"), "{error}");
    }
}
