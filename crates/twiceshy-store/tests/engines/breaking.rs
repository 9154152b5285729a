//! The engines that tests break do break, where and how they say.

use std::ops::{Bound, ControlFlow};
use std::time::{Duration, Instant};

use twiceshy_store::engine::{
    Changes, Counting, Counts, Durability, Engine, EngineError, InMemory, Snapshot, Table,
};
use twiceshy_store_testing::{Crashing, Cut, Delayed, FailedWrite, Failing};

const ALL: (Bound<&[u8]>, Bound<&[u8]>) = (Bound::Unbounded, Bound::Unbounded);

fn put(key: u8) -> Changes {
    let mut changes = Changes::new();
    changes.put(Table::Even, [key], "value");
    changes.put(Table::Odd, [key], "value");
    changes
}

fn keys(engine: &impl Engine) -> Result<Vec<u8>, EngineError> {
    let mut keys = Vec::new();
    engine.snapshot()?.range(Table::Odd, ALL, |key, _| {
        keys.push(key[0]);
        ControlFlow::Continue(())
    })?;
    Ok(keys)
}

/// Six operations.
fn script(engine: &impl Engine) -> Result<(), EngineError> {
    engine.write(&put(1), Durability::Buffered)?;
    engine.write(&put(2), Durability::Sync)?;
    let snapshot = engine.snapshot()?;
    snapshot.get(Table::Even, &[1], |_| ())?;
    snapshot.range(Table::Even, ALL, |_, _| ControlFlow::Continue(()))?;
    engine.sync()
}

#[test]
fn failures_come_at_every_operation() {
    let cut = Cut::new();
    for failed in [FailedWrite::NotApplied, FailedWrite::Applied] {
        let engine = || Failing::new(InMemory::new(), cut.clone(), failed);
        cut.never();
        script(&engine()).unwrap();
        assert_eq!(cut.operations(), 6);
        assert!(!cut.has_failed());
        for k in 0..6 {
            let applied = u64::from(failed == FailedWrite::Applied);
            let expected: Vec<u8> = [1, 2][..(k + applied).min(2) as usize].to_vec();

            // Once: the next operation passes.
            cut.at(k);
            let once = engine();
            let message = script(&once).unwrap_err().to_string();
            assert!(message.contains("injected"), "{message}");
            assert!(cut.has_failed());
            assert_eq!(cut.operations(), k + 1);
            assert_eq!(keys(&once).unwrap(), expected);

            // From there on: none does.
            cut.from(k);
            let ever = engine();
            assert!(script(&ever).is_err());
            assert!(keys(&ever).is_err() && ever.sync().is_err());
            assert_eq!(keys(ever.inner()).unwrap(), expected);
        }
    }
}

#[test]
fn a_range_that_fails_has_begun() {
    let cut = Cut::new();
    let engine = Failing::new(InMemory::new(), cut.clone(), FailedWrite::NotApplied);
    script(&engine).unwrap();
    cut.at(1);
    let mut seen = 0;
    let result = engine.snapshot().unwrap().range(Table::Odd, ALL, |_, _| {
        seen += 1;
        ControlFlow::Continue(())
    });
    assert!(result.is_err());
    assert_eq!(seen, 1);
}

#[test]
fn counts_are_exact() {
    let engine = Counting::new(InMemory::new());
    script(&engine).unwrap();
    let once = Counts {
        snapshots: 1,
        gets: 1,
        ranges: 1,
        entries: 2,
        commits: 2,
        changes: 4,
        syncs: 2,
    };
    assert_eq!(engine.counts(), once);
    assert_eq!(engine.counts().reads(), 2);
    script(&engine).unwrap();
    assert_eq!(engine.counts() - once, once);

    // Only the entries that were handed out.
    let before = engine.counts();
    let snapshot = engine.snapshot().unwrap();
    let each = |_: &[u8], _: &[u8]| ControlFlow::Break(());
    snapshot.range(Table::Odd, ALL, each).unwrap();
    assert_eq!((engine.counts() - before).entries, 1);
}

#[test]
fn delays_are_never_shorter() {
    let engine = Delayed::new(InMemory::new(), Duration::from_micros(200));
    let start = Instant::now();
    let snapshot = engine.snapshot().unwrap();
    for _ in 0..5 {
        snapshot.get(Table::Even, &[1], |_| ()).unwrap();
        let each = |_: &[u8], _: &[u8]| ControlFlow::Continue(());
        snapshot.range(Table::Even, ALL, each).unwrap();
    }
    assert!(start.elapsed() >= Duration::from_millis(2));
    engine.set_delay(Duration::from_millis(3));
    let start = Instant::now();
    snapshot.get(Table::Even, &[1], |_| ()).unwrap();
    assert!(start.elapsed() >= Duration::from_millis(3));
}

#[test]
fn a_crash_takes_the_last_buffered_commits() {
    use Durability::{Buffered, Sync};

    let cut = Cut::new();
    let script = |engine: &Crashing| -> Result<(), EngineError> {
        engine.write(&put(1), Buffered)?;
        engine.write(&put(2), Sync)?;
        engine.write(&put(3), Buffered)?;
        engine.write(&put(4), Buffered)?;
        engine.sync()?;
        engine.write(&put(5), Buffered)
    };
    // For each cut: how many commits are safe, and how many a crash may keep.
    let expected = [(0, 1), (0, 2), (2, 3), (2, 4), (2, 4), (4, 5), (4, 5)];
    for (k, (safe, most)) in (0..).zip(expected) {
        cut.from(k);
        let engine = Crashing::new(cut.clone());
        assert_eq!(script(&engine).is_ok(), k == 6);
        assert_eq!(engine.buffered(), most - safe, "cut {k}");
        if k < 6 {
            // Nothing works after a crash, and nothing changes what it left.
            assert!(engine.snapshot().is_err());
            assert!(engine.write(&put(9), Sync).is_err());
            assert!(engine.sync().is_err());
            assert_eq!(engine.buffered(), most - safe);
        }
        for kept in 0..=most - safe {
            let found = engine.reopen(kept, Cut::new());
            let expected: Vec<u8> = (1..=5).take(safe + kept).collect();
            assert_eq!(keys(&found).unwrap(), expected, "cut {k}, {kept} kept");
            assert_eq!(found.buffered(), 0);
        }
    }
}
