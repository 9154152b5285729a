//! The report: `index.html`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use twiceshy_report::{Cell, Page, Table};

use super::chart::{Chart, tables};
use crate::experiments::outcome::Outcome;
use crate::experiments::spec::Experiment;
use crate::experiments::verdict::{Judged, Verdict, summary};

fn badge(verdict: Verdict) -> twiceshy_report::Verdict {
    match verdict {
        Verdict::Holds => twiceshy_report::Verdict::Holds,
        Verdict::Fails => twiceshy_report::Verdict::Fails,
        Verdict::Missing | Verdict::TooSmall => twiceshy_report::Verdict::Open,
    }
}

/// Draws what is in a folder, and says what came out.
pub(crate) fn draw(experiments: &[Experiment], folder: &Path) -> Result<()> {
    let outcomes = Outcome::read_all(folder)?;
    ensure!(
        !outcomes.is_empty(),
        "there are no results in {}; measure some with `twiceshy-lab run NAME --out {0}`",
        folder.display()
    );
    let judged = Judged::all(experiments, &outcomes);
    let path = folder.join("index.html");
    fs::write(&path, html(&judged)).with_context(|| format!("can't write {}", path.display()))?;
    println!("{}", summary(&judged));
    for judged in &judged {
        for (claim, judgement) in judged.experiment.claims.iter().zip(&judged.judgements) {
            if judgement.verdict == Verdict::Fails {
                println!(
                    "  doesn't hold: {}: {}: {}; wanted {}",
                    judged.experiment.name,
                    claim.text,
                    judgement.measured(),
                    judgement.wanted
                );
            }
        }
    }
    println!("drawn in {}", path.display());
    Ok(())
}

/// Draws everything.
pub(crate) fn html(judged: &[Judged<'_>]) -> String {
    let mut page = Page::new("twiceshy: the papers' figures on this code");
    let machine = judged
        .first()
        .map_or(String::new(), |judged| judged.outcome.head.place());
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
    for titled in tables(experiment, outcome) {
        if titled.is_long {
            page.folded_table(&titled.title, &titled.table);
            continue;
        }
        if !titled.title.is_empty() {
            page.heading(&titled.title);
        }
        page.table(&titled.table);
    }
    page.heading("Verdicts");
    for (claim, judgement) in experiment.claims.iter().zip(&judged.judgements) {
        page.verdict(badge(judgement.verdict), &judgement.sentence(claim));
    }
    page.text(experiment.analysis.trim());
    page.facts(outcome.head.facts());
    for note in &outcome.head.notes {
        page.text(&format!("Note: {note}"));
    }
}
