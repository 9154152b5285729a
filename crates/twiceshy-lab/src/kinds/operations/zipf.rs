//! Queries of very different popularity: Zipf's law with exponent 3/2.

use crate::timed::Workload;
use crate::workloads::random::Random;
use crate::workloads::zipf::{self, Zipf};

/// Ranks that are asked for.
pub(crate) const RANKS: u32 = 10_000_000;

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
        let zipf = Zipf::new(1.5, RANKS);
        let mut random = Random::new(workload.seed, zipf::PURPOSE);
        let ranks: Vec<u32> = (0..workload.draws())
            .map(|_| zipf.draw(&mut random))
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
