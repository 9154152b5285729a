//! Figures for people. (Counts and bytes alone are `indicatif`'s.)

use indicatif::HumanCount;

/// A share as a percentage with as many digits as it takes: `12.5%`, `0.0031%`.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if !percent.is_finite() {
        return "-".into();
    }
    if percent == 0.0 {
        return "0%".into();
    }
    // Two digits that count, and never fewer than one behind the point.
    let digits = (1.0 - percent.abs().log10().floor()).clamp(1.0, 12.0);
    format!("{percent:.*}%", digits as usize)
}

/// A rate in words: `1 in 512`, as in "wrong for 1 in 512 keys".
pub(crate) fn one_in(rate: f64) -> String {
    if rate > 0.0 && rate.is_finite() {
        format!("1 in {}", HumanCount((1.0 / rate).round() as u64))
    } else {
        "0".into()
    }
}

/// `1 record`, `2 records`.
pub(crate) fn count(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {what}{plural}", HumanCount(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_well() {
        assert_eq!(percent(0.125), "12.5%");
        assert_eq!(percent(1.0), "100.0%");
        assert_eq!(percent(0.000_031_4), "0.0031%");
        assert_eq!(percent(f64::NAN), "-");
        assert_eq!(one_in(1.0 / 512.0), "1 in 512");
        assert_eq!(one_in(1.0 / 1_234_567.0), "1 in 1,234,567");
        assert_eq!(one_in(0.0), "0");
        assert_eq!(count(1, "record"), "1 record");
        assert_eq!(count(2_000, "key"), "2,000 keys");
    }
}
