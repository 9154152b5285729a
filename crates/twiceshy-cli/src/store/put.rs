//! `twiceshy store put`: records from lines.
//!
//! ```text
//!   reader ── batches ──▶ writer ── commit, synced ──▶ acknowledge
//!                            ▲
//!   Ctrl-C ──────────────────┘  the commit under way ends, the filter is saved
//! ```
//!
//! A number that was printed is a promise: so many records of this run survive whatever comes
//! next, be it a kill or a loss of power. It is printed after the commit has returned, and the
//! commit returns after the database has synced.

use std::ops::RangeInclusive;
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::sync::mpsc::{self, SyncSender};
use std::thread;

use anyhow::{Context, anyhow, bail};
use clap::value_parser;
use indicatif::HumanCount;
use serde::Serialize;
use twiceshy_store::{Batch, Durability};

use super::place;
use crate::exit::{self, OrHint, Outcome, Status};
use crate::interrupt::Interrupt;
use crate::keys::{Format, FormatArgs, Input, Lines};
use crate::numbers::count;
use crate::shell::Shell;

/// Put records: lines of `key<TAB>value`
///
/// The first tab of a line ends the key; keys and values that have tabs or line ends in them
/// take `--format hex` and `--value-format hex`. A record under a key that is there is replaced.
/// Every commit is synced to the disk before the next one starts, and before it is acknowledged.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The store
    path: PathBuf,
    /// Where records are read from; `-` is standard input
    #[arg(long, short, default_value = "-", value_name = "FILE")]
    input: PathBuf,
    /// Records a commit; the last one may have fewer
    #[arg(long, default_value_t = 1_000, value_name = "N",
          value_parser = value_parser!(u64).range(1..=10_000_000))]
    batch: u64,
    /// After each commit, print how many records of this run are durable so far
    #[arg(long)]
    ack: bool,
    #[command(flatten)]
    format: FormatArgs,
    /// How values are written
    #[arg(long, value_enum, default_value = "line", value_name = "FORMAT")]
    value_format: Format,
}

const EXAMPLES: &str = "\
Examples:
  printf 'anna\\t1\\notto\\t2\\n' | twiceshy store put shop.db
  twiceshy store put shop.db --input orders.tsv --batch 10000
  producer | twiceshy store put shop.db --batch 100 --ack | consumer-of-receipts";

/// What the writer is told.
enum Event {
    /// Records to commit, how many lines they were, and how far the input was read.
    Commit(Batch, u64, u64),
    /// There is no more, or it can't be read.
    Ended(Outcome<()>),
    /// Somebody pressed Ctrl-C.
    Interrupted,
}

#[derive(Serialize)]
struct Durable {
    durable: u64,
}

#[derive(Serialize)]
struct Summary {
    put: u64,
    records: u64,
}

pub(crate) fn run(args: &Args, shell: &Shell) -> Outcome<Status> {
    let input = Input::open(&args.input, shell)?;
    let opened = place::open(&args.path, shell)?;
    let speaking = if args.ack {
        shell.while_printing()
    } else {
        *shell
    };
    let bar = input.progress("putting", &speaking);
    let (sender, events) = mpsc::sync_channel(2);
    let interrupt = Interrupt::watch({
        let sender = sender.clone();
        move || drop(sender.send(Event::Interrupted))
    })?;
    let reader = Reader {
        lines: input.lines(),
        format: args.format.format,
        value_format: args.value_format,
        key_lengths: opened.key_lengths(),
        batch: args.batch,
    };
    reader.spawn(sender);

    let mut out = shell.out();
    let mut durable = 0;
    let result = loop {
        let event = events.recv();
        if interrupt.is_set() {
            break Err(anyhow!("interrupted"));
        }
        match event {
            Ok(Event::Commit(batch, records, bytes)) => {
                if let Err(error) = opened.store.write(batch) {
                    break Err(error.into());
                }
                durable += records;
                bar.set(bytes);
                if args.ack
                    && let Err(error) = acknowledge(&mut out, shell, durable)
                {
                    break Err(error);
                }
            }
            Ok(Event::Ended(result)) => break result,
            Ok(Event::Interrupted) => break Err(anyhow!("interrupted")),
            Err(_) => break Err(anyhow!(DIED)),
        }
    };
    bar.finish();
    let records = opened.store.len();
    let result = exit::both(result, opened.close()).or_hint(|| {
        let records = count(durable, "record");
        format!("{records} of this run are durable; put the rest again")
    });
    match result {
        Err(error) if interrupt.is_set() => {
            exit::report(&error);
            interrupt.end()
        }
        result => result?,
    }
    if !args.ack {
        let put = durable;
        shell.print(&Summary { put, records }, || {
            let put = count(put, "record");
            format!("put {put}; the store has {}", HumanCount(records))
        })?;
    }
    Ok(Status::Success)
}

fn acknowledge(out: &mut crate::shell::Out, shell: &Shell, durable: u64) -> Outcome<()> {
    let written = match shell.is_json() {
        true => out.json(&Durable { durable }),
        false => out.line(&[durable.to_string().as_bytes()]),
    };
    match written.and_then(|()| out.flush()) {
        // Not the quiet end of a pipe: records were left out.
        Err(error) if exit::is_broken_pipe(&error) => {
            Err(anyhow!("nobody reads the acknowledgements any more"))
        }
        result => result,
    }
}

/// Makes batches of lines.
struct Reader {
    lines: Lines,
    format: Format,
    value_format: Format,
    key_lengths: RangeInclusive<usize>,
    batch: u64,
}

/// What nobody should ever see.
const DIED: &str = "the thread that reads the input has died, and records may be left out";

impl Reader {
    /// Reads on a thread of its own, whose last word is how the input ended. The thread ends with the
    /// process if nobody writes to the other end of its pipe any more.
    fn spawn(self, events: SyncSender<Event>) {
        thread::spawn(move || {
            let run = panic::catch_unwind(AssertUnwindSafe(|| self.run(&events)));
            let result = run.unwrap_or_else(|_| Err(anyhow!(DIED)));
            // Whoever has gone needs no more words.
            let _ = events.send(Event::Ended(result));
        });
    }

    /// Sends batches until the input ends, or nobody takes them any more.
    fn run(mut self, events: &SyncSender<Event>) -> Outcome<()> {
        loop {
            let mut batch = Batch::new();
            batch.durability(Durability::Sync);
            let mut records = 0;
            let end = loop {
                if records == self.batch {
                    break None;
                }
                match self.record(&mut batch) {
                    Ok(true) => records += 1,
                    Ok(false) => break Some(Ok(())),
                    Err(error) => break Some(Err(error)),
                }
            };
            // What was read before a bad line is put.
            if records > 0 {
                let commit = Event::Commit(batch, records, self.lines.bytes());
                if events.send(commit).is_err() {
                    return Ok(());
                }
            }
            if let Some(end) = end {
                return end;
            }
        }
    }

    /// Adds the next record, if there is one.
    fn record(&mut self, batch: &mut Batch) -> Outcome<bool> {
        let Some(line) = self.lines.next_line()? else {
            return Ok(false);
        };
        let parsed = parse(line, self.format, self.value_format);
        let (key, value) = parsed.with_context(|| self.lines.place())?;
        if !self.key_lengths.contains(&key.len()) {
            bail!(
                "{}: a key of this store has {} to {} bytes, and this one {}",
                self.lines.place(),
                self.key_lengths.start(),
                self.key_lengths.end(),
                key.len()
            );
        }
        batch.put(key, value);
        Ok(true)
    }
}

fn parse(line: &[u8], format: Format, value_format: Format) -> Outcome<(Vec<u8>, Vec<u8>)> {
    let tab = line.iter().position(|&byte| byte == b'\t');
    let tab = tab.context("there is no tab between key and value")?;
    let (mut key, mut value) = (Vec::new(), Vec::new());
    format.decode(&line[..tab], &mut key)?;
    value_format.decode(&line[tab + 1..], &mut value)?;
    Ok((key, value))
}

#[cfg(test)]
mod tests {
    use std::io::{self, Read};
    use std::time::Duration;

    use super::*;

    /// Reads a line, and then what `then` makes of it.
    struct Source<F>(Option<&'static [u8]>, F);

    impl<F: FnMut() -> io::Result<usize>> Read for Source<F> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.0.take() {
                Some(mut text) => text.read(buffer),
                None => (self.1)(),
            }
        }
    }

    /// How many records are committed from an input, and how it ends.
    fn read(then: impl FnMut() -> io::Result<usize> + Send + 'static) -> (u64, Outcome<()>) {
        let source = Source(Some(b"anna\t1\notto\t2\n"), then);
        let reader = Reader {
            lines: Input::of_reader("here", Box::new(source)).lines(),
            format: Format::Line,
            value_format: Format::Line,
            key_lengths: 0..=100,
            batch: 1,
        };
        let (sender, events) = mpsc::sync_channel(2);
        // As the one that waits for Ctrl-C.
        let _other = sender.clone();
        reader.spawn(sender);
        let mut put = 0;
        loop {
            match events.recv_timeout(Duration::from_secs(60)) {
                Ok(Event::Commit(_, records, _)) => put += records,
                Ok(Event::Ended(result)) => return (put, result),
                other => panic!("nothing is said about the end: {:?}", other.err()),
            }
        }
    }

    #[test]
    fn only_the_end_of_the_input_is_its_end() {
        let (put, result) = read(|| Ok(0));
        assert_eq!((put, result.is_ok()), (2, true));
        let (put, result) = read(|| Err(io::Error::other("the disk is on fire")));
        assert_eq!(put, 2);
        assert!(format!("{:#}", result.unwrap_err()).contains("on fire"));
    }

    #[test]
    fn a_reader_that_dies_is_an_error() {
        let (put, result) = read(|| panic!("on purpose"));
        assert_eq!(put, 2);
        assert_eq!(result.unwrap_err().to_string(), DIED);
    }
}
