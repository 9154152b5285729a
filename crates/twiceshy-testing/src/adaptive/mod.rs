//! The oracle of the adaptive filter, and the game that is played against it.
//!
//! ```text
//!    Source ──► operation, key, ──┬──► the filter, with chosen hash streams ──► answer ─┐
//!               list of keys      │                                                     ├─ equal?
//!                                 ├──► the model: lists of fingerprints ──────► answer ─┘
//!                                 └──► the promises, which need no model
//! ```
//!
//! After every operation the filter's invariants hold, its length, ghosts and used slots
//! are the model's, and so are its answers for every key of the minirun and in turn for all
//! others that there are ([`universe`]): right and wrong answers are foretold alike. Errors
//! are foretold as well, `Full` to the slot.
//!
//! And whatever the [`model`] thinks:
//!
//! - every member is answered "maybe", with its own count and value;
//! - a query that was adapted for is answered "no";
//! - adapting and removing make no key positive that was negative;
//! - an error changes no answer.
//!
//! In the middle of it the filter is saved and loaded, doubled and halved, merged with another
//! that has learnt as well, and rebuilt from its keys; what comes of it is compared fingerprint
//! for fingerprint, and the game goes on with it.
//!
//! Keys are given in any order, doubled, with one missing, with a stranger among them, or
//! with one in place of another. What a filter takes for its keys *are* its members from
//! then on: it can't know better.
//!
//! ```
//! use twiceshy_testing::Source;
//! use twiceshy_testing::adaptive::{Outcome, Setting, run};
//!
//! let setting = Setting { slots: 40, remainder_bits: 3, value_bits: 1 };
//! let outcomes = run(setting, &mut Source::from_seed(1), 5_000)?;
//! assert_eq!(outcomes.operations(), 5_000);
//! assert!(outcomes.count(Outcome::Adapt) > 100);
//! # Ok::<(), String>(())
//! ```

mod game;
pub mod model;
mod moves;
mod outcomes;
pub mod universe;
mod whole;

pub use game::run;
pub use outcomes::{Outcome, Outcomes};

use crate::source::{Exhausted, Source};
use twiceshy::Geometry;

/// The measures of a filter to play with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Slots that quotients point at.
    pub slots: u64,
    /// Bits of a remainder.
    pub remainder_bits: u32,
    /// Bits of a value.
    pub value_bits: u32,
}

impl Setting {
    /// Any of those that are fit to play with: small, and mostly with narrow remainders.
    ///
    /// # Errors
    /// [`Exhausted`] if the source is.
    pub fn any(source: &mut Source<'_>) -> Result<Self, Exhausted> {
        let slots = match source.below(8)? {
            0 => 1 + source.below(200)?,
            _ => source.pick(&[1, 2, 3, 8, 16, 62, 63, 64, 65, 100, 128])?,
        };
        let wide = source.one_in(16)?;
        Ok(Setting {
            slots,
            remainder_bits: if wide {
                source.pick(&[12, 16, 25, 31, 48, 52])?
            } else {
                1 + source.below(9)? as u32
            },
            value_bits: source.pick(&[0, 0, 1, 3])?,
        })
    }

    /// Its geometry.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn geometry(&self) -> Geometry {
        Geometry::new(self.slots, self.remainder_bits).expect("a small geometry")
    }
}
