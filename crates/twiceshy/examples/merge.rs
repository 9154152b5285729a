//! Two shards are filled apart, merged into one filter, and that grows: all without keys.
//!
//! ```sh
//! cargo run --release -p twiceshy --example merge
//! ```

use std::error::Error;

use twiceshy::hash::Seed;
use twiceshy::{Filter, Insert, Merge, QuotientFilter};

fn main() -> Result<(), Box<dyn Error>> {
    // One seed and one geometry, so that the shards number their miniruns alike.
    let seed = Seed::random()?;
    let empty = || {
        let builder = QuotientFilter::builder();
        builder.slots(50_000).remainder_bits(12).seed(seed).build()
    };
    let names: Vec<String> = (0..80_000).map(|i| format!("user-{i}")).collect();
    let (left, right) = names.split_at(names.len() / 2);
    let (mut first, mut second) = (empty()?, empty()?);
    first.insert_batch(left)?;
    second.insert_batch(right)?;
    println!("shards  {first:?}\n        {second:?}");

    // Too many for the slots of one: into twice as many, at the price of a remainder bit.
    match QuotientFilter::merge([&first, &second]) {
        Ok(_) => println!("they fit"),
        Err(error) => println!("refused {error}"),
    }
    let whole = Merge::of([&first, &second]).doubled(1).build()?;
    println!("merged  {whole:?}");
    assert!(whole.contains_batch(&names).iter().all(|&found| found));

    let larger = whole.doubled()?;
    println!("doubled {larger:?}");
    assert!(larger.contains_each(&names).all(|found| found));
    Ok(())
}
