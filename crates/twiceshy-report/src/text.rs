//! Figures and words as people write them.

/// Escapes what HTML and SVG would take for markup.
///
/// ```
/// assert_eq!(twiceshy_report::text::escape("a < b & c"), "a &lt; b &amp; c");
/// ```
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// A whole number with its thousands apart.
///
/// ```
/// assert_eq!(twiceshy_report::text::whole(1_234_567), "1,234,567");
/// ```
pub fn whole(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A figure with about three digits that matter; very small and very large ones as powers of ten.
///
/// ```
/// use twiceshy_report::text::number;
///
/// assert_eq!(number(0.0), "0");
/// assert_eq!(number(0.001953), "0.00195");
/// assert_eq!(number(12.34), "12.3");
/// assert_eq!(number(98765.4), "98,765");
/// assert_eq!(number(1.5e-7), "1.5e-7");
/// ```
pub fn number(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        "0".to_owned()
    } else if !value.is_finite() {
        "–".to_owned()
    } else if !(1e-4..1e15).contains(&size) {
        shortened(&format!("{value:.2e}"))
    } else if size >= 100.0 {
        let sign = if value < 0.0 { "-" } else { "" };
        format!("{sign}{}", whole(size.round() as u64))
    } else {
        // Three digits from the first that is not zero.
        let digits = (2 - size.log10().floor() as i32).clamp(0, 8) as usize;
        trimmed(&format!("{value:.digits$}"))
    }
}

/// A figure in few characters, for an axis: `20k`, `1.5M`, `0.002`, `1e-6`.
///
/// ```
/// use twiceshy_report::text::short;
///
/// assert_eq!(short(20_000.0), "20k");
/// assert_eq!(short(1.5e6), "1.5M");
/// assert_eq!(short(0.25), "0.25");
/// assert_eq!(short(1e-6), "1e-6");
/// ```
pub fn short(value: f64) -> String {
    let size = value.abs();
    for (unit, name) in [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")] {
        if size >= unit * 0.9999 && size < unit * 999.95 {
            return format!("{}{name}", trimmed(&format!("{:.2}", value / unit)));
        }
    }
    if size > 0.0 && size < 0.999e-3 {
        return shortened(&format!("{value:.1e}"));
    }
    if size >= 1.0 || size == 0.0 {
        trimmed(&format!("{value:.2}"))
    } else {
        trimmed(&format!("{value:.4}"))
    }
}

/// Without zeros at the end of a fraction.
fn trimmed(text: &str) -> String {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text.to_owned()
    }
}

/// `1.00e-7` as `1e-7`.
fn shortened(text: &str) -> String {
    match text.split_once('e') {
        Some((digits, power)) => format!("{}e{power}", trimmed(digits)),
        None => text.to_owned(),
    }
}

/// Lines of at most so many characters, broken between words.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_size() {
        for (value, text) in [
            (1.0, "1"),
            (-0.5, "-0.5"),
            (99.96, "100"),
            (100.4, "100"),
            (-1234.0, "-1,234"),
            (f64::NAN, "–"),
            (f64::INFINITY, "–"),
            (1e18, "1e18"),
            (0.000_1, "0.0001"),
        ] {
            assert_eq!(number(value), text);
        }
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (999.0, "999"),
            (1000.0, "1k"),
            (1e6, "1M"),
            (2.5e9, "2.5G"),
            (0.001, "0.001"),
            (0.0001, "1e-4"),
            (-2000.0, "-2k"),
        ] {
            assert_eq!(short(value), text);
        }
    }

    #[test]
    fn words_are_kept_whole() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("unbreakable", 3), ["unbreakable"]);
        assert!(wrapped("  ", 3).is_empty());
    }
}
