//! The rows on the screen.

use std::fmt::{self, Display};

use super::Report;
use super::book::{Bar, Row};

/// A block for each engine and experiment.
pub(super) struct Table<'r>(pub(super) &'r Report);

impl Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report {
            machine,
            parameters,
            rows,
            ..
        } = self.0;
        writeln!(
            f,
            "{} records of {} + {} bytes, {:.0} MB; engine's cache {:.1} MB; {} shards",
            parameters.keys,
            parameters.key_bytes,
            parameters.value_bytes,
            parameters.data_bytes as f64 / 1e6,
            parameters.cache_bytes as f64 / 1e6,
            parameters.shards,
        )?;
        if let Some([load, ..]) = machine.load_average {
            let cores = machine.cores.unwrap_or(1);
            writeln!(f, "load average {load:.1} on {cores} cores at the start")?;
        }
        writeln!(
            f,
            "median (middle half of the samples); \"times\" is how many times as good as the peer"
        )?;
        for block in rows.chunk_by(|a, b| a.engine == b.engine && a.experiment == b.experiment) {
            let first = &block[0];
            writeln!(
                f,
                "\n{}: {}, {}",
                first.engine, first.experiment, first.unit
            )?;
            for setting in block.chunk_by(|a, b| a.setting == b.setting) {
                if !setting[0].setting.is_empty() {
                    writeln!(f, "  {}", setting[0].setting)?;
                }
                for row in setting {
                    write_row(f, row)?;
                }
            }
        }
        let judged = rows
            .iter()
            .filter_map(|row| row.holds.map(|holds| (row, holds)));
        let missed: Vec<_> = judged.clone().filter(|(_, holds)| !holds).collect();
        writeln!(
            f,
            "\n{} of {} bars hold",
            judged.count() - missed.len(),
            rows.iter().filter(|row| row.holds.is_some()).count()
        )?;
        for (row, _) in missed {
            let Row {
                experiment,
                engine,
                setting,
                subject,
                ..
            } = row;
            writeln!(f, "  missed: {engine}, {experiment}, {setting}: {subject}")?;
        }
        Ok(())
    }
}

fn write_row(f: &mut fmt::Formatter<'_>, row: &Row) -> fmt::Result {
    let spread = row.spread;
    let range = match row.samples {
        1 => String::new(),
        _ => format!("({} – {})", number(spread.low), number(spread.high)),
    };
    let times = row
        .times
        .zip(row.peer)
        .map_or(String::new(), |(times, peer)| {
            format!("{} × {peer}", number(times.median))
        });
    let bar = match (row.bar, row.holds) {
        (Some(bar), Some(holds)) => {
            let wanted = match bar {
                Bar::Times(bar) | Bar::AtLeast(bar) => format!("≥ {}", number(bar)),
                Bar::AtMost(bar) => format!("≤ {}", number(bar)),
            };
            format!("{wanted}: {}", if holds { "yes" } else { "NO" })
        }
        _ => String::new(),
    };
    let median = number(spread.median);
    let line = format!(
        "    {:<31}{median:>10} {range:<22} {times:<30} {bar}",
        row.subject
    );
    writeln!(f, "{}", line.trim_end())
}

/// Three or four digits that matter, thousands apart.
pub(super) fn number(value: f64) -> String {
    let size = value.abs();
    if size >= 1e4 {
        let digits = format!("{value:.0}");
        let (sign, digits) = match digits.strip_prefix('-') {
            Some(digits) => ("-", digits),
            None => ("", &digits[..]),
        };
        let mut grouped = String::from(sign);
        for (i, digit) in digits.chars().enumerate() {
            if i > 0 && (digits.len() - i) % 3 == 0 {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        grouped
    } else if size >= 100.0 || value == 0.0 {
        format!("{value:.0}")
    } else if size >= 10.0 {
        format!("{value:.1}")
    } else if size >= 0.1 {
        format!("{value:.3}")
    } else {
        format!("{value:.5}")
    }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_read_well() {
        for (value, text) in [
            (1_234_567.8, "1,234,568"),
            (123.4, "123"),
            (12.34, "12.3"),
            (0.95, "0.950"),
            (0.00195, "0.00195"),
            (0.0, "0"),
        ] {
            assert_eq!(number(value), text);
        }
    }
}
