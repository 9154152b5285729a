//! What came out: judged, printed, drawn.
//!
//! | module | what is in it |
//! | --- | --- |
//! | [`chart`] | a panel's results as a chart and as a table |
//! | [`text`] | an experiment on a terminal |
//! | [`page`] | all of them on one page |
//! | [`markdown`] | the skeleton of `docs/results.md` |

pub(crate) mod chart;
pub(crate) mod markdown;
pub(crate) mod page;
pub(crate) mod text;

use std::collections::BTreeMap;

use twiceshy_report::Table;
use twiceshy_report::text::number;

use crate::experiments::outcome::{Head, Outcome};
use crate::experiments::spec::{Experiment, Panel};
use crate::experiments::verdict::{Judgement, Verdict, judge};

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

/// Where and when it was measured.
pub(crate) fn machine(head: &Head) -> String {
    format!("Measured on {}.", head.machine.describe())
}

/// A table of figures, and how it is called.
struct Titled {
    title: String,
    table: Table,
    /// So long that few want to see it.
    is_long: bool,
}

/// All figures of an experiment. Panels of one place stand side by side, unless they have ratios.
fn tables(experiment: &Experiment, outcome: &Outcome) -> Vec<Titled> {
    let places = |panel: &&Panel| outcome.places(&panel.name).len();
    let measured = experiment.panels.iter().filter(|panel| places(panel) > 0);
    let (single, others): (Vec<&Panel>, Vec<&Panel>) =
        measured.partition(|panel| places(panel) == 1 && panel.by.is_empty());
    let mut tables = Vec::new();
    if !single.is_empty() {
        tables.push(Titled {
            title: String::new(),
            table: chart::table_of_single(&single, outcome),
            is_long: false,
        });
    }
    tables.extend(others.iter().map(|panel| Titled {
        title: format!("{} ({})", panel.title, panel.y.label),
        table: chart::table(panel, outcome),
        is_long: places(panel) > chart::COLUMNS,
    }));
    tables
}

/// A claim, the figure and the bound, and why.
fn sentence(claim: &str, judgement: &Judgement, why: &str) -> String {
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
