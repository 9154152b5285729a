//! Tables of text for people.
//!
//! ```text
//! filter     lookups/s   reads
//! ─────────  ─────────  ──────
//! none         104,000  31,000
//! adaptive   2,300,000      12
//! ```

use std::fmt;

/// Rows of cells; the first column is text, the others are figures and stand to the right.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these headings.
    pub(crate) fn new<S: Into<String>>(headings: impl IntoIterator<Item = S>) -> Self {
        let mut table = Table::default();
        table.row(headings);
        table
    }

    /// Adds a row.
    pub(crate) fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) -> &mut Self {
        self.rows.push(cells.into_iter().map(Into::into).collect());
        self
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for (i, row) in self.rows.iter().enumerate() {
            write_row(f, row, &widths)?;
            if i == 0 {
                let lines: Vec<String> = widths.iter().map(|&width| "─".repeat(width)).collect();
                write_row(f, &lines, &widths)?;
            }
        }
        Ok(())
    }
}

fn write_row(f: &mut fmt::Formatter<'_>, row: &[String], widths: &[usize]) -> fmt::Result {
    let mut line = String::new();
    for (i, (cell, &width)) in row.iter().zip(widths).enumerate() {
        let space = " ".repeat(width - cell.chars().count());
        match i {
            0 => line.extend([cell, space.as_str()]),
            _ => line.extend(["  ", &space, cell]),
        }
    }
    writeln!(f, "{}", line.trim_end())
}

/// What is what, a line each: the names to the left, what they are behind them.
pub(crate) fn pairs(lines: &[(&str, String)]) -> String {
    let width = lines.iter().map(|(name, _)| name.chars().count()).max();
    let width = width.unwrap_or(0) + 2;
    let line = |(name, value): &(&str, String)| format!("{name:width$}{value}\n");
    lines.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_below_their_headings() {
        let mut table = Table::new(["filter", "reads"]);
        table.row(["none", "31,000"]).row(["adaptive", "12"]);
        let text = "filter     reads\n────────  ──────\nnone      31,000\nadaptive      12\n";
        assert_eq!(table.to_string(), text);
    }
}
