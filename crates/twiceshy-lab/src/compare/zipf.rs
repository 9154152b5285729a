//! Queries of very different popularity: Zipf's law with exponent 3/2.
//!
//! Rank `k` is asked for with a probability proportional to `k^-1.5`. The draws are made
//! by rejection-inversion (Hörmann and Derflinger, "Rejection-inversion to generate
//! variates from monotone discrete distributions", 1996): exact but for the rounding of
//! floating-point numbers, without tables, and with this exponent the integral of the
//! weights and its inverse need no more than a square root.

use super::workload::{Workload, mix};

/// Ranks that are asked for.
pub(crate) const RANKS: u32 = 10_000_000;

/// Draws from the ranks `1..=ranks`.
struct Zipf {
    ranks: f64,
    /// The ends of the area under the hat.
    low: f64,
    high: f64,
    /// At most so far left of its rank, a point is accepted without a closer look.
    sure: f64,
}

/// The weight of a rank.
fn weight(rank: f64) -> f64 {
    1.0 / (rank * rank.sqrt())
}

/// An antiderivative of [`weight`].
fn area(x: f64) -> f64 {
    -2.0 / x.sqrt()
}

fn area_inverse(area: f64) -> f64 {
    4.0 / (area * area)
}

impl Zipf {
    fn new(ranks: u32) -> Self {
        let ranks = f64::from(ranks);
        Zipf {
            ranks,
            low: area(1.5) - weight(1.0),
            high: area(ranks + 0.5),
            sure: 2.0 - area_inverse(area(2.5) - weight(2.0)),
        }
    }

    /// One draw, from as many uniform numbers in `0.0..1.0` as it takes: 1.1 on average.
    fn draw(&self, mut uniform: impl FnMut() -> f64) -> u32 {
        loop {
            let u = self.high + uniform() * (self.low - self.high);
            let x = area_inverse(u);
            let rank = (x + 0.5).floor().clamp(1.0, self.ranks);
            if rank - x <= self.sure || u >= area(rank + 0.5) - weight(rank) {
                return rank as u32;
            }
        }
    }
}

/// Uniform numbers in `0.0..1.0` with 53 bits, from SplitMix64.
fn uniform(seed: u64) -> impl FnMut() -> f64 {
    let mut state = mix(seed ^ 0x7a69_7066);
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        (mix(state) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The queries of one pass. Four bytes a draw, read once from front to back: they leave
/// the caches to the filter.
pub(crate) struct Stream {
    ranks: Vec<u32>,
    /// Every rank that is asked for, once, in ascending order.
    pub(crate) distinct: Vec<u32>,
}

impl Stream {
    /// As many draws as the workload wants, the same for the same seed.
    pub(crate) fn new(workload: &Workload) -> Self {
        let zipf = Zipf::new(RANKS);
        let mut uniform = uniform(workload.seed);
        let ranks: Vec<u32> = (0..workload.draws())
            .map(|_| zipf.draw(&mut uniform))
            .collect();
        let mut distinct = ranks.clone();
        distinct.sort_unstable();
        distinct.dedup();
        Stream { ranks, distinct }
    }

    /// The `i`-th draw.
    pub(crate) fn rank(&self, i: u64) -> u32 {
        self.ranks[i as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: u32 = 1_000_000;

    /// Draws, sorts the draws into cells by `cell_of`, and compares the cells with their
    /// exact probabilities.
    ///
    /// Bernstein: the number of draws in a cell of probability `p` is off by more than `t`
    /// with a probability of at most `2 exp(-t² / (2 (n p (1 - p) + t / 3)))`. With the `t`
    /// that makes this `1e-9 / cells`, a right sampler fails for one seed in 10⁹.
    fn check(ranks: u32, cells: usize, seed: u64, cell_of: impl Fn(u32) -> usize) {
        let (mut weights, mut counts) = (vec![0.0; cells], vec![0_u32; cells]);
        for rank in (1..=ranks).rev() {
            weights[cell_of(rank)] += weight(f64::from(rank));
        }
        let (zipf, mut uniform) = (Zipf::new(ranks), uniform(seed));
        for _ in 0..DRAWS {
            let rank = zipf.draw(&mut uniform);
            assert!((1..=ranks).contains(&rank));
            counts[cell_of(rank)] += 1;
        }
        let total: f64 = weights.iter().sum();
        let log = (2.0 * cells as f64 / 1e-9).ln();
        for (cell, (weight, count)) in weights.iter().zip(counts).enumerate() {
            let (p, n) = (weight / total, f64::from(DRAWS));
            let t = log / 3.0 + (log * log / 9.0 + 2.0 * log * n * p * (1.0 - p)).sqrt();
            let off = (f64::from(count) - n * p).abs();
            assert!(
                off <= t,
                "cell {cell} of {ranks} ranks: {count} draws, not {:.1} ± {t:.1}",
                n * p
            );
        }
    }

    #[test]
    fn ranks_are_as_likely_as_zipf_says() {
        for ranks in [1, 2, 3, 10, 100] {
            check(ranks, ranks as usize, 1, |rank| rank as usize - 1);
        }
    }

    #[test]
    fn so_are_decades_of_many_ranks() {
        check(RANKS, 8, 2, |rank| rank.ilog10() as usize);
    }

    #[test]
    fn a_stream_is_reproducible_and_knows_its_ranks() {
        let workload = Workload {
            log2_slots: 12,
            load: 0.9,
            adapted: 0.0,
            seed: 3,
        };
        let (stream, again) = (Stream::new(&workload), Stream::new(&workload));
        assert_eq!(stream.ranks, again.ranks);
        assert_eq!(stream.ranks.len() as u64, workload.draws());
        assert!(stream.distinct.windows(2).all(|pair| pair[0] < pair[1]));
        assert!((0..workload.draws()).all(|i| {
            let rank = stream.rank(i);
            stream.distinct.binary_search(&rank).is_ok()
        }));
    }
}
