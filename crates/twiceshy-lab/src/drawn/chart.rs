//! A panel's results as a chart and as a table.

use twiceshy_report::text::{number, short};
use twiceshy_report::{Axis, Bar, BarChart, LineChart, Series, Table};

use crate::experiments::outcome::{Outcome, X};
use crate::experiments::spec::{self, Draw, Experiment, Panel};
use crate::experiments::verdict::{figure_of, ratio_of};

/// With more places than this a table has a row for each, rather than a column.
pub(super) const COLUMNS: usize = 6;

/// Filters that look the same in every chart, in the order of the colours.
const COLOURS: [&str; 7] = [
    "adaptive",
    "quotient",
    "telescoping",
    "swapping",
    "cuckoo",
    "extension",
    "cyclic-1",
];

/// A chart, ready to be drawn.
pub(crate) enum Chart {
    Lines(LineChart),
    Bars(BarChart),
}

impl Chart {
    /// `None` if the panel is not to be drawn.
    pub(crate) fn of(panel: &Panel, outcome: &Outcome) -> Option<Self> {
        match panel.draw {
            Draw::Lines => Some(Chart::Lines(lines(panel, outcome))),
            Draw::Bars => Some(Chart::Bars(bars(panel, outcome))),
            Draw::Table => None,
        }
    }

    /// For a page.
    pub(crate) fn svg(&self) -> String {
        match self {
            Chart::Lines(chart) => chart.svg(),
            Chart::Bars(chart) => chart.svg(),
        }
    }

    /// For a file of its own.
    pub(crate) fn standalone(&self) -> String {
        match self {
            Chart::Lines(chart) => chart.standalone(),
            Chart::Bars(chart) => chart.standalone(),
        }
    }
}

fn axis(axis: &spec::Axis) -> Axis {
    match axis.log {
        true => Axis::log(&*axis.label),
        false => Axis::linear(&*axis.label),
    }
}

/// The numbers of the colours of some series: the usual one, or the next that is free.
fn colours(names: &[&str]) -> Vec<usize> {
    let usual = |name: &str| COLOURS.iter().position(|usual| *usual == name);
    let mut free = (0..).filter(|colour| !names.iter().any(|name| usual(name) == Some(*colour)));
    let colour = |name: &&str| usual(name).or_else(|| free.next()).unwrap_or_default();
    names.iter().map(colour).collect()
}

fn lines(panel: &Panel, outcome: &Outcome) -> LineChart {
    let mut chart = LineChart::new(&*panel.title)
        .x(axis(&panel.x))
        .y(axis(&panel.y));
    let (names, places) = (outcome.names(&panel.name), outcome.places(&panel.name));
    for (name, colour) in names.iter().zip(colours(&names)) {
        let mut points: Vec<(f64, f64, f64, f64)> = outcome
            .series(&panel.name, name)
            .filter_map(|point| {
                let spread = figure_of(panel, point)?;
                // Places with names stand side by side.
                let x = match point.x {
                    X::Number(x) => x,
                    X::Name(_) => places.iter().position(|place| **place == point.x)? as f64,
                };
                let is_drawn = panel.y.most.is_none_or(|most| spread.median <= most);
                is_drawn.then_some((x, spread.median, spread.low, spread.high))
            })
            .collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let series = Series::new(*name).spread(points).colour(colour);
        let is_dashed = panel.dashed.iter().any(|dashed| dashed == name);
        chart = chart.series(if is_dashed { series.dashed() } else { series });
    }
    chart
}

fn bars(panel: &Panel, outcome: &Outcome) -> BarChart {
    let mut chart = BarChart::new(&*panel.title).axis(axis(&panel.y));
    let (names, places) = (outcome.names(&panel.name), outcome.places(&panel.name));
    let colours = colours(&names);
    let bar = |i: usize, place: &X| {
        let spread = figure_of(panel, outcome.at(&panel.name, names[i], place)?)?;
        let bar = Bar::new(spread.median).spread(spread.low, spread.high);
        Some(bar.colour(colours[i]))
    };
    if let [place] = places[..] {
        for (i, name) in names.iter().enumerate() {
            chart = chart.group(*name, [bar(i, place)]);
        }
        return chart;
    }
    chart = chart.series(names.iter().copied());
    for place in places {
        let bars = (0..names.len()).map(|i| bar(i, place));
        chart = chart.group(format!("{} {place}", panel.x.label).trim(), bars);
    }
    chart
}

/// A figure with the middle half of its samples, or with the standard error of their mean.
fn figure(panel: &Panel, outcome: &Outcome, name: &str, place: &X, with_spread: bool) -> String {
    let point = outcome.at(&panel.name, name, place);
    let spread = point.and_then(|point| figure_of(panel, point));
    spread.map_or("–".to_owned(), |spread| {
        if spread.low < spread.high && with_spread {
            let [median, low, high] = [spread.median, spread.low, spread.high].map(readable);
            format!("{median} ({low} – {high})")
        } else {
            readable(spread.median)
        }
    })
}

/// Three digits that matter; no table needs all of a million's.
fn readable(figure: f64) -> String {
    if figure.abs() >= 1e4 {
        short(figure)
    } else {
        number(figure)
    }
}

/// The figures of panels with one place each: a column for every panel.
fn table_of_single(panels: &[&Panel], outcome: &Outcome) -> Table {
    let mut names: Vec<&str> = Vec::new();
    for name in panels.iter().flat_map(|panel| outcome.names(&panel.name)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let heads = panels.iter();
    let heads = heads.map(|panel| format!("{}, {}", panel.title, panel.y.label));
    let mut table = Table::new([String::new()].into_iter().chain(heads));
    for name in names {
        let figures = panels.iter().map(|panel| {
            let places = outcome.places(&panel.name);
            let place = places.first();
            place.map_or(String::new(), |place| {
                figure(panel, outcome, name, place, true)
            })
        });
        table.row([name.to_owned()].into_iter().chain(figures));
    }
    table
}

/// All figures of a panel: medians, and the middle half of the samples where places are few.
pub(crate) fn table(panel: &Panel, outcome: &Outcome) -> Table {
    let (names, places) = (outcome.names(&panel.name), outcome.places(&panel.name));
    if places.len() > COLUMNS {
        let head = [panel.x.label.clone()].into_iter();
        let mut table = Table::new(head.chain(names.iter().map(|&name| name.to_owned())));
        for place in &places {
            let figures = names
                .iter()
                .map(|name| figure(panel, outcome, name, place, false));
            table.row([place.to_string()].into_iter().chain(figures));
        }
        return table;
    }
    let mut head = vec![String::new()];
    for place in &places {
        head.push(match places.len() {
            1 => panel.y.label.clone(),
            _ => format!("{} {place}", panel.x.label).trim().to_owned(),
        });
        head.extend(panel.by.iter().map(|by| format!("× {by}")));
    }
    let mut table = Table::new(head);
    for name in names {
        let mut row = vec![name.to_owned()];
        for place in &places {
            row.push(figure(panel, outcome, name, place, true));
            row.extend(
                panel
                    .by
                    .iter()
                    .map(|by| ratio(panel, outcome, name, by, place)),
            );
        }
        table.row(row);
    }
    table
}

/// How many times another series this one is; nothing beside itself.
fn ratio(panel: &Panel, outcome: &Outcome, name: &str, by: &str, place: &X) -> String {
    let by_panel = panel.by_panel.as_ref().unwrap_or(&panel.name);
    if name == by && *by_panel == panel.name {
        return String::new();
    }
    let points = outcome
        .at(&panel.name, name, place)
        .zip(outcome.at(by_panel, by, place));
    let ratio = points.and_then(|(point, other)| ratio_of(panel, point, other));
    ratio.map_or(String::new(), |ratio| number(ratio.median))
}

/// A table of figures, and how it is called.
pub(super) struct Titled {
    pub(super) title: String,
    pub(super) table: Table,
    /// So long that few want to see it.
    pub(super) is_long: bool,
}

/// All figures of an experiment. Panels of one place stand side by side, unless they have ratios.
pub(super) fn tables(experiment: &Experiment, outcome: &Outcome) -> Vec<Titled> {
    let places = |panel: &&Panel| outcome.places(&panel.name).len();
    let measured = experiment.panels.iter().filter(|panel| places(panel) > 0);
    let (single, others): (Vec<&Panel>, Vec<&Panel>) =
        measured.partition(|panel| places(panel) == 1 && panel.by.is_empty());
    let mut tables = Vec::new();
    if !single.is_empty() {
        tables.push(Titled {
            title: String::new(),
            table: table_of_single(&single, outcome),
            is_long: false,
        });
    }
    tables.extend(others.iter().map(|panel| Titled {
        title: format!("{} ({})", panel.title, panel.y.label),
        table: table(panel, outcome),
        is_long: places(panel) > COLUMNS,
    }));
    tables
}
