//! The space table as a figure: an SVG of a few kilobytes, written by hand.

use std::fmt::Write;

use super::space::Row;

/// The figure, and the part of it that the curves are in.
const SIZE: (f64, f64) = (760.0, 460.0);
const LEFT: f64 = 60.0;
const RIGHT: f64 = 560.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 400.0;
/// Bits per YES key at the top.
const MOST: f64 = 20.0;

/// A curve: its name, its colour, its dashes, and what it shows.
type Curve = (
    &'static str,
    &'static str,
    &'static str,
    fn(&Row) -> Option<f64>,
);

const CURVES: [Curve; 9] = [
    ("static yes/no list, at rate", "#c02020", "", |row| {
        Some(row.ours)
    }),
    ("static yes/no list, bare", "#c02020", "6 4", |row| {
        Some(row.ours_bare)
    }),
    ("Bloom cascade, at rate", "#2050c0", "", |row| {
        Some(row.cascade)
    }),
    ("Bloom cascade, bare", "#2050c0", "6 4", |row| {
        Some(row.cascade_bare)
    }),
    ("rust_cascade, bare", "#60a0e0", "2 4", |row| {
        row.rust_cascade
    }),
    ("clubcard, bare", "#208040", "6 4", |row| Some(row.clubcard)),
    ("integrated xor, at rate", "#a06010", "", |row| {
        Some(row.integrated_xor)
    }),
    ("Bloomier, at rate", "#8040a0", "", |row| Some(row.bloomier)),
    ("theorem 7, at rate", "#606060", "1 3", |row| {
        Some(row.lower_bound)
    }),
];

fn x(log2_ratio: f64) -> f64 {
    LEFT + (log2_ratio + 8.0) / 16.0 * (RIGHT - LEFT)
}

fn y(bits: f64) -> f64 {
    BOTTOM - bits / MOST * (BOTTOM - TOP)
}

/// Draws the rows.
pub(super) fn draw(rows: &[Row], fpr: f64) -> String {
    let mut svg = String::new();
    // Writing to a string can't fail.
    let _ = draw_into(&mut svg, rows, fpr);
    svg
}

fn draw_into(svg: &mut String, rows: &[Row], fpr: f64) -> std::fmt::Result {
    let (width, height) = SIZE;
    writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n\
         <clipPath id=\"c\"><rect x=\"{LEFT}\" y=\"{TOP}\" width=\"{}\" height=\"{}\"/></clipPath>",
        RIGHT - LEFT,
        BOTTOM - TOP
    )?;
    for log2 in (-8..=8).step_by(2) {
        let x = x(f64::from(log2));
        writeln!(
            svg,
            "<path d=\"M{x} {TOP}V{BOTTOM}\" stroke=\"#e0e0e0\"/>\
             <text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">2<tspan dy=\"-5\" font-size=\"9\">{log2}\
             </tspan></text>",
            BOTTOM + 20.0
        )?;
    }
    for bits in (0..=MOST as i32).step_by(4) {
        let y = y(f64::from(bits));
        writeln!(
            svg,
            "<path d=\"M{LEFT} {y}H{RIGHT}\" stroke=\"#e0e0e0\"/>\
             <text x=\"{}\" y=\"{}\" text-anchor=\"end\">{bits}</text>",
            LEFT - 8.0,
            y + 4.0
        )?;
    }
    let total = rows.first().map_or(0, |row| row.yes + row.no);
    writeln!(
        svg,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">NO keys for each YES key ({total} keys on both \
         lists)</text>\n\
         <text x=\"16\" y=\"{}\" transform=\"rotate(-90 16 {})\" text-anchor=\"middle\">bits per YES \
         key</text>\n\
         <text x=\"{}\" y=\"{TOP}\">at rate: {:.4}</text>",
        f64::midpoint(LEFT, RIGHT),
        BOTTOM + 45.0,
        f64::midpoint(TOP, BOTTOM),
        f64::midpoint(TOP, BOTTOM),
        RIGHT + 15.0,
        fpr,
    )?;
    for (i, (name, colour, dashes, value)) in CURVES.iter().enumerate() {
        let mut path = String::new();
        for row in rows {
            if let Some(bits) = value(row) {
                let step = if path.is_empty() { 'M' } else { 'L' };
                // Far above the figure is above it.
                let bits = bits.min(10.0 * MOST);
                write!(
                    path,
                    "{step}{:.1} {:.1}",
                    x(f64::from(row.log2_ratio)),
                    y(bits)
                )?;
            }
        }
        let at = TOP + 25.0 + 20.0 * i as f64;
        writeln!(
            svg,
            "<path d=\"{path}\" clip-path=\"url(#c)\" fill=\"none\" stroke=\"{colour}\" \
             stroke-width=\"1.8\" stroke-dasharray=\"{dashes}\"/>\n\
             <path d=\"M{} {at}h24\" stroke=\"{colour}\" stroke-width=\"1.8\" \
             stroke-dasharray=\"{dashes}\"/><text x=\"{}\" y=\"{}\">{name}</text>",
            RIGHT + 15.0,
            RIGHT + 45.0,
            at + 4.0
        )?;
    }
    writeln!(svg, "</svg>")
}
