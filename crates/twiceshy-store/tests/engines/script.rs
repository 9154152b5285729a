//! Commits to be cut short, each of which leaves a state like no other.

use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow};

use twiceshy_store::engine::{Changes, Durability, Engine, Snapshot, Table};
use twiceshy_testing::Source;

pub(super) type State = BTreeMap<(Table, Vec<u8>), Vec<u8>>;

/// One commit of a script, and what is there after it.
pub(super) struct Commit {
    pub(super) changes: Changes,
    pub(super) durability: Durability,
    pub(super) after: State,
}

pub(super) fn commits(seed: u64, count: usize) -> Vec<Commit> {
    let mut source = Source::from_seed(seed);
    let mut state = State::new();
    let mut commits = Vec::new();
    for number in 0..count {
        let mut changes = Changes::new();
        // Each state differs from all others.
        let number = (number as u64).to_le_bytes();
        changes.put(Table::Meta, "number", number);
        state.insert((Table::Meta, b"number".to_vec()), number.to_vec());
        for _ in 0..source.below(6).unwrap() {
            let table = source.pick(&Table::ALL[1..]).unwrap();
            let key = source.below(20).unwrap().to_le_bytes();
            if source.one_in(4).unwrap() {
                changes.delete(table, key);
                state.remove(&(table, key.to_vec()));
            } else {
                let len = source.pick(&[0, 10, 1_000, 9_000]).unwrap();
                let value = vec![source.below(256).unwrap() as u8; len];
                changes.put(table, key, &value[..]);
                state.insert((table, key.to_vec()), value);
            }
        }
        commits.push(Commit {
            changes,
            durability: source
                .pick(&[Durability::Sync, Durability::Buffered])
                .unwrap(),
            after: state.clone(),
        });
    }
    commits
}

/// All that is there.
pub(super) fn state(engine: &impl Engine) -> State {
    let mut state = State::new();
    let snapshot = engine.snapshot().unwrap();
    let all = (Bound::Unbounded, Bound::Unbounded);
    for table in Table::ALL {
        let each = |key: &[u8], value: &[u8]| {
            state.insert((table, key.to_vec()), value.to_vec());
            ControlFlow::Continue(())
        };
        snapshot.range(table, all, each).unwrap();
    }
    state
}

/// After how many of the commits it looks like this.
pub(super) fn position(found: &State, commits: &[Commit]) -> Option<usize> {
    match found.is_empty() {
        true => Some(0),
        false => commits
            .iter()
            .position(|commit| commit.after == *found)
            .map(|at| at + 1),
    }
}
