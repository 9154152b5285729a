//! One of everything, to look at: `cargo run -p twiceshy-report --example gallery gallery.html`.

use std::path::PathBuf;

use twiceshy_report::text::number;
use twiceshy_report::{Axis, Bar, BarChart, Cell, LineChart, Page, Series, Table, Verdict};

fn main() -> std::io::Result<()> {
    let mut page = Page::new("A gallery of what a report can show");
    page.lead("Every colour, every axis, every kind of chart, in light and dark.");
    page.facts([
        ("machine", "none: these figures are made up"),
        ("seed", "7"),
    ]);

    page.section("lines", "Lines");
    let names = [
        "adaptive quotient filter",
        "telescoping",
        "extension",
        "cyclic 1",
        "cyclic 2",
        "cyclic 3",
        "swapping",
        "cuckooing",
        "plain cuckoo",
        "vacuum",
    ];
    let mut many = LineChart::new("False positive rate against the number of queries per item")
        .x(Axis::log("queries for each item"))
        .y(Axis::log("false positive rate"));
    for (i, name) in names.into_iter().enumerate() {
        let at = |x: i32| 0.004 / f64::from((x + 1) * (10 - i as i32));
        let points = (0..8).map(|x| {
            let y = if i == 0 && x > 4 { 0.0 } else { at(x) };
            (2_f64.powi(x), y, y * 0.8, y * 1.25)
        });
        many = many.series(Series::new(name).spread(points));
    }
    let filling = LineChart::new("Inserts while the filter fills")
        .x(Axis::linear("load"))
        .y(Axis::linear("a second"))
        .series(Series::new("one line").points((0..200).map(|x| {
            let load = f64::from(x) / 210.0;
            (load, 2e7 * (1.0 - load).sqrt())
        })));
    page.charts([many.svg(), filling.svg()]);

    page.section("bars", "Bars");
    let single = BarChart::new("Database reads per million lookups")
        .axis(Axis::linear("reads"))
        .bar("no filter", 912_345.0)
        .bar(
            "classic filter",
            Bar::new(104_000.0).spread(99_000.0, 130_000.0),
        )
        .bar("adaptive filter", 1_950.0);
    let groups = BarChart::new("Nanoseconds an operation")
        .axis(Axis::log("ns"))
        .series(["twiceshy", "other crate"])
        .group(
            "insert",
            [
                Some(Bar::new(56.0).spread(52.0, 70.0)),
                Some(Bar::new(106.0)),
            ],
        )
        .group("query", [Some(Bar::new(23.0)), None]);
    page.charts([single.svg(), groups.svg()]);

    page.section("words", "Words and tables");
    page.verdict(
        Verdict::Holds,
        "Twice as fast was promised; 2.4 times was measured.",
    );
    page.verdict(
        Verdict::Fails,
        "At most 1.10 was promised; 1.31 was measured.",
    );
    page.verdict(
        Verdict::Open,
        "The data is not here: run `cargo xtask data`.",
    );
    let mut table = Table::new(["filter", "ns", "bits", "verdict"]).words(3);
    table.strong_row([
        Cell::link("twiceshy", "#lines"),
        number(23.4).into(),
        number(12.97).into(),
        Cell::verdict(Verdict::Holds),
    ]);
    table.row([
        Cell::new("other"),
        number(46.0).into(),
        number(12.4).into(),
        Cell::verdict(Verdict::Fails),
    ]);
    page.table(&table);
    page.folded_table("The same once more", &table);
    page.code("cargo run -p twiceshy-report --example gallery gallery.html");

    let file = std::env::args_os().nth(1).map(PathBuf::from);
    let file = file.unwrap_or_else(|| std::env::temp_dir().join("twiceshy-gallery.html"));
    std::fs::write(&file, page.html())?;
    println!("drawn in {}", file.display());
    Ok(())
}
