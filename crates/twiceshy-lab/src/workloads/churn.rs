//! Members that are replaced while the queries go on (the adaptive quotient filter's paper,
//! figure 8): "at 10% intervals, we delete and replace 20% of the items".

use super::random::Random;

/// Which members are there, by number, and who is replaced next.
#[derive(Clone, Debug)]
pub(crate) struct Churn {
    present: Vec<u64>,
    /// The number that the next new member gets.
    next: u64,
    /// The share of the members that is replaced at a time.
    share: f64,
    random: Random,
}

/// One replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wave {
    /// Members to remove, in random order.
    pub(crate) leave: Vec<u64>,
    /// As many that are new, never members before.
    pub(crate) enter: Vec<u64>,
}

impl Churn {
    /// The paper's share.
    pub(crate) const SHARE: f64 = 0.2;

    /// The members `0..members`.
    pub(crate) fn new(members: u64, share: f64, seed: u64) -> Self {
        debug_assert!((0.0..=1.0).contains(&share));
        Churn {
            present: (0..members).collect(),
            next: members,
            share,
            random: Random::new(seed, 0x6368_7572),
        }
    }

    /// Replaces a share of the members, each as likely as any other.
    pub(crate) fn wave(&mut self) -> Wave {
        let count = (self.share * self.present.len() as f64).round() as usize;
        // The first steps of a shuffle bring a random sample to the front.
        for i in 0..count {
            let j = i as u64 + self.random.below((self.present.len() - i) as u64);
            self.present.swap(i, j as usize);
        }
        let leave = self.present[..count].to_vec();
        let enter: Vec<u64> = (self.next..self.next + count as u64).collect();
        self.next += count as u64;
        self.present[..count].copy_from_slice(&enter);
        Wave { leave, enter }
    }

    /// The members that are there now, in no order.
    #[cfg(test)]
    pub(crate) fn present(&self) -> &[u64] {
        &self.present
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::random::tolerance;
    use super::*;

    #[test]
    fn members_leave_once_and_new_ones_take_their_place() {
        let mut churn = Churn::new(1_000, Churn::SHARE, 1);
        let mut present: BTreeSet<u64> = (0..1_000).collect();
        let mut ever = present.clone();
        for _ in 0..9 {
            let wave = churn.wave();
            assert_eq!((wave.leave.len(), wave.enter.len()), (200, 200));
            assert!(wave.leave.iter().all(|number| present.remove(number)));
            assert!(wave.enter.iter().all(|&number| ever.insert(number)));
            present.extend(&wave.enter);
            assert_eq!(present, churn.present().iter().copied().collect());
        }
    }

    #[test]
    fn old_and_young_leave_alike() {
        // After two waves a fifth of the first newcomers has left again: each leaves with
        // probability 1/5, without replacement, which only brings the count closer to it.
        let mut churn = Churn::new(200_000, Churn::SHARE, 2);
        let first = churn.wave();
        let second = churn.wave();
        let again = second
            .leave
            .iter()
            .filter(|&&number| number >= 200_000)
            .count();
        let off = (again as f64 - first.enter.len() as f64 * 0.2).abs();
        assert!(
            off <= tolerance(first.enter.len() as u64, 0.2, 1),
            "{again}"
        );
    }
}
