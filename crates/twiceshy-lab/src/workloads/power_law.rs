//! FireHose's power-law generator (Anderson and Plimpton, Sandia National Laboratories, 2015).
//!
//! A fixed set of keys whose popularity follows Yule and Simon: with `ρ = ½`, the first `i` keys
//! get a share of
//!
//! ```text
//! F(i) = 1 - i·B(i, ρ + 1),   F(0) = 0
//! ```
//!
//! of the draws. `T(i) = i·B(i, ρ + 1)` needs no beta function: `T(1) = 1 / (ρ + 1)` and
//! `T(i + 1) = T(i)·(i + 1) / (i + ρ + 1)`. A uniform number is looked up in the table of `F` by
//! bisection; beyond its end, one in 360 for the 100,000 keys of the benchmark, it is rejected
//! and drawn again.

use anyhow::Result;

use super::random::Random;
use super::{Entry, Parameters, Queries};

pub(super) const ENTRY: Entry = Entry {
    name: "power-law",
    about: "FireHose: a fixed set of keys, few of them very popular",
    parameters: &[("keys", 100_000.0), ("rho", 0.5)],
    open,
};

fn open(parameters: &Parameters, seed: u64) -> Result<Queries<'static>> {
    Ok(Box::new(PowerLaw::new(
        parameters.count("keys", 1)?,
        parameters.positive("rho")?,
        seed,
    )))
}

struct PowerLaw {
    /// `F(1)`, `F(2)`, …
    shares: Vec<f64>,
    random: Random,
}

impl PowerLaw {
    fn new(keys: u32, rho: f64, seed: u64) -> Self {
        let mut tail = 1.0 / (rho + 1.0);
        let shares = (1..=keys).map(|i| {
            let share = 1.0 - tail;
            tail *= f64::from(i + 1) / (f64::from(i) + rho + 1.0);
            share
        });
        PowerLaw {
            shares: shares.collect(),
            random: Random::new(seed, 0x706f_7765),
        }
    }

    /// The key that a uniform number falls on, if any.
    fn key_of(&self, uniform: f64) -> Option<u64> {
        let key = self.shares.partition_point(|&share| share <= uniform);
        (key < self.shares.len()).then_some(key as u64)
    }
}

impl Iterator for PowerLaw {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        loop {
            let uniform = self.random.unit();
            if let Some(key) = self.key_of(uniform) {
                return Some(key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::assert_drawn;
    use super::*;

    fn firehose() -> PowerLaw {
        PowerLaw::new(100_000, 0.5, 1)
    }

    /// Within the last digit that the parameters are given with.
    fn assert_about(value: f64, given: f64, digit: f64) {
        assert!((value - given).abs() <= digit / 2.0, "{value}, not {given}");
    }

    #[test]
    fn the_shares_are_those_of_the_benchmark() {
        let law = firehose();
        let all = law.shares[99_999];
        assert_about(1.0 - all, 0.0028, 1e-4);
        assert_about(law.shares[9] / all, 0.73, 1e-2);
        assert_about(law.shares[999] / all, 0.975, 1e-3);
        // B(2, 3/2) = Γ(2) Γ(3/2) / Γ(7/2) = 4/15.
        assert_about(law.shares[0], 1.0 / 3.0, 1e-12);
        assert_about(law.shares[1], 1.0 - 8.0 / 15.0, 1e-12);
    }

    #[test]
    fn fifty_million_draws_repeat_a_key_about_as_often_as_the_paper_says() {
        // Telescoping filters, section 6.1: "each query was repeated 584 times on average". On
        // average over all recordings it is 609; theirs may have lost some packets.
        let law = firehose();
        let (mut before, mut distinct, all) = (0.0, 0.0, law.shares[99_999]);
        for share in &law.shares {
            let p = (share - before) / all;
            distinct += 1.0 - (1.0 - p).powi(50_000_000);
            before = *share;
        }
        assert_about(5e7 / distinct, 584.0, 584.0 * 0.1);
        assert_about(5e7 / distinct, 609.0, 1.0);
    }

    #[test]
    fn a_draw_falls_on_the_key_whose_interval_it_is_in() {
        let law = PowerLaw::new(3, 0.5, 1);
        let [a, b, c] = law.shares[..] else {
            panic!("three keys")
        };
        let cases = [
            (0.0, 0),
            (a.next_down(), 0),
            (a, 1),
            (b.next_down(), 1),
            (b, 2),
        ];
        for (uniform, key) in cases {
            assert_eq!(law.key_of(uniform), Some(key));
        }
        assert_eq!((law.key_of(c), law.key_of(1.0)), (None, None));
    }

    #[test]
    fn draws_follow_the_shares() {
        let mut law = firehose();
        let ends = [1, 10, 100, 1_000, 10_000, 100_000];
        let mut counts = vec![0; ends.len()];
        for _ in 0..1_000_000 {
            let key = law.next().unwrap();
            counts[ends.partition_point(|&end| end <= key)] += 1;
        }
        let mut before = 0.0;
        let shares = ends.map(|end| {
            let share = (law.shares[end as usize - 1] - before) / law.shares[99_999];
            before = law.shares[end as usize - 1];
            share
        });
        assert_drawn(&shares, &counts);
    }
}
