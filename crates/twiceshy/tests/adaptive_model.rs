//! The adaptive filter against its model: ten million operations of every kind, on chosen
//! hash streams that collide, in tables that get full, invariants checked after each.
//!
//! Each test is a group of settings, so that they run side by side. Seeds are fixed, and a
//! failure names its own.

mod share;

use twiceshy_testing::Source;
use twiceshy_testing::adaptive::{Outcome, Outcomes, Setting, run};

/// Operations in one universe of keys. Enough to fill the table and drain it again.
const OPERATIONS: u64 = 1_000;

/// Universes for each setting.
const UNIVERSES: u64 = 22;

/// Plays all remainder and value widths of a group at some numbers of slots.
fn play(slots: &[u64], remainder_bits: &[u32], value_bits: &[u32]) -> u64 {
    let mut total = Outcomes::new();
    let divisor = share::divisor() as u64;
    let universes = UNIVERSES.div_ceil(divisor);
    for &slots in slots {
        for &remainder_bits in remainder_bits {
            for &value_bits in value_bits {
                let setting = Setting {
                    slots,
                    remainder_bits,
                    value_bits,
                };
                for universe in 0..universes {
                    let seed = universe << 32
                        | slots << 16
                        | u64::from(remainder_bits) << 8
                        | u64::from(value_bits);
                    match run(setting, &mut Source::from_seed(seed), OPERATIONS) {
                        Ok(outcomes) => total += outcomes,
                        Err(error) => panic!("seed {seed}: {error}"),
                    }
                }
            }
        }
    }
    println!("{total}");
    let settings = slots.len() * remainder_bits.len() * value_bits.len();
    assert_eq!(total.operations(), settings as u64 * universes * OPERATIONS);
    assert_eq!(total.missing().collect::<Vec<_>>(), [], "kinds left out");
    // None of them by mere chance.
    let enough = 20 / divisor;
    for &outcome in Outcome::ALL {
        assert!(
            total.count(outcome) >= enough,
            "{outcome:?}: {}",
            total.count(outcome)
        );
    }
    // A small share may miss the extremes.
    if divisor <= 8 {
        assert!(total.longest_extension() >= 70);
        assert!(total.largest_minirun() >= 40);
    }
    total.operations()
}

const NARROW: [u32; 9] = [1, 2, 3, 4, 5, 6, 7, 8, 9];
const VALUES: [u32; 3] = [0, 1, 3];

/// A test for each group, and one that knows the sum.
macro_rules! groups {
    ($($name:ident: $slots:expr, $bits:expr;)*) => {
        $(
            #[test]
            fn $name() {
                play(&$slots, &$bits, &VALUES);
            }
        )*

        /// The promise of at least ten million, whatever is added or taken away above.
        #[test]
        fn ten_million_operations() {
            let settings: usize = [$($slots.len() * $bits.len()),*].into_iter().sum();
            let operations = (settings * VALUES.len()) as u64 * UNIVERSES * OPERATIONS;
            println!("{operations} operations in all");
            assert!(operations >= 10_000_000);
        }
    };
}

groups! {
    one_to_eight_slots: [1, 2, 3, 8], NARROW;
    less_than_a_block: [16, 40, 62], NARROW;
    about_a_block: [63, 64, 65], NARROW;
    two_blocks: [100, 127, 128], NARROW;
    three_blocks_and_more: [150, 200], NARROW;
    wide_remainders: [1, 16, 64], [12, 16, 25, 31, 48, 50];
}
