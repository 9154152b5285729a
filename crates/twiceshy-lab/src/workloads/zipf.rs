//! Zipf's law: rank `k` is asked for with a probability proportional to `k^-s`.
//!
//! The draws are made by rejection-inversion (Hörmann and Derflinger, "Rejection-inversion to
//! generate variates from monotone discrete distributions", 1996): exact but for the rounding
//! of floating-point numbers, without tables, at about 1.1 uniform numbers a draw.
//!
//! With `w(x) = x^-s`, a point is drawn under a hat whose area from `k - ½` to `k + ½` is at
//! least `w(k)`, because `w` is convex; `H`, the antiderivative of `w`, and its inverse turn a
//! uniform number into that point. It is accepted if it lies in the last `w(k)` of the area:
//!
//! ```text
//! H(k - ½)        H(k + ½) - w(k)                 H(k + ½)
//!    |  rejected  |            rank k                |
//! ```

use anyhow::Result;

use super::random::Random;
use super::{Entry, Parameters, Queries};

pub(super) const ENTRY: Entry = Entry {
    name: "zipf",
    about: "draws by Zipf's law with this exponent",
    parameters: &[("exponent", 1.5), ("keys", 10_000_000.0)],
    open,
};

fn open(parameters: &Parameters, seed: u64) -> Result<Queries<'static>> {
    let zipf = Zipf::new(
        parameters.positive("exponent")?,
        parameters.count("keys", 1)?,
    );
    let random = Random::new(seed, PURPOSE);
    Ok(Box::new(Stream { zipf, random }))
}

/// What the random numbers are for.
pub(crate) const PURPOSE: u64 = 0x7a69_7066;

struct Stream {
    zipf: Zipf,
    random: Random,
}

impl Iterator for Stream {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        Some(u64::from(self.zipf.draw(&mut self.random)) - 1)
    }
}

/// Draws from the ranks `1..=ranks`.
#[derive(Clone, Debug)]
pub(crate) struct Zipf {
    exponent: f64,
    ranks: f64,
    /// The ends of the area under the hat.
    low: f64,
    high: f64,
    /// At most so far left of its rank, a point is accepted without a closer look.
    sure: f64,
}

impl Zipf {
    pub(crate) fn new(exponent: f64, ranks: u32) -> Self {
        let mut zipf = Zipf {
            exponent,
            ranks: f64::from(ranks),
            low: 0.0,
            high: 0.0,
            sure: 0.0,
        };
        zipf.low = zipf.area(1.5) - zipf.weight(1.0);
        zipf.high = zipf.area(zipf.ranks + 0.5);
        zipf.sure = 2.0 - zipf.area_inverse(zipf.area(2.5) - zipf.weight(2.0));
        zipf
    }

    /// The weight of a rank.
    pub(crate) fn weight(&self, rank: f64) -> f64 {
        match self.exponent {
            // What the comparisons draw by; a square root is faster than a power.
            1.5 => 1.0 / (rank * rank.sqrt()),
            exponent => rank.powf(-exponent),
        }
    }

    /// An antiderivative of the weight: `(x^(1-s) - 1) / (1 - s)`, the logarithm at `s = 1`.
    fn area(&self, x: f64) -> f64 {
        match self.exponent {
            1.5 => 2.0 - 2.0 / x.sqrt(),
            exponent => {
                let log = x.ln();
                let t = (1.0 - exponent) * log;
                // `exp_m1(t) / t` loses nothing near `s = 1`.
                log * if t.abs() < 1e-12 { 1.0 } else { t.exp_m1() / t }
            }
        }
    }

    fn area_inverse(&self, area: f64) -> f64 {
        match self.exponent {
            1.5 => {
                let root = 2.0 / (2.0 - area);
                root * root
            }
            exponent => {
                let t = (1.0 - exponent) * area;
                (area * if t.abs() < 1e-12 { 1.0 } else { t.ln_1p() / t }).exp()
            }
        }
    }

    /// One draw.
    pub(crate) fn draw(&self, random: &mut Random) -> u32 {
        loop {
            let u = self.high + random.unit() * (self.low - self.high);
            let x = self.area_inverse(u);
            let rank = (x + 0.5).floor().clamp(1.0, self.ranks);
            if rank - x <= self.sure || u >= self.area(rank + 0.5) - self.weight(rank) {
                return rank as u32;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::assert_drawn;
    use super::*;

    const EXPONENTS: [f64; 6] = [0.3, 0.99, 1.0, 1.1, 1.5, 3.0];

    /// Draws, sorts the draws into cells by `cell_of`, and compares the cells with their
    /// exact probabilities. A right sampler fails for one seed in 10⁹.
    fn check(exponent: f64, ranks: u32, cells: usize, cell_of: impl Fn(u32) -> usize) {
        let zipf = Zipf::new(exponent, ranks);
        let (mut weights, mut counts) = (vec![0.0; cells], vec![0; cells]);
        for rank in (1..=ranks).rev() {
            weights[cell_of(rank)] += zipf.weight(f64::from(rank));
        }
        let mut random = Random::new(1, PURPOSE);
        for _ in 0..400_000 {
            let rank = zipf.draw(&mut random);
            assert!((1..=ranks).contains(&rank));
            counts[cell_of(rank)] += 1;
        }
        let total: f64 = weights.iter().sum();
        let shares: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
        assert_drawn(&shares, &counts);
    }

    #[test]
    fn ranks_are_as_likely_as_zipf_says() {
        for exponent in EXPONENTS {
            for ranks in [1, 2, 3, 10, 100] {
                check(exponent, ranks, ranks as usize, |rank| rank as usize - 1);
            }
        }
    }

    #[test]
    fn so_are_decades_of_many_ranks() {
        for exponent in EXPONENTS {
            check(exponent, 10_000_000, 8, |rank| rank.ilog10() as usize);
        }
    }

    #[test]
    fn areas_have_inverses_near_one_too() {
        for exponent in [0.5, 1.0 - 1e-9, 1.0, 1.0 + 1e-9, 1.5, 2.0] {
            let zipf = Zipf::new(exponent, 10);
            for x in [0.6, 1.0, 1.5, 10.0, 1e7] {
                let back = zipf.area_inverse(zipf.area(x));
                assert!(
                    (back / x - 1.0).abs() < 1e-7,
                    "{exponent}: {x} came back as {back}"
                );
            }
        }
    }
}
