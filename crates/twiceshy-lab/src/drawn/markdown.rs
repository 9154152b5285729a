//! The skeleton of `docs/results.md`: verdicts, key figures and plots, and how they were made.
//!
//! What a person has to say about a verdict that failed goes where `<!-- why -->` stands.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use twiceshy_report::Table;

use super::chart::{self, COLUMNS, Chart};
use crate::experiments::spec::Scale;
use crate::experiments::verdict::{Judged, Verdict, summary};

/// Writes the page, and its plots into a folder of the same name beside it.
pub(crate) fn write(path: &Path, judged: &[Judged<'_>]) -> Result<()> {
    let folder = path.with_extension("");
    fs::create_dir_all(&folder).with_context(|| format!("can't make {}", folder.display()))?;
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let mut text = String::new();
    // Writing to a string can't fail.
    let _ = head(&mut text, judged);
    for judged in judged {
        let _ = section(&mut text, judged, &name);
        for panel in judged.experiment.panels.iter().filter(|panel| panel.key) {
            if let Some(chart) = Chart::of(panel, judged.outcome) {
                let file = folder.join(plot(judged, &panel.name));
                fs::write(&file, chart.standalone())
                    .with_context(|| format!("can't write {}", file.display()))?;
            }
        }
    }
    fs::write(path, text).with_context(|| format!("can't write {}", path.display()))
}

/// A name that needs no escape in a link.
fn plot(judged: &Judged<'_>, panel: &str) -> String {
    let words = panel.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    format!("{}-{}.svg", judged.experiment.name, words.join("-"))
}

fn head(text: &mut String, judged: &[Judged<'_>]) -> std::fmt::Result {
    writeln!(text, "# Results\n")?;
    writeln!(
        text,
        "The tables and figures of the papers, measured on this code and judged. {}.\n",
        summary(judged)
    )?;
    if let Some(first) = judged.first() {
        let scale = judged.iter().map(|judged| judged.outcome.head.scale).min();
        let scale = scale.unwrap_or(Scale::Small);
        let mut commits: Vec<&str> = judged
            .iter()
            .filter_map(|judged| judged.outcome.head.machine.commit.as_deref())
            .collect();
        commits.sort_unstable();
        commits.dedup();
        let commits = if commits.is_empty() {
            "unknown".to_owned()
        } else {
            commits.join(", ")
        };
        writeln!(
            text,
            "```console\n$ cargo run --release -p twiceshy-lab -- run all --scale {scale} --out DIR\n\
             $ cargo run --release -p twiceshy-lab -- report DIR --markdown docs/results.md\n```\n"
        )?;
        writeln!(
            text,
            "Commit {commits}. {} Times are medians over interleaved rounds with the middle half of \
             them in brackets; a ratio is the median of the rounds' own ratios.\n",
            first.outcome.head.place()
        )?;
    }
    let mut table = Table::new(["experiment", "verdict", "claims that hold"]).words(1);
    for judged in judged {
        let name = &judged.experiment.name;
        table.row([
            format!("[{}](#{name})", judged.heading()),
            judged.verdict().words().to_owned(),
            format!(
                "{} of {}",
                judged.count(Verdict::Holds),
                judged.judgements.len()
            ),
        ]);
    }
    writeln!(text, "{}", table.markdown())
}

fn section(text: &mut String, judged: &Judged<'_>, plots: &str) -> std::fmt::Result {
    let Judged {
        experiment,
        outcome,
        ..
    } = judged;
    let name = &experiment.name;
    writeln!(text, "<a id=\"{name}\"></a>\n\n## {}\n", judged.heading())?;
    writeln!(text, "*The paper:* {}\n", one_line(&experiment.says))?;
    writeln!(text, "*Here:* {}\n", one_line(&experiment.does))?;
    let key = experiment.panels.iter().filter(|panel| panel.key);
    for panel in key.filter(|panel| !outcome.names(&panel.name).is_empty()) {
        if Chart::of(panel, outcome).is_some() {
            writeln!(
                text,
                "![{}]({plots}/{})\n",
                panel.title,
                plot(judged, &panel.name)
            )?;
        }
        if outcome.places(&panel.name).len() <= COLUMNS {
            writeln!(text, "{} ({}):\n", panel.title, panel.y.label)?;
            writeln!(text, "{}", chart::table(panel, outcome).markdown())?;
        }
    }
    for (claim, judgement) in experiment.claims.iter().zip(&judged.judgements) {
        let sentence = judgement.sentence(claim);
        writeln!(text, "- **{}**: {}", judgement.verdict, one_line(&sentence))?;
    }
    writeln!(text, "\n{}\n", one_line(&experiment.analysis))?;
    if judged.count(Verdict::Fails) > 0 {
        writeln!(text, "<!-- why -->\n")?;
    }
    for note in &outcome.head.notes {
        writeln!(text, "Note: {note}\n")?;
    }
    Ok(())
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
