//! redb on a disk that loses its power, at every operation of a script.

use twiceshy_store::engine::{Changes, Durability, Engine, EngineError, Redb, Table};
use twiceshy_store_testing::{Cut, PowerLoss, Survivors};

use super::script::{Commit, commits, position, state};

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

/// What is there is the state after some commit: no earlier than the last that was synced, and
/// no later than the one under way.
fn check(disk: PowerLoss, commits: &[Commit], progress: &Progress, what: &str) {
    let engine = Redb::with_backend(disk).unwrap_or_else(|error| panic!("{what}: {error}"));
    let found = state(&engine);
    let at = position(&found, commits);
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
    for seed in 0..4 {
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
