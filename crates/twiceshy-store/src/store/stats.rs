//! What an operator wants to know.

use std::fmt;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use super::Store;
use crate::counters::Counts;
use crate::engine::Engine;
use crate::filter::FilterChoice;
use crate::generation::Generation;
use crate::layout::Layout;

/// How a store or a guard is doing. Counted since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// Records in the store.
    pub records: u64,
    /// Keys asked for: lookups, and the questions that puts and deletes ask.
    pub lookups: u64,
    /// Those that the filter answered "no", without the engine.
    pub filter_negatives: u64,
    /// Those that the filter answered "maybe" and the engine confirmed.
    pub verified_hits: u64,
    /// Those that the filter answered "maybe" wrongly.
    pub false_positives: u64,
    /// Wrong answers that had been given before, as far as the last few hundred of each shard
    /// are remembered.
    pub repeated_false_positives: u64,
    /// Wrong answers that won't be given again.
    pub adaptations: u64,
    /// Wrong answers that could not be learnt from, for want of room or because the engine
    /// failed.
    pub unlearnt: u64,
    /// Reads that a store without a filter would have made and this one did not: one for
    /// each "no".
    pub engine_reads_avoided: u64,
    /// Wrong answers among all keys asked for lately that were not there; not a number while
    /// there were none.
    pub observed_fpr: f64,
    /// Used slots of the filter per slot.
    pub load: f64,
    /// Bytes of the filter.
    pub filter_bytes: u64,
    /// How often a shard of the filter has grown.
    pub grows: u64,
    /// How often the seed has changed.
    pub rotations: u64,
    /// The longest step of growing or of a change of seed that a call took along, its begin
    /// included.
    pub longest_step: Duration,
    /// The longest pause of all: such a step, an image of the filter that a write made because
    /// much was learnt, or a checkpoint or [`verify`](Store::verify), which keeps writers out.
    pub longest_pause: Duration,
}

impl<E: Engine, L: Layout> Store<E, L> {
    /// How the store is doing. Takes no lock that a lookup waits for.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let past = *self.past.lock();
        let generations = self.generations();
        let generations = generations.iter().map(|generation| &**generation);
        let mut stats = Stats::of(self.options.choice, past, generations);
        stats.rotations = self.rotations.load(Relaxed);
        stats.longest_step = stats.longest_step.max(self.longest_step.get());
        stats.longest_pause = stats.longest_step.max(self.longest_save.get());
        stats
    }
}

impl Stats {
    /// Of what these generations count, and what others counted that are gone.
    pub(crate) fn of<'g>(
        choice: FilterChoice,
        past: Counts,
        generations: impl IntoIterator<Item = &'g Generation>,
    ) -> Self {
        let mut counts = past;
        let (mut records, mut used, mut slots, mut bytes) = (0, 0, 0, 0);
        for generation in generations {
            records += generation.records();
            for shard in generation.shards() {
                shard.counters.add_to(&mut counts);
                let usage = shard.usage();
                used += usage.0;
                slots += usage.1;
                bytes += usage.2;
            }
        }
        // Without a filter everything is a "maybe", and none of them a mistake.
        let mistakes = match choice {
            FilterChoice::None => 0,
            _ => counts.false_positives,
        };
        Stats {
            records,
            lookups: counts.negatives + counts.hits + counts.false_positives,
            filter_negatives: counts.negatives,
            verified_hits: counts.hits,
            false_positives: mistakes,
            repeated_false_positives: if mistakes > 0 { counts.repeated } else { 0 },
            adaptations: counts.adaptations,
            unlearnt: counts.unlearnt,
            engine_reads_avoided: counts.negatives,
            observed_fpr: match mistakes {
                0 if choice == FilterChoice::None => f64::NAN,
                _ => counts.window_mistakes as f64 / counts.window_strangers as f64,
            },
            load: if slots == 0 {
                0.0
            } else {
                used as f64 / slots as f64
            },
            filter_bytes: bytes,
            grows: counts.grows,
            rotations: 0,
            longest_step: counts.longest_step,
            longest_pause: counts.longest_step,
        }
    }
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |part: u64, whole: u64| match whole {
            0 => String::new(),
            whole => format!("  ({:.4}%)", 100.0 * part as f64 / whole as f64),
        };
        let lookups = self.lookups;
        writeln!(f, "records             {:>14}", self.records)?;
        writeln!(f, "keys asked for      {lookups:>14}")?;
        for (name, number) in [
            ("  filter said no  ", self.filter_negatives),
            ("  found           ", self.verified_hits),
            ("  false positives ", self.false_positives),
            ("    of them again ", self.repeated_false_positives),
        ] {
            writeln!(f, "{name}  {number:>14}{}", of(number, lookups))?;
        }
        writeln!(f, "reads avoided       {:>14}", self.engine_reads_avoided)?;
        writeln!(f, "observed FPR        {:>14.3e}", self.observed_fpr)?;
        writeln!(f, "adaptations         {:>14}", self.adaptations)?;
        writeln!(f, "  not possible      {:>14}", self.unlearnt)?;
        writeln!(f, "filter bytes        {:>14}", self.filter_bytes)?;
        writeln!(f, "filter load         {:>13.1}%", 100.0 * self.load)?;
        writeln!(f, "shards grown        {:>14}", self.grows)?;
        writeln!(f, "seeds changed       {:>14}", self.rotations)?;
        writeln!(f, "longest step        {:>14.1?}", self.longest_step)?;
        write!(f, "longest pause       {:>14.1?}", self.longest_pause)
    }
}
