//! Every experiment at the smallest scale, end to end; and verdicts that can fail.

use std::collections::BTreeMap;
use std::fs;
use std::sync::OnceLock;

use clap::CommandFactory;
use indicatif::ProgressBar;
use tempfile::tempdir;

use crate::declared::Declared;
use crate::drawn::chart::Chart;
use crate::drawn::text::Text;
use crate::drawn::{chart, markdown, page};
use crate::experiments::outcome::{Head, Outcome, Point, X, median};
use crate::experiments::spec::{At, Claim, Experiment, Scale, Trend};
use crate::experiments::verdict::{Judged, Verdict, judge};
use crate::filters::{self, Operation};
use crate::machine::Machine;
use crate::run;

#[test]
fn the_command_line_is_consistent() {
    super::Cli::command().debug_assert();
}

fn experiments() -> Vec<Experiment> {
    Declared::default().all().unwrap()
}

/// What every experiment comes to at the smallest scale, measured once for all tests.
fn measured() -> &'static BTreeMap<String, Outcome> {
    static MEASURED: OnceLock<BTreeMap<String, Outcome>> = OnceLock::new();
    MEASURED.get_or_init(|| {
        let (machine, progress) = (Machine::look(), ProgressBar::hidden());
        let measure = |experiment: &Experiment| {
            run::measure(experiment, Scale::Tiny, &machine, None, &progress, 0).unwrap()
        };
        let experiments = experiments();
        let outcomes = experiments.iter().map(measure);
        outcomes
            .map(|outcome| (outcome.head.experiment.clone(), outcome))
            .collect()
    })
}

/// The figures of a series.
fn samples<'o>(outcome: &'o Outcome, panel: &'o str, series: &'o str) -> Vec<f64> {
    let points = outcome.series(panel, series);
    points.flat_map(|point| point.samples.clone()).collect()
}

/// An outcome of an experiment at the largest scale, with these points.
fn outcome(experiment: &Experiment, points: Vec<Point>) -> Outcome {
    Outcome {
        head: Head {
            experiment: experiment.name.clone(),
            scale: Scale::Paper,
            machine: Machine::look(),
            seeds: experiment.seeds.clone(),
            filters: experiment.filters.clone(),
            workloads: Vec::new(),
            parameters: experiment.size(Scale::Paper).unwrap().clone(),
            seconds: 1.0,
            disturbed: None,
            notes: Vec::new(),
        },
        points,
    }
}

fn point(panel: &str, series: &str, x: impl Into<X>, samples: &[f64]) -> Point {
    Point {
        panel: panel.to_owned(),
        series: series.to_owned(),
        x: x.into(),
        samples: samples.to_vec(),
    }
}

/// Results by which a claim holds, or by which it doesn't.
fn plant(claim: &Claim, holds: bool) -> Vec<Point> {
    if let Some(trend) = claim.trend {
        let values = match (trend, holds) {
            (Trend::Rises, true) | (Trend::Falls, false) => [1.0, 10.0, 100.0],
            (Trend::Rises, false) | (Trend::Falls, true) => [100.0, 10.0, 1.0],
        };
        let places = [1.0, 2.0, 3.0].into_iter().zip(values);
        return places
            .map(|(x, value)| point(&claim.panel, &claim.of, x, &[value]))
            .collect();
    }
    let tolerance = claim.tolerance;
    let figure = match (claim.at_least, claim.at_most, holds) {
        _ if claim.zero => f64::from(u8::from(!holds)),
        (Some(least), Some(most), true) => f64::midpoint(least, most),
        (Some(least), None, true) => least * 1.01,
        (_, Some(most), true) => most * 0.99,
        (Some(least), _, false) => least * (1.0 - tolerance) * 0.9 - 1e-9,
        (None, Some(most), false) => most * (1.0 + tolerance) * 1.1 + 1e-9,
        (None, None, _) => panic!("nothing is demanded"),
    };
    // The places of a claim, and of what it is divided by if that is another.
    let place = |at: &At, otherwise: f64| match at {
        At::Here(x) => x.clone(),
        At::First => X::Number(0.0),
        At::Last => X::Number(9.0),
        At::Every | At::Middle => X::Number(otherwise),
    };
    let x = place(&claim.at, 1.0);
    let mut points = vec![point(&claim.panel, &claim.of, x.clone(), &[figure; 3])];
    if let Some(by) = &claim.by {
        let panel = claim.by_panel.as_ref().unwrap_or(&claim.panel);
        let x = claim.by_at.as_ref().map_or(x, |at| place(at, 2.0));
        points.push(point(panel, by, x, &[1.0; 3]));
    }
    points
}

#[test]
fn every_claim_of_every_experiment_can_hold_and_can_fail() {
    for experiment in experiments() {
        for claim in &experiment.claims {
            let about = format!("{}: {}", experiment.name, claim.text);
            let right = judge(
                &experiment,
                claim,
                &outcome(&experiment, plant(claim, true)),
            );
            assert_eq!(right.verdict, Verdict::Holds, "{about}: {right:?}");
            let wrong = judge(
                &experiment,
                claim,
                &outcome(&experiment, plant(claim, false)),
            );
            assert_eq!(wrong.verdict, Verdict::Fails, "{about}: {wrong:?}");
            let nothing = judge(&experiment, claim, &outcome(&experiment, Vec::new()));
            assert_eq!(nothing.verdict, Verdict::Missing, "{about}");
            let mut small = outcome(&experiment, plant(claim, false));
            small.head.scale = Scale::Tiny;
            let small = judge(&experiment, claim, &small).verdict;
            let wanted = if claim.from > Scale::Tiny {
                Verdict::TooSmall
            } else {
                Verdict::Fails
            };
            assert_eq!(small, wanted, "{about}");
        }
    }
}

#[test]
fn a_planted_wrong_result_is_shown_as_not_holding() {
    let experiments = experiments();
    let experiment = &experiments[0];
    let claim = &experiment.claims[0];
    for (holds, badge) in [(true, "holds</b>"), (false, "doesn't hold</b>")] {
        let outcome = outcome(experiment, plant(claim, holds));
        let outcomes = BTreeMap::from([(experiment.name.clone(), outcome)]);
        let judged = Judged::all(&experiments, &outcomes);
        assert_eq!(judged[0].count(Verdict::Fails), usize::from(!holds));
        let html = page::html(&judged);
        assert!(
            html.contains(badge) && html.contains(&experiment.name),
            "{html}"
        );
        let folder = tempdir().unwrap();
        let file = folder.path().join("results.md");
        markdown::write(&file, &judged).unwrap();
        let text = fs::read_to_string(file).unwrap();
        assert_eq!(text.contains("<!-- why -->"), !holds, "{text}");
    }
}

#[test]
fn a_ratio_is_that_of_the_rounds_and_the_worst_place_counts() {
    let mut experiments = experiments();
    experiments[0]
        .panels
        .iter_mut()
        .for_each(|panel| panel.mean = false);
    let mut claim = experiments[0].claims[0].clone();
    (claim.of, claim.by, claim.at) = ("a".to_owned(), Some("b".to_owned()), At::Every);
    (claim.at_least, claim.at_most, claim.tolerance) = (Some(2.0), None, 0.0);
    (claim.by_at, claim.by_panel, claim.from) = (None, None, Scale::Tiny);
    let points = vec![
        // The machine got slower: the ratio is 3 all the time.
        point(&claim.panel, "a", 1.0, &[30.0, 3.0, 0.3]),
        point(&claim.panel, "b", 1.0, &[10.0, 1.0, 0.1]),
        point(&claim.panel, "a", 2.0, &[5.0]),
        point(&claim.panel, "b", 2.0, &[2.0]),
    ];
    let judgement = judge(
        &experiments[0],
        &claim,
        &outcome(&experiments[0], points.clone()),
    );
    assert_eq!(judgement.verdict, Verdict::Holds);
    assert!((judgement.figure.unwrap().median - 2.5).abs() < 1e-9);
    assert_eq!(judgement.place.as_deref(), Some("2"));
    assert_eq!(judgement.margin, "25% above the bound");
    claim.at = At::First;
    let judgement = judge(
        &experiments[0],
        &claim,
        &outcome(&experiments[0], points.clone()),
    );
    assert!((judgement.figure.unwrap().median - 3.0).abs() < 1e-9);
    // By their means, the largest samples have their say.
    let mut points = points;
    points[0].samples[2] = 300.0;
    experiments[0]
        .panels
        .iter_mut()
        .for_each(|panel| panel.mean = true);
    let judgement = judge(&experiments[0], &claim, &outcome(&experiments[0], points));
    assert!((judgement.figure.unwrap().median - 30.0).abs() < 1e-9);
}

#[test]
fn results_of_different_machines_are_refused() {
    let experiments = experiments();
    let folder = tempdir().unwrap();
    let mut one = outcome(&experiments[0], Vec::new());
    one.write(folder.path()).unwrap();
    one.head.experiment = "other".to_owned();
    one.head.machine.load_average = None;
    one.write(folder.path()).unwrap();
    assert_eq!(Outcome::read_all(folder.path()).unwrap().len(), 2);
    one.head.machine.cpu = Some("abacus".to_owned());
    one.write(folder.path()).unwrap();
    let error = Outcome::read_all(folder.path()).unwrap_err().to_string();
    assert!(
        error.contains("different machines") && error.contains("abacus"),
        "{error}"
    );
}

#[test]
fn what_is_no_result_is_said() {
    let folder = tempdir().unwrap();
    for text in ["", "{}", "{\"panel\":1}\n"] {
        fs::write(folder.path().join("x.jsonl"), text).unwrap();
        let error = Outcome::read_all(folder.path()).unwrap_err().to_string();
        assert!(error.contains("no file of results"), "{error}");
    }
    let experiments = experiments();
    let points = vec![point("p", "s", 1.0, &[f64::NAN])];
    let error = outcome(&experiments[0], points)
        .write(folder.path())
        .unwrap_err();
    assert!(error.to_string().contains("no number"), "{error}");
}

/// Raw results with their shape, and plots that draw.
#[test]
fn every_experiment_runs_at_the_smallest_scale() {
    let folder = tempdir().unwrap();
    let experiments = experiments();
    for outcome in measured().values() {
        outcome.write(folder.path()).unwrap();
    }
    let outcomes = Outcome::read_all(folder.path()).unwrap();
    for experiment in &experiments {
        check(experiment, &outcomes[&experiment.name]);
        let text = Text(&Judged::new(experiment, &outcomes[&experiment.name])).to_string();
        assert!(
            text.contains(&experiment.title) && !text.contains("NaN"),
            "{text}"
        );
    }
    page::draw(&experiments, folder.path()).unwrap();
    let file = folder.path().join("results.md");
    markdown::write(&file, &Judged::all(&experiments, &outcomes)).unwrap();
    let html = fs::read_to_string(folder.path().join("index.html")).unwrap();
    assert!(!html.contains("NaN"));
    for experiment in &experiments {
        assert!(html.contains(&format!("<h2 id=\"{}\"", experiment.name)));
    }
    let text = fs::read_to_string(folder.path().join("results.md")).unwrap();
    let links: Vec<&str> = text.split("](results/").skip(1).collect();
    assert!(links.len() > 5);
    for link in links {
        let (name, _) = link.split_once(')').unwrap();
        assert!(folder.path().join("results").join(name).exists(), "{name}");
        assert!(
            name.chars()
                .all(|c| c.is_ascii_alphanumeric() || "-.".contains(c)),
            "{name}"
        );
    }
}

fn check(experiment: &Experiment, outcome: &Outcome) {
    let name = &experiment.name;
    assert_eq!(outcome.head.scale, Scale::Tiny);
    assert_eq!(outcome.head.seeds, experiment.seeds);
    if outcome.points.is_empty() {
        // For want of real data: then it says what to run.
        let says = outcome.head.notes.join(" ");
        assert!(
            says.contains("cargo xtask data"),
            "{name} measured nothing: {says}"
        );
        return;
    }
    for point in &outcome.points {
        assert!(!point.samples.is_empty(), "{name}: {point:?}");
        assert!(
            experiment.panel(&point.panel).is_some(),
            "{name}: {point:?}"
        );
    }
    for panel in &experiment.panels {
        let series = outcome.names(&panel.name).len();
        if series == 0 {
            // Left out at this scale, or for want of real data: then it says so.
            let is_left_out = !outcome.head.notes.is_empty() || panel.name.starts_with("lmdb");
            assert!(is_left_out, "{name}: nothing in {}", panel.name);
            continue;
        }
        if let Some(chart) = Chart::of(panel, outcome) {
            let svg = chart.svg();
            assert!(
                svg.starts_with("<svg") && !svg.contains("NaN"),
                "{name}: {svg}"
            );
            let drawn = svg.matches("class=\"line\"").count() + svg.matches("<rect").count();
            assert!(
                drawn >= series,
                "{name}: {drawn} of {series} in {}",
                panel.name
            );
            assert!(chart.standalone().contains("xmlns="));
        }
        assert!(!chart::table(panel, outcome).is_empty());
    }
    // Every claim has its series, unless it is of a panel that was left out.
    for claim in &experiment.claims {
        let measured = !outcome.names(&claim.panel).is_empty();
        let verdict = judge(experiment, claim, outcome).verdict;
        assert_eq!(
            verdict != Verdict::Missing,
            measured,
            "{name}: {}",
            claim.text
        );
    }
}

/// Figure 8's members are replaced between queries, and every query is asked: who learns goes on learning.
#[test]
fn filters_learn_while_members_are_replaced() {
    let outcome = &measured()["003-figure-8"];
    let rates = |filter| samples(outcome, "zipf rate", filter);
    let places = outcome.places("zipf rate").len();
    assert_eq!(places, 21);
    let mean = |rates: Vec<f64>| rates.iter().sum::<f64>() / rates.len() as f64;
    assert!(mean(rates("adaptive")) < mean(rates("quotient")) / 2.0);
}

#[test]
fn every_filter_is_timed_at_all_that_it_can() {
    let outcome = &measured()["compare"];
    for name in &outcome.head.filters {
        let entry = filters::by_name(name).unwrap();
        let filter = entry.contender(&crate::timed::Workload {
            log2_slots: 10,
            load: 0.9,
            adapted: 0.0,
            seed: 1,
        });
        let filter = filter.unwrap();
        for &operation in <Operation as clap::ValueEnum>::value_variants() {
            let times = samples(outcome, &format!("{operation} ns"), name);
            let rounds = if filter.can(operation) { 2 } else { 0 };
            assert_eq!(times.len(), rounds, "{name} {operation}");
            assert!(times.iter().all(|&time| time > 0.0), "{name} {operation}");
        }
        let [space, rate] = ["space", "query_miss rate"].map(|panel| samples(outcome, panel, name));
        assert!(median(space) < 64.0 && median(rate) < 0.1, "{name}");
        let bits = samples(outcome, "zipf bits", name);
        assert_eq!(
            bits.is_empty(),
            !entry.learns || name == "swapping",
            "{name}"
        );
    }
    // 65,536 queries against one small table: the table's own luck dominates.
    let expected = 1.0 - (-0.9_f64 / 512.0).exp();
    for name in ["qfilter", "quotient", "adaptive", "counting"] {
        let rate = median(samples(outcome, "query_miss rate", name));
        assert!((rate / expected - 1.0).abs() < 0.5, "{name}: {rate}");
    }
    let rate = |panel, name| median(samples(outcome, panel, name));
    for (name, plain) in [("adaptive", "quotient"), ("adaptive/sip", "quotient/sip")] {
        // The same geometry, hash and seed: the same mistakes, until one is made twice.
        assert_eq!(
            rate("query_miss rate", name),
            rate("query_miss rate", plain)
        );
        assert_eq!(rate("zipf rate", plain), rate("zipf_again rate", plain));
        assert_eq!(rate("zipf distinct", name), rate("zipf distinct", plain));
        assert_eq!(rate("zipf_again rate", name), 0.0);
    }
}

/// The measurement checks hits and removals itself.
#[test]
fn adapted_filters_lose_no_member_and_make_fewer_mistakes() {
    let mut experiment = crate::declared::built_in("compare").unwrap();
    let words = "adapted = 0.02\nlog2_slots = [14]\nrounds = 1";
    experiment
        .change(Scale::Tiny, words.parse().unwrap())
        .unwrap();
    let (machine, progress) = (Machine::look(), ProgressBar::hidden());
    let outcome = run::measure(&experiment, Scale::Tiny, &machine, None, &progress, 0).unwrap();
    let rate = |panel, name| median(samples(&outcome, panel, name));
    assert!(rate("query_miss rate", "adaptive/sip") < rate("query_miss rate", "quotient/sip"));
    assert!(rate("zipf rate", "adaptive") > 0.0 && rate("zipf bits", "adaptive") > 0.0);
}

#[test]
fn an_operation_alone_brings_what_it_is_compared_with() {
    let mut experiment = crate::declared::built_in("compare").unwrap();
    let words = "operations = [\"query_hit_batch\"]\nfilters = [\"adaptive\", \"qfilter\"]";
    experiment
        .change(Scale::Tiny, words.parse().unwrap())
        .unwrap();
    let (machine, progress) = (Machine::look(), ProgressBar::hidden());
    let outcome = run::measure(&experiment, Scale::Tiny, &machine, None, &progress, 0).unwrap();
    let panel = experiment.panel("query_hit_batch ns").unwrap();
    let table = chart::table(panel, &outcome).to_string();
    let row = table
        .lines()
        .find(|line| line.starts_with("adaptive"))
        .unwrap();
    // Its time, the spread, and the ratio to what the other one does instead.
    assert!(
        row.trim_end().ends_with(|c: char| c.is_ascii_digit()),
        "{table}"
    );
    assert!(samples(&outcome, "remove ns", "qfilter").is_empty());
}

#[test]
fn the_store_is_measured_on_every_engine() {
    let outcome = &measured()["store"];
    let places = |panel| {
        outcome
            .places(panel)
            .iter()
            .map(|x| x.to_string())
            .collect::<Vec<_>>()
    };
    for panel in [
        "misses, 100 µs a read",
        "threads",
        "opening",
        "rebuild",
        "pauses",
    ] {
        assert_eq!(places(panel), ["redb", "lmdb", "fjall"], "{panel}");
    }
    for panel in ["inserts", "insert_new", "misses"] {
        assert_eq!(
            places(panel),
            ["redb", "lmdb", "fjall", "fjall with filters"],
            "{panel}"
        );
    }
    // Counted figures hold at any size. Without a filter, every put asks the engine; with one, hardly any.
    let reads = |filter| samples(outcome, "reads a put", filter);
    assert!(reads("no filter").iter().all(|&reads| reads >= 1.0));
    for filter in ["quotient", "adaptive", "adaptive, split"] {
        assert!(reads(filter).iter().all(|&reads| reads < 0.02), "{filter}");
    }
    // Replays cost the plain store a read each, and the adaptive one none.
    let panel = "redb, cache of 1% of the data, reads";
    let reads = |filter| {
        median(
            outcome
                .at(panel, filter, &X::Number(10.0))
                .unwrap()
                .samples
                .clone(),
        )
    };
    assert!(reads("quotient") > 0.09, "{}", reads("quotient"));
    assert!(reads("adaptive") < 0.02, "{}", reads("adaptive"));
}
