//! Reports that are one file: text, tables and charts on a page that loads nothing.
//!
//! A [`Page`] is HTML with its style inside and its charts as inline `<svg>`. All colours are CSS
//! variables, so a page follows the reader's choice of light or dark; a chart can also stand alone
//! in a file (`standalone`), and then brings the same variables along.
//!
//! | type | what it draws |
//! | --- | --- |
//! | [`LineChart`] | lines over a linear or logarithmic axis, with their spread |
//! | [`BarChart`] | bars that lie, so that their names can be read |
//! | [`Table`] | rows of figures: as HTML, as Markdown, on a terminal |
//! | [`Page`] | all of it in order, with a list of contents |
//!
//! ```
//! use twiceshy_report::{Axis, LineChart, Page, Series, Table};
//!
//! let classic = Series::new("classic").points([(0.0, 10.0), (1.0, 1e3), (2.0, 1e5)]);
//! let adaptive = Series::new("adaptive").points([(0.0, 10.0), (1.0, 10.0), (2.0, 10.0)]);
//! let chart = LineChart::new("Disk reads under attack")
//!     .x(Axis::linear("minutes"))
//!     .y(Axis::log("reads"))
//!     .series(classic)
//!     .series(adaptive);
//! let mut table = Table::new(["filter", "reads"]);
//! table.row(["classic", "100,000"]);
//! table.row(["adaptive", "10"]);
//!
//! let mut page = Page::new("Once bitten, twice shy");
//! page.lead("One of them learns.");
//! page.charts([chart.svg()]);
//! page.table(&table);
//! let html = page.html();
//! assert!(html.contains("<svg") && html.ends_with("</html>\n"));
//! ```

mod axis;
mod bars;
mod frame;
mod lines;
mod page;
mod table;
pub mod text;
mod verdict;

pub use axis::Axis;
pub use bars::{Bar, BarChart};
pub use lines::{LineChart, Series};
pub use page::Page;
pub use table::{Cell, Table};
pub use verdict::Verdict;
