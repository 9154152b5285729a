//! One page with everything: charts where one would rather look, then the table.

use twiceshy_report::{Axis, LineChart, Page, Series};

use super::Report;
use super::book::{Line, Spread};
use super::engines::Front;
use super::table::Table;

/// The whole page. It loads nothing.
pub(super) fn page(report: &Report) -> String {
    let mut page = Page::new("The store, measured");
    let commit = report.machine.commit.as_deref().unwrap_or("unknown");
    page.lead(&format!("{}; commit {commit}", report.machine.describe()));
    page.section("inserts", "Inserts while the filter fills");
    let inserts = charts(report, |chart| chart == "inserts");
    page.charts(inserts.into_iter().map(|lines| {
        let chart = LineChart::new(format!("{}: inserts", lines[0].engine));
        let chart = chart
            .x(Axis::linear("load of the filter"))
            .y(Axis::linear("a second"));
        draw(chart, lines, 5)
    }));
    page.section("adversary", "An attacker who repeats the filter's mistakes");
    let attacks = charts(report, |chart| chart.starts_with("adversary"));
    page.charts(attacks.into_iter().map(|lines| {
        let (_, disk) = lines[0].chart.split_once(": ").unwrap_or_default();
        let chart = LineChart::new(format!("{}: lookups, {disk}", lines[0].engine));
        let chart = chart
            .x(Axis::linear("hostile lookups, %"))
            .y(Axis::log("a second"));
        draw(chart, lines, 1)
    }));
    page.section("figures", "All figures");
    page.code(&Table(report).to_string());
    page.html()
}

/// The lines of each wanted chart.
fn charts(report: &Report, is_wanted: impl Fn(&str) -> bool) -> Vec<&[Line]> {
    let same = |a: &Line, b: &Line| a.chart == b.chart && a.engine == b.engine;
    let charts = report.lines.chunk_by(same);
    charts.filter(|lines| is_wanted(&lines[0].chart)).collect()
}

/// Draws lines, each point the median of so many around it.
fn draw(chart: LineChart, lines: &[Line], around: usize) -> String {
    let draw = |chart: LineChart, line: &Line| {
        let mut fronts = Front::ALL.iter();
        let colour = fronts.position(|front| front.name() == line.subject);
        let points = line.points.iter().enumerate().map(|(i, &(x, _))| {
            let from = i.saturating_sub(around / 2);
            let to = line.points.len().min(i + around / 2 + 1);
            let ys = line.points[from..to].iter().map(|point| point.1);
            (x, Spread::of(ys).map_or(0.0, |spread| spread.median))
        });
        let series = Series::new(line.subject).points(points);
        chart.series(series.colour(colour.unwrap_or(0)))
    };
    lines.iter().fold(chart, draw).svg()
}
