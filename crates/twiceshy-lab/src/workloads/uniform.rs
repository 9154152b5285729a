//! Every key as likely as any other, or none asked for twice.
//!
//! `uniform` asks for a new key every time: a filter can learn nothing from it.
//! `uniform(keys=N)` draws from `N` keys.

use anyhow::Result;

use super::random::Random;
use super::{Entry, Parameters, Queries};

pub(super) const ENTRY: Entry = Entry {
    name: "uniform",
    about: "draws from so many keys, all alike; 0: never the same key twice",
    parameters: &[("keys", 0.0)],
    open,
};

fn open(parameters: &Parameters, seed: u64) -> Result<Queries<'static>> {
    Ok(match parameters.count("keys", 0)? {
        0 => Box::new(Fresh { asked: 0 }),
        keys => Box::new(Uniform {
            keys: keys.into(),
            random: Random::new(seed, 0x756e_6966),
        }),
    })
}

/// Numbers in order: as keys they are random.
struct Fresh {
    asked: u64,
}

impl Iterator for Fresh {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.asked += 1;
        Some(self.asked - 1)
    }
}

struct Uniform {
    keys: u64,
    random: Random,
}

impl Iterator for Uniform {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        Some(self.random.below(self.keys))
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::assert_drawn;

    #[test]
    fn keys_are_alike() {
        let mut queries = super::super::open("uniform(keys=12)", 3).unwrap();
        let mut counts = [0; 12];
        for _ in 0..120_000 {
            counts[queries.next().unwrap() as usize] += 1;
        }
        assert_drawn(&[1.0 / 12.0; 12], &counts);
    }

    #[test]
    fn or_new() {
        let mut queries = super::super::open("uniform", 3).unwrap();
        assert!((0..1_000).all(|number| queries.next() == Some(number)));
    }
}
