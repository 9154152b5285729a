//! Where a script is cut.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Numbers operations from zero, and picks those that fail.
///
/// Clones are handles of the same one, so that a test keeps one and gives others away.
#[derive(Clone, Debug, Default)]
pub struct Cut(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    seen: u64,
    failing: Range<u64>,
}

impl Cut {
    /// Counts, and lets everything pass.
    #[must_use]
    pub fn new() -> Self {
        Cut::default()
    }

    /// Lets everything pass from now on; counts from zero.
    pub fn never(&self) {
        self.arm(0..0);
    }

    /// Fails only the operation with this number, counted from zero from now on.
    pub fn at(&self, number: u64) {
        self.arm(number..number.saturating_add(1));
    }

    /// Fails this operation and all that come after it, counted from zero from now on.
    pub fn from(&self, number: u64) {
        self.arm(number..u64::MAX);
    }

    /// How many operations there were since it was last set, those that failed included.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.state().seen
    }

    /// Has any operation failed since it was last set?
    #[must_use]
    pub fn has_failed(&self) -> bool {
        let state = self.state();
        !state.failing.is_empty() && state.seen > state.failing.start
    }

    /// Counts one operation, and says what becomes of it.
    pub(crate) fn count(&self) -> Fate {
        let mut state = self.state();
        let number = state.seen;
        state.seen += 1;
        match state.failing.contains(&number) {
            false => Fate::Passes,
            true if number == state.failing.start => Fate::CutOff,
            true => Fate::Off,
        }
    }

    /// Counts one operation. Does it pass?
    pub(crate) fn passes(&self) -> bool {
        self.count() == Fate::Passes
    }

    /// Is it in the middle of the operations that fail?
    pub(crate) fn is_off(&self) -> bool {
        let state = self.state();
        state.seen > state.failing.start && state.failing.contains(&state.seen)
    }

    fn arm(&self, failing: Range<u64>) {
        *self.state() = State { seen: 0, failing };
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What becomes of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is done.
    Passes,
    /// It fails under way, the first to do so: part of it may be done.
    CutOff,
    /// It fails, and does nothing.
    Off,
}

/// What is left, when the power fails, of the writes that were not synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Survivors {
    /// Nothing.
    None,
    /// Everything, as after a crash of the process alone.
    All,
    /// Any part: disks write what they have in the order they like. The same part for the
    /// same seed.
    Some {
        /// Which part.
        seed: u64,
    },
}
