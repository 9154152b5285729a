//! The adversary of the thesis (chapter 6.2.3) and of the telescoping filter's paper (section 6):
//! who keeps what the filter gets wrong.
//!
//! They begin with a queue of random keys and ask in *rounds* of ten *subrounds*; in each
//! subround, for every key of the queue. After a round, the keys that were never a false positive
//! in it are dropped. They win if a queue is left that goes on to hurt: each of its keys is wrong
//! at least once in ten. The filter wins if nothing is left. What they ask depends on what they hear, so
//! no declaration can name them as a workload.

/// What came of one round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Round {
    /// Keys in the queue at its start.
    pub(crate) queue: u64,
    /// Questions, and wrong answers.
    pub(crate) asked: u64,
    pub(crate) wrong: u64,
    /// Keys that were wrong at least once; the queue of the next round.
    pub(crate) survivors: u64,
}

impl Round {
    /// False positives among all questions.
    pub(crate) fn overall_fpr(&self) -> f64 {
        self.wrong as f64 / self.asked.max(1) as f64
    }

    /// Keys with a false positive among all keys of the queue.
    pub(crate) fn element_fpr(&self) -> f64 {
        self.survivors as f64 / self.queue.max(1) as f64
    }
}

pub(crate) struct Rounds {
    /// The keys, and whether each was wrong in this round.
    queue: Vec<(u64, bool)>,
    subrounds: u32,
    rounds: u32,
    /// With a queue of at most so many, they stop.
    pub(crate) give_up: u64,
    /// The next to ask for, and in which subround.
    place: usize,
    subround: u32,
    round: Round,
    /// Rounds that are over.
    pub(crate) history: Vec<Round>,
}

impl Rounds {
    /// An adversary with so many keys, `0..queue`: numbers become random keys.
    pub(crate) fn new(queue: u64, subrounds: u32, rounds: u32) -> Self {
        Rounds {
            queue: (0..queue).map(|number| (number, false)).collect(),
            subrounds,
            rounds,
            give_up: 0,
            place: 0,
            subround: 0,
            round: Round {
                queue,
                ..Round::default()
            },
            history: Vec::new(),
        }
    }

    fn end_round(&mut self) {
        self.queue.retain(|&(_, wrong)| wrong);
        self.queue.iter_mut().for_each(|(_, wrong)| *wrong = false);
        let survivors = self.queue.len() as u64;
        self.history.push(Round {
            survivors,
            ..self.round
        });
        self.round = Round {
            queue: survivors,
            ..Round::default()
        };
        self.subround = 0;
    }
}

impl Rounds {
    /// The number of the next key; `None` if they have nothing left to ask.
    pub(crate) fn ask(&mut self) -> Option<u64> {
        if self.place == self.queue.len() {
            self.place = 0;
            self.subround += 1;
            if self.subround == self.subrounds {
                self.end_round();
            }
        }
        let stops = self.subround == 0
            && self.place == 0
            && (self.queue.len() as u64 <= self.give_up
                || self.history.len() == self.rounds as usize);
        if stops || self.queue.is_empty() {
            return None;
        }
        self.place += 1;
        self.round.asked += 1;
        Some(self.queue[self.place - 1].0)
    }

    /// The last answer was wrong: a false positive.
    pub(crate) fn hear_wrong(&mut self) {
        self.round.wrong += 1;
        if let Some(asked) = self.place.checked_sub(1) {
            self.queue[asked].1 = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays against a rule that is given the number and how often it was asked for before.
    fn play(adversary: &mut Rounds, mut is_wrong: impl FnMut(u64, u64) -> bool) -> Vec<u64> {
        let mut asked = Vec::new();
        while let Some(number) = adversary.ask() {
            let before = asked.iter().filter(|&&other| other == number).count() as u64;
            asked.push(number);
            if is_wrong(number, before) {
                adversary.hear_wrong();
            }
        }
        asked
    }

    #[test]
    fn a_filter_that_never_errs_wins_after_a_round() {
        let mut adversary = Rounds::new(7, 10, 5);
        let asked = play(&mut adversary, |_, _| false);
        assert!(asked.chunks(7).all(|round| round == [0, 1, 2, 3, 4, 5, 6]));
        let round = Round {
            queue: 7,
            asked: 70,
            wrong: 0,
            survivors: 0,
        };
        assert_eq!(adversary.history, [round]);
        assert_eq!(adversary.ask(), None);
    }

    #[test]
    fn against_a_filter_that_never_learns_they_keep_its_mistakes_and_no_more() {
        let mut adversary = Rounds::new(100, 10, 3);
        let asked = play(&mut adversary, |number, _| number % 10 == 4);
        assert_eq!(asked.len(), 1_000 + 100 + 100);
        assert_eq!(&asked[1_000..1_003], [4, 14, 24]);
        let sizes: Vec<u64> = adversary.history.iter().map(|round| round.queue).collect();
        assert_eq!(sizes, [100, 10, 10]);
        let last = adversary.history[2];
        assert_eq!((last.overall_fpr(), last.element_fpr()), (1.0, 1.0));
        assert_eq!(adversary.history[0].overall_fpr(), 0.1);
    }

    #[test]
    fn one_mistake_in_a_round_is_enough_to_stay() {
        let mut adversary = Rounds::new(2, 10, 4);
        // Wrong once in ten for one key, and once ever for the other.
        let is_wrong = |number, before| before % 10 == 9 && (number == 0 || before < 10);
        play(&mut adversary, is_wrong);
        let sizes: Vec<u64> = adversary.history.iter().map(|round| round.queue).collect();
        assert_eq!(sizes, [2, 2, 1, 1]);
        assert_eq!(adversary.history[3].overall_fpr(), 0.1);
        assert_eq!(adversary.history[3].element_fpr(), 1.0);
    }

    #[test]
    fn with_too_few_keys_they_give_up() {
        let mut adversary = Rounds::new(100, 10, 9);
        adversary.give_up = 10;
        play(&mut adversary, |number, _| number % 10 == 4);
        assert_eq!(adversary.history.len(), 1);
    }
}
