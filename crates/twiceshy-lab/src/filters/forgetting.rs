//! The adaptive quotient filter in fixed space: out of room, it forgets all that it has learnt.
//!
//! The paper's section 4.4: "we can recover space used by adaptation, ensuring that the total
//! space used by the filter remains constant over time. This compromises monotonicity". Here the
//! filter is built again from its keys, with another seed, and learns anew; what an adversary has
//! found out is worth nothing then.

use anyhow::Result;
use twiceshy::hash::Xxh3;
use twiceshy::{AdaptiveSet, Error};

use super::ours::slots;
use super::{Accesses, Entry, Set, Shape, Space, expect_one};

pub(super) const ENTRY: Entry = Entry {
    name: "adaptive, forgetting",
    about: "adaptive quotient filter that starts anew when it has no room to learn",
    learns: true,
    with_keys: Some(|shape| {
        Ok(Box::new(Forgetting {
            shape: *shape,
            set: AdaptiveSet::from_builder(slots(shape))?,
            accesses: Accesses::default(),
        }))
    }),
    alone: None,
};

struct Forgetting {
    /// With the seed of the filter of now.
    shape: Shape,
    set: AdaptiveSet<Xxh3>,
    accesses: Accesses,
}

impl Set for Forgetting {
    fn insert(&mut self, key: &[u8]) -> Result<()> {
        self.set.insert(key)?;
        self.accesses.inserts += 1;
        Ok(())
    }

    fn remove(&mut self, key: &[u8]) -> Result<()> {
        expect_one(self.set.remove(key)?)
    }

    fn contains(&self, key: &[u8]) -> bool {
        self.set.contains(key)
    }

    fn report(&mut self, key: &[u8]) -> Result<()> {
        self.accesses.reads += 1;
        if let Err(Error::Full { .. }) = self.set.report_false_positive(key) {
            self.shape.seed = self.shape.seed.wrapping_add(0x0bad_5eed);
            self.set.rebuild(slots(&self.shape))?;
            self.accesses.reads += self.set.len();
            self.set.report_false_positive(key)?;
        }
        Ok(())
    }

    fn space(&self) -> Space {
        Space::of(&self.set.filter().stats())
    }

    fn accesses(&self) -> Accesses {
        self.accesses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn out_of_room_it_learns_anew_in_the_same_space() {
        let shape = Shape {
            slots: 1_000,
            load: 0.95,
            bits: 4,
            seed: 1,
        };
        let mut set = ENTRY.set(&shape).unwrap();
        let key = |i: u64| i.to_le_bytes();
        (0..shape.keys()).for_each(|i| set.insert(&key(i)).unwrap());
        let before = set.space().bytes;
        for i in 10_000..60_000 {
            if set.contains(&key(i)) {
                set.report(&key(i)).unwrap();
                assert!(!set.contains(&key(i)));
            }
        }
        assert_eq!(set.space().bytes, before);
        assert!((0..shape.keys()).all(|i| set.contains(&key(i))));
        // It was built again, more than once.
        assert!(set.accesses().reads > 2 * shape.keys());
    }
}
