//! Draws by given weights, in constant time: Walker's alias method, with Vose's way of making
//! the table.
//!
//! Every number gets a cell of the same width. What a light one does not fill is lent to a heavy
//! one, its *alias*; so a draw is a cell, and a choice between two.
//!
//! ```text
//! weights 1 5 3   |  1  |  5  |  3  |        width 3
//! cells           | 0 11| 111 | 222 |        cell 0: itself below 1/3, else its alias 1
//! ```

use anyhow::{Result, ensure};

use super::random::Random;

/// Draws numbers with probabilities proportional to their weights.
#[derive(Clone, Debug)]
pub(crate) struct Weighted {
    /// The part of the cell that is the number's own, and who has the rest.
    cells: Vec<(f64, u32)>,
}

impl Weighted {
    /// # Errors
    /// If there are no weights, or 2³² and more, or one is no number from zero on, or all are zero.
    pub(crate) fn new(weights: &[f64]) -> Result<Self> {
        let usable = weights
            .iter()
            .all(|weight| *weight >= 0.0 && weight.is_finite());
        let total: f64 = weights.iter().sum();
        ensure!(usable && total > 0.0, "weights must be numbers above zero");
        ensure!(u32::try_from(weights.len()).is_ok(), "too many weights");
        let width = total / weights.len() as f64;
        let mut cells: Vec<(f64, u32)> = (0..)
            .zip(weights)
            .map(|(number, weight)| (weight / width, number))
            .collect();
        let (mut light, mut heavy): (Vec<u32>, Vec<u32>) =
            (0..cells.len() as u32).partition(|&number| cells[number as usize].0 < 1.0);
        while let (Some(&lender), Some(&borrower)) = (light.last(), heavy.last()) {
            light.pop();
            cells[lender as usize].1 = borrower;
            let lent = 1.0 - cells[lender as usize].0;
            cells[borrower as usize].0 -= lent;
            if cells[borrower as usize].0 < 1.0 {
                heavy.pop();
                light.push(borrower);
            }
        }
        // Who is left has a full cell but for rounding, and is its own alias.
        Ok(Weighted { cells })
    }

    pub(crate) fn draw(&self, random: &mut Random) -> u32 {
        let cell = random.below(self.cells.len() as u64) as usize;
        let (own, alias) = self.cells[cell];
        match random.unit() < own {
            true => cell as u32,
            false => alias,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::assert_drawn;
    use super::*;

    #[test]
    fn cells_add_up_to_the_weights() {
        let weights: Vec<f64> = (0..1_000).map(|i: u32| f64::from(i % 37).powi(3)).collect();
        let weighted = Weighted::new(&weights).unwrap();
        let mut sums = vec![0.0; weights.len()];
        for (number, &(own, alias)) in weighted.cells.iter().enumerate() {
            sums[number] += own.min(1.0);
            sums[alias as usize] += 1.0 - own.min(1.0);
        }
        let total: f64 = weights.iter().sum();
        for (sum, weight) in sums.iter().zip(&weights) {
            assert!((sum - weight / total * 1_000.0).abs() < 1e-9);
        }
    }

    #[test]
    fn draws_follow_the_weights() {
        let weights = [1.0, 0.0, 5.0, 3.0, 0.01];
        let weighted = Weighted::new(&weights).unwrap();
        let mut random = Random::new(1, 2);
        let mut counts = vec![0; weights.len()];
        for _ in 0..500_000 {
            counts[weighted.draw(&mut random) as usize] += 1;
        }
        assert_drawn(&weights.map(|weight| weight / 9.01), &counts);
        assert_eq!(counts[1], 0);
    }

    #[test]
    fn weights_that_make_no_sense_are_refused() {
        for weights in [&[][..], &[0.0], &[-1.0, 2.0], &[f64::NAN], &[f64::INFINITY]] {
            assert!(Weighted::new(weights).is_err());
        }
    }
}
