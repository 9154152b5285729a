//! Which change of seed is under way, if any, and how far it is: one phase.
//!
//! ```text
//!            request          begin            the last step
//!     Idle ──────────▶ Wanted ──────▶ Moving ────────────────▶ Idle
//!                                      │  ▲
//!          a commit has failed, and who │  │ the engine says it
//!          knows whether it was made    ▼  │
//!                                     InDoubt
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::generation::Generation;
use crate::sync::{Busy, Mutex};

/// The state of a change of seed, and a word that says what those need who only ask.
#[derive(Debug, Default)]
pub(super) struct Rotator {
    state: Mutex<State>,
    word: AtomicU8,
    /// Steps are taken by one thread at a time.
    pub(super) busy: Busy,
}

#[derive(Debug, Default)]
struct State {
    phase: Phase,
    /// A step has failed, and nothing was committed since. Each one that fails leaves surplus
    /// fingerprints behind; on a full disk they would be more and more.
    stuck: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) enum Phase {
    /// None is under way.
    #[default]
    Idle,
    /// Somebody shall begin one.
    Wanted,
    /// Records move.
    Moving(Move),
    /// The step may have been taken.
    InDoubt(Move, Step),
}

/// From where to where, and how far.
#[derive(Clone, Debug)]
pub(super) struct Move {
    pub(super) from: Arc<Generation>,
    pub(super) next: Arc<Generation>,
    /// Records with hashes below have moved.
    pub(super) frontier: u128,
}

/// Records move, and the frontier.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) below: u128,
    /// How many of them come to which shard.
    pub(super) counts: Vec<(usize, u64)>,
}

/// The word is one of these phases and perhaps [`STUCK`].
const IDLE: u8 = 0;
const WANTED: u8 = 1;
const MOVING: u8 = 2;
const IN_DOUBT: u8 = 3;
const PHASES: u8 = 3;
const STUCK: u8 = 4;

impl State {
    fn word(&self) -> u8 {
        let phase = match self.phase {
            Phase::Idle => IDLE,
            Phase::Wanted => WANTED,
            Phase::Moving(_) => MOVING,
            Phase::InDoubt(..) => IN_DOUBT,
        };
        phase | if self.stuck { STUCK } else { 0 }
    }
}

impl Rotator {
    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state.lock();
        change(&mut state);
        self.word.store(state.word(), Ordering::Release);
    }

    fn word(&self) -> u8 {
        self.word.load(Ordering::Acquire)
    }

    pub(super) fn phase(&self) -> Phase {
        self.state.lock().phase.clone()
    }

    /// Goes on to another phase. The one who takes the steps does, and who opens the store; into
    /// doubt and out of it, with the turn of the shard that is concerned.
    pub(super) fn set_phase(&self, phase: Phase) {
        self.change(|state| state.phase = phase);
    }

    /// Somebody shall begin a change of seed, unless one is under way.
    pub(super) fn request(&self) {
        if self.is_wanted_or_running() {
            return;
        }
        self.change(|state| {
            if let Phase::Idle = state.phase {
                state.phase = Phase::Wanted;
            }
        });
    }

    pub(super) fn is_wanted_or_running(&self) -> bool {
        self.word() & PHASES != IDLE
    }

    pub(super) fn is_running(&self) -> bool {
        self.word() & PHASES >= MOVING
    }

    /// Is it unknown where some records are? What the one with the turn of a shard hears is true
    /// for that shard.
    pub(super) fn is_in_doubt(&self) -> bool {
        self.word() & PHASES == IN_DOUBT
    }

    pub(super) fn is_stuck(&self) -> bool {
        self.word() & STUCK != 0
    }

    pub(super) fn set_stuck(&self, stuck: bool) {
        self.change(|state| state.stuck = stuck);
    }

    /// Where records move to.
    pub(super) fn next(&self) -> Option<Arc<Generation>> {
        if !self.is_running() {
            return None;
        }
        match &self.state.lock().phase {
            Phase::Moving(records) | Phase::InDoubt(records, _) => Some(Arc::clone(&records.next)),
            Phase::Idle | Phase::Wanted => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use twiceshy::hash::Seed;
    use twiceshy::sets::policy::Policy;

    use super::*;
    use crate::engine::Table;
    use crate::filter::{FilterChoice, Measures};
    use crate::generation::Plan;

    fn generation() -> Arc<Generation> {
        let plan = Plan {
            table: Table::Even,
            measures: Measures {
                choice: FilterChoice::Adaptive,
                remainder_bits: 4,
                seed: Seed::from_u64(1),
            },
            bits: 0,
            policy: Policy::Always,
            capacity: 1,
        };
        Arc::new(Generation::empty(&plan).unwrap())
    }

    #[test]
    fn the_word_says_what_the_phase_is() {
        let rotator = Rotator::default();
        let says = || {
            let which = (rotator.is_wanted_or_running(), rotator.is_running());
            (which, rotator.is_in_doubt(), rotator.next().is_some())
        };
        let records = Move {
            from: generation(),
            next: generation(),
            frontier: 0,
        };
        let step = Step {
            below: 1,
            counts: Vec::new(),
        };
        for stuck in [false, true] {
            rotator.set_stuck(stuck);
            assert_eq!(says(), ((false, false), false, false));
            rotator.request();
            assert_eq!(says(), ((true, false), false, false));
            rotator.set_phase(Phase::Moving(records.clone()));
            assert_eq!(says(), ((true, true), false, true));
            rotator.set_phase(Phase::InDoubt(records.clone(), step.clone()));
            assert_eq!(says(), ((true, true), true, true));
            // One is under way.
            rotator.request();
            assert!(matches!(rotator.phase(), Phase::InDoubt(..)));
            rotator.set_phase(Phase::Idle);
            assert_eq!(says(), ((false, false), false, false));
            assert_eq!(rotator.is_stuck(), stuck);
        }
    }
}
