//! The page that the demo leaves behind.

use twiceshy_report::text::{number, whole};
use twiceshy_report::{Axis, Bar, BarChart, LineChart, Page, Series, Table};

use super::contest::{Contestant, Front, Tally, VALUE_BYTES};
use super::traffic::{HOSTILE, MEMBERS};
use super::{Contest, TURN};

/// Points of a line, at the most.
const POINTS: usize = 50;

/// The figures side by side, as they also end up on the screen.
pub(super) fn table(contest: &Contest) -> Table {
    let mut table = Table::new([
        "store",
        "lookups a second",
        "database reads per million",
        "false positives",
        "repeated",
    ]);
    for contestant in &contest.contestants {
        let result = &contestant.result;
        let mistakes = |count: u64| match contestant.front {
            Front::Nothing => "–".to_owned(),
            _ => whole(count),
        };
        let cells = [
            contestant.front.name().to_owned(),
            whole(result.per_second() as u64),
            whole(result.reads_per_million() as u64),
            mistakes(result.false_positives),
            mistakes(result.repeated),
        ];
        match contestant.front {
            Front::Adaptive => table.strong_row(cells),
            _ => table.row(cells),
        }
    }
    table
}

/// What the table says, in a sentence or two.
pub(super) fn summary(contest: &Contest) -> String {
    let of = |front| contest.contestants.iter().find(|c| c.front == front);
    let (Some(plain), Some(adaptive)) = (of(Front::Plain), of(Front::Adaptive)) else {
        return String::new();
    };
    let (plain, adaptive) = (&plain.result, &adaptive.result);
    let again = match adaptive.repeated {
        0 => "never made the same mistake twice".to_owned(),
        count => format!("repeated {} of them", whole(count)),
    };
    format!(
        "The plain filter was wrong {} times, {} of them about a key that it had been wrong about \
         before. The adaptive filter was wrong {} times and {again}. It answered {} times as many \
         lookups a second, and {} times fewer of its reads were in vain.",
        whole(plain.false_positives),
        whole(plain.repeated),
        whole(adaptive.false_positives),
        number(adaptive.per_second() / plain.per_second()),
        number(plain.false_positives as f64 / adaptive.false_positives.max(1) as f64),
    )
}

/// The whole page.
pub(super) fn page(contest: &Contest) -> String {
    let mut page = Page::new("Once bitten, twice shy");
    page.lead(&format!(
        "{} records in a database, three stores in front of it, and the same {} lookups for each. \
         After a quarter of them an attacker comes.",
        whole(contest.records),
        whole(contest.lookups),
    ));
    page.table(&table(contest));
    page.text(&summary(contest));
    page.charts([
        bars(contest, "Lookups a second", Tally::per_second),
        bars(
            contest,
            "Database reads per million lookups",
            Tally::reads_per_million,
        ),
    ]);

    page.section("learning", "One of them learns");
    page.text(
        "A filter answers “no” or “maybe” without touching the database. A “no” is always right; \
         a “maybe” is wrong once in a few hundred, and then the database is read in vain. The \
         attacker, who makes one lookup in ten, can't see the filter, but notices which answers are slow, and asks for those \
         keys again and again. The plain filter falls for each of them every time. The adaptive \
         filter is told that it was wrong, lengthens the one fingerprint that caused it, and \
         does not fall for that key again.",
    );
    page.charts([reads_over_time(contest), mistakes(contest)]);

    page.section("how", "How it was measured");
    page.text(&format!(
        "Three copies of one redb database, in turns of {} lookups, on one thread. {MEMBERS}% of \
         the lookups are for records that are there, and no filter can save their reads; all \
         others are for keys that are not there, {HOSTILE}% of them the attacker's once they have \
         come. Popularity follows Zipf's law. The operating system keeps the files in memory if it can: on a disk or over \
         a network a read costs more, and so does every mistake.",
        whole(TURN),
    ));
    page.facts([
        ("records", whole(contest.records)),
        ("bytes a value", VALUE_BYTES.to_string()),
        ("lookups for each", whole(contest.lookups)),
        ("seed of the traffic", contest.seed.to_string()),
        (
            "filling took",
            format!("{:.1} s", contest.filling.as_secs_f64()),
        ),
        ("the filters take", filters(contest)),
    ]);
    page.text("Run it yourself, with more records:");
    page.code(&format!("twiceshy demo --keys {}", contest.records * 4));
    page.html()
}

fn filters(contest: &Contest) -> String {
    let sizes = contest.contestants.iter().filter_map(|contestant| {
        let bytes = contestant.filter_bytes();
        let bits = 8.0 * bytes as f64 / contest.records as f64;
        let name = contestant.front.name();
        (bytes > 0).then(|| {
            format!(
                "{name} {:.1} MB, {bits:.1} bits a record",
                bytes as f64 / 1e6
            )
        })
    });
    sizes.collect::<Vec<_>>().join("; ")
}

fn bars(contest: &Contest, title: &str, value: fn(&Tally) -> f64) -> String {
    let mut chart = BarChart::new(title);
    for contestant in &contest.contestants {
        let value = value(&contestant.result);
        let bar = Bar::new(value).text(whole(value as u64));
        chart = chart.bar(contestant.front.name(), bar);
    }
    chart.svg()
}

fn mistakes(contest: &Contest) -> String {
    let mut chart = BarChart::new("False positives: new ones, and the same ones again")
        .axis(Axis::linear("lookups"))
        .series(["new", "repeated"]);
    for contestant in &contest.contestants {
        let result = &contestant.result;
        if contestant.front != Front::Nothing {
            let new = result.false_positives - result.repeated;
            let bars = [new, result.repeated].map(|count| Some(Bar::new(count as f64)));
            chart = chart.group(contestant.front.name(), bars);
        }
    }
    chart.svg()
}

fn reads_over_time(contest: &Contest) -> String {
    let mut chart = LineChart::new("Database reads, before and during the attack")
        .x(Axis::linear("lookups so far").from(0.0))
        .y(Axis::log("reads per million lookups"));
    for contestant in &contest.contestants {
        let points = points(contestant, Tally::reads_per_million);
        chart = chart.series(Series::new(contestant.front.name()).points(points));
    }
    chart.svg()
}

/// A point for every few turns.
fn points(contestant: &Contestant, value: fn(&Tally) -> f64) -> Vec<(f64, f64)> {
    let together = contestant.turns.len().div_ceil(POINTS).max(1);
    let mut so_far = 0;
    let some_turns = contestant.turns.chunks(together);
    some_turns
        .map(|turns| {
            let sum = Tally::sum(turns);
            so_far += sum.lookups;
            (so_far as f64, value(&sum))
        })
        .collect()
}
