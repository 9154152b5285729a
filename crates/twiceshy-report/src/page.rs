//! The page.

use std::fmt::Write;

use crate::frame::{CHART_STYLE, COLOURS};
use crate::table::Table;
use crate::text::escape;
use crate::verdict::Verdict;

const PAGE_STYLE: &str = include_str!("page.css");

/// With at least so many sections, a page has a list of contents.
const CONTENTS: usize = 5;

/// A page that loads nothing, from top to bottom. All text is escaped.
#[derive(Clone, Debug)]
pub struct Page {
    title: String,
    lead: String,
    sections: Vec<(String, String)>,
    body: String,
    has_contents: bool,
}

impl Page {
    /// A page with nothing but its title.
    pub fn new(title: impl Into<String>) -> Self {
        Page {
            title: title.into(),
            lead: String::new(),
            sections: Vec::new(),
            body: String::new(),
            has_contents: true,
        }
    }

    /// Leaves out the list of contents: the page has a better one of its own.
    pub fn without_contents(&mut self) {
        self.has_contents = false;
    }

    /// Some sentences under the title.
    pub fn lead(&mut self, text: &str) {
        self.lead = format!("<p class=\"lead\">{}</p>\n", escape(text));
    }

    /// Begins a section. Links lead to it as `#id`.
    pub fn section(&mut self, id: &str, heading: &str) {
        let id = escape(id);
        self.add(format_args!("<h2 id=\"{id}\">{}</h2>\n", escape(heading)));
        self.sections.push((id, escape(heading)));
    }

    /// A smaller heading.
    pub fn heading(&mut self, heading: &str) {
        self.add(format_args!("<h3>{}</h3>\n", escape(heading)));
    }

    /// A paragraph.
    pub fn text(&mut self, text: &str) {
        self.add(format_args!("<p>{}</p>\n", escape(text)));
    }

    /// What was promised and what came of it.
    pub fn verdict(&mut self, verdict: Verdict, text: &str) {
        self.add(format_args!(
            "<div class=\"verdict {}\"><b>{}</b> {}</div>\n",
            verdict.class(),
            verdict.words(),
            escape(text)
        ));
    }

    /// Names and what they stand for: a machine, parameters.
    pub fn facts<N: AsRef<str>, V: AsRef<str>>(&mut self, facts: impl IntoIterator<Item = (N, V)>) {
        self.body.push_str("<dl>\n");
        for (name, value) in facts {
            let (name, value) = (escape(name.as_ref()), escape(value.as_ref()));
            self.add(format_args!("<dt>{name}</dt><dd>{value}</dd>\n"));
        }
        self.body.push_str("</dl>\n");
    }

    /// A table.
    pub fn table(&mut self, table: &Table) {
        self.body.push_str(&table.html());
    }

    /// A table that opens when asked for.
    pub fn folded_table(&mut self, summary: &str, table: &Table) {
        let summary = escape(summary);
        self.add(format_args!(
            "<details><summary>{summary}</summary>\n{}</details>\n",
            table.html()
        ));
    }

    /// Charts side by side where there is room. They are what `svg` of a chart gives.
    pub fn charts(&mut self, charts: impl IntoIterator<Item = String>) {
        self.body.push_str("<div class=\"charts\">\n");
        self.body.extend(charts);
        self.body.push_str("</div>\n");
    }

    /// Text with its spaces and lines as they are: a command, a console.
    pub fn code(&mut self, text: &str) {
        self.add(format_args!("<pre>{}</pre>\n", escape(text)));
    }

    /// The whole page.
    pub fn html(&self) -> String {
        let title = escape(&self.title);
        let mut html = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{title}</title>\n<style>\n{COLOURS}{PAGE_STYLE}{CHART_STYLE}</style>\n</head>\n\
             <body>\n<h1>{title}</h1>\n{}",
            self.lead
        );
        if self.has_contents && self.sections.len() >= CONTENTS {
            html.push_str("<nav><ol>\n");
            for (id, heading) in &self.sections {
                // Writing to a string can't fail.
                let _ = writeln!(html, "<li><a href=\"#{id}\">{heading}</a></li>");
            }
            html.push_str("</ol></nav>\n");
        }
        html.push_str(&self.body);
        html.push_str("</body>\n</html>\n");
        html
    }

    fn add(&mut self, markup: std::fmt::Arguments<'_>) {
        // Writing to a string can't fail.
        let _ = self.body.write_fmt(markup);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_loads_nothing_and_escapes_everything() {
        let mut page = Page::new("a < b");
        page.lead("<lead>");
        page.section("one", "One & only");
        page.text("<script>alert(1)</script>");
        page.heading("<h>");
        page.verdict(Verdict::Open, "<v>");
        page.facts([("<n>", "<f>")]);
        page.code("<c>");
        page.folded_table("<t>", &Table::new(["<x>"]));
        let html = page.html();
        for text in [
            "<script>", "<lead>", "<h>", "<v>", "<n>", "<f>", "<c>", "<t>", "<x>",
        ] {
            assert!(!html.contains(text), "{text} in {html}");
        }
        for load in ["http://", "https://", "src=", "@import", "url("] {
            assert!(!html.contains(load), "{load} in {html}");
        }
        assert!(!html.contains("<nav>"));
    }

    #[test]
    fn a_long_page_has_contents() {
        let mut page = Page::new("long");
        for i in 0..CONTENTS {
            page.section(&format!("s{i}"), &format!("Section {i}"));
        }
        let html = page.html();
        assert!(html.contains("<li><a href=\"#s4\">Section 4</a></li>"));
        assert!(html.contains("<h2 id=\"s4\">"));
        page.without_contents();
        assert!(!page.html().contains("<nav>"));
    }
}
