//! A guard beside an SQLite table that has an indexed column with the keys' hashes. Nothing
//! else is stored: the table is its own reverse map.
//!
//! ```sh
//! cargo run -p twiceshy-store --example sqlite
//! ```

use std::ops::RangeInclusive;
use std::rc::Rc;

use rusqlite::{Connection, OptionalExtension};
use twiceshy::ReverseMap;
use twiceshy_store::{Check, Guard, StoreBuilder};

/// The table's hashes. SQLite's integers have a sign; flipping the top bit keeps the order.
struct HashColumn {
    connection: Rc<Connection>,
}

fn column(h0: u64) -> i64 {
    (h0 ^ 1 << 63) as i64
}

impl ReverseMap for HashColumn {
    type Error = rusqlite::Error;

    fn keys(
        &self,
        h0: RangeInclusive<u64>,
        mut each: impl FnMut(u64, &[u8]),
    ) -> Result<(), rusqlite::Error> {
        let sql = "SELECT h0, name FROM users WHERE h0 BETWEEN ?1 AND ?2 ORDER BY h0";
        let mut query = self.connection.prepare_cached(sql)?;
        let mut rows = query.query([column(*h0.start()), column(*h0.end())])?;
        while let Some(row) = rows.next()? {
            let h0: i64 = row.get(0)?;
            let name: String = row.get(1)?;
            each(h0 as u64 ^ 1 << 63, name.as_bytes());
        }
        Ok(())
    }

    // The rows are written by those who write users.
    fn insert(&mut self, _h0: u64, _key: &[u8]) -> Result<bool, rusqlite::Error> {
        Ok(true)
    }

    fn remove(&mut self, _h0: u64, _key: &[u8]) -> Result<bool, rusqlite::Error> {
        Ok(true)
    }
}

fn add(
    connection: &Connection,
    guard: &Guard<HashColumn>,
    name: &str,
) -> Result<(), Box<dyn std::error::Error>> {
    // First the guard, then the database.
    let pending = guard.inserting(name)?;
    let sql = "INSERT INTO users (name, h0, mail) VALUES (?1, ?2, ?3)";
    let mail = format!("{name}@example.org");
    connection
        .prepare_cached(sql)?
        .execute((name, column(guard.hash_of(name)), mail))?;
    pending.done();
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let connection = Rc::new(Connection::open_in_memory()?);
    connection.execute_batch(
        "CREATE TABLE users (name TEXT PRIMARY KEY, h0 INTEGER NOT NULL, mail TEXT NOT NULL);
         CREATE INDEX users_h0 ON users (h0);",
    )?;
    let map = HashColumn {
        connection: Rc::clone(&connection),
    };
    let guard = StoreBuilder::new().capacity(20_000).fpr(0.01).guard(map)?;
    for number in 0..20_000 {
        add(&connection, &guard, &format!("user{number}"))?;
    }

    let mut trips = [0; 2];
    for trip in &mut trips {
        for number in 15_000..50_000 {
            let name = format!("user{number}");
            let Check::Maybe(ticket) = guard.check(&name) else {
                assert!(number >= 20_000, "a user is denied");
                continue;
            };
            let sql = "SELECT mail FROM users WHERE name = ?1";
            let mut query = connection.prepare_cached(sql)?;
            let mail: Option<String> = query.query_row([&name], |row| row.get(0)).optional()?;
            if mail.is_none() {
                ticket.absent()?;
                *trip += 1;
            }
        }
    }
    let [first, second] = trips;
    println!("30,000 names that are not there: {first} needless queries, then {second}");
    assert!(first > 0 && second == 0);

    // First the database, then the guard.
    connection.execute("DELETE FROM users WHERE name = ?1", ["user7"])?;
    guard.deleted("user7")?;
    assert_eq!(guard.len(), 19_999);
    Ok(())
}
