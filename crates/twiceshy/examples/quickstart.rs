//! Set up a filter, insert, ask, remove, and see what it costs.
//!
//! ```sh
//! cargo run -p twiceshy --example quickstart
//! ```

use twiceshy::{Error, QuotientFilter, Removed};

fn main() -> Result<(), Error> {
    // Room for a hundred thousand keys, and at most one wrong "maybe" in a hundred.
    let mut seen = QuotientFilter::new(100_000, 0.01)?;

    // Keys are bytes, strings, numbers, tuples of such: anything that is a `Key`.
    seen.insert("https://example.org/")?;
    seen.insert(&("alice", 42_u32))?;
    assert!(seen.contains("https://example.org/"));
    assert!(seen.contains(&("alice", 42_u32)));

    // A key that is no longer wanted can go, as long as it is known to be a member.
    assert_eq!(seen.remove("https://example.org/")?, Removed::One);

    for user in 0..99_000_u64 {
        seen.insert(&user)?;
    }
    // Never "no" for a member ...
    assert!((0..99_000_u64).all(|user| seen.contains(&user)));
    // ... and rarely "maybe" for a stranger.
    let strangers = 1_000_000..2_000_000_u64;
    let wrong = strangers.filter(|user| seen.contains(user)).count();

    println!("{}", seen.stats());
    println!("{wrong} of 1000000 strangers were answered \"maybe\"");
    Ok(())
}
