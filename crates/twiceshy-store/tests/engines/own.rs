//! What only one of the engines can do.

#[cfg(feature = "lmdb")]
use std::fs;
#[cfg(feature = "fjall")]
use std::{fs::File, io::Read, path::Path};

use tempfile::tempdir;
use twiceshy_store::engine::{Changes, Durability, Engine, Snapshot, Table};

#[cfg(any(feature = "fjall", feature = "lmdb"))]
use super::script::{commits, position, state};

#[cfg(feature = "redb")]
#[test]
fn redb_shares_the_database_of_a_user() {
    use std::sync::Arc;

    use ::redb::{Database, ReadableDatabase, TableDefinition};
    use twiceshy_store::engine::Redb;

    const THEIRS: TableDefinition<'_, &str, u64> = TableDefinition::new("records");
    let directory = tempdir().unwrap();
    let database = Arc::new(Database::create(directory.path().join("theirs")).unwrap());
    let transaction = database.begin_write().unwrap();
    let mut theirs = transaction.open_table(THEIRS).unwrap();
    theirs.insert("a", 1).unwrap();
    drop(theirs);
    transaction.commit().unwrap();

    // Without a prefix, a table of theirs would be in the way.
    let error = Redb::from_database(database.clone(), "").unwrap_err();
    assert!(error.to_string().contains("records"), "{error}");

    let ours = Redb::from_database(database.clone(), "ours/").unwrap();
    let mut changes = Changes::new();
    changes.put(Table::Records, "a", "value");
    ours.write(&changes, Durability::Sync).unwrap();
    let snapshot = ours.snapshot().unwrap();
    let len = snapshot.get(Table::Records, b"a", <[u8]>::len).unwrap();
    assert_eq!(len, Some(5));
    let transaction = database.begin_read().unwrap();
    let theirs = transaction.open_table(THEIRS).unwrap();
    assert_eq!(theirs.get("a").unwrap().unwrap().value(), 1);
}

#[cfg(feature = "fjall")]
#[test]
fn fjall_has_filters_of_its_own_by_choice() {
    for filters in [false, true] {
        let directory = tempdir().unwrap();
        let options = twiceshy_store::engine::FjallOptions::new().filters(filters);
        let engine = options.open(directory.path()).unwrap();
        let mut changes = Changes::new();
        changes.put(Table::Records, "key", "value");
        engine.write(&changes, Durability::Sync).unwrap();
        let snapshot = engine.snapshot().unwrap();
        assert_eq!(snapshot.get(Table::Records, b"no", |_| ()).unwrap(), None);
    }
}

#[cfg(feature = "lmdb")]
#[test]
fn lmdb_says_when_its_map_is_full() {
    use twiceshy_store::engine::Lmdb;

    let directory = tempdir().unwrap();
    let mut changes = Changes::new();
    changes.put(Table::Records, "key", vec![1; 1 << 20]);
    let small = Lmdb::open(directory.path(), 1 << 19).unwrap();
    let error = small.write(&changes, Durability::Sync).unwrap_err();
    assert!(error.to_string().contains("larger"), "{error}");
    drop(small);
    let large = Lmdb::open(directory.path(), 1 << 30).unwrap();
    large.write(&changes, Durability::Sync).unwrap();
    let snapshot = large.snapshot().unwrap();
    let len = snapshot.get(Table::Records, b"key", <[u8]>::len).unwrap();
    assert_eq!(len, Some(1 << 20));
}

/// A loss of power can leave the root of the last commit unwritten, and any of the pages that
/// the next one was about to write: what an older root shows is still there.
#[cfg(feature = "lmdb")]
#[test]
fn lmdb_keeps_the_pages_of_its_last_two_roots() {
    use twiceshy_store::engine::Lmdb;

    let directory = tempdir().unwrap();
    let engine = Lmdb::open(directory.path(), 1 << 30).unwrap();
    let file = directory.path().join("lmdb/data.mdb");
    let commits = commits(3, 40);
    let mut after = vec![fs::read(&file).unwrap()];
    for commit in &commits {
        engine.write(&commit.changes, Durability::Buffered).unwrap();
        after.push(fs::read(&file).unwrap());
    }
    drop(engine);
    // There are two, each a page that begins with the same mark, and after them come others.
    let marks = after[0].windows(4).enumerate();
    let mut marks = marks.filter(|(_, bytes)| *bytes == 0xbeef_c0de_u32.to_le_bytes());
    let (first, _) = marks.next().unwrap();
    let (second, _) = marks.next().unwrap();
    let roots = 2 * (second - first);
    for lag in [1, 2] {
        for (at, pages) in after.iter().enumerate().skip(lag) {
            let root = at - lag;
            let left = tempdir().unwrap();
            fs::create_dir(left.path().join("lmdb")).unwrap();
            let mut mixed = pages.clone();
            mixed[..roots].copy_from_slice(&after[root][..roots]);
            fs::write(left.path().join("lmdb/data.mdb"), mixed).unwrap();
            let engine = Lmdb::open(left.path(), 1 << 30).unwrap();
            assert_eq!(
                position(&state(&engine), &commits),
                Some(root),
                "pages of {at}"
            );
        }
    }
}

/// A loss of power takes the end of the journal, from any byte on.
#[cfg(feature = "fjall")]
#[test]
fn fjall_keeps_the_commits_before_a_tear() {
    use twiceshy_store::engine::Fjall;

    const TEARS: u64 = 12;
    let commits = commits(4, 12);
    let journal = |directory: &Path| directory.join("fjall/0.jnl");
    let mut last = 0;
    for tear in 1..=TEARS {
        let directory = tempdir().unwrap();
        let engine = Fjall::open(directory.path()).unwrap();
        for commit in &commits {
            engine.write(&commit.changes, Durability::Buffered).unwrap();
        }
        drop(engine);
        // The journal has 64 MiB from the start; most of it is zeros.
        let path = journal(directory.path());
        let mut file = File::options().read(true).write(true).open(path).unwrap();
        let mut bytes = Vec::new();
        (&mut file).take(1 << 20).read_to_end(&mut bytes).unwrap();
        let used = bytes.iter().rposition(|&byte| byte != 0).unwrap() as u64 + 1;
        let kept = used * tear / TEARS;
        file.set_len(kept).unwrap();
        drop(file);
        let engine = Fjall::open(directory.path()).unwrap();
        let at = position(&state(&engine), &commits).expect("the state after a commit");
        assert!(at >= last, "{at} commits in {kept} bytes, {last} in fewer");
        last = at;
    }
    assert_eq!(last, commits.len());
}
