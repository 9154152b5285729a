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
            "  {:<24}{:>8}{:>17}{:>13}{:>11}",
            "filter",
            "ns/op",
            "min..max",
            format!("vs {REFERENCE}"),
            "vs plain",
        )?;
        if operation.is_zipf() {
            write!(f, "{:>8}{:>16}", "wrong", "bits/key added")?;
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
                "  {:<24}{:>8}{:>17}{:>13}{:>11}",
                row.filter,
                or_dash(row.ns_per_op.map(|ns| format!("{ns:.1}"))),
                or_dash(spread.map(|(min, max)| format!("{min:.1}..{max:.1}"))),
                or_dash(row.speed_vs_qfilter.map(|speed| format!("{speed:.2}x"))),
                or_dash(row.speed_vs_plain.map(|speed| format!("{speed:.2}x"))),
            )?;
            if operation.is_zipf() {
                write!(
                    f,
                    "{:>8}{:>16}",
                    or_dash(row.false_positives.map(|wrong| wrong.to_string())),
                    or_dash(row.bits_per_item_added.map(|bits| format!("{bits:.6}"))),
                )?;
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
            "  {:<24}{:>9}{:>10}   hash and remarks",
            "filter", "bits/key", "FPR"
        )?;
        for row in self.rows.iter().filter(|row| row.operation == query.name()) {
            writeln!(
                f,
                "  {:<24}{:>9}{:>10}   {}",
                row.filter,
                or_dash(row.bits_per_item.map(|bits| format!("{bits:.2}"))),
                or_dash(row.fpr.map(|fpr| format!("{fpr:.6}"))),
                filters::by_name(row.filter).map_or("", |entry| entry.note),
            )?;
        }
        Ok(())
    }
}

fn or_dash(cell: Option<String>) -> String {
    cell.unwrap_or_else(|| "-".to_owned())
}
