//! The table of the quotient family: runs of slots, found by rank and select.
//!
//! # The idea
//!
//! A fingerprint is a *quotient* and a *remainder*. The quotient is not stored: it says
//! where the remainder would like to live, its home slot. Remainders of one quotient form
//! a *run*, kept in order; runs follow each other in the order of their quotients, each
//! as near to its home as the runs before it allow. Two bits a slot tell them apart:
//!
//! ```text
//! slot          0    1    2    3    4    5    6    7
//! occupieds     .    1    1    .    1    .    .    1     quotients that have a run
//! runends       .    .    1    1    .    1    .    1     slots that end a run
//! remainders    .    a    b    c    d    e    .    f
//!                    \_ 1 _/   2   \_ 4 _/         7     whose run it is
//! ```
//!
//! The run of quotient 4 is the third (*rank* over the occupieds), so it ends at the third
//! runend (*select* over the runends). Slots come in blocks of 64 with an *offset* that
//! says how far the runs of earlier blocks reach into it, so nothing before the block is
//! looked at.
//!
//! # The verbs
//!
//! Filters say what they want, by these; which blocks, which way and which instructions are the table's
//! business. Each has one way through the home block of a run and one general way behind it.
//!
//! | verb | file | |
//! | --- | --- | --- |
//! | [`contains`](Table::contains), [`contains_slow`](Table::contains_slow) | `find` | is a fingerprint there? |
//! | [`contains_many`](Table::contains_many), [`prefetch_to_change`](Table::prefetch_to_change) | `batch` | the same for many |
//! | [`run`](Table::run), [`minirun`](Table::minirun), [`prints`](Table::prints) | `find` | where fingerprints are |
//! | [`insert`](Table::insert), [`extend`](Table::extend) | `insert` | a slot more |
//! | [`remove_any`](Table::remove_any), [`remove_one_of`](Table::remove_one_of) | `remove` | a slot less |
//! | [`replace`](Table::replace) | `edit` | fingerprints by others |
//! | [`contains_beside`](Table::contains_beside), [`insert_beside`](Table::insert_beside), [`close_beside`](Table::close_beside) | `beside` | the same where a lane says more |
//! | [`runs`](Table::runs), [`scan`](Table::scan) | `read` | all, in order |
//! | [`verify`](Table::verify), [`check_invariants`](Table::check_invariants) | `verify`, `check` | does all hold that must? |
//! | [`Writer`] | `writer` | fill an empty table in order |
//!
//! Read `layout` (a block) and `lane` (what is beside its slots) first, then `find`, `insert`, `remove` and
//! `edit`; `shift` is the general way to open and to close a slot, wherever it is.
//!
//! A verb that runs in vectors is a line in `dispatch`, and its body, generic over
//! [`Isa`](crate::bits::Isa), stands in the file of its kind. A new one goes there, too: to ask whether
//! *any* of a range of miniruns is there, as a range filter does, would be one more body in `find`
//! (find the run, find the first fingerprint at or above the lowest remainder) and one more line in `dispatch`.
//!
//! # Space and time
//!
//! `r + 2.25` bits a slot, plus the lane's. At load `a` a lookup reads one or two cache
//! lines; an insertion moves on average about `1 / (2 (1 - a)^2)` slots, by whole words or vectors.
//!
//! What filters keep beside each slot is a [`Sidecar`]. Paper: Pandey, Bender, Johnson, Patro, "A
//! General-Purpose Counting Filter" (2017), for the rank-and-select quotient filter.

mod batch;
mod beside;
mod check;
mod dispatch;
mod edit;
mod find;
mod insert;
mod lane;
mod layout;
mod read;
mod remove;
mod shift;
mod storage;
mod verify;
mod writer;

use crate::bits::Bytes;
use crate::geometry::{Fingerprint, Geometry};
use crate::violation::Violation;
pub(crate) use beside::{Beside, BlockFull};
pub(crate) use find::Found;
pub use find::Run;
pub(crate) use insert::Put;
pub use lane::{Bare, Mark, Marks, Sidecar};
pub use layout::Slot;
pub(crate) use read::{Buffer, HomeSlot, Scan};
pub(crate) use remove::Taken;
pub use storage::{Table, TableOptions, spare_slots};
pub(crate) use storage::{size, split};
pub(crate) use verify::{Order, Tailed};
pub use writer::Writer;

#[cfg(test)]
mod tests;
