//! When to adapt.
//!
//! Adapting costs a slot for ever; repeating a mistake costs a read of the store. On a
//! stream that never repeats a query, every adaptation is wasted; on one that repeats,
//! every adaptation that is put off costs a read. A place is a minirun, or what takes its part in
//! another filter. Renting skis is the same problem, and has
//! the same answer: rent until the rent paid is the price, then buy.
//!
//! | policy | mistakes | slots |
//! | --- | --- | --- |
//! | [`Always`](Policy::Always) | monotone: none is repeated | one or more for each mistake |
//! | [`AfterRepeats(b)`](Policy::AfterRepeats) | `b` at a place for each of its adaptations, and less than `b` more; a query that is alone there, at most `b`: with `b` reads worth a slot, at most twice the cost of the best policy in hindsight | only for places with `b` mistakes |
//! | [`Never`](Policy::Never) | those of a plain filter | none |

use std::collections::HashMap;

/// When a mistake is worth an adaptation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Policy {
    /// At the first mistake: no mistake is ever repeated.
    #[default]
    Always,
    /// At the `b`-th mistake at the same place. `AfterRepeats(1)` is `Always`.
    AfterRepeats(u32),
    /// Never.
    Never,
}

/// Whether to adapt now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Adapt.
    Adapt,
    /// Let it be this time.
    Wait,
}

/// A policy and the mistakes that it has seen.
///
/// ```
/// use twiceshy::sets::policy::{Decision, Judge, Policy};
///
/// let mut judge = Judge::new(Policy::AfterRepeats(2));
/// let place = 5; // a minirun's id
/// assert_eq!(judge.on_false_positive(place), Decision::Wait);
/// assert_eq!(judge.on_false_positive(place), Decision::Adapt);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Judge {
    policy: Policy,
    /// Mistakes at places that have not been adapted for them.
    seen: HashMap<u64, u32>,
}

impl Judge {
    /// With nothing seen yet.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        Judge {
            policy,
            seen: HashMap::new(),
        }
    }

    /// The policy.
    #[must_use]
    pub fn policy(&self) -> Policy {
        self.policy
    }

    /// A mistake has happened at this place: adapt now?
    pub fn on_false_positive(&mut self, place: u64) -> Decision {
        match self.policy {
            Policy::Always => Decision::Adapt,
            Policy::Never => Decision::Wait,
            Policy::AfterRepeats(times) => {
                let seen = self.seen.entry(place).or_default();
                *seen += 1;
                if *seen < times {
                    return Decision::Wait;
                }
                self.seen.remove(&place);
                Decision::Adapt
            }
        }
    }

    /// The adaptation that was decided on failed, for want of slots say: the next mistake at
    /// this place shall try again.
    pub fn on_failure(&mut self, place: u64) {
        if let Policy::AfterRepeats(times) = self.policy {
            self.seen.insert(place, times.saturating_sub(1));
        }
    }

    /// Forgets all mistakes seen, for example when there are too many to remember.
    pub fn forget(&mut self) {
        self.seen.clear();
    }

    /// At how many places mistakes have been seen and not acted upon.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.seen.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_adaptation_is_tried_again_at_the_next_mistake() {
        let place = 1;
        for times in [1, 2, 5] {
            let mut judge = Judge::new(Policy::AfterRepeats(times));
            for _ in 1..times {
                assert_eq!(judge.on_false_positive(place), Decision::Wait);
            }
            assert_eq!(judge.on_false_positive(place), Decision::Adapt);
            judge.on_failure(place);
            assert_eq!(judge.on_false_positive(place), Decision::Adapt);
            assert_eq!(judge.waiting(), 0);
        }
    }
}
