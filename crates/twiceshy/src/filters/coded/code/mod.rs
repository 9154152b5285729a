//! Symbols beside slots: the arithmetic coder of the telescoping and extension filters.
//!
//! # The idea
//!
//! Beside each slot of a block stands a *symbol*: a hash selector, or an extension. Nearly
//! all slots have the symbol *nothing*, so a bit or two for each would be a waste. An
//! arithmetic code takes `log2(1/p)` bits for what has probability `p`, fractions included:
//! a message is an interval, narrowed by each symbol to a part as wide as the symbol is
//! likely, and stored as one number in it. A block of 64 slots gets [`CODE_BITS`] = 56 bits,
//! 0.875 a slot. All of it is done with integers: intervals of `0..2^56`, probabilities as
//! 64-bit fractions, rounded such that parts never overlap.
//!
//! The papers code slot by slot, 64 steps for each block. We code *gaps*: how many slots have
//! nothing, and then a symbol. The intervals are the same (`j` nothings and a symbol have
//! probability `p0^j p`, whichever way they are multiplied), the steps are as many as there
//! are symbols, of which most blocks have none:
//!
//! ```text
//! width      0                                                            2^56
//!            | nothing at all | … | first symbol at 2 | at 1 |   at 0     |
//!            0              p0^64 …  p0^3           p0^2    p0            1
//!                                    | 1     | 2 |3|     which symbol it is,
//!                                    |..|            and so on for the slots behind it
//! ```
//!
//! So the number 0 is a block without symbols, and whether any of the slots up to `k` has one
//! is *one comparison* of the number with a constant (`2^56 p0^(k+1)`): a lookup need not
//! decode anything unless it is likely to find something.
//!
//! Up to three symbols, which is what nearly all blocks have that have any, are not coded but
//! listed, slot by slot and byte by byte, in the highest numbers of the word: they move with their
//! slots by one addition.
//!
//! A message that does not fit is told so ([`Coding::encode`] gives `None`); nothing is ever
//! cut off.
//!
//! | symbols | alphabet | probabilities |
//! | --- | --- | --- |
//! | hash selectors | [`Selectors`] | those of Corollary 3 of the paper, for each remainder width |
//! | extensions | [`Extensions`] | `2^-2k` for each of the `2^k` extensions of `k` bits |
//! | hash selectors, plain | [`PlainSelectors`] | three bits each, for comparison |
//!
//! Papers: Lee, McCauley, Singh, Stein, "Telescoping Filter" (2021), section 5; Lee, "A
//! Practical Adaptive Quotient Filter", chapter 4 and 5.2.2. What the integers lose against
//! the entropy is measured by the tests: about 0.001 bits a block, and 0.006 for the lists.

mod coder;
mod extensions;
mod few;
mod plain;
mod selectors;
#[cfg(test)]
mod tests;

use std::fmt::Debug;

use crate::table::Sidecar;

pub use self::coder::{Alphabet, Coder};
pub use self::extensions::{Extension, Extensions};
pub use self::plain::PlainSelectors;
pub use self::selectors::{Selector, Selectors};

/// Bits of the code of a block.
pub const CODE_BITS: u32 = 56;

/// Slots of a block.
pub(crate) const SLOTS: u32 = 64;

/// A way to store the symbols of the 64 slots of a block.
pub trait Coding: Clone + Debug + Send + Sync {
    /// What stands beside a slot. The default is *nothing*.
    type Symbol: Copy + Default + Eq + Debug + Send + Sync;

    /// The bytes of a block that hold the symbols. To the table they mean nothing; `Beside::make_way`
    /// moves them.
    type Lane: Sidecar<Item = ()> + Send + Sync;

    /// What those bytes say.
    type Word: Copy + Default + Eq + Debug;

    /// Reads the lane. All zeros mean that there is no symbol.
    fn load(lane: &[u8]) -> Self::Word;

    /// Writes the lane.
    fn store(lane: &mut [u8], word: Self::Word);

    /// Is it certain that none of the slots `from..=to` has a symbol? May say `false` for
    /// nothing, but never `true`.
    fn is_clear(&self, word: Self::Word, from: u32, to: u32) -> bool;

    /// Has one of the slots `from..=to` a symbol? Asked where [`is_clear`](Self::is_clear) is not
    /// sure.
    fn has_symbol(&self, word: Self::Word, from: u32, to: u32) -> bool;

    /// The symbols that there are, in the order of their slots.
    fn symbols(&self, word: Self::Word) -> impl Iterator<Item = (u32, Self::Symbol)>;

    /// The word for symbols, none of them *nothing*, in the order of their slots; `None` if
    /// they do not fit.
    fn encode(&self, symbols: impl IntoIterator<Item = (u32, Self::Symbol)>) -> Option<Self::Word>;

    /// [`raise`](Self::raise) in the lane, for a word with no symbols or few, if none comes into the
    /// block or leaves it: without a branch that depends on them. If it is not so easy, nothing has
    /// changed, and this says so.
    fn raise_few(&self, lane: &mut [u8], low: u32, high: u32) -> bool;

    /// The word after the symbols of the slots `low..high` have moved up by one, and the symbol
    /// that left the block, if any: that of the last slot if `high` is 64. `carry` is the symbol
    /// that left the block before, if any, and becomes that of slot 0; there is one only if `low`
    /// is 0. Slot `high` has no symbol. `None` if the symbols do not fit then.
    fn raise(
        &self,
        word: Self::Word,
        low: u32,
        high: u32,
        carry: Self::Symbol,
    ) -> Option<(Self::Word, Self::Symbol)>;
}
