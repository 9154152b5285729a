//! Chance with a seed: SplitMix64, fast and good enough for every draw here.

/// The key of number `i`: a bijection for every seed.
pub(crate) fn key(seed: u64, i: u64) -> u64 {
    mix(mix(seed).wrapping_add(i.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
pub(crate) fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// A stream of random words.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    /// Streams of different seeds are unrelated, as are those of different purposes.
    pub(crate) fn new(seed: u64, purpose: u64) -> Self {
        Random {
            state: mix(seed ^ purpose),
        }
    }

    pub(crate) fn word(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.state)
    }

    /// A number in `0.0..1.0` with 53 bits.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number in `0..end`; off by less than `end / 2⁶⁴` from even.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.word()) * u128::from(end)) >> 64) as u64
    }

    /// Whether something of this probability happens.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }
}

/// How far a count of `draws` independent draws may be from `draws * p`, so that all `cells`
/// counts of a right sampler are within for all but one seed in 10⁹.
///
/// Bernstein: the count of a cell of probability `p` is off by more than `t` with a probability
/// of at most `2 exp(-t² / (2 (n p (1 - p) + t / 3)))`. This is the `t` that makes it
/// `1e-9 / cells`.
#[cfg(test)]
pub(crate) fn tolerance(draws: u64, p: f64, cells: usize) -> f64 {
    let log = (2.0 * cells as f64 / 1e-9).ln();
    log / 3.0 + (log * log / 9.0 + 2.0 * log * draws as f64 * p * (1.0 - p)).sqrt()
}

/// Asserts that each cell was drawn about as often as its probability says; see [`tolerance`].
#[cfg(test)]
#[track_caller]
pub(super) fn assert_drawn(probabilities: &[f64], counts: &[u64]) {
    assert_eq!(probabilities.len(), counts.len());
    let draws = counts.iter().sum::<u64>();
    for (cell, (&p, &count)) in probabilities.iter().zip(counts).enumerate() {
        let expected = draws as f64 * p;
        let t = tolerance(draws, p, counts.len());
        assert!(
            (count as f64 - expected).abs() <= t,
            "cell {cell}: {count} draws, not {expected:.1} ± {t:.1}"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_even() {
        let mut random = Random::new(1, 2);
        let mut counts = [[0_u64; 7]; 3];
        for _ in 0..700_000 {
            counts[0][random.below(7) as usize] += 1;
            counts[1][(random.unit() * 7.0) as usize] += 1;
            counts[2][usize::from(random.chance(0.25))] += 1;
        }
        assert_drawn(&[1.0 / 7.0; 7], &counts[0]);
        assert_drawn(&[1.0 / 7.0; 7], &counts[1]);
        assert_drawn(&[0.75, 0.25], &counts[2][..2]);
    }

    #[test]
    fn purposes_and_seeds_are_unrelated() {
        let words = |seed, purpose| {
            let mut random = Random::new(seed, purpose);
            [random.word(), random.word()]
        };
        assert_eq!(words(1, 1), words(1, 1));
        assert_ne!(words(1, 1), words(1, 2));
        assert_ne!(words(1, 1), words(2, 1));
    }
}
