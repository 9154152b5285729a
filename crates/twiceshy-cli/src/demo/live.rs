//! The contest while it goes on: a line for each store and a bar, on a terminal.

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use twiceshy_report::text::whole;

use super::contest::{Contestant, Front};

/// What is seen of the contest.
pub(super) struct Live {
    /// One for each store, in the order of [`Front::ALL`].
    lines: Vec<ProgressBar>,
    bar: ProgressBar,
}

impl Live {
    /// `shown` if anybody looks.
    pub(super) fn new(lookups: u64, shown: bool) -> Self {
        let target = if shown {
            ProgressDrawTarget::stderr_with_hz(10)
        } else {
            ProgressDrawTarget::hidden()
        };
        let all = MultiProgress::with_draw_target(target);
        let line = |template| {
            let style = ProgressStyle::with_template(template);
            let bar = all.add(ProgressBar::new(lookups));
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        };
        Live {
            lines: Front::ALL.map(|_| line("{msg}")).into(),
            bar: line("lookups {wide_bar} {human_pos}/{human_len}  {eta} left"),
        }
    }

    /// Shows how a store fares.
    pub(super) fn show(&self, contestant: &Contestant) {
        let result = &contestant.result;
        let mut text = format!(
            "{:<21} {:>10} lookups/s {:>9} reads per million",
            contestant.front.name(),
            whole(result.per_second() as u64),
            whole(result.reads_per_million() as u64),
        );
        if contestant.front != Front::Nothing {
            text += &format!(
                ", wrong {} times, {} of them again",
                whole(result.false_positives),
                whole(result.repeated)
            );
        }
        let place = Front::ALL.iter().position(|&f| f == contestant.front);
        if let Some(line) = place.and_then(|place| self.lines.get(place)) {
            line.set_message(text);
        }
    }

    /// So many more lookups were answered by each.
    pub(super) fn add(&self, lookups: u64) {
        self.bar.inc(lookups);
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        for bar in self.lines.iter().chain([&self.bar]) {
            bar.finish_and_clear();
        }
    }
}
