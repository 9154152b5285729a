//! An adversary who replays false positives (the adaptive quotient filter's paper, figure 6).
//!
//! The others ask for a new key each time. For a while the adversary only listens: an answer
//! that took a trip to the disk, for a key that was not there, is a false positive. Then a share
//! of the questions is theirs, and they repeat what they know in a circle, so that a cache is of
//! no use; what they know they never forget.

use anyhow::Result;

use super::random::Random;
use super::spec::Parameters;
use super::{Answer, Entry, Queries};

pub(super) const ENTRY: Entry = Entry {
    name: "replay",
    about: "an adversary who listens for so many questions, then repeats what was wrong",
    parameters: &[("share", 0.01), ("listen", 1e6)],
    open,
};

fn open(parameters: &Parameters, seed: u64) -> Result<Box<dyn Queries>> {
    Ok(Box::new(Replay {
        share: parameters.share("share")?,
        listen: parameters.count("listen", 0)?.into(),
        asked: 0,
        fresh: 0,
        known: Vec::new(),
        place: 0,
        random: Random::new(seed, 0x7265_706c),
    }))
}

struct Replay {
    share: f64,
    listen: u64,
    asked: u64,
    /// Numbers below this have been asked for.
    fresh: u64,
    known: Vec<u64>,
    /// The next of them to repeat.
    place: usize,
    random: Random,
}

impl Queries for Replay {
    fn next(&mut self) -> Option<u64> {
        self.asked += 1;
        let attacks = self.asked > self.listen && self.random.chance(self.share);
        if attacks && !self.known.is_empty() {
            let number = self.known[self.place % self.known.len()];
            self.place += 1;
            return Some(number);
        }
        self.fresh += 1;
        Some(self.fresh - 1)
    }

    fn hear(&mut self, answer: Answer) {
        if answer == Answer::Wrong && self.asked <= self.listen {
            self.known.push(self.fresh - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::assert_drawn;
    use super::*;

    fn ask(queries: &mut dyn Queries, is_wrong: impl Fn(u64) -> bool) -> u64 {
        let number = queries.next().unwrap();
        queries.hear(match is_wrong(number) {
            true => Answer::Wrong,
            false => Answer::Right,
        });
        number
    }

    #[test]
    fn what_was_wrong_comes_back_in_a_circle() {
        let mut queries = super::super::open("replay(share=1, listen=100)", 1).unwrap();
        let is_wrong = |number| number % 40 == 7;
        assert!((0..100).all(|number| ask(queries.as_mut(), is_wrong) == number));
        for number in [7, 47, 87, 7, 47, 87, 7] {
            assert_eq!(ask(queries.as_mut(), is_wrong), number);
        }
    }

    #[test]
    fn they_have_their_share_and_the_others_stay_new() {
        let mut queries = super::super::open("replay(share=0.1, listen=1000)", 2).unwrap();
        let (mut counts, mut fresh) = ([0, 0], 0);
        for i in 0..101_000 {
            let number = ask(queries.as_mut(), |number| number % 100 == 0);
            let replayed = number < fresh;
            fresh += u64::from(!replayed);
            assert!(number == fresh - u64::from(!replayed) || number % 100 == 0);
            if i >= 1_000 {
                counts[usize::from(replayed)] += 1;
            }
        }
        assert_drawn(&[0.9, 0.1], &counts);
    }

    #[test]
    fn who_knows_nothing_asks_for_new_keys() {
        let mut queries = super::super::open("replay(share=1, listen=10)", 3).unwrap();
        assert!((0..50).all(|number| ask(queries.as_mut(), |_| false) == number));
    }
}
