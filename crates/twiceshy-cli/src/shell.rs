//! What commands share: standard output, notes on standard error, progress bars.

use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use serde::Serialize;

use crate::exit::Outcome;
use crate::files;

/// How the program speaks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shell {
    json: bool,
    quiet: bool,
    /// May there be progress bars?
    bars: bool,
}

impl Shell {
    pub(crate) fn new(json: bool, quiet: bool) -> Self {
        let bars = !quiet && io::stderr().is_terminal();
        Shell { json, quiet, bars }
    }

    /// The same while lines are printed: a bar among them would be in their way.
    pub(crate) fn while_printing(self) -> Self {
        let bars = self.bars && !io::stdout().is_terminal();
        Shell { bars, ..self }
    }

    /// Is JSON wanted?
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Standard output.
    pub(crate) fn out(&self) -> Out {
        Out {
            out: BufWriter::with_capacity(1 << 16, io::stdout().lock()),
        }
    }

    /// Prints a result: as JSON if that is wanted, otherwise in words.
    pub(crate) fn print(
        &self,
        json: &impl Serialize,
        words: impl FnOnce() -> String,
    ) -> Outcome<()> {
        let mut out = self.out();
        if self.json {
            out.json(json)?;
        } else {
            let words = words();
            out.write(words.trim_end_matches('\n').as_bytes())?;
            out.write(b"\n")?;
        }
        out.finish()
    }

    /// [`print`](Self::print) for a file that was written to `out`. Where that is standard output,
    /// the words go to standard error.
    pub(crate) fn print_written(
        &self,
        out: &Path,
        json: &impl Serialize,
        words: impl FnOnce() -> String,
    ) -> Outcome<()> {
        if files::is_stdout(out) {
            self.note(&words());
            return Ok(());
        }
        self.print(json, words)
    }

    /// Says something on standard error that is no result and no error.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            let _ = writeln!(io::stderr(), "{text}");
        }
    }

    /// A progress bar of something that counts `unit`s: with the time left if `total` is
    /// known.
    pub(crate) fn progress(&self, what: &str, unit: Unit, total: Option<u64>) -> Progress {
        Progress::new(what, unit, total, self.bars)
    }

    /// Does something that can't say how far it is: if it takes longer than a second, with a
    /// sign of life.
    pub(crate) fn busy<T>(&self, what: &str, work: impl FnOnce() -> T) -> T {
        if !self.bars {
            return work();
        }
        let (done, wait) = mpsc::channel::<()>();
        thread::scope(|scope| {
            // Moved in, so that it goes away with the work, also if that panics.
            let done = done;
            scope.spawn(move || {
                if wait.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
                let bar = ProgressBar::new_spinner();
                bar.set_draw_target(ProgressDrawTarget::stderr());
                let style = ProgressStyle::with_template("{msg} {spinner} {elapsed}");
                bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
                bar.set_message(what.to_owned());
                bar.enable_steady_tick(Duration::from_millis(100));
                let _ = wait.recv();
                bar.finish_and_clear();
            });
            let result = work();
            drop(done);
            result
        })
    }

    /// Whether anybody sees progress.
    pub(crate) fn is_shown(&self) -> bool {
        self.bars
    }
}

/// Standard output, buffered.
#[derive(Debug)]
pub(crate) struct Out {
    out: BufWriter<StdoutLock<'static>>,
}

impl Out {
    /// Writes bytes as they are.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Outcome<()> {
        self.out.write_all(bytes).context(WRITING)
    }

    /// Writes the cells of a line with tabs between them.
    pub(crate) fn line(&mut self, cells: &[&[u8]]) -> Outcome<()> {
        for (i, cell) in cells.iter().enumerate() {
            if i > 0 {
                self.write(b"\t")?;
            }
            self.write(cell)?;
        }
        self.write(b"\n")
    }

    /// Writes an object on a line of its own.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Outcome<()> {
        let text = serde_json::to_string(value).context("making JSON")?;
        self.write(text.as_bytes())?;
        self.write(b"\n")
    }

    /// Gets it to the reader now.
    pub(crate) fn flush(&mut self) -> Outcome<()> {
        self.out.flush().context(WRITING)
    }

    /// The end: what can't be written is an error, not a loss.
    pub(crate) fn finish(mut self) -> Outcome<()> {
        self.flush()
    }
}

const WRITING: &str = "can't write to standard output";

/// What a progress bar counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Bytes of an input.
    Bytes,
    /// Keys, records, lookups.
    Things,
}

/// A progress bar on standard error with rate and time left, for what takes longer than a
/// second, and if standard error is a terminal.
///
/// Each call looks at the clock: call it once in a few hundred keys.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    started: Instant,
    /// Not shown yet, but to be shown when its second is over.
    waits: AtomicBool,
}

/// Nothing that is shorter has a bar.
const PATIENCE: Duration = Duration::from_secs(1);

impl Progress {
    fn new(what: &str, unit: Unit, total: Option<u64>, shown: bool) -> Self {
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
        let template = match (unit, total) {
            (Unit::Bytes, Some(_)) => {
                "{msg} {wide_bar} {bytes}/{total_bytes}  {bytes_per_sec}  {eta} left"
            }
            (Unit::Bytes, None) => "{msg} {spinner} {bytes}  {bytes_per_sec}  {elapsed}",
            (Unit::Things, Some(_)) => {
                "{msg} {wide_bar} {human_pos}/{human_len}  {rate}  {eta} left"
            }
            (Unit::Things, None) => "{msg} {spinner} {human_pos}  {rate}  {elapsed}",
        };
        let style = ProgressStyle::with_template(template);
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        // Whole things a second: nobody wants four digits behind the point.
        let rate = |state: &ProgressState, text: &mut dyn std::fmt::Write| {
            let _ = write!(text, "{}/s", HumanCount(state.per_sec() as u64));
        };
        bar.set_style(style.with_key("rate", rate));
        bar.set_message(what.to_owned());
        Progress {
            bar,
            started: Instant::now(),
            waits: AtomicBool::new(shown),
        }
    }

    /// So many more are done.
    pub(crate) fn add(&self, more: u64) {
        self.bar.inc(more);
        self.show();
    }

    /// So many are done.
    pub(crate) fn set(&self, done: u64) {
        self.bar.set_position(done);
        self.show();
    }

    /// Another word for what is being done.
    pub(crate) fn say(&self, what: &str) {
        self.bar.set_message(what.to_owned());
        self.show();
    }

    /// Takes the bar away. Dropping it does the same.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn show(&self) {
        if self.waits.load(Relaxed)
            && self.started.elapsed() >= PATIENCE
            && self.waits.swap(false, Relaxed)
        {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.bar.enable_steady_tick(Duration::from_millis(250));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.finish();
    }
}
