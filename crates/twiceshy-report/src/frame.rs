//! What every chart has: an `<svg>`, a title, a legend.

use std::fmt::Write;

use crate::text::{escape, wrapped};

/// The colours, as CSS variables, for light and dark.
pub(crate) const COLOURS: &str = include_str!("colours.css");
/// The style of what charts are made of.
pub(crate) const CHART_STYLE: &str = include_str!("chart.css");

/// Narrow, so that its text can still be read on a phone.
pub(crate) const WIDTH: f64 = 480.0;
const MARGIN: f64 = 14.0;
const TITLE_LINE: f64 = 19.0;
const LEGEND_LINE: f64 = 20.0;
/// About what a letter of the legend takes.
const LETTER: f64 = 7.1;
/// How many colours there are.
const PALETTE: usize = 10;

/// The colour of the series with this number.
pub(crate) fn colour(number: usize) -> String {
    format!("var(--c{})", number % PALETTE)
}

/// Dashes for those that share a colour with an earlier one, or ask for it.
pub(crate) fn dashes(number: usize, wanted: bool) -> &'static str {
    match (number / PALETTE, wanted) {
        (0, false) => "",
        (0, true) => " stroke-dasharray=\"6 4\"",
        _ => " stroke-dasharray=\"2 3\"",
    }
}

/// An `<svg>` that grows downwards.
pub(crate) struct Frame {
    title: String,
    body: String,
    /// Where the next thing goes.
    pub(crate) y: f64,
}

impl Frame {
    pub(crate) fn new(title: &str) -> Self {
        let mut frame = Frame {
            title: title.to_owned(),
            body: String::new(),
            y: MARGIN,
        };
        for line in wrapped(title, 50) {
            frame.y += TITLE_LINE - 4.0;
            let y = frame.y;
            frame.text(MARGIN, y, "title", &line);
            frame.y += 4.0;
        }
        frame.y += 6.0;
        frame
    }

    /// Markup as it is.
    pub(crate) fn raw(&mut self, markup: std::fmt::Arguments<'_>) {
        // Writing to a string can't fail.
        let _ = writeln!(self.body, "{markup}");
    }

    /// A line of text.
    pub(crate) fn text(&mut self, x: f64, y: f64, class: &str, text: &str) {
        self.raw(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" class=\"{class}\">{}</text>",
            escape(text)
        ));
    }

    /// Names beside their colours, in as many rows as they need. A single one needs no legend.
    pub(crate) fn legend<'n>(&mut self, names: impl Iterator<Item = (&'n str, String)> + Clone) {
        if names.clone().count() < 2 {
            return;
        }
        self.y += 8.0;
        let mut x = MARGIN;
        self.y += LEGEND_LINE;
        for (name, swatch) in names {
            let width = 30.0 + LETTER * name.chars().count() as f64 + 12.0;
            if x > MARGIN && x + width > WIDTH {
                x = MARGIN;
                self.y += LEGEND_LINE;
            }
            let y = self.y;
            self.raw(format_args!(
                "<g transform=\"translate({x:.1} {:.1})\">{swatch}</g>",
                y - 4.5
            ));
            self.text(x + 28.0, y, "name", name);
            x += width;
        }
    }

    /// The whole as an element of a page.
    pub(crate) fn inline(self) -> String {
        self.finish("", "")
    }

    fn finish(self, attributes: &str, head: &str) -> String {
        let height = self.y + MARGIN;
        let title = escape(&self.title);
        format!(
            "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" aria-label=\"{title}\"{attributes}>\n\
             {head}{}</svg>\n",
            self.body
        )
    }

    /// The whole as a file.
    pub(crate) fn standalone(self) -> String {
        let head = format!(
            "<style>\n{COLOURS}{CHART_STYLE}</style>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"var(--paper)\"/>\n"
        );
        self.finish(" xmlns=\"http://www.w3.org/2000/svg\"", &head)
    }
}
