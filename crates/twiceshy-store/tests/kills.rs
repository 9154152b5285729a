//! Processes that are killed.
//!
//! A child opens a store, writes to it and reports each operation twice, before and after.
//! At a random moment it is killed (SIGKILL). Then the store must hold every operation that was
//! reported as done, the one under way whole or not at all, and nothing else; the filter must
//! deny none of it, and repeat none of the mistakes that it had learnt from. The next child goes
//! on in the same directory; after a few of them, a new one begins.
//!
//! What the children do follows from the seeds below; when they are killed does not. A longer
//! run: `TWICESHY_KILLS=2000 cargo test -p twiceshy-store --all-features --test kills -- --nocapture`.

#![cfg(unix)]
#![allow(clippy::unwrap_used)] // here, a panic is the message

mod support;

use std::collections::BTreeSet;
use std::env;
use std::fmt::Debug;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use support::front::Records;
use support::{Model, Operation, check, contents, share, stranger};
use tempfile::TempDir;
use twiceshy::filters::adaptive::Leave;
use twiceshy_store::engine::{Counting, Fjall, FjallOptions, Lmdb, Redb};
use twiceshy_store::files::Directory;
use twiceshy_store::{Durability, Engine, Merged, Split, Store, StoreBuilder, WhenFull};
use twiceshy_testing::Source;

/// The seed of the first directory of each engine and layout.
const SEED: u64 = 5_000;

/// How many children a directory sees die.
const KILLS_A_DIRECTORY: u64 = 8;

/// Operations that a child does at most. It is fast, and its parent slow to notice.
const OPERATIONS: usize = 10_000;

/// Operations that it does at least, unless it dies early on: anything below this.
const ENOUGH: u64 = 1_000;

/// Tells a child what to do: engine, layout, directory, seed of the directory, number of the
/// child.
const CHILD: &str = "TWICESHY_KILLS_CHILD";

/// One of what the children do.
fn draw(source: &mut Source<'_>, seed: u64, number: usize) -> Operation {
    // Long stretches without a write, too: what is learnt in them must stay for sure.
    let writes = number % 300 < 50;
    match source.below(500).unwrap() {
        0..=449 if writes => {
            let fresh = format!("new{seed}-{number}");
            match Operation::draw_write(source, 1_500, 700, &fresh) {
                // Buffered commits of redb die with the process.
                Operation::Batch(list, _) => Operation::Batch(list, Durability::Sync),
                operation => operation,
            }
        }
        450..=452 if writes => Operation::Rotate,
        490..=499 if writes => Operation::Checkpoint,
        499 => Operation::Checkpoint,
        _ => Operation::Ask(source.below(20_000).unwrap()),
    }
}

/// What the children of a directory do, one after the other.
fn operations(seed: u64, child: u64) -> Vec<Operation> {
    let seed = seed * 1_000 + child;
    let mut source = Source::from_seed(seed);
    (0..OPERATIONS)
        .map(|number| draw(&mut source, seed, number))
        .collect()
}

/// A store that forgets all that it has learnt whenever it is full promises nothing about it.
fn when_full(seed: u64) -> WhenFull {
    match seed % 4 {
        3 => WhenFull::Rotate,
        _ => WhenFull::Grow,
    }
}

/// How the store of a directory is opened: tiny, so that its filter grows all the time.
fn builder<L: Records>(seed: u64) -> StoreBuilder<L> {
    let mut source = Source::from_seed(seed);
    StoreBuilder::new()
        .capacity(source.pick(&[1, 100, 1_000]).unwrap())
        .shards(source.pick(&[1, 1, 4, 16]).unwrap())
        .fpr(source.pick(&[0.5, 0.25, 0.06]).unwrap())
        .ghosts(source.pick(&[Leave::Nothing, Leave::Ghost]).unwrap())
        .when_full(when_full(seed))
        .layout::<L>()
}

/// An engine in a directory.
trait Place: Engine + 'static + Debug + Sized {
    const NAME: &'static str;

    fn open(directory: &Path) -> Self;
}

impl Place for Redb {
    const NAME: &'static str = "redb";

    fn open(directory: &Path) -> Self {
        Redb::with_cache(directory.join("data.redb"), 1 << 22).unwrap()
    }
}

impl Place for Fjall {
    const NAME: &'static str = "fjall";

    fn open(directory: &Path) -> Self {
        let options = FjallOptions::new().cache(1 << 22);
        options.open(directory.join("fjall")).unwrap()
    }
}

impl Place for Lmdb {
    const NAME: &'static str = "lmdb";

    fn open(directory: &Path) -> Self {
        Lmdb::open(directory.join("lmdb"), 1 << 26).unwrap()
    }
}

fn open<E: Place, L: Records>(directory: &Path, builder: StoreBuilder<L>) -> Store<Counting<E>, L> {
    let engine = Counting::new(E::open(directory));
    let files = Directory::new(directory.join("files")).unwrap();
    builder.open(engine, files).unwrap()
}

/// A line of a child's report. Each is one write of a few bytes to a pipe: whole or not there.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Line {
    Opening,
    Opened,
    /// It is about to do this one.
    Begins(usize),
    /// It has done it.
    Done(usize),
    /// The filter has learnt from its mistake about a stranger.
    Learnt(u64),
}

impl Line {
    fn print(self) {
        let line = match self {
            Line::Opening => "@opening\n".to_owned(),
            Line::Opened => "@opened\n".to_owned(),
            Line::Begins(number) => format!("@begins {number}\n"),
            Line::Done(number) => format!("@done {number}\n"),
            Line::Learnt(number) => format!("@learnt {number}\n"),
        };
        let mut out = std::io::stdout().lock();
        out.write_all(line.as_bytes()).unwrap();
        out.flush().unwrap();
    }

    /// `None` for what the test harness says.
    fn parse(line: &str) -> Option<Self> {
        // The first line may stand behind the name of the test.
        let (_, line) = line.split_once('@')?;
        let (word, number) = line.split_once(' ').unwrap_or((line, "0"));
        Some(match word {
            "opening" => Line::Opening,
            "opened" => Line::Opened,
            "begins" => Line::Begins(number.parse().unwrap()),
            "done" => Line::Done(number.parse().unwrap()),
            "learnt" => Line::Learnt(number.parse().unwrap()),
            word => panic!("a child said {word}"),
        })
    }
}

/// What a child does: not a test, unless it is told to be one.
#[test]
fn child() {
    let Ok(task) = env::var(CHILD) else {
        return;
    };
    let words: Vec<&str> = task.splitn(5, ' ').collect();
    let [engine, layout, seed, child, directory] = words[..] else {
        panic!("{CHILD}={task}");
    };
    let live = match (engine, layout) {
        ("redb", "merged") => live::<Redb, Merged>,
        ("redb", "split") => live::<Redb, Split>,
        ("fjall", "merged") => live::<Fjall, Merged>,
        ("fjall", "split") => live::<Fjall, Split>,
        ("lmdb", "merged") => live::<Lmdb, Merged>,
        ("lmdb", "split") => live::<Lmdb, Split>,
        _ => panic!("{CHILD}={task}"),
    };
    live(
        Path::new(directory),
        seed.parse().unwrap(),
        child.parse().unwrap(),
    );
}

/// Works until it is killed.
fn live<E: Place, L: Records>(directory: &Path, seed: u64, child: u64) {
    Line::Opening.print();
    // Takes its time, so that it can be killed meanwhile.
    let builder = builder(seed).on_progress(|_| thread::sleep(Duration::from_micros(200)));
    let store = open::<E, L>(directory, builder);
    Line::Opened.print();
    for (number, operation) in operations(seed, child).into_iter().enumerate() {
        let before = store.stats().adaptations;
        let asked = match operation {
            Operation::Ask(stranger) => Some(stranger),
            _ => None,
        };
        Line::Begins(number).print();
        operation.perform(&store).unwrap();
        if let Some(stranger) = asked
            && when_full(seed) != WhenFull::Rotate
            && store.stats().adaptations > before
            && !store.is_rotating()
        {
            Line::Learnt(stranger).print();
        }
        Line::Done(number).print();
    }
    // It should have been killed by now. If nobody is left to do so, it goes by itself.
    thread::sleep(Duration::from_secs(20));
}

/// When a child dies.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// So long after it was started.
    Started(Duration),
    /// So long after it began to open the store.
    Opening(Duration),
    /// So long after it said that it had done, or begins, so many operations.
    Done(usize, Duration),
}

impl Moment {
    fn draw(source: &mut Source<'_>) -> Self {
        let mut micros = |end| Duration::from_micros(source.below(end).unwrap());
        let (long, short, shorter) = (micros(12_000), micros(1_500), micros(200));
        match source.below(8).unwrap() {
            0 => Moment::Started(long),
            1 | 2 => Moment::Opening(short),
            _ => Moment::Done(source.below(2 * ENOUGH).unwrap() as usize, shorter),
        }
    }
}

/// Sleeping is too coarse for such moments.
fn wait(delay: Duration) {
    let start = Instant::now();
    while start.elapsed() < delay {
        thread::yield_now();
    }
}

/// A child that doesn't outlive its parent's interest in it.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Held for reading by whoever has a store open, and for writing while a child is started: on
/// its way it is a copy of its parent, and would have the locks of all stores that are open.
static OPEN: RwLock<()> = RwLock::new(());

/// Starts a child, kills it, and gives back what it has said.
fn run_and_kill<E: Place, L: Records>(
    directory: &Path,
    seed: u64,
    child: u64,
    moment: Moment,
) -> Vec<Line> {
    let task = format!(
        "{} {} {seed} {child} {}",
        E::NAME,
        layout::<L>(),
        directory.display()
    );
    let no_store_is_open = OPEN.write().unwrap_or_else(PoisonError::into_inner);
    let mut killed = Killed(
        Command::new(env::current_exe().unwrap())
            .args(["--exact", "child", "--nocapture", "--test-threads=1"])
            .env(CHILD, &task)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap(),
    );
    drop(no_store_is_open);
    if let Moment::Started(delay) = moment {
        wait(delay);
        killed.0.kill().unwrap();
    }
    let mut report = Vec::new();
    let out = BufReader::new(killed.0.stdout.take().unwrap());
    let mut begun_or_done = 0;
    let mut is_alive = !matches!(moment, Moment::Started(_));
    for line in out.lines() {
        let Some(line) = Line::parse(&line.unwrap()) else {
            continue;
        };
        report.push(line);
        begun_or_done += usize::from(matches!(line, Line::Begins(_) | Line::Done(_)));
        let delay = match moment {
            Moment::Opening(delay) if line == Line::Opening => delay,
            Moment::Done(count, delay) if begun_or_done > count => delay,
            _ => continue,
        };
        if std::mem::replace(&mut is_alive, false) {
            wait(delay);
            killed.0.kill().unwrap();
        }
    }
    let status = killed.0.wait().unwrap();
    use std::os::unix::process::ExitStatusExt;
    assert_eq!(status.signal(), Some(9), "{task}: {status}, {moment:?}");
    report
}

fn layout<L: Records>() -> &'static str {
    match std::any::type_name::<L>() {
        name if name.ends_with("Merged") => "merged",
        _ => "split",
    }
}

/// What happened, so that a test that tests nothing is noticed.
#[derive(Debug, Default)]
struct Seen {
    kills: u64,
    /// Before the store was open.
    while_opening: u64,
    /// Between the two reports of an operation.
    in_flight: u64,
    writes_in_flight: u64,
    of_them_made: u64,
    acknowledged: u64,
    acknowledged_writes: u64,
    from_image: u64,
    rebuilt: u64,
    rotating: u64,
    records: u64,
    lessons: u64,
    lessons_before_writes: u64,
    /// Reads for those; a new key may share its fingerprint with a stranger.
    of_them_repeated: u64,
}

/// What one directory should hold and know.
#[derive(Default)]
struct Expected {
    model: Model,
    /// Strangers that it has learnt from, since the last write and before.
    learnt: BTreeSet<u64>,
    learnt_before: BTreeSet<u64>,
}

impl Expected {
    /// Follows a report. Gives back the write that was under way.
    fn follow(
        &mut self,
        report: &[Line],
        operations: &[Operation],
        seen: &mut Seen,
    ) -> Option<Operation> {
        let mut under_way = None;
        for line in report {
            match *line {
                Line::Opening | Line::Opened => {}
                Line::Begins(number) => {
                    let operation = &operations[number];
                    if operation.is_write() {
                        let learnt = std::mem::take(&mut self.learnt);
                        self.learnt_before.extend(learnt);
                    }
                    if let Operation::Rotate = operation {
                        self.learnt_before.clear();
                    }
                    under_way = Some(number);
                }
                Line::Done(number) => {
                    assert_eq!(under_way, Some(number));
                    under_way = None;
                    operations[number].apply(&mut self.model);
                    seen.acknowledged += 1;
                    seen.acknowledged_writes += u64::from(operations[number].is_write());
                }
                Line::Learnt(stranger) => {
                    self.learnt.insert(stranger);
                }
            }
        }
        seen.in_flight += u64::from(under_way.is_some());
        let operation = operations[under_way?].clone();
        operation.is_write().then_some(operation)
    }

    /// Opens the store of a directory whose child has died.
    fn check<E: Place, L: Records>(
        &mut self,
        directory: &Path,
        seed: u64,
        under_way: Option<Operation>,
        seen: &mut Seen,
        what: &str,
    ) {
        let rebuilt = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&rebuilt);
        let builder = builder(seed).on_progress(move |_| flag.store(true, Ordering::Relaxed));
        let _open = OPEN.read().unwrap_or_else(PoisonError::into_inner);
        let store = open::<E, L>(directory, builder);
        match rebuilt.load(Ordering::Relaxed) {
            true => seen.rebuilt += 1,
            false => seen.from_image += 1,
        }
        seen.rotating += u64::from(store.is_rotating());

        // Mistakes that it knew of, before anything else is asked.
        let repeats = |strangers: &BTreeSet<u64>| {
            let before = store.engine().counts().reads();
            for &number in strangers {
                assert!(!store.contains(stranger(number)).unwrap());
            }
            store.engine().counts().reads() - before
        };
        seen.lessons += self.learnt.len() as u64;
        seen.lessons_before_writes += self.learnt_before.len() as u64;
        assert_eq!(
            repeats(&self.learnt),
            0,
            "{what}: mistakes that were learnt from"
        );
        seen.of_them_repeated += repeats(&self.learnt_before);

        if let Some(operation) = under_way {
            seen.writes_in_flight += 1;
            let mut after = self.model.clone();
            operation.apply(&mut after);
            // All of it or nothing.
            if after != self.model && contents(&store) == after {
                self.model = after;
                seen.of_them_made += 1;
            }
        }
        check(&store, &self.model, what);
        seen.records += self.model.len() as u64;
    }
}

/// Where files are made fast, as nothing here depends on a disk.
fn directory() -> TempDir {
    let memory = Path::new("/dev/shm");
    let made = tempfile::tempdir_in(memory);
    made.or_else(|_| tempfile::tempdir()).unwrap()
}

fn kill<E: Place, L: Records>() {
    let kills = match env::var("TWICESHY_KILLS") {
        Ok(kills) => kills.parse().unwrap(),
        Err(_) => 200 / share(),
    };
    // Six engines and layouts share them.
    let kills = u64::div_ceil(kills, 6);
    let mut seen = Seen::default();
    for seed in SEED.. {
        let folder = directory();
        let mut moments = Source::from_seed(seed);
        let mut expected = Expected::default();
        for child in 0..KILLS_A_DIRECTORY {
            if seen.kills == kills {
                break;
            }
            let moment = Moment::draw(&mut moments);
            let what = format!(
                "{} {}, seed {seed}, child {child}, {moment:?}",
                E::NAME,
                layout::<L>()
            );
            let report = run_and_kill::<E, L>(folder.path(), seed, child, moment);
            seen.kills += 1;
            seen.while_opening += u64::from(!report.contains(&Line::Opened));
            let operations = operations(seed, child);
            let under_way = expected.follow(&report, &operations, &mut seen);
            // Sometimes the next child is the first to open it.
            if moments.one_in(4).unwrap() && under_way.is_none() {
                continue;
            }
            expected.check::<E, L>(folder.path(), seed, under_way, &mut seen, &what);
        }
        if seen.kills == kills {
            break;
        }
    }
    println!("{} {}, seeds from {SEED}: {seen:?}", E::NAME, layout::<L>());
    if share() == 1 {
        let enough = [
            (seen.in_flight, 5),
            (seen.acknowledged_writes, 1_000),
            (seen.rebuilt, 5),
            (seen.lessons + seen.lessons_before_writes, 100),
        ];
        assert!(enough.iter().all(|(seen, least)| seen >= least), "{seen:?}");
        // A few new keys meet a few strangers. If nothing were kept, it would be nearly all.
        assert!(
            4 * seen.of_them_repeated < seen.lessons_before_writes,
            "{seen:?}"
        );
    }
}

#[test]
fn merged_in_redb() {
    kill::<Redb, Merged>();
}

#[test]
fn split_in_redb() {
    kill::<Redb, Split>();
}

#[test]
fn merged_in_fjall() {
    kill::<Fjall, Merged>();
}

#[test]
fn split_in_fjall() {
    kill::<Fjall, Split>();
}

#[test]
fn merged_in_lmdb() {
    kill::<Lmdb, Merged>();
}

#[test]
fn split_in_lmdb() {
    kill::<Lmdb, Split>();
}
