//! Stored fingerprints, and what is done to those of a minirun: pure functions, which know nothing of the
//! table that the fingerprints stand in.
//!
//! A [`Print`] is one stored fingerprint: an extension, a value and a count, in one slot or several.
//! [`pair_some`] finds which key each fingerprint of a minirun stands for; [`edit`] has what insertions,
//! adaptations and removals make of them; [`recut`] copies extensions to slots of another width.

pub(crate) mod edit;
mod pairing;
mod print;
mod recut;

pub(crate) use self::pairing::pair_some;
pub(crate) use self::print::{
    Counter, Digit, Digits, Print, Stream, Widths, common_digits, digits, extension_slot,
    max_digits,
};
pub(crate) use self::recut::recut;
