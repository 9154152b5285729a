//! The report: `index.html`.

use std::collections::BTreeMap;

use twiceshy_report::text::number;
use twiceshy_report::{Cell, Page, Table};

use super::chart::{self, COLUMNS, Chart};
use super::result::{Head, Outcome};
use super::spec::{Experiment, Panel};
use super::verdict::{Judgement, Verdict, judge};

/// An experiment, what came of it, and what that means.
pub(super) struct Judged<'e> {
    pub(super) experiment: &'e Experiment,
    pub(super) outcome: &'e Outcome,
    /// One for each claim.
    pub(super) judgements: Vec<Judgement>,
}

impl<'e> Judged<'e> {
    /// Judges all experiments that have results.
    pub(super) fn all(
        experiments: &'e [Experiment],
        outcomes: &'e BTreeMap<String, Outcome>,
    ) -> Vec<Self> {
        let judged = experiments.iter().filter_map(|experiment| {
            let outcome = outcomes.get(&experiment.name)?;
            let claims = experiment.claims.iter();
            Some(Judged {
                experiment,
                outcome,
                judgements: claims
                    .map(|claim| judge(experiment, claim, outcome))
                    .collect(),
            })
        });
        judged.collect()
    }

    /// How many claims came out so.
    pub(super) fn count(&self, verdict: Verdict) -> usize {
        let judgements = self.judgements.iter();
        judgements
            .filter(|judgement| judgement.verdict == verdict)
            .count()
    }

    /// All in one.
    pub(super) fn verdict(&self) -> twiceshy_report::Verdict {
        if self.count(Verdict::Fails) > 0 {
            twiceshy_report::Verdict::Fails
        } else if self.count(Verdict::Holds) > 0 {
            twiceshy_report::Verdict::Holds
        } else {
            twiceshy_report::Verdict::Open
        }
    }

    pub(super) fn heading(&self) -> String {
        let Experiment {
            paper, item, title, ..
        } = self.experiment;
        format!("{paper}, {item}: {title}")
    }
}

pub(super) fn badge(verdict: Verdict) -> twiceshy_report::Verdict {
    match verdict {
        Verdict::Holds => twiceshy_report::Verdict::Holds,
        Verdict::Fails => twiceshy_report::Verdict::Fails,
        Verdict::Missing | Verdict::TooSmall => twiceshy_report::Verdict::Open,
    }
}

/// How much holds.
pub(super) fn summary(judged: &[Judged<'_>]) -> String {
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

/// Where and when it was measured.
pub(super) fn machine(head: &Head) -> String {
    format!("Measured on {}.", head.machine.describe())
}

/// Draws everything.
pub(super) fn html(judged: &[Judged<'_>]) -> String {
    let mut page = Page::new("twiceshy: the papers' figures on this code");
    let machine = judged
        .first()
        .map_or(String::new(), |judged| machine(&judged.outcome.head));
    page.lead(&format!("{}. {machine}", summary(judged)));

    // The table leads everywhere.
    page.without_contents();
    page.section("summary", "All verdicts");
    let mut table = Table::new(["verdict", "experiment", "hold"]).words(1);
    for judged in judged {
        let link = format!("#{}", judged.experiment.name);
        let (holds, all) = (judged.count(Verdict::Holds), judged.judgements.len());
        table.row([
            Cell::verdict(judged.verdict()),
            Cell::link(judged.heading(), link),
            Cell::new(format!("{holds} of {all}")),
        ]);
    }
    page.table(&table);
    page.text(
        "Times are medians over interleaved rounds, with the middle half of the rounds as their \
         spread. A ratio is the median of the rounds' own ratios, in which the machine's drift \
         cancels. Rare events are counted with several seeds and shown as means with their standard \
         error. A verdict is computed from the raw results by the rule that stands beside it.",
    );
    for judged in judged {
        section(&mut page, judged);
    }
    page.html()
}

fn section(page: &mut Page, judged: &Judged<'_>) {
    let Judged {
        experiment,
        outcome,
        ..
    } = judged;
    page.section(&experiment.name, &judged.heading());
    page.text(&format!("The paper: {}", experiment.says.trim()));
    page.text(&format!("Here: {}", experiment.does.trim()));
    let charts = experiment.panels.iter();
    let charts = charts.filter(|panel| !outcome.names(&panel.name).is_empty());
    let charts = charts.filter_map(|panel| Chart::of(panel, outcome));
    page.charts(charts.map(|chart| chart.svg()));
    let places = |panel: &Panel| outcome.places(&panel.name).len();
    let single: Vec<&Panel> = experiment
        .panels
        .iter()
        .filter(|panel| places(panel) == 1)
        .collect();
    if !single.is_empty() {
        page.table(&chart::table_of_single(&single, outcome));
    }
    for panel in experiment.panels.iter().filter(|panel| places(panel) > 1) {
        let table = chart::table(panel, outcome);
        let title = format!("{} ({})", panel.title, panel.y.label);
        if places(panel) > COLUMNS {
            page.folded_table(&title, &table);
        } else {
            page.heading(&title);
            page.table(&table);
        }
    }
    page.heading("Verdicts");
    for (claim, judgement) in experiment.claims.iter().zip(&judged.judgements) {
        page.verdict(
            badge(judgement.verdict),
            &sentence(&claim.text, judgement, &claim.why),
        );
    }
    page.text(experiment.analysis.trim());
    page.facts(facts(&outcome.head));
    for note in &outcome.head.notes {
        page.text(&format!("Note: {note}"));
    }
}

/// A claim, the figure and the bound, and why.
pub(super) fn sentence(claim: &str, judgement: &Judgement, why: &str) -> String {
    let Judgement {
        verdict,
        wanted,
        margin,
        ..
    } = judgement;
    let figure = judgement.measured();
    let state = match verdict {
        Verdict::Holds | Verdict::Fails => format!("{figure}; wanted {wanted}; {margin}"),
        Verdict::TooSmall => format!("{figure} at a scale too small to judge; wanted {wanted}"),
        Verdict::Missing => format!("not measured; wanted {wanted}"),
    };
    format!("{claim}: {state}. {why}")
}

/// How the results came about.
fn facts(head: &Head) -> Vec<(&'static str, String)> {
    let commit = head.machine.commit.clone();
    let seeds: Vec<String> = head.seeds.iter().map(u64::to_string).collect();
    let parameters = head.parameters.rest.iter();
    let parameters: Vec<String> = parameters
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    let mut facts = vec![
        (
            "run",
            format!(
                "scale {}, {} rounds, {} s, commit {}",
                head.scale,
                head.parameters.rounds,
                number(head.seconds),
                commit
                    .as_deref()
                    .map_or("unknown", |commit| { commit.get(..12).unwrap_or(commit) })
            ),
        ),
        ("seeds", seeds.join(", ")),
        ("parameters", parameters.join(", ")),
    ];
    if let Some(disturbed) = head.disturbed.filter(|share| *share > 0.02) {
        facts.push((
            "disturbed",
            format!(
                "other programs had this core {:.0}% of the time",
                disturbed * 100.0
            ),
        ));
    }
    facts
}
