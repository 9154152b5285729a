//! redb on a disk that loses its power, at every operation of a script.

use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow};

use twiceshy::testing::Source;
use twiceshy_store::engine::testing::{Cut, PowerLoss, Survivors};
use twiceshy_store::engine::{Changes, Durability, Engine, EngineError, Redb, Snapshot, Table};

type State = BTreeMap<(Table, Vec<u8>), Vec<u8>>;

/// One commit of a script, and what is there after it.
struct Commit {
    changes: Changes,
    durability: Durability,
    after: State,
}

fn commits(seed: u64, count: usize) -> Vec<Commit> {
    let mut source = Source::from_seed(seed);
    let mut state = State::new();
    let mut commits = Vec::new();
    for number in 0..count {
        let mut changes = Changes::new();
        // Each state differs from all others.
        let number = (number as u64).to_le_bytes();
        changes.put(Table::Meta, "number", number);
        state.insert((Table::Meta, b"number".to_vec()), number.to_vec());
        for _ in 0..source.below(6).unwrap() {
            let table = source.pick(&Table::ALL[1..]).unwrap();
            let key = source.below(20).unwrap().to_le_bytes();
            if source.one_in(4).unwrap() {
                changes.delete(table, key);
                state.remove(&(table, key.to_vec()));
            } else {
                let len = source.pick(&[0, 10, 1_000, 9_000]).unwrap();
                let value = vec![source.below(256).unwrap() as u8; len];
                changes.put(table, key, &value[..]);
                state.insert((table, key.to_vec()), value);
            }
        }
        commits.push(Commit {
            changes,
            durability: source
                .pick(&[Durability::Sync, Durability::Buffered])
                .unwrap(),
            after: state.clone(),
        });
    }
    commits
}

/// How many commits must be there, and how many can be.
#[derive(Debug, Default)]
struct Progress {
    synced: usize,
    tried: usize,
}

fn play(disk: &PowerLoss, commits: &[Commit], progress: &mut Progress) -> Result<(), EngineError> {
    let engine = Redb::with_backend(disk.clone())?;
    for commit in commits {
        progress.tried += 1;
        engine.write(&commit.changes, commit.durability)?;
        if commit.durability == Durability::Sync {
            progress.synced = progress.tried;
        }
    }
    engine.sync()?;
    progress.synced = progress.tried;
    Ok(())
}

fn state(engine: &Redb) -> State {
    let mut state = State::new();
    let snapshot = engine.snapshot().unwrap();
    let all = (Bound::Unbounded, Bound::Unbounded);
    for table in Table::ALL {
        let each = |key: &[u8], value: &[u8]| {
            state.insert((table, key.to_vec()), value.to_vec());
            ControlFlow::Continue(())
        };
        snapshot.range(table, all, each).unwrap();
    }
    state
}

/// What is there is the state after some commit: no earlier than the last that was synced, and
/// no later than the one under way.
fn check(disk: PowerLoss, commits: &[Commit], progress: &Progress, what: &str) {
    let engine = Redb::with_backend(disk).unwrap_or_else(|error| panic!("{what}: {error}"));
    let found = state(&engine);
    let empty = State::new();
    let mut states = [&empty].into_iter().chain(commits.iter().map(|c| &c.after));
    let at = states.position(|state| *state == found);
    let at = at.unwrap_or_else(|| panic!("{what}: not the state after any commit"));
    let may_be = progress.synced..=progress.tried;
    assert!(may_be.contains(&at), "{what}: {at} commits, {progress:?}");

    // It goes on from there.
    let mut changes = Changes::new();
    changes.put(Table::Odd, "next", vec![1; 10_000]);
    engine.write(&changes, Durability::Sync).unwrap();
    assert_eq!(state(&engine).len(), found.len() + 1);
}

/// A disk with an empty database; making one is not safe from a loss of power.
fn disk(cut: &Cut) -> PowerLoss {
    let disk = PowerLoss::new(cut.clone());
    let builder = redb::Builder::new();
    drop(builder.create_with_backend(disk.clone()).unwrap());
    disk.restart(Survivors::None)
}

#[test]
fn synced_commits_survive_every_cut() {
    let cut = Cut::new();
    for seed in 0..2 {
        let commits = commits(seed, 16);
        cut.never();
        let whole = disk(&cut);
        cut.never();
        play(&whole, &commits, &mut Progress::default()).unwrap();
        // The end of the database writes, too.
        let operations = cut.operations();
        assert!(operations > 100, "{operations}");
        let mut lost = 0;
        for k in 0..operations {
            let disk = disk(&cut);
            let mut progress = Progress::default();
            cut.from(k);
            let _ = play(&disk, &commits, &mut progress);
            assert!(cut.has_failed());
            lost += usize::from(progress.synced < progress.tried);
            cut.never();
            let some = |n| Survivors::Some { seed: k * 8 + n };
            for survivors in [Survivors::None, Survivors::All, some(0), some(1), some(2)] {
                let what = format!("seed {seed}, cut {k}, {survivors:?}");
                check(disk.restart(survivors), &commits, &progress, &what);
            }
        }
        assert!(lost > 0, "no cut fell between a commit and its sync");
    }
}
