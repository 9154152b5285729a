//! An experiment on a terminal.

use std::fmt;

use super::chart::tables;
use crate::experiments::verdict::Judged;

/// Prints all figures and verdicts, long tables too.
pub(crate) struct Text<'j, 'e>(pub(crate) &'j Judged<'e>);

impl fmt::Display for Text<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Judged {
            experiment,
            outcome,
            judgements,
        } = self.0;
        writeln!(f, "{}\n{}", self.0.heading(), outcome.head.place())?;
        for (name, value) in outcome.head.facts() {
            writeln!(f, "{name}: {value}")?;
        }
        for titled in tables(experiment, outcome) {
            writeln!(f, "\n{}\n{}", titled.title, titled.table)?;
        }
        for (claim, judgement) in experiment.claims.iter().zip(judgements) {
            writeln!(f, "{}: {}", judgement.verdict, judgement.sentence(claim))?;
        }
        for note in &outcome.head.notes {
            writeln!(f, "Note: {note}")?;
        }
        Ok(())
    }
}
