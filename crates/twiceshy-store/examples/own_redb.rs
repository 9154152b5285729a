//! A guard beside a redb table of your own. The reverse map lives in the same database file,
//! in a table beside yours.
//!
//! ```sh
//! cargo run -p twiceshy-store --example own_redb
//! ```

use std::sync::Arc;

use redb::{Database, ReadableDatabase, TableDefinition};
use twiceshy_store::engine::Redb;
use twiceshy_store::guard::EngineMap;
use twiceshy_store::{Check, StoreBuilder};

const CITIES: TableDefinition<&str, u64> = TableDefinition::new("cities");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let database = Arc::new(Database::create(folder.path().join("atlas.redb"))?);
    let write = database.begin_write()?;
    {
        let mut cities = write.open_table(CITIES)?;
        for number in 0..5_000 {
            cities.insert(format!("city{number}").as_str(), number)?;
        }
    }
    write.commit()?;

    // The table was there before the guard: it is told of all keys at once.
    let map = EngineMap::new(Redb::from_database(Arc::clone(&database), "guard.")?);
    let guard = StoreBuilder::new().capacity(10_000).guard(map)?;
    guard.rebuild((0..5_000).map(|number| format!("city{number}")))?;

    // A new city: first the guard, then the table.
    let pending = guard.inserting("atlantis")?;
    let write = database.begin_write()?;
    write.open_table(CITIES)?.insert("atlantis", 0)?;
    write.commit()?;
    pending.done();

    let mut trips = [0; 2];
    for trip in &mut trips {
        for number in 0..50_000 {
            let name = format!("town{number}");
            if let Check::Maybe(ticket) = guard.check(&name) {
                let cities = database.begin_read()?.open_table(CITIES)?;
                if cities.get(name.as_str())?.is_none() {
                    ticket.absent()?;
                    *trip += 1;
                }
            }
        }
    }
    let [first, second] = trips;
    println!("50,000 towns that are no cities: {first} needless reads, then {second}");
    assert!(first > 0 && second == 0);
    assert!(guard.check("atlantis").is_maybe());
    Ok(())
}
