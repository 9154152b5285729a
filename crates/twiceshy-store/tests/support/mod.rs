//! What the tests of crashes and failures share.

#![allow(dead_code)] // each of them uses a part

pub mod front;
pub mod guarded;

use std::collections::BTreeMap;

use twiceshy_store::{Durability, Error};
use twiceshy_testing::Source;

use front::Front;

/// What a store should hold.
pub type Model = BTreeMap<Vec<u8>, Vec<u8>>;

/// A part of a long test: see CONTRIBUTING.
pub fn share() -> u64 {
    let share = std::env::var("TWICESHY_TEST_SHARE");
    share.ok().and_then(|share| share.parse().ok()).unwrap_or(1)
}

/// A key that is put at some time.
pub fn key(number: u64) -> Vec<u8> {
    format!("key{number}").into_bytes()
}

/// A key that never is.
pub fn stranger(number: u64) -> Vec<u8> {
    format!("stranger{number}").into_bytes()
}

/// What is done to a store.
#[derive(Clone, Debug)]
pub enum Operation {
    Put(Vec<u8>, Vec<u8>),
    InsertNew(Vec<u8>, Vec<u8>),
    Delete(Vec<u8>),
    /// Puts, and deletes where there is no value.
    Batch(Vec<(Vec<u8>, Option<Vec<u8>>)>, Durability),
    /// Looks for a stranger.
    Ask(u64),
    Checkpoint,
    Rotate,
    FinishRotation,
}

impl Operation {
    /// A write of some of so many keys, with values up to a length, or of this one, which is new.
    pub fn draw_write(source: &mut Source<'_>, keys: u64, length: usize, fresh: &str) -> Self {
        let mut below = |end| source.below(end).expect("a seed never ends");
        let choice = below(100);
        let count = 1 + below(40);
        let durability = match below(2) {
            0 => Durability::Sync,
            _ => Durability::Buffered,
        };
        let mut any_key = || key(below(keys));
        let (first, keys): (_, Vec<_>) = (any_key(), (0..count).map(|_| any_key()).collect());
        let mut value = || {
            let length = [0, 3, 40, length][below(4) as usize];
            vec![below(256) as u8; length]
        };
        match choice {
            0..=39 => Operation::Put(first, value()),
            40..=59 => Operation::InsertNew(fresh.into(), value()),
            60..=84 => Operation::Delete(first),
            _ => {
                let values: Vec<_> = keys.iter().map(|_| value()).collect();
                let list = keys.into_iter().zip(values);
                let list = list.map(|(key, value)| (key, (below(4) > 0).then_some(value)));
                Operation::Batch(list.collect(), durability)
            }
        }
    }

    /// Does it change what the store holds, or where?
    pub fn is_write(&self) -> bool {
        !matches!(self, Operation::Ask(_) | Operation::Checkpoint)
    }

    /// Is it safe from a loss of power when it returns, and all that came before it?
    pub fn is_sync(&self) -> bool {
        match self {
            Operation::Batch(_, durability) => *durability == Durability::Sync,
            Operation::Put(..) | Operation::InsertNew(..) => true,
            Operation::Checkpoint => true,
            // A key that is not there leaves nothing to commit.
            Operation::Delete(_) => false,
            Operation::Ask(_) | Operation::Rotate | Operation::FinishRotation => false,
        }
    }

    /// What should be there afterwards.
    pub fn apply(&self, model: &mut Model) {
        let mut set = |key: &Vec<u8>, value: Option<&Vec<u8>>| match value {
            Some(value) => drop(model.insert(key.clone(), value.clone())),
            None => drop(model.remove(key)),
        };
        match self {
            Operation::Put(key, value) | Operation::InsertNew(key, value) => set(key, Some(value)),
            Operation::Delete(key) => set(key, None),
            Operation::Batch(list, _) => {
                for (key, value) in list {
                    set(key, value.as_ref());
                }
            }
            _ => {}
        }
    }

    pub fn perform(self, front: &impl Front) -> Result<(), Error> {
        match self {
            Operation::Put(key, value) => front.put(&key, value),
            Operation::InsertNew(key, value) => front.insert_new(&key, value),
            Operation::Delete(key) => front.delete(&key).map(drop),
            Operation::Batch(list, durability) => front.write(&list, Some(durability)),
            Operation::Ask(number) => {
                assert!(!front.contains(&stranger(number))?);
                Ok(())
            }
            Operation::Checkpoint => front.checkpoint(),
            Operation::Rotate => front.rotate(),
            Operation::FinishRotation => front.finish_rotation(),
        }
    }
}

/// All records.
pub fn contents(front: &impl Front) -> Model {
    front.contents()
}

/// The front holds this and nothing else, denies none of it, and finds itself in order.
pub fn check(front: &impl Front, model: &Model, what: &str) {
    // Lookups first: they must be right whether or not somebody has tidied up.
    for (key, value) in model {
        let found = front.get(key).unwrap_or_else(|e| panic!("{what}: {e}"));
        let key = String::from_utf8_lossy(key);
        assert_eq!(found.as_ref(), Some(value), "{what}: the value of {key}");
    }
    let verified = front.verify().unwrap_or_else(|e| panic!("{what}: {e}"));
    assert_eq!(verified, model.len() as u64, "{what}: records");
    let counted = front.counted().unwrap_or(verified);
    assert_eq!(counted, model.len() as u64, "{what}: len");
    let found = front.contents();
    assert!(found == *model, "{what}: the contents are {found:?}");
}
