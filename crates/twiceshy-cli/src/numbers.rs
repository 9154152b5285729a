//! Figures for people.

use std::time::Duration;

/// A whole number with its thousands apart: `1,234,567`.
pub(crate) fn grouped(number: impl Into<u128>) -> String {
    let digits = number.into().to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Bytes in the largest unit of which there is at least one: `1.5 MiB`.
pub(crate) fn bytes(count: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if count < 1024 {
        return format!("{count} B");
    }
    let mut value = count as f64;
    let mut unit = "";
    for name in UNITS {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = name;
    }
    format!("{value:.1} {unit}")
}

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
        format!("1 in {}", grouped((1.0 / rate).round() as u128))
    } else {
        "0".into()
    }
}

/// How long something took: `93 ms`, `4.2 s`, `3 min 20 s`.
#[allow(dead_code, reason = "for commands that time what they do")]
pub(crate) fn duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 0.001 {
        format!("{:.0} µs", seconds * 1e6)
    } else if seconds < 1.0 {
        format!("{:.0} ms", seconds * 1e3)
    } else if seconds < 60.0 {
        format!("{seconds:.1} s")
    } else {
        let whole = time.as_secs();
        format!("{} min {} s", whole / 60, whole % 60)
    }
}

/// `1 record`, `2 records`.
pub(crate) fn count(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {what}{plural}", grouped(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_well() {
        assert_eq!(grouped(0_u64), "0");
        assert_eq!(grouped(999_u64), "999");
        assert_eq!(grouped(1_000_u64), "1,000");
        assert_eq!(grouped(1_234_567_u64), "1,234,567");
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(bytes(u64::MAX), "16.0 EiB");
        assert_eq!(percent(0.125), "12.5%");
        assert_eq!(percent(1.0), "100.0%");
        assert_eq!(percent(0.000_031_4), "0.0031%");
        assert_eq!(percent(f64::NAN), "-");
        assert_eq!(one_in(1.0 / 512.0), "1 in 512");
        assert_eq!(one_in(0.0), "0");
        assert_eq!(duration(Duration::from_millis(93)), "93 ms");
        assert_eq!(duration(Duration::from_millis(4_240)), "4.2 s");
        assert_eq!(duration(Duration::from_secs(200)), "3 min 20 s");
        assert_eq!(count(1, "record"), "1 record");
        assert_eq!(count(2_000, "key"), "2,000 keys");
    }
}
