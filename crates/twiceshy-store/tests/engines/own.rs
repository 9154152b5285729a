//! What only one of the engines can do.

use tempfile::tempdir;
use twiceshy_store::engine::{Changes, Durability, Engine, Snapshot, Table};

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
}
