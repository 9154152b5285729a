//! Judging: a pure function of a claim and the results.
//!
//! A claim is about one figure: a series somewhere along its axis, or its ratio to another. The
//! ratio is the median over the rounds of each round's own ratio, in which the machine's drift
//! cancels; where a panel goes by means, it is the ratio of the means. The figure is held against a bound,
//! which noise may miss by the claim's tolerance.

use std::collections::BTreeMap;
use std::fmt;

use twiceshy_report::text::number;

use super::outcome::{Outcome, Point, Spread, X};
use super::spec::{At, Claim, Experiment, Panel, Trend};

/// Does a claim hold?
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    Holds,
    Fails,
    /// Its series were not measured.
    Missing,
    /// The scale is too small for it to mean something.
    TooSmall,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Holds => "holds",
            Verdict::Fails => "doesn't hold",
            Verdict::Missing => "not measured",
            Verdict::TooSmall => "too small to judge",
        })
    }
}

/// A verdict, and what it rests on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Judgement {
    pub(crate) verdict: Verdict,
    /// The figure that decided, with its spread over the rounds.
    pub(crate) figure: Option<Spread>,
    /// Where along the axis that was, if there is more than one place.
    pub(crate) place: Option<String>,
    /// What it was held against.
    pub(crate) wanted: String,
    /// By how much it is kept or missed.
    pub(crate) margin: String,
}

impl Judgement {
    fn without(verdict: Verdict, wanted: String) -> Self {
        Judgement {
            verdict,
            figure: None,
            place: None,
            wanted,
            margin: String::new(),
        }
    }

    /// A claim, the figure and the bound, and why.
    pub(crate) fn sentence(&self, claim: &Claim) -> String {
        let Claim { text, why, .. } = claim;
        let (figure, wanted, margin) = (self.measured(), &self.wanted, &self.margin);
        let state = match self.verdict {
            Verdict::Holds | Verdict::Fails => format!("{figure}; wanted {wanted}; {margin}"),
            Verdict::TooSmall => format!("{figure} at a scale too small to judge; wanted {wanted}"),
            Verdict::Missing => format!("not measured; wanted {wanted}"),
        };
        format!("{text}: {state}. {why}")
    }

    /// The figure in words: `1.23 (1.20 – 1.31) at 0.9`.
    pub(crate) fn measured(&self) -> String {
        let Some(figure) = self.figure else {
            return "–".to_owned();
        };
        let mut text = number(figure.median);
        if figure.low < figure.high {
            text = format!("{text} ({} – {})", number(figure.low), number(figure.high));
        }
        match &self.place {
            Some(place) => format!("{text} at {place}"),
            None => text,
        }
    }
}

/// An experiment, what came of it, and what that means.
pub(crate) struct Judged<'e> {
    pub(crate) experiment: &'e Experiment,
    pub(crate) outcome: &'e Outcome,
    /// One for each claim.
    pub(crate) judgements: Vec<Judgement>,
}

impl<'e> Judged<'e> {
    /// Judges all experiments that have results.
    pub(crate) fn all(
        experiments: &'e [Experiment],
        outcomes: &'e BTreeMap<String, Outcome>,
    ) -> Vec<Self> {
        let judged = experiments.iter().filter_map(|experiment| {
            let outcome = outcomes.get(&experiment.name)?;
            Some(Judged::new(experiment, outcome))
        });
        judged.collect()
    }

    pub(crate) fn new(experiment: &'e Experiment, outcome: &'e Outcome) -> Self {
        let claims = experiment.claims.iter();
        Judged {
            experiment,
            outcome,
            judgements: claims
                .map(|claim| judge(experiment, claim, outcome))
                .collect(),
        }
    }

    /// How many claims came out so.
    pub(crate) fn count(&self, verdict: Verdict) -> usize {
        let judgements = self.judgements.iter();
        judgements
            .filter(|judgement| judgement.verdict == verdict)
            .count()
    }

    /// All in one.
    pub(crate) fn verdict(&self) -> twiceshy_report::Verdict {
        if self.count(Verdict::Fails) > 0 {
            twiceshy_report::Verdict::Fails
        } else if self.count(Verdict::Holds) > 0 {
            twiceshy_report::Verdict::Holds
        } else {
            twiceshy_report::Verdict::Open
        }
    }

    pub(crate) fn heading(&self) -> String {
        let Experiment {
            paper, item, title, ..
        } = self.experiment;
        format!("{paper}, {item}: {title}")
    }
}

/// How much holds.
pub(crate) fn summary(judged: &[Judged<'_>]) -> String {
    let count = |verdict| {
        judged
            .iter()
            .map(|judged| judged.count(verdict))
            .sum::<usize>()
    };
    let (holds, fails) = (count(Verdict::Holds), count(Verdict::Fails));
    let open = count(Verdict::Missing) + count(Verdict::TooSmall);
    let mut text = format!(
        "{holds} of {} claims of {} experiments hold",
        holds + fails,
        judged.len()
    );
    if open > 0 {
        text = format!("{text}; {open} could not be judged");
    }
    text
}

/// Judges a claim by what was measured.
pub(crate) fn judge(experiment: &Experiment, claim: &Claim, outcome: &Outcome) -> Judgement {
    let wanted = wanted(claim);
    let by_mean = experiment
        .panel(&claim.panel)
        .is_some_and(|panel| panel.mean);
    let figures = figures(claim, outcome, by_mean);
    if figures.is_empty() {
        return Judgement::without(Verdict::Missing, wanted);
    }
    let mut judgement = match claim.trend {
        Some(trend) => judge_trend(claim, trend, &figures),
        None => judge_bounds(claim, &figures),
    };
    judgement.wanted = wanted;
    if outcome.head.scale < claim.from {
        judgement.verdict = Verdict::TooSmall;
    }
    judgement
}

/// What is asked for, in words.
fn wanted(claim: &Claim) -> String {
    let mut parts = Vec::new();
    parts.extend(
        claim
            .at_least
            .map(|least| format!("at least {}", number(least))),
    );
    parts.extend(
        claim
            .at_most
            .map(|most| format!("at most {}", number(most))),
    );
    if claim.zero {
        parts.push("exactly 0".to_owned());
    }
    parts.extend(claim.trend.map(|trend| {
        let trend = match trend {
            Trend::Rises => "never falls",
            Trend::Falls => "never rises",
        };
        trend.to_owned()
    }));
    let mut text = parts.join(" and ");
    if claim.tolerance > 0.0 {
        text = format!("{text} (± {}%)", number(claim.tolerance * 100.0));
    }
    text
}

/// A figure and its place.
struct Figure<'o> {
    place: Option<&'o X>,
    spread: Spread,
}

/// What the samples of a point come to.
fn spread(samples: &[f64], by_mean: bool) -> Option<Spread> {
    match by_mean {
        true => Spread::of_mean(samples),
        false => Spread::of(samples.iter().copied()),
    }
}

/// What the samples of a point of a panel come to.
pub(crate) fn figure_of(panel: &Panel, point: &Point) -> Option<Spread> {
    spread(&point.samples, panel.mean)
}

/// How many times a point of a panel is another one.
pub(crate) fn ratio_of(panel: &Panel, point: &Point, other: &Point) -> Option<Spread> {
    ratio(&point.samples, &other.samples, panel.mean)
}

/// The figures that a claim is about.
fn figures<'o>(claim: &'o Claim, outcome: &'o Outcome, by_mean: bool) -> Vec<Figure<'o>> {
    let points = sorted(outcome.series(&claim.panel, &claim.of).collect());
    let Some(by) = &claim.by else {
        return at(&claim.at, &points, |point| spread(&point.samples, by_mean));
    };
    let panel = claim.by_panel.as_ref().unwrap_or(&claim.panel);
    let others = sorted(outcome.series(panel, by).collect());
    match &claim.by_at {
        // Each with the one at the same place.
        None => at(&claim.at, &points, |point| {
            let other = others.iter().find(|other| other.x == point.x)?;
            ratio(&point.samples, &other.samples, by_mean)
        }),
        Some(place) => {
            let pick = |other: &Point| spread(&other.samples, by_mean);
            let mut others = at(place, &others, pick);
            let Some(other) = others.pop().map(|other| other.spread.median) else {
                return Vec::new();
            };
            at(&claim.at, &points, |point| {
                let samples: Vec<f64> = point.samples.iter().map(|&s| divide(s, other)).collect();
                spread(&samples, by_mean)
            })
        }
    }
}

fn sorted(mut points: Vec<&Point>) -> Vec<&Point> {
    points.sort_by(|a, b| match (&a.x, &b.x) {
        (X::Number(a), X::Number(b)) => a.total_cmp(b),
        _ => std::cmp::Ordering::Equal,
    });
    points
}

/// Those at the wanted place.
fn at<'o>(
    place: &At,
    points: &[&'o Point],
    figure: impl Fn(&Point) -> Option<Spread>,
) -> Vec<Figure<'o>> {
    let all = points.iter().filter_map(|point| {
        let spread = figure(point)?;
        let place = Some(&point.x);
        Some(Figure { place, spread })
    });
    let mut all: Vec<Figure<'_>> = all.collect();
    match place {
        At::Every => {
            if let [only] = &mut all[..] {
                only.place = None;
            }
            all
        }
        At::First => all.into_iter().take(1).collect(),
        At::Last => all.pop().into_iter().collect(),
        At::Middle => {
            let medians = all.iter().map(|figure| figure.spread.median);
            let spread = Spread::of(medians);
            spread
                .map(|spread| Figure {
                    place: None,
                    spread,
                })
                .into_iter()
                .collect()
        }
        At::Here(x) => all
            .into_iter()
            .filter(|figure| figure.place.is_some_and(|place| is_near(place, x)))
            .collect(),
    }
}

fn is_near(a: &X, b: &X) -> bool {
    match (a, b) {
        (X::Number(a), X::Number(b)) => (a - b).abs() <= 1e-9 * a.abs().max(b.abs()),
        (a, b) => a == b,
    }
}

/// The ratio of each round, or of the medians where the rounds don't go together.
fn ratio(ours: &[f64], theirs: &[f64], by_mean: bool) -> Option<Spread> {
    if ours.len() == theirs.len() && !by_mean {
        let pairs = ours.iter().zip(theirs);
        return Spread::of(pairs.map(|(&ours, &theirs)| divide(ours, theirs)));
    }
    let (ours, theirs) = (spread(ours, by_mean)?, spread(theirs, by_mean)?);
    Spread::of([divide(ours.median, theirs.median)])
}

/// Two that are both zero are equal.
fn divide(a: f64, b: f64) -> f64 {
    if a == 0.0 && b == 0.0 { 1.0 } else { a / b }
}

fn judge_bounds(claim: &Claim, figures: &[Figure<'_>]) -> Judgement {
    // How far a figure is on the right side of what is asked for; negative on the wrong one.
    let slack = |figure: f64| {
        let least = claim.at_least.map_or(f64::INFINITY, |least| {
            figure - least * (1.0 - claim.tolerance)
        });
        let most = claim.at_most.map_or(f64::INFINITY, |most| {
            most * (1.0 + claim.tolerance) - figure
        });
        let zero = if claim.zero {
            -figure.abs()
        } else {
            f64::INFINITY
        };
        least.min(most).min(zero)
    };
    let worst = figures.iter().min_by(|a, b| {
        let (a, b) = (slack(a.spread.median), slack(b.spread.median));
        a.total_cmp(&b)
    });
    let Some(worst) = worst else {
        return Judgement::without(Verdict::Missing, String::new());
    };
    let figure = worst.spread.median;
    let holds = slack(figure) >= 0.0;
    Judgement {
        verdict: if holds {
            Verdict::Holds
        } else {
            Verdict::Fails
        },
        figure: Some(worst.spread),
        place: worst.place.map(X::to_string),
        wanted: String::new(),
        margin: margin(claim, figure, holds),
    }
}

/// How far from the bound, in words.
fn margin(claim: &Claim, figure: f64, holds: bool) -> String {
    let misses = |bound: f64| {
        let share = figure / bound;
        if bound == 0.0 || !share.is_finite() {
            format!("off by {}", number(figure - bound))
        } else if !(0.5..=2.0).contains(&share) {
            format!("{} times the bound", number(share))
        } else {
            let (percent, side) = (
                (share - 1.0) * 100.0,
                if share < 1.0 { "below" } else { "above" },
            );
            format!("{}% {side} the bound", number(percent.abs()))
        }
    };
    match (claim.at_least, claim.at_most) {
        _ if claim.zero && holds => "exactly".to_owned(),
        _ if claim.zero => format!("off by {}", number(figure)),
        (Some(least), Some(most)) => {
            // The nearer bound is the one that matters.
            let bound = if (figure - least).abs() < (most - figure).abs() {
                least
            } else {
                most
            };
            misses(bound)
        }
        (Some(bound), None) | (None, Some(bound)) => misses(bound),
        (None, None) => String::new(),
    }
}

fn judge_trend(claim: &Claim, trend: Trend, figures: &[Figure<'_>]) -> Judgement {
    // The largest step in the wrong direction, as a share of what was reached before.
    let mut worst: Option<(f64, &Figure<'_>)> = None;
    let mut best: Option<f64> = None;
    for figure in figures {
        let value = figure.spread.median;
        let so_far = best.unwrap_or(value);
        let wrong = match trend {
            Trend::Rises => 1.0 - divide(value, so_far),
            Trend::Falls => divide(value, so_far) - 1.0,
        };
        if worst.as_ref().is_none_or(|(most, _)| wrong > *most) {
            worst = Some((wrong, figure));
        }
        best = Some(match trend {
            Trend::Rises => so_far.max(value),
            Trend::Falls => so_far.min(value),
        });
    }
    let Some((wrong, figure)) = worst else {
        return Judgement::without(Verdict::Missing, String::new());
    };
    let holds = wrong <= claim.tolerance;
    Judgement {
        verdict: if holds {
            Verdict::Holds
        } else {
            Verdict::Fails
        },
        figure: Some(figure.spread),
        place: figure.place.map(X::to_string),
        wanted: String::new(),
        margin: format!("at worst {}% the wrong way", number(wrong.max(0.0) * 100.0)),
    }
}
