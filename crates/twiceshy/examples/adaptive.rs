//! A filter in front of a slow store, asked by a skewed workload: how many needless reads
//! does a plain filter cause, and how many one that learns?
//!
//! ```text
//! cargo run --release -p twiceshy --example adaptive
//! ```

use std::collections::BTreeMap;

use twiceshy::hash::{Hashed, Seed};
use twiceshy::{AdaptiveFilter, Error, QuotientFilter};

/// The slow store, and at the same time the reverse map: records in the order of their
/// hash. A database with an index on the hash would do.
type Store = BTreeMap<(u64, u64), String>;

fn main() -> Result<(), Error> {
    let seed = Seed::from_u64(1);
    let mut plain = QuotientFilter::builder()
        .capacity(100_000)
        .fpr(0.01)
        .seed(seed)
        .build()?;
    let mut adaptive = AdaptiveFilter::builder()
        .capacity(100_000)
        .fpr(0.01)
        .seed(seed)
        .build()?;
    let mut store = Store::new();
    for key in 0..90_000_u64 {
        plain.insert(&key)?;
        adaptive.insert(&key)?;
        store.insert((adaptive.hash(&key).h0(), key), format!("record {key}"));
    }

    let (mut plain_reads, mut adaptive_reads) = (0, 0);
    for query in skewed_strangers().take(1_000_000) {
        if plain.contains(&query) {
            plain_reads += 1;
        }
        let Some(minirun) = adaptive.lookup(&query) else {
            continue;
        };
        // The filter says "maybe": read all records of the minirun, one range of the store.
        adaptive_reads += 1;
        let range = adaptive.geometry().hash_range(minirun.id());
        let keys: Vec<u64> = store
            .range((*range.start(), 0)..=(*range.end(), u64::MAX))
            .map(|(&(_, key), _)| key)
            .collect();
        if !keys.contains(&query) {
            // It was wrong: with these keys it never is again, for this query.
            let stored: Vec<Hashed<'_>> = keys.iter().map(|key| adaptive.hash(key)).collect();
            adaptive.adapt(&adaptive.hash(&query), minirun, &stored)?;
        }
    }
    println!("1000000 queries for keys that are not in the store");
    println!("needless reads behind a plain filter:    {plain_reads}");
    println!("needless reads behind an adaptive one:   {adaptive_reads}");
    println!(
        "{adaptive:?}, {:.2} bits an item",
        adaptive.stats().bits_per_item
    );
    Ok(())
}

/// Keys that are not in the store; a few of them again and again.
fn skewed_strangers() -> impl Iterator<Item = u64> {
    let mut state = 1_u64;
    std::iter::repeat_with(move || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let uniform = (state >> 11) as f64 / (1_u64 << 53) as f64;
        // Rank k comes up about as often as 1/k^1.5.
        1_000_000 + (1.0 / (1.0 - uniform)).powi(2) as u64
    })
}
