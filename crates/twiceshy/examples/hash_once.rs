//! Hash a key once and ask many filters; or bring hashes of your own.
//!
//! ```sh
//! cargo run -p twiceshy --example hash_once
//! ```

use twiceshy::hash::{Hashed, Seed, Sip13};
use twiceshy::{Error, QuotientFilter};

fn main() -> Result<(), Error> {
    // One filter for each day. They share a seed, so they hash every key alike.
    let seed = Seed::random()?;
    let mut days = Vec::new();
    for day in 0..7_u64 {
        let mut filter = QuotientFilter::builder()
            .capacity(10_000)
            .fpr(0.000_1)
            .seed(seed)
            .build()?;
        for visitor in (0..10_000).filter(|visitor| visitor % 7 <= day) {
            filter.insert(&visitor)?;
        }
        days.push(filter);
    }

    // Any of the filters could hash the key (`days[0].hash(&visitor)`), and so can we.
    let visitor = 3_u64;
    let hashed = Hashed::new::<Sip13, _>(&seed, &visitor);
    for (day, filter) in days.iter().enumerate() {
        let answer = match filter.contains_hashed(&hashed) {
            true => "maybe",
            false => "no",
        };
        println!("visitor {visitor} on day {day}: {answer}");
    }
    assert!(days[3..].iter().all(|day| day.contains_hashed(&hashed)));

    // A caller that has good 64-bit hashes already needs no second hash. The top bits say
    // where a fingerprint lives, so they must be as random as the others.
    let mut own = QuotientFilter::new(1_000, 0.01)?;
    let checksum = 0x9e37_79b9_7f4a_7c15;
    own.insert_hashed(&Hashed::from_h0(checksum))?;
    assert!(own.contains_hashed(&Hashed::from_h0(checksum)));
    println!("{own:?}");
    Ok(())
}
