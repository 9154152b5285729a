//! Per-slot data that rides along when slots move.
//!
//! The table moves slots up and down; whatever a filter stores beside each slot must
//! move with them. That data for the 64 slots of one block is its *lane*, and a [`Sidecar`] says what is in it.
//! It is marks, or something of each slot's own, or nothing.
//!
//! | type | lane | for |
//! | --- | --- | --- |
//! | [`Bare`] | none | the plain quotient filter |
//! | [`Marks`] | 64 bits | extensions and counters: a marked slot goes on in the one behind it |
//!
//! ```text
//! a run           a   b b' b'   c c'        b' a digit of b, and so on
//! marks           .   1  1  .   1  .        the fingerprint goes on
//! runends         .   k  k  .   k  1        the last slot of the run; k is the filter's to use
//! ```
//!
//! So the last slots of runs are `runends & !marked`, whatever their fingerprints take.

use crate::bits::{Lane, load_word, shift_bits_down, shift_bits_up, store_word};

/// Per-slot data of a block. All functions get the lane's [`BYTES`](Lane::BYTES)
/// bytes, which are zero in an empty block.
pub trait Sidecar: Lane {
    /// What rides along with one slot. The default is the item of an empty slot.
    type Item: Copy + Default + PartialEq + std::fmt::Debug;

    /// May slots be marked? If not, [`marked`](Sidecar::marked) is always zero. If so, the lane is a
    /// word with the marks, which the table may move along with the word before it, the runend bits.
    const MARKS: bool;

    /// The largest block offset that is stored as it is; larger ones are found by
    /// walking back. Tests lower it, to 64 at least, to reach that path with few slots.
    const MAX_OFFSET: u16 = u16::MAX;

    /// The slots of the block that go on in the slot behind them, a bit each.
    fn marked(lane: &[u8]) -> u64;

    /// Is an item that of a marked slot?
    fn is_mark(item: Self::Item) -> bool;

    /// The item of one slot.
    fn get(lane: &[u8], slot: u32) -> Self::Item;

    /// Gives an item to an empty slot.
    #[inline(always)]
    fn fill(lane: &mut [u8], slot: u32, item: Self::Item) {
        let _empty = Self::shift_up(lane, slot, slot, item);
    }

    /// Moves the items of `from..to` up by one slot, puts `carry` at `from`, and gives
    /// the item that was at `to`.
    fn shift_up(lane: &mut [u8], from: u32, to: u32, carry: Self::Item) -> Self::Item;

    /// Moves the items of `from + 1..=to` down by one slot, puts `carry` at `to`, and
    /// gives the item that was at `from`.
    fn shift_down(lane: &mut [u8], from: u32, to: u32, carry: Self::Item) -> Self::Item;
}

/// Nothing beside the slots, or `LANE` bytes a block that nobody looks at.
#[derive(Clone, Copy, Debug)]
pub struct Bare<const LANE: usize = 0>;

impl<const LANE: usize> Lane for Bare<LANE> {
    const BYTES: usize = LANE;
}

impl<const LANE: usize> Sidecar for Bare<LANE> {
    type Item = ();
    const MARKS: bool = false;

    #[inline(always)]
    fn marked(_: &[u8]) -> u64 {
        0
    }

    #[inline(always)]
    fn is_mark((): ()) -> bool {
        false
    }

    #[inline(always)]
    fn get(_: &[u8], _: u32) {}

    #[inline(always)]
    fn shift_up(_: &mut [u8], _: u32, _: u32, (): ()) {}

    #[inline(always)]
    fn shift_down(_: &mut [u8], _: u32, _: u32, (): ()) {}
}

/// Where nothing is marked, every slot is a fingerprint.
impl From<()> for Mark {
    fn from((): ()) -> Self {
        Mark::Last
    }
}

/// Where nothing is marked, there is nothing to know.
impl From<Mark> for () {
    fn from(mark: Mark) {
        debug_assert_eq!(mark, Mark::Last);
    }
}

/// Is a slot the last of a fingerprint, or does the slot behind it belong to that as well?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    /// It is the last, or empty.
    #[default]
    Last,
    /// The fingerprint goes on. So its run does, too, and the runend bit is free for other use.
    GoesOn,
}

/// One bit a slot: does its fingerprint go on in the slot behind it? Slots that do may have runend
/// bits, as those before a counter's digits have.
#[derive(Clone, Copy, Debug)]
pub struct Marks;

impl Lane for Marks {
    const BYTES: usize = 8;
}

impl Sidecar for Marks {
    type Item = Mark;
    const MARKS: bool = true;

    #[inline(always)]
    fn marked(lane: &[u8]) -> u64 {
        load_word(lane, 0)
    }

    #[inline(always)]
    fn is_mark(item: Mark) -> bool {
        item == Mark::GoesOn
    }

    #[inline(always)]
    fn get(lane: &[u8], slot: u32) -> Mark {
        mark(load_word(lane, 0) >> slot & 1 == 1)
    }

    #[inline(always)]
    fn fill(lane: &mut [u8], slot: u32, item: Mark) {
        let word = load_word(lane, 0);
        store_word(lane, 0, word | u64::from(Self::is_mark(item)) << slot);
    }

    #[inline(always)]
    fn shift_up(lane: &mut [u8], from: u32, to: u32, carry: Mark) -> Mark {
        let (word, out) = shift_bits_up(load_word(lane, 0), from, to, Self::is_mark(carry));
        store_word(lane, 0, word);
        mark(out)
    }

    #[inline(always)]
    fn shift_down(lane: &mut [u8], from: u32, to: u32, carry: Mark) -> Mark {
        let (word, out) = shift_bits_down(load_word(lane, 0), from, to, Self::is_mark(carry));
        store_word(lane, 0, word);
        mark(out)
    }
}

#[inline(always)]
fn mark(bit: bool) -> Mark {
    if bit { Mark::GoesOn } else { Mark::Last }
}
