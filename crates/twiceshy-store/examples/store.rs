//! A store in a directory: put, get, learn, come back.
//!
//! ```sh
//! cargo run -p twiceshy-store --example store
//! ```

use twiceshy_store::{Batch, Store};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let store = Store::open_dir(folder.path())?;

    // Many records at once are one commit.
    let mut batch = Batch::new();
    for user in 0..50_000_u32 {
        batch.put(format!("user{user}"), format!("name of {user}"));
    }
    store.write(batch)?;

    // Somebody asks for users that don't exist. The filter lets a few through …
    for user in 0..100_000 {
        assert_eq!(store.get(format!("nobody{user}"))?, None);
    }
    let first = store.stats();
    // … but none of them a second time.
    for user in 0..100_000 {
        assert_eq!(store.get(format!("nobody{user}"))?, None);
    }
    let second = store.stats();
    println!(
        "reads for 100,000 users that don't exist: {} the first time, {} the second",
        first.false_positives,
        second.false_positives - first.false_positives
    );
    assert_eq!(first.false_positives, second.false_positives);

    // What was learnt outlives the process.
    store.close()?;
    let store = Store::open_dir(folder.path())?;
    for user in 0..100_000 {
        assert_eq!(store.get(format!("nobody{user}"))?, None);
    }
    assert_eq!(store.stats().false_positives, 0);
    assert_eq!(store.get("user7")?, Some(b"name of 7".to_vec()));
    println!("\nafter opening it again:\n{}", store.stats());
    Ok(())
}
