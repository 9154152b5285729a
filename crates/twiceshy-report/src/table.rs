//! Tables of figures.

use std::fmt;

use crate::text::escape;
use crate::verdict::Verdict;

/// What stands in one place of a [`Table`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    text: String,
    link: Option<String>,
    class: &'static str,
}

impl Cell {
    /// Some text or a figure.
    pub fn new(text: impl Into<String>) -> Self {
        Cell {
            text: text.into(),
            link: None,
            class: "",
        }
    }

    /// Text that leads somewhere, such as `#section`.
    pub fn link(text: impl Into<String>, to: impl Into<String>) -> Self {
        Cell {
            link: Some(to.into()),
            ..Cell::new(text)
        }
    }

    /// "holds" or "doesn't hold", in its colour.
    pub fn verdict(verdict: Verdict) -> Self {
        Cell {
            class: verdict.class(),
            ..Cell::new(verdict.words())
        }
    }

    fn html(&self) -> String {
        let text = escape(&self.text);
        let text = match &self.link {
            Some(to) => format!("<a href=\"{}\">{text}</a>", escape(to)),
            None => text,
        };
        match self.class {
            "" => text,
            class => format!("<b class=\"{class}\">{text}</b>"),
        }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Cell::new(text)
    }
}

/// Rows under a head. The first column holds names, the others figures, unless
/// [`words`](Self::words) says otherwise.
///
/// ```
/// use twiceshy_report::Table;
///
/// let mut table = Table::new(["filter", "ns"]);
/// table.row(["plain", "21.5"]);
/// assert_eq!(table.to_string(), "filter    ns\n──────  ────\nplain   21.5\n");
/// ```
#[derive(Clone, Debug)]
pub struct Table {
    head: Vec<Cell>,
    rows: Vec<(Vec<Cell>, bool)>,
    words: Vec<usize>,
}

impl Table {
    /// A table without rows.
    pub fn new<C: Into<Cell>>(head: impl IntoIterator<Item = C>) -> Self {
        Table {
            head: head.into_iter().map(Into::into).collect(),
            rows: Vec::new(),
            words: vec![0],
        }
    }

    /// Says that this column holds words, which may take several lines.
    #[must_use]
    pub fn words(mut self, column: usize) -> Self {
        self.words.push(column);
        self
    }

    /// Adds a row.
    pub fn row<C: Into<Cell>>(&mut self, cells: impl IntoIterator<Item = C>) {
        let cells = cells.into_iter().map(Into::into).collect();
        self.rows.push((cells, false));
    }

    /// Adds a row that stands out.
    pub fn strong_row<C: Into<Cell>>(&mut self, cells: impl IntoIterator<Item = C>) {
        self.row(cells);
        if let Some(row) = self.rows.last_mut() {
            row.1 = true;
        }
    }

    /// Whether it has no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table as HTML.
    pub fn html(&self) -> String {
        let class = |column| {
            if column > 0 && self.words.contains(&column) {
                " class=\"words\""
            } else {
                ""
            }
        };
        let line = |cells: &[Cell], tag: &str| -> String {
            let cells = cells.iter().enumerate();
            cells
                .map(|(i, cell)| format!("<{tag}{}>{}</{tag}>", class(i), cell.html()))
                .collect()
        };
        let mut html = format!(
            "<div class=\"scroll\"><table>\n<thead><tr>{}</tr></thead>\n<tbody>\n",
            line(&self.head, "th")
        );
        for (cells, is_strong) in &self.rows {
            let class = if *is_strong { " class=\"strong\"" } else { "" };
            html.push_str(&format!("<tr{class}>{}</tr>\n", line(cells, "td")));
        }
        html.push_str("</tbody></table></div>\n");
        html
    }

    /// The table as Markdown.
    pub fn markdown(&self) -> String {
        let line = |cells: &[Cell]| {
            let cells = cells.iter().map(|cell| cell.text.replace('|', "\\|"));
            format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
        };
        let mut text = line(&self.head);
        for column in 0..self.head.len() {
            let is_words = self.words.contains(&column);
            text.push_str(if is_words { "| --- " } else { "| ---: " });
        }
        text.push_str("|\n");
        for (cells, _) in &self.rows {
            text.push_str(&line(cells));
        }
        text
    }
}

/// For a terminal: columns two spaces apart, figures to the right, a rule below the head.
impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = || std::iter::once(&self.head).chain(self.rows.iter().map(|row| &row.0));
        let mut widths = vec![0; self.head.len()];
        for line in lines() {
            for (width, cell) in widths.iter_mut().zip(line) {
                *width = (*width).max(cell.text.chars().count());
            }
        }
        for (i, line) in lines().enumerate() {
            if i == 1 {
                let rule = widths.iter().map(|&width| "─".repeat(width));
                writeln!(f, "{}", rule.collect::<Vec<_>>().join("  "))?;
            }
            let mut text = String::new();
            for (column, (cell, &width)) in line.iter().zip(&widths).enumerate() {
                if column > 0 {
                    text.push_str("  ");
                }
                if self.words.contains(&column) {
                    text.push_str(&format!("{:<width$}", cell.text));
                } else {
                    text.push_str(&format!("{:>width$}", cell.text));
                }
            }
            writeln!(f, "{}", text.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(["what", "ns", "why"]).words(2);
        table.row(["a|b", "1", "<short>"]);
        table.strong_row([
            Cell::link("c", "#c"),
            Cell::new("1,000"),
            Cell::verdict(Verdict::Fails),
        ]);
        table
    }

    #[test]
    fn as_html() {
        let html = table().html();
        assert!(html.contains("<td class=\"words\">&lt;short&gt;</td>"));
        assert!(html.contains("<a href=\"#c\">c</a>"));
        assert!(html.contains("<b class=\"fails\">doesn't hold</b>"));
        assert_eq!(html.matches("class=\"strong\"").count(), 1);
    }

    #[test]
    fn as_text_and_markdown() {
        let text = table().to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "what     ns  why");
        assert_eq!(lines[1], "────  ─────  ────────────");
        assert_eq!(lines[2], "a|b       1  <short>");
        assert_eq!(lines[3], "c     1,000  doesn't hold");
        let markdown = table().markdown();
        assert!(markdown.starts_with("| what | ns | why |\n| --- | ---: | --- |\n| a\\|b |"));
    }
}
