//! One page with everything: charts where one would rather look, then the table.

use super::Report;
use super::book::{Line, Spread};
use super::chart::{Chart, Series};
use super::engines::Front;
use super::table::Table;

const STYLE: &str = "
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --grid: #d8dde3;
  --line0: #6b7280; --line1: #b45309; --line2: #1d4ed8; --line3: #0f766e; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ed; --paper: #14171b; --grid: #343a42;
    --line0: #9ca3af; --line1: #f59e0b; --line2: #7aa2ff; --line3: #5eead4; } }
body { margin: 2rem auto; max-width: 1180px; padding: 0 1rem; color: var(--ink);
  background: var(--paper); font: 15px/1.5 system-ui, sans-serif; }
.charts { display: flex; flex-wrap: wrap; gap: 1rem; }
svg { width: 560px; max-width: 100%; font: 11px system-ui, sans-serif; }
.title { font-size: 13px; font-weight: 600; fill: var(--ink); }
.tick { fill: var(--ink); opacity: .75; } .end { text-anchor: end; } .middle { text-anchor: middle; }
.grid { stroke: var(--grid); } .axis { stroke: var(--ink); opacity: .5; }
.line { fill: none; stroke-width: 2; } .label { font-weight: 600; }
pre { overflow-x: auto; font-size: 12.5px; }
";

/// The whole page. It loads nothing.
pub(super) fn page(report: &Report) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <title>The store, measured</title><style>{STYLE}</style></head>\n<body>\n\
         <h1>The store, measured</h1>\n<p>{}</p>\n",
        escape(&caption(report))
    );
    page.push_str("<h2>Inserts while the filter fills</h2>\n<div class=\"charts\">\n");
    for lines in charts(report, |chart| chart == "inserts") {
        let chart = Chart {
            title: format!("{}: inserts", lines[0].engine),
            x_axis: "load of the filter",
            ticks: &[0.0, 0.2, 0.4, 0.6, 0.8, 0.9],
            y_axis: "a second",
            log: false,
            series: lines.iter().map(|line| series(line, 5)).collect(),
        };
        page.push_str(&chart.svg());
    }
    page.push_str("</div>\n<h2>An attacker who repeats the filter's mistakes</h2>\n");
    page.push_str("<div class=\"charts\">\n");
    for lines in charts(report, |chart| chart.starts_with("adversary")) {
        let (_, disk) = lines[0].chart.split_once(": ").unwrap_or_default();
        let chart = Chart {
            title: format!("{}: lookups, {disk}", lines[0].engine),
            x_axis: "hostile lookups, %",
            ticks: &[0.0, 1.0, 3.0, 10.0],
            y_axis: "a second",
            log: true,
            series: lines.iter().map(|line| series(line, 1)).collect(),
        };
        page.push_str(&chart.svg());
    }
    page.push_str("</div>\n<h2>All figures</h2>\n<pre>");
    page.push_str(&escape(&Table(report).to_string()));
    page.push_str("</pre>\n</body></html>\n");
    page
}

fn caption(report: &Report) -> String {
    let machine = &report.machine;
    let cpu = machine.cpu.as_deref().unwrap_or("an unknown processor");
    let cores = machine.cores.unwrap_or(1);
    let commit = machine.commit.as_deref().unwrap_or("unknown");
    format!("{cpu}, {cores} cores; commit {commit}")
}

/// The lines of each wanted chart.
fn charts(report: &Report, is_wanted: impl Fn(&str) -> bool) -> Vec<&[Line]> {
    let same = |a: &Line, b: &Line| a.chart == b.chart && a.engine == b.engine;
    let charts = report.lines.chunk_by(same);
    charts.filter(|lines| is_wanted(&lines[0].chart)).collect()
}

/// A line, each point the median of so many around it.
fn series(line: &Line, around: usize) -> Series<'_> {
    let colour = Front::ALL
        .iter()
        .position(|front| front.name() == line.subject);
    let points = line.points.iter().enumerate().map(|(i, &(x, _))| {
        let from = i.saturating_sub(around / 2);
        let to = line.points.len().min(i + around / 2 + 1);
        let ys = line.points[from..to].iter().map(|point| point.1);
        (x, Spread::of(ys).map_or(0.0, |spread| spread.median))
    });
    Series {
        name: line.subject,
        colour: colour.unwrap_or(0),
        points: points.collect(),
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
