//! The suite.

use std::collections::BTreeMap;
use std::fs;
use std::ops::{Bound, ControlFlow};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use tempfile::tempdir;
use twiceshy_store::engine::{Bounds, Changes, Durability, Engine, Snapshot, Table};
use twiceshy_testing::Source;

use super::Kind;

type Tree = BTreeMap<Vec<u8>, Vec<u8>>;
type Model = [Tree; Table::ALL.len()];

const ALL: Bounds<'_> = (Bound::Unbounded, Bound::Unbounded);

/// A short key of extreme bytes: many equal ones, many that are prefixes of others.
fn key(source: &mut Source<'_>) -> Vec<u8> {
    let len = source.below(4).unwrap() + 1;
    let byte = |_| source.pick(&[0, 1, 0x7f, 0xfe, 0xff]).unwrap();
    (0..len).map(byte).collect()
}

/// A bound of a range; now and then one that is no key at all.
fn bound_key(source: &mut Source<'_>) -> Vec<u8> {
    match source.below(20).unwrap() {
        0 => Vec::new(),
        1 => vec![source.pick(&[0, 0x7f, 0xff]).unwrap(); 70_000],
        _ => key(source),
    }
}

fn bound<'k>(key: &'k [u8], source: &mut Source<'_>) -> Bound<&'k [u8]> {
    let kinds = [
        (Bound::Included(key), 2),
        (Bound::Excluded(key), 2),
        (Bound::Unbounded, 1),
    ];
    source.weighted(&kinds).unwrap()
}

/// Some changes, made in the model already.
fn changes(source: &mut Source<'_>, model: &mut Model) -> Changes {
    let mut changes = Changes::new();
    for _ in 0..source.below(12).unwrap() {
        let table = source.pick(&Table::ALL).unwrap();
        let key = key(source);
        if source.one_in(3).unwrap() {
            model[table.index()].remove(&key);
            changes.delete(table, key);
        } else {
            let len = source.pick(&[0, 1, 7, 100, 5_000]).unwrap();
            let value = vec![source.below(256).unwrap() as u8; len];
            model[table.index()].insert(key.clone(), value.clone());
            changes.put(table, key, value);
        }
    }
    changes
}

/// All entries of a range, or the first `most`.
fn entries(
    snapshot: &impl Snapshot,
    table: Table,
    bounds: Bounds<'_>,
    most: usize,
) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut entries = Vec::new();
    let each = |key: &[u8], value: &[u8]| {
        entries.push((key.to_vec(), value.to_vec()));
        match entries.len() == most {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    snapshot.range(table, bounds, each).unwrap();
    entries
}

/// By comparing every key, since `BTreeMap::range` panics where an engine must not.
fn expected(tree: &Tree, (from, to): Bounds<'_>, most: usize) -> Vec<(Vec<u8>, Vec<u8>)> {
    let after = |key: &[u8]| match from {
        Bound::Included(from) => key >= from,
        Bound::Excluded(from) => key > from,
        Bound::Unbounded => true,
    };
    let before = |key: &[u8]| match to {
        Bound::Included(to) => key <= to,
        Bound::Excluded(to) => key < to,
        Bound::Unbounded => true,
    };
    tree.iter()
        .filter(|(key, _)| after(key) && before(key))
        .map(|(key, value)| (key.clone(), value.clone()))
        .take(most)
        .collect()
}

fn assert_equal(snapshot: &impl Snapshot, model: &Model) {
    for table in Table::ALL {
        let found = entries(snapshot, table, ALL, usize::MAX);
        let found = found.iter().map(|(key, value)| (key, value));
        assert!(found.eq(&model[table.index()]), "{table:?}");
    }
}

fn assert_equal_here_and_there(snapshot: &impl Snapshot, model: &Model, source: &mut Source<'_>) {
    for _ in 0..4 {
        let table = source.pick(&Table::ALL).unwrap();
        let key = bound_key(source);
        let value = snapshot.get(table, &key, <[u8]>::to_vec).unwrap();
        assert_eq!(value, model[table.index()].get(&key).cloned(), "{key:?}");

        let (from, to) = (bound_key(source), bound_key(source));
        let bounds = (bound(&from, source), bound(&to, source));
        let most = source.pick(&[1, 3, usize::MAX]).unwrap();
        let found = entries(snapshot, table, bounds, most);
        let expected = expected(&model[table.index()], bounds, most);
        assert_eq!(found, expected, "{bounds:?}");
    }
}

/// Random commits with snapshots that are held over them, and the engine opened again and
/// again in between.
pub(super) fn does_what_the_model_does<K: Kind>() {
    let directory = tempdir().unwrap();
    let mut source = Source::from_seed(50);
    let mut model = Model::default();
    for _ in 0..5 {
        if !K::KEEPS {
            model = Model::default();
        }
        let engine = K::open(directory.path()).unwrap();
        assert_equal(&engine.snapshot().unwrap(), &model);
        let mut held = Vec::new();
        for _ in 0..100 {
            let changes = changes(&mut source, &mut model);
            // A tenth of the commits is synced: syncing takes most of the time.
            let durability = match source.one_in(10).unwrap() {
                true => Durability::Sync,
                false => Durability::Buffered,
            };
            engine.write(&changes, durability).unwrap();
            if source.one_in(30).unwrap() {
                engine.sync().unwrap();
            }
            let now = engine.snapshot().unwrap();
            assert_equal_here_and_there(&now, &model, &mut source);
            if source.one_in(8).unwrap() {
                held.push((now, model.clone()));
            }
            if held.len() > 3 {
                let (then, model) = held.swap_remove(source.below(4).unwrap() as usize);
                assert_equal(&then, &model);
            }
        }
        for (then, model) in held {
            assert_equal(&then, &model);
        }
        assert_equal(&engine.snapshot().unwrap(), &model);
    }
}

pub(super) fn takes_large_values<K: Kind>() {
    let directory = tempdir().unwrap();
    let large: Vec<u8> = (0..10_000_000_u32).map(|i| (i % 251) as u8).collect();
    let engine = K::open(directory.path()).unwrap();
    let mut changes = Changes::new();
    changes.put(Table::Records, "large", &large[..]);
    changes.put(Table::Records, "small", "x");
    engine.write(&changes, Durability::Buffered).unwrap();
    let check = |engine: &K::Engine| {
        let snapshot = engine.snapshot().unwrap();
        let equal = snapshot.get(Table::Records, b"large", |value| value == large);
        assert_eq!(equal.unwrap(), Some(true));
        assert_eq!(entries(&snapshot, Table::Records, ALL, 9).len(), 2);
    };
    check(&engine);
    if K::KEEPS {
        drop(engine);
        check(&K::open(directory.path()).unwrap());
    }
}

pub(super) fn takes_the_longest_keys_and_none_longer<K: Kind>() {
    let directory = tempdir().unwrap();
    let engine = K::open(directory.path()).unwrap();
    let longest = engine.max_key_len().min(1 << 20);
    let keys: Vec<Vec<u8>> = (1..=9).map(|byte| vec![byte; longest]).collect();
    for key in &keys {
        let mut changes = Changes::new();
        changes.put(Table::Odd, &key[..], [key[0]]);
        engine.write(&changes, Durability::Buffered).unwrap();
    }
    let snapshot = engine.snapshot().unwrap();
    for key in &keys {
        let value = snapshot.get(Table::Odd, key, <[u8]>::to_vec).unwrap();
        assert_eq!(value, Some(vec![key[0]]));
    }
    let middle = (Bound::Excluded(&keys[2][..]), Bound::Included(&keys[5][..]));
    assert_eq!(entries(&snapshot, Table::Odd, middle, 99).len(), 3);
    if longest < engine.max_key_len() {
        return;
    }

    // One byte more: an error that names the lengths, and nothing of the commit is made.
    let longer = vec![3; longest + 1];
    let mut changes = Changes::new();
    changes.put(Table::Even, "before", "x");
    changes.put(Table::Odd, &longer[..], "x");
    changes.put(Table::Even, "after", "x");
    let error = engine.write(&changes, Durability::Sync).unwrap_err();
    let message = error.to_string();
    assert!(message.contains(&(longest + 1).to_string()), "{message}");
    assert!(message.contains(&longest.to_string()), "{message}");
    let snapshot = engine.snapshot().unwrap();
    assert_eq!(entries(&snapshot, Table::Even, ALL, 9), []);

    // Such a key is not there, and a bound like others.
    assert_eq!(snapshot.get(Table::Odd, &longer, |_| ()).unwrap(), None);
    let from = (Bound::Included(&longer[..]), Bound::Unbounded);
    assert_eq!(entries(&snapshot, Table::Odd, from, 99).len(), 6);
    let to = (Bound::Unbounded, Bound::Excluded(&longer[..]));
    assert_eq!(entries(&snapshot, Table::Odd, to, 99).len(), 3);
    let mut changes = Changes::new();
    changes.delete(Table::Odd, longer);
    engine.write(&changes, Durability::Buffered).unwrap();
}

pub(super) fn takes_empty_values_and_perhaps_keys<K: Kind>() {
    let directory = tempdir().unwrap();
    let engine = K::open(directory.path()).unwrap();
    let mut changes = Changes::new();
    changes.put(Table::Meta, "key", "");
    engine.write(&changes, Durability::Sync).unwrap();
    let len = |engine: &K::Engine, key: &[u8]| {
        let snapshot = engine.snapshot().unwrap();
        snapshot.get(Table::Meta, key, <[u8]>::len).unwrap()
    };
    assert_eq!(len(&engine, b"key"), Some(0));

    // No changes are no mistake, whatever the durability.
    engine.write(&Changes::new(), Durability::Buffered).unwrap();
    engine.write(&Changes::new(), Durability::Sync).unwrap();

    assert_eq!(len(&engine, b""), None);
    let mut delete = Changes::new();
    delete.delete(Table::Meta, "");
    engine.write(&delete, Durability::Buffered).unwrap();
    let mut changes = Changes::new();
    changes.put(Table::Meta, "", "value");
    let result = engine.write(&changes, Durability::Buffered);
    assert_eq!(result.is_ok(), K::EMPTY_KEYS);
    assert_eq!(len(&engine, b""), K::EMPTY_KEYS.then_some(5));
    engine.write(&delete, Durability::Buffered).unwrap();
    assert_eq!(len(&engine, b""), None);
}

/// A writer counts in all tables at once; whoever looks sees the same count in all of them,
/// and never a smaller one than before.
pub(super) fn readers_see_whole_commits_in_order<K: Kind>() {
    let directory = tempdir().unwrap();
    let engine = &K::open(directory.path()).unwrap();
    let count_to = |count: u64| {
        let mut changes = Changes::new();
        for table in Table::ALL {
            changes.put(table, "count", count.to_le_bytes());
            changes.put(table, count.to_le_bytes(), vec![0; 100]);
        }
        engine.write(&changes, Durability::Buffered).unwrap();
    };
    count_to(0);
    let done = &AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(move || {
                let mut last = 0;
                while !done.load(Ordering::Relaxed) {
                    let snapshot = engine.snapshot().unwrap();
                    let counts = Table::ALL.map(|table| {
                        let read = |value: &[u8]| u64::from_le_bytes(value.try_into().unwrap());
                        snapshot.get(table, b"count", read).unwrap().unwrap()
                    });
                    assert!(counts.iter().all(|&count| count == counts[0]), "{counts:?}");
                    assert!(counts[0] >= last);
                    last = counts[0];
                    let len = entries(&snapshot, Table::Odd, ALL, usize::MAX).len();
                    assert_eq!(len as u64, last + 2);
                }
            });
        }
        (1..300).for_each(count_to);
        done.store(true, Ordering::Relaxed);
    });
}

pub(super) fn keeps_buffered_commits_over_a_clean_end<K: Kind>() {
    if !K::KEEPS {
        return;
    }
    let directory = tempdir().unwrap();
    for round in 0..3_u8 {
        let engine = K::open(directory.path()).unwrap();
        let mut changes = Changes::new();
        changes.put(Table::Even, [round], "value");
        engine.write(&changes, Durability::Buffered).unwrap();
        drop(engine);
        let engine = K::open(directory.path()).unwrap();
        let snapshot = engine.snapshot().unwrap();
        let found = entries(&snapshot, Table::Even, ALL, 9).len();
        assert_eq!(found, usize::from(round) + 1);
    }
}

pub(super) fn opens_once_at_a_time<K: Kind>() {
    if !K::KEEPS {
        return;
    }
    let directory = tempdir().unwrap();
    let engine = K::open(directory.path()).unwrap();
    let message = K::open(directory.path()).unwrap_err().to_string();
    assert!(message.contains("already"), "{message}");
    assert!(message.starts_with(engine.name()), "{message}");
    drop(engine);
    K::open(directory.path()).unwrap();
}

/// A crash while a database is made leaves something aside, or an empty file.
pub(super) fn opens_after_a_crash_while_it_was_made<K: Kind>() {
    if !K::KEEPS {
        return;
    }
    let directory = tempdir().unwrap();
    for name in ["file", "file.new", "file.lock"] {
        fs::write(directory.path().join(name), "").unwrap();
    }
    for name in ["fjall.new", "lmdb.new"] {
        let aside = directory.path().join(name);
        fs::create_dir(&aside).unwrap();
        fs::write(aside.join("0.jnl"), [7; 10]).unwrap();
        fs::write(aside.join("data.mdb"), [7; 10]).unwrap();
    }
    fs::write(directory.path().join("file.new"), [7; 5000]).unwrap();
    let engine = K::open(directory.path()).unwrap();
    let mut changes = Changes::new();
    changes.put(Table::Even, "key", "value");
    engine.write(&changes, Durability::Sync).unwrap();
    drop(engine);
    let engine = K::open(directory.path()).unwrap();
    let snapshot = engine.snapshot().unwrap();
    assert_eq!(entries(&snapshot, Table::Even, ALL, 9).len(), 1);
}
