//! Stores that lose their power at every operation of a script.
//!
//! The engine is redb on a disk, and the filter's files are beside it; both keep for sure only
//! what was synced. They lose their power at the same moment or one of them alone, and of what
//! was not synced nothing is left, everything, or some. Then the store must hold what was
//! acknowledged as safe, and of the commits after that the first few, each whole; the filter
//! must deny nothing, whichever file it was loaded from; and a checkpoint that was acknowledged
//! must be of use.

#![allow(clippy::unwrap_used)] // here, a panic is the message

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use support::front::Records;
use support::{Model, Operation, check, contents, share};
use twiceshy::hash::Seed;
use twiceshy_store::engine::Redb;
use twiceshy_store::{Error, Merged, Split, Store, StoreBuilder};
use twiceshy_store_testing::{Cut, LossyFiles, PowerLoss, Survivors};
use twiceshy_testing::Source;

/// One operation of a script, or the end of a process and the beginning of the next.
#[derive(Clone, Debug)]
enum Step {
    Do(Operation),
    Close,
}

/// What a script does, and what is there after each step.
struct Script {
    steps: Vec<Step>,
    /// One more than steps: the first is empty.
    states: Vec<Model>,
}

fn draw(source: &mut Source<'_>, number: usize) -> Step {
    Step::Do(match source.below(100).unwrap() {
        0..=54 => Operation::draw_write(source, 60, 200, &format!("new{number}")),
        55..=64 => Operation::Checkpoint,
        65..=69 => Operation::Rotate,
        70..=72 => Operation::FinishRotation,
        73..=76 => return Step::Close,
        _ => Operation::Ask(source.below(300).unwrap()),
    })
}

fn script(seed: u64, count: usize) -> Script {
    let mut source = Source::from_seed(seed);
    let steps: Vec<Step> = (0..count).map(|n| draw(&mut source, n)).collect();
    let mut states = vec![Model::new()];
    for step in &steps {
        let mut state = states.last().unwrap().clone();
        if let Step::Do(operation) = step {
            operation.apply(&mut state);
        }
        states.push(state);
    }
    Script { steps, states }
}

/// Both disks.
#[derive(Clone)]
struct Disks {
    data: PowerLoss,
    files: LossyFiles,
}

impl Disks {
    /// With an empty database; making one is not safe from a loss of power.
    fn new(data: &Cut, files: &Cut) -> Self {
        let disk = PowerLoss::new(data.clone());
        drop(redb::Builder::new().create_with_backend(disk.clone()));
        Disks {
            data: disk.restart(Survivors::None),
            files: LossyFiles::new(files.clone()),
        }
    }

    fn restart(&self, data: Survivors, files: Survivors) -> Self {
        Disks {
            data: self.data.restart(data),
            files: self.files.restart(files),
        }
    }

    /// Opens the store. Was its filter built anew?
    fn open<L: Records>(&self) -> Result<(Store<Redb, L>, bool), Error> {
        let rebuilt = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&rebuilt);
        let store = StoreBuilder::new()
            .capacity(1)
            .shards(2)
            .fpr(0.5)
            .seed(Seed::from_bytes([3; 16]))
            .layout()
            .on_progress(move |_| flag.store(true, Ordering::Relaxed))
            .open(Redb::with_backend(self.data.clone())?, self.files.clone())?;
        let rebuilt = rebuilt.load(Ordering::Relaxed);
        Ok((store, rebuilt))
    }
}

/// How far a script has come: so many steps are safe, so many were done, and so many begun.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    safe: usize,
    begun: usize,
    /// The last step saved the filter.
    saved: bool,
}

/// Plays the first steps of a script; then the power fails, if it has not yet.
fn play<L: Records>(
    disks: &Disks,
    script: &Script,
    steps: usize,
    off: impl FnOnce(),
    progress: &mut Progress,
) -> Result<(), Error> {
    let (mut store, _) = disks.open::<L>()?;
    for (number, step) in script.steps[..steps].iter().enumerate() {
        *progress = Progress {
            begun: number + 1,
            saved: false,
            ..*progress
        };
        let (is_sync, is_save) = match step {
            Step::Do(operation) => {
                let result = operation.clone().perform(&store);
                let is_save = matches!(operation, Operation::Checkpoint);
                match result {
                    // Only the files are without power; the process goes on.
                    Err(Error::Files { .. }) => continue,
                    result => result?,
                }
                (operation.is_sync(), is_save)
            }
            Step::Close => match store.close() {
                Ok(()) => {
                    (store, _) = disks.open::<L>()?;
                    (true, true)
                }
                Err(Error::Files { .. }) => {
                    (store, _) = disks.open::<L>()?;
                    // redb syncs when it is closed.
                    (true, false)
                }
                Err(error) => return Err(error),
            },
        };
        if is_sync {
            progress.safe = progress.begun;
        }
        progress.saved = is_save;
    }
    off();
    Ok(())
}

/// What happened, so that a test that tests nothing is noticed.
#[derive(Debug, Default)]
struct Seen {
    cuts: u64,
    restarts: u64,
    from_image: u64,
    rebuilt: u64,
    /// Steps that were begun and not safe, and those of them that were there.
    unsafe_steps: u64,
    of_them_there: u64,
    rotating: u64,
}

/// Opens what is left.
fn inspect<L: Records>(
    disks: &Disks,
    script: &Script,
    progress: Progress,
    seen: &mut Seen,
    what: &str,
) {
    let what = &format!("{what}, {progress:?}");
    let opened = disks.open::<L>();
    let (store, rebuilt) = opened.unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(
        !rebuilt || !progress.saved,
        "{what}: the saved filter is not used"
    );
    let found = contents(&store);
    let possible = &script.states[progress.safe..=progress.begun];
    let at = possible.iter().position(|state| *state == found);
    let at = at.unwrap_or_else(|| panic!("{what}: not the state after any step: {found:?}"));
    check(&store, &found, what);
    seen.restarts += 1;
    seen.rebuilt += u64::from(rebuilt);
    seen.from_image += u64::from(!rebuilt);
    seen.unsafe_steps += (progress.begun - progress.safe) as u64;
    seen.of_them_there += at as u64;
    seen.rotating += u64::from(store.is_rotating());

    // It goes on from there.
    let mut model = found;
    model.insert(b"next".to_vec(), b"value".to_vec());
    store.put("next", "value").unwrap();
    store.close().unwrap();
    let (store, rebuilt) = disks.open::<L>().unwrap();
    assert!(!rebuilt, "{what}: closed, but the filter was built anew");
    check(&store, &model, what);
}

/// Which disk loses its power.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Off {
    Both,
    Data,
    Files,
}

fn cut_everywhere<L: Records>(seed: u64, steps: usize, off: Off, stride: u64) -> Seen {
    let script = script(seed, steps);
    let cut = Cut::new();
    let never = Cut::new();
    let (data, files) = match off {
        Off::Both => (&cut, &cut),
        Off::Data => (&cut, &never),
        Off::Files => (&never, &cut),
    };
    let disks = Disks::new(data, files);
    cut.never();
    let steps = script.steps.len();
    play::<L>(&disks, &script, steps, || (), &mut Progress::default()).unwrap();
    // The end of the database writes, too.
    let operations = cut.operations();
    // In the middle of everything; seeds and epochs are random, so that a script can be a few
    // operations longer or shorter. Then between the steps, where it is known what was saved.
    let cuts = (0..operations + 2).step_by((stride * share()) as usize);
    let in_the_middle = cuts.map(|k| (k, steps));
    let in_between = (0..=steps).map(|steps| (u64::MAX, steps));
    let mut seen = Seen::default();
    for (k, steps) in in_the_middle.chain(in_between) {
        cut.never();
        let disks = Disks::new(data, files);
        cut.from(k);
        let mut progress = Progress::default();
        let off_now = || {
            if k == u64::MAX {
                cut.from(0);
            }
        };
        let result = play::<L>(&disks, &script, steps, off_now, &mut progress);
        assert!(result.is_ok() || cut.has_failed(), "cut {k}: {result:?}");
        cut.never();
        seen.cuts += 1;
        let (none, all) = (Survivors::None, Survivors::All);
        let some = |n| Survivors::Some {
            seed: (k ^ steps as u64).wrapping_mul(8) + n,
        };
        for (data, files) in [
            (none, none),
            (none, all),
            (all, none),
            (some(0), some(1)),
            (some(2), some(3)),
        ] {
            let what = format!(
                "seed {seed}, {off:?} off at {k} of {steps} steps, {data:?} and {files:?} left"
            );
            // What has not lost its power has lost nothing, but with the process.
            let left = match off {
                Off::Both => disks.restart(data, files),
                Off::Data => disks.restart(data, Survivors::All),
                Off::Files => disks.restart(Survivors::All, files),
            };
            inspect::<L>(&left, &script, progress, &mut seen, &what);
        }
    }
    println!("{off:?}: {operations} operations, {seen:?}");
    if share() == 1 {
        assert!(operations > 50, "{operations}");
        assert!(seen.from_image > seen.restarts / 20, "{seen:?}");
        assert!(seen.rebuilt > seen.restarts / 20, "{seen:?}");
    }
    seen
}

fn assert_anything_can_happen(seen: &Seen) {
    if share() == 1 {
        assert!(seen.of_them_there > 0, "{seen:?}");
        assert!(seen.unsafe_steps > 2 * seen.of_them_there, "{seen:?}");
        assert!(seen.rotating > 0, "{seen:?}");
    }
}

#[test]
fn merged_survives_every_loss_of_power() {
    assert_anything_can_happen(&cut_everywhere::<Merged>(1, 70, Off::Both, 1));
}

#[test]
fn split_survives_every_loss_of_power() {
    assert_anything_can_happen(&cut_everywhere::<Split>(2, 70, Off::Both, 1));
}

#[test]
fn the_database_alone_may_lose_its_power() {
    assert_anything_can_happen(&cut_everywhere::<Merged>(3, 70, Off::Data, 3));
}

#[test]
fn the_files_alone_may_lose_their_power() {
    cut_everywhere::<Merged>(4, 150, Off::Files, 1);
}
