//! The table on the screen: one block per operation, then space and error.

use std::fmt::{self, Display};

use super::filters::{self, REFERENCE, REMAINDER_BITS};
use super::operation::Operation;
use super::report::Row;
use super::workload::Workload;

/// Prints the rows with a caption that says how to read them.
pub(crate) struct Table<'a> {
    pub(crate) workload: &'a Workload,
    pub(crate) rounds: usize,
    pub(crate) operations: &'a [Operation],
    pub(crate) rows: &'a [Row],
}

impl Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.caption(f)?;
        for &operation in self.operations {
            self.times(f, operation)?;
        }
        self.space(f)
    }
}

impl Table<'_> {
    fn caption(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rounds = match self.rounds {
            1 => "one round".to_owned(),
            n => format!("{n} rounds"),
        };
        writeln!(
            f,
            "Filters of 2^{} slots, {:.0}% full with {} uniform 64-bit keys; wanted: at most one\n\
             false positive in {} queries. ns/op: nanoseconds per operation on one core, the\n\
             median of {rounds}, then the fastest and the slowest one. \"vs {REFERENCE}\": how many\n\
             times as fast as {REFERENCE} in the same round; \"vs plain\": as our plain filter with the\n\
             same hash. Hashing is included. A dash: the filter can't do it.",
            self.workload.log2_slots,
            self.workload.load * 100.0,
            self.workload.members(),
            1 << REMAINDER_BITS,
        )?;
        if self.workload.adapted > 0.0 {
            writeln!(
                f,
                "Before the last 5 points of load, adaptive filters have adapted {} of their items.",
                self.workload.adapted_members(),
            )?;
        }
        Ok(())
    }

    fn times(&self, f: &mut fmt::Formatter<'_>, operation: Operation) -> fmt::Result {
        writeln!(f, "\n{}: {}", operation.name(), operation.about())?;
        write!(
            f,
            "  {:<31}{:>8}{:>15}{:>11}{:>9}",
            "filter",
            "ns/op",
            "min..max",
            format!("vs {REFERENCE}"),
            "vs plain",
        )?;
        let columns = columns(operation);
        for column in columns {
            write!(f, "{:>1$}", column.head, column.width)?;
        }
        writeln!(f)?;
        for row in self
            .rows
            .iter()
            .filter(|row| row.operation == operation.name())
        {
            let spread = row.min_ns.zip(row.max_ns);
            write!(
                f,
                "  {:<31}{:>8}{:>15}{:>11}{:>9}",
                row.filter,
                or_dash(row.ns_per_op.map(time)),
                or_dash(spread.map(|(min, max)| format!("{}..{}", time(min), time(max)))),
                or_dash(row.speed_vs_qfilter.map(|speed| format!("{speed:.2}x"))),
                or_dash(row.speed_vs_plain.map(|speed| format!("{speed:.2}x"))),
            )?;
            for column in columns {
                write!(f, "{:>1$}", or_dash((column.cell)(row)), column.width)?;
            }
            writeln!(f)?;
        }
        Ok(())
    }

    /// Space and error are those of the filled filter, whichever query measured them.
    fn space(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut queries = self.operations.iter().filter(|op| op.is_query());
        let Some(query) = queries.find(|op| !op.is_zipf()) else {
            return Ok(());
        };
        writeln!(f, "\nspace and error of the filled filter")?;
        writeln!(
            f,
            "  {:<28}{:>8}{:>9}  hash and remarks",
            "filter", "bits/key", "FPR"
        )?;
        for row in self.rows.iter().filter(|row| row.operation == query.name()) {
            writeln!(
                f,
                "  {:<28}{:>8}{:>9}  {}",
                row.filter,
                or_dash(row.bits_per_item.map(|bits| format!("{bits:.2}"))),
                or_dash(row.fpr.map(|fpr| format!("{fpr:.6}"))),
                filters::by_name(row.filter).map_or("", |entry| entry.note),
            )?;
        }
        Ok(())
    }
}

/// A column that not every operation has.
struct Column {
    head: &'static str,
    width: usize,
    cell: fn(&Row) -> Option<String>,
}

fn columns(operation: Operation) -> &'static [Column] {
    match operation {
        Operation::Zipf | Operation::ZipfAgain => &[
            Column {
                head: "wrong",
                width: 8,
                cell: |row| row.false_positives.map(|wrong| wrong.to_string()),
            },
            Column {
                head: "bits/key added",
                width: 16,
                cell: |row| row.bits_per_item_added.map(|bits| format!("{bits:.6}")),
            },
        ],
        Operation::Merge => &[Column {
            head: "cost vs sorted",
            width: 16,
            cell: |row| row.cost_vs_sorted.map(|cost| format!("{cost:.2}x")),
        }],
        Operation::LoadFile => &[
            Column {
                head: "GB/s",
                width: 8,
                cell: |row| row.gb_per_s.map(|rate| format!("{rate:.2}")),
            },
            Column {
                head: "trusted",
                width: 11,
                cell: |row| row.trusted_ns.map(|ns| format!("{ns:.0} ns")),
            },
        ],
        _ => &[],
    }
}

/// Nanoseconds, with as many decimals as can matter.
fn time(ns: f64) -> String {
    if ns < 10.0 {
        format!("{ns:.2}")
    } else {
        format!("{ns:.1}")
    }
}

fn or_dash(cell: Option<String>) -> String {
    cell.unwrap_or_else(|| "-".to_owned())
}
