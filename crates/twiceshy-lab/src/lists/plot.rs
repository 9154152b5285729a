//! The space table as a figure.

use twiceshy_report::{Axis, LineChart, Series};

use super::space::Row;

/// Bits per YES key above which nothing is drawn: some curves go to thousands.
const MOST: f64 = 20.0;

/// A curve: its name, its colour, whether it is dashed, and what it shows.
type Curve = (&'static str, usize, bool, fn(&Row) -> Option<f64>);

const CURVES: [Curve; 9] = [
    ("static yes/no list, at rate", 0, false, |row| {
        Some(row.ours)
    }),
    ("static yes/no list, bare", 0, true, |row| {
        Some(row.ours_bare)
    }),
    ("Bloom cascade, at rate", 1, false, |row| Some(row.cascade)),
    ("Bloom cascade, bare", 1, true, |row| Some(row.cascade_bare)),
    ("rust_cascade, bare", 6, true, |row| row.rust_cascade),
    ("clubcard, bare", 2, true, |row| Some(row.clubcard)),
    ("integrated xor, at rate", 7, false, |row| {
        Some(row.integrated_xor)
    }),
    ("Bloomier, at rate", 4, false, |row| Some(row.bloomier)),
    ("theorem 7, at rate", 8, true, |row| Some(row.lower_bound)),
];

/// Draws the rows.
pub(super) fn draw(rows: &[Row], fpr: f64) -> String {
    let total = rows.first().map_or(0, |row| row.yes + row.no);
    let mut chart = LineChart::new(format!(
        "Bits per YES key, {total} keys on both lists; at rate: {fpr:.4}"
    ))
    .x(Axis::linear("log2 of NO keys for each YES key"))
    .y(Axis::linear("bits per YES key"));
    for (name, colour, dashed, value) in CURVES {
        let points = rows
            .iter()
            .filter_map(|row| Some((f64::from(row.log2_ratio), value(row)?)))
            .filter(|point| point.1 <= MOST);
        let series = Series::new(name).points(points).colour(colour);
        chart = chart.series(if dashed { series.dashed() } else { series });
    }
    chart.standalone()
}
