//! The filters that learn, with the keys that it takes to do so: adaptive quotient filters, with
//! the policies of `twiceshy::sets::policy`; telescoping and extension filters; adaptive cuckoo filters,
//! whose keys move in lock-step with their fingerprints. What they ask of their keys is counted.
//!
//! They don't check membership: the workloads know who is a member, so that nothing is asked of the keys
//! but what the filter needs.

use std::hint::black_box;

use anyhow::Result;
use twiceshy::Error;
use twiceshy::sets::policy::{Decision, Judge};
use twiceshy::sets::{Counted, Learner, Policy};

use super::{Accesses, Contender, Operation, Set, Space, expect_one};

/// A filter and its keys.
pub(super) struct Keyed<F, S> {
    filter: F,
    keys: S,
    judge: Judge,
}

impl<F, S: Default> Keyed<F, S> {
    /// An empty filter, and no keys.
    pub(super) fn new(filter: F, policy: Policy) -> Self {
        Keyed {
            filter,
            keys: S::default(),
            judge: Judge::new(policy),
        }
    }
}

impl<F: Learner<Counted<S>, Error = Error>, S> Set for Keyed<F, Counted<S>> {
    fn insert(&mut self, key: &[u8]) -> Result<()> {
        let hashed = self.filter.hash(key);
        self.filter.insert_key(&hashed, &mut self.keys)?;
        Ok(())
    }

    fn remove(&mut self, key: &[u8]) -> Result<()> {
        let hashed = self.filter.hash(key);
        expect_one(self.filter.remove_key(&hashed, &mut self.keys)?)
    }

    fn contains(&self, key: &[u8]) -> bool {
        self.filter.contains(key)
    }

    fn report(&mut self, key: &[u8]) -> Result<()> {
        let hashed = self.filter.hash(key);
        let Some(place) = self.filter.place(&hashed) else {
            return Ok(());
        };
        if self.judge.on_false_positive(place) == Decision::Adapt {
            self.filter.learn(&hashed, &mut self.keys)?;
        }
        Ok(())
    }

    fn space(&self) -> Space {
        Space::of(&self.filter.stats())
    }

    fn accesses(&self) -> Accesses {
        let counted = self.keys.accesses();
        Accesses {
            inserts: counted.inserts,
            updates: counted.updates,
            reads: counted.reads,
        }
    }
}

/// On the clock with its keys: wherever a fingerprint moves, its key moves too. It learns, but is not
/// copied.
impl<F: Learner<S, Error = Error>, S> Contender for Keyed<F, S> {
    fn can(&self, operation: Operation) -> bool {
        operation.is_for_all() || operation == Operation::Remove
    }

    #[inline(always)]
    fn insert(&mut self, key: u64) -> Result<()> {
        let hashed = self.filter.hash(&key);
        self.filter.insert_key(&hashed, &mut self.keys)?;
        Ok(())
    }

    #[inline(always)]
    fn contains(&self, key: u64) -> bool {
        self.filter.contains(&key)
    }

    #[inline(always)]
    fn remove(&mut self, key: &u64) -> bool {
        let hashed = self.filter.hash(key);
        let removed = self.filter.remove_key(&hashed, &mut self.keys);
        removed == Ok(twiceshy::Removed::One)
    }

    fn bytes(&self) -> u64 {
        self.filter.stats().bytes
    }

    fn ask_strangers(&mut self, keys: &[u64]) -> Result<u64> {
        let mut wrong = 0;
        for &key in black_box(keys) {
            if self.filter.contains(&key) {
                wrong += 1;
                let hashed = self.filter.hash(&key);
                self.filter.learn(&hashed, &mut self.keys)?;
            }
        }
        Ok(black_box(wrong))
    }
}
