//! How large a filter is for how many keys and which error, before anything is allocated.
//!
//! ```sh
//! cargo run -p twiceshy --example sizing
//! ```

use twiceshy::{Error, sizing};

const CAPACITIES: [u64; 4] = [10_000, 1_000_000, 100_000_000, 10_000_000_000];
const RATES: [f64; 4] = [0.1, 0.01, 0.001, 0.000_001];

fn main() -> Result<(), Error> {
    println!("   capacity   wanted   expected         slots  remainder         MiB  bits/key");
    for capacity in CAPACITIES {
        for fpr in RATES {
            let geometry = sizing::geometry(capacity, fpr)?;
            let bytes = sizing::plain_bytes(&geometry) as f64;
            println!(
                "{capacity:>11} {fpr:>8} {expected:>10.2e} {slots:>13} {bits:>5} bits \
                 {mib:>11.2} {per_key:>9.2}",
                expected = sizing::expected_fpr(&geometry, capacity),
                slots = geometry.slots(),
                bits = geometry.remainder_bits(),
                mib = bytes / f64::from(1 << 20),
                per_key = 8.0 * bytes / capacity as f64,
            );
        }
    }
    Ok(())
}
