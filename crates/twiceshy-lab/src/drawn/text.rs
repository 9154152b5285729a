//! An experiment on a terminal.

use std::fmt;

use super::{Judged, facts, machine, sentence, tables};

/// Prints all figures and verdicts, long tables too.
pub(crate) struct Text<'j, 'e>(pub(crate) &'j Judged<'e>);

impl fmt::Display for Text<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Judged {
            experiment,
            outcome,
            judgements,
        } = self.0;
        writeln!(f, "{}\n{}", self.0.heading(), machine(&outcome.head))?;
        for (name, value) in facts(&outcome.head) {
            writeln!(f, "{name}: {value}")?;
        }
        for titled in tables(experiment, outcome) {
            writeln!(f, "\n{}\n{}", titled.title, titled.table)?;
        }
        for (claim, judgement) in experiment.claims.iter().zip(judgements) {
            let sentence = sentence(&claim.text, judgement, &claim.why);
            writeln!(f, "{}: {sentence}", judgement.verdict)?;
        }
        for note in &outcome.head.notes {
            writeln!(f, "Note: {note}")?;
        }
        Ok(())
    }
}
