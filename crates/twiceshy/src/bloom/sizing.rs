//! How large a Bloom filter must be.
//!
//! With `b` bits a key and `k` hashes, a bit of a Bloom filter is set with probability
//! `1 - e^(-k / b)`, and all `k` bits of a key that is no member are with probability `(1 - e^(-k / b))^k`. The
//! best `k` is `b ln 2`: then half of the bits are set, and `b` is `1.44 log2(1 / fpr)`.
//!
//! A block of a blocked filter gets a number `j` of keys that varies, by Poisson's law with a
//! mean of `512 / b`; its rate is the mean of `(1 - (1 - k / 512)^j)^k`, a bit more than that
//! of a Bloom filter, the more so the lower the rate.

use crate::error::Error;
use crate::sizing::check_fpr;

/// Bits of an array and hashes of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Bits.
    pub bits: u64,
    /// Hashes: bits of a key.
    pub hashes: u32,
}

/// The smallest Bloom filter for `capacity` keys at a false-positive rate of `fpr`.
///
/// ```
/// use twiceshy::bloom::sizing;
///
/// let size = sizing::bloom(1_000_000, 0.01)?;
/// assert_eq!((size.bits >> 13, size.hashes), (1171, 7)); // 1171 KiB
/// # Ok::<(), twiceshy::Error>(())
/// ```
///
/// # Errors
/// [`Error::Geometry`] if there is none.
pub fn bloom(capacity: u64, fpr: f64) -> Result<Size, Error> {
    check_fpr(fpr)?;
    let best = (-fpr.log2()).clamp(1.0, 64.0);
    let sizes = [best.floor(), best.ceil()].map(|k| {
        // (1 - e^(-k / b))^k = fpr, solved for b.
        let per_key = -k / (-fpr.powf(1.0 / k)).ln_1p();
        (per_key, k as u32)
    });
    let (per_key, hashes) = if sizes[0].0 <= sizes[1].0 {
        sizes[0]
    } else {
        sizes[1]
    };
    size(capacity, per_key, hashes)
}

/// The smallest blocked Bloom filter for `capacity` keys at a false-positive rate of `fpr`.
///
/// ```
/// use twiceshy::bloom::sizing;
///
/// let size = sizing::blocked(1_000_000, 0.01)?;
/// assert_eq!((size.bits >> 13, size.hashes), (1232, 8)); // KiB: 5% more than a Bloom filter
/// # Ok::<(), twiceshy::Error>(())
/// ```
///
/// # Errors
/// [`Error::Geometry`] if there is none: below a rate of about 10⁻⁵ a blocked filter takes more
/// than twice the bits, and is refused.
pub fn blocked(capacity: u64, fpr: f64) -> Result<Size, Error> {
    check_fpr(fpr)?;
    let most = 2.0 * -fpr.log2() * std::f64::consts::LOG2_E + 8.0;
    let mut best: Option<(f64, u32)> = None;
    let mut eight = None;
    for hashes in 1..=16 {
        if blocked_fpr(most, hashes) > fpr {
            continue;
        }
        // The rate falls with the bits: halve the interval.
        let (mut low, mut high) = (0.5, most);
        for _ in 0..40 {
            let middle = (low + high) / 2.0;
            if blocked_fpr(middle, hashes) <= fpr {
                high = middle;
            } else {
                low = middle;
            }
        }
        if best.is_none_or(|(per_key, _)| high < per_key) {
            best = Some((high, hashes));
        }
        if hashes == 8 {
            eight = Some((high, hashes));
        }
    }
    // One hash for each word of a block is the fastest, and worth two per cent of the bits.
    let near = |of: &(f64, u32)| best.is_some_and(|(per_key, _)| of.0 <= 1.02 * per_key);
    let best = eight.filter(near).or(best);
    let Some((per_key, hashes)) = best else {
        return Err(Error::geometry(format!(
            "a false-positive rate of {fpr:e} takes a blocked Bloom filter too many bits; take \
             another filter, or a rate of 0.0001 and more"
        )));
    };
    let Size { bits, hashes } = size(capacity, per_key, hashes)?;
    let bits = bits.checked_next_multiple_of(512).ok_or_else(too_large)?;
    Ok(Size { bits, hashes })
}

/// The false-positive rate of a Bloom filter with so many bits a key.
#[must_use]
pub fn bloom_fpr(bits_per_key: f64, hashes: u32) -> f64 {
    let k = f64::from(hashes);
    (-(-k / bits_per_key).exp_m1()).powf(k)
}

/// The false-positive rate of a blocked Bloom filter with so many bits a key.
#[must_use]
pub fn blocked_fpr(bits_per_key: f64, hashes: u32) -> f64 {
    let k = f64::from(hashes);
    let mean = 512.0 / bits_per_key;
    let unset = (-k / 512.0).ln_1p();
    // The sum over all j that matter, from the middle outwards would be no better: the terms
    // are positive and few.
    let last = (mean + 12.0 * mean.sqrt() + 12.0).ceil() as u32;
    let mut log_chance = -mean;
    let mut rate = 0.0;
    for j in 0..=last {
        let fill = -(f64::from(j) * unset).exp_m1();
        rate += log_chance.exp() * fill.powf(k);
        log_chance += mean.ln() - f64::from(j + 1).ln();
    }
    rate
}

fn size(capacity: u64, per_key: f64, hashes: u32) -> Result<Size, Error> {
    let bits = (capacity.max(1) as f64 * per_key).ceil();
    // Geometry is checked where the filter is built; this is for the cast.
    if bits > 2_f64.powi(59) {
        return Err(too_large());
    }
    Ok(Size {
        bits: bits as u64,
        hashes,
    })
}

fn too_large() -> Error {
    Error::geometry("so many bits can't be counted; take a smaller capacity")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_reach_their_rate_and_no_more() {
        for fpr in [0.3, 0.1, 0.01, 1.0 / 512.0, 1e-4] {
            let Size { bits, hashes } = bloom(1_000_000, fpr).unwrap();
            let rate = bloom_fpr(bits as f64 / 1e6, hashes);
            assert!((rate / fpr - 1.0).abs() < 1e-3, "{rate} {fpr}");
            let ideal = -fpr.log2() * std::f64::consts::LOG2_E;
            assert!(bits as f64 / 1e6 < 1.06 * ideal, "{bits} {ideal}");

            let Size { bits, hashes } = blocked(1_000_000, fpr).unwrap();
            println!("{fpr}: {} bits, {hashes} hashes", bits as f64 / 1e6);
            let rate = blocked_fpr(bits as f64 / 1e6, hashes);
            assert!(rate <= fpr && rate > 0.99 * fpr, "{rate} {fpr}");
            assert_eq!(bits % 512, 0);
        }
    }

    #[test]
    fn poisson_weights_sum_to_one() {
        // With so many hashes and so few bits that every bit is set but in empty blocks.
        let mean: f64 = 512.0 / 40.0;
        let rate = blocked_fpr(40.0, 1);
        let direct = 1.0 - (mean * (1.0 - 1.0 / 512.0) - mean).exp();
        assert!((rate - direct).abs() < 1e-9, "{rate} {direct}");
    }

    #[test]
    fn impossible_wishes_say_why() {
        for fpr in [0.0, 1.0, f64::NAN] {
            assert!(bloom(9, fpr).unwrap_err().to_string().contains("between 0"));
            assert!(
                blocked(9, fpr)
                    .unwrap_err()
                    .to_string()
                    .contains("between 0")
            );
        }
        assert!(
            blocked(9, 1e-12)
                .unwrap_err()
                .to_string()
                .contains("too many")
        );
        assert!(
            bloom(u64::MAX, 0.1)
                .unwrap_err()
                .to_string()
                .contains("counted")
        );
        assert_eq!(bloom(0, 0.5).unwrap(), bloom(1, 0.5).unwrap());
    }
}
