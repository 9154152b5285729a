//! Up to three symbols, spelled out.
//!
//! Where one item in a hundred has a symbol, half of the blocks have none and nearly all others
//! one, two or three. Those do not need a code that is short; they need one that is moved
//! quickly. So the highest numbers of a word, of which the coder keeps away, are lists:
//!
//! ```text
//! byte   0     1     2     3     4     5     6
//!        |  slots   0 1 2  |  symbols 0 1 2  |  ff  |
//! ```
//!
//! Symbols are in the order of their slots. One that is missing has slot 64, behind them all,
//! and symbol 0. All three slots are compared at once, each in its byte, whose highest bit is
//! free: set, it takes part in a subtraction and is left if the slot was not less.
//!
//! What it costs: one number in 256 of the coder's, 0.006 bits a block.

/// Words from this one on are lists.
pub(super) const FEW: u64 = 0xff << 48;

/// How many symbols there can be.
const MOST: usize = 3;

/// The highest half of a word of a list is not below this.
const HIGH_HALF: u32 = 0xff << 24;

/// A one for each slot.
const EACH: u32 = 0x0001_0101;
/// The free bit of each slot.
const FREE: u32 = EACH << 7;
/// The bit of each slot that says that it is behind the block.
const BEHIND: u32 = EACH << 6;

/// Is this word a list?
#[inline(always)]
pub(super) fn is_few(word: u64) -> bool {
    word >= FEW
}

/// The free bits of the slots of a list that are in `low..high`, which is up to 64.
#[inline(always)]
fn among(slots: u32, low: u32, high: u32) -> u32 {
    let not_below = |slot: u32| (slots | FREE).wrapping_sub(slot * EACH);
    not_below(low) & !not_below(high) & FREE
}

/// Has none of the slots `low..high` a symbol?
#[inline(always)]
pub(super) fn is_clear(list: u64, low: u32, high: u32) -> bool {
    among(list as u32, low, high) == 0
}

/// The word after the symbols of the slots `low..high` have moved up by one, if it is a list and
/// none of them leaves the block, or if there is no symbol. No branch depends on which it is.
///
/// Of the word, the first four bytes are given and the last four, which share one; only the first
/// four change.
#[inline(always)]
pub(super) fn raise((first, last): (u32, u32), low: u32, high: u32) -> Option<u32> {
    let is_few = last >= HIGH_HALF;
    let moves = among(first, low, high) & u32::from(is_few).wrapping_neg();
    let raised = first.wrapping_add(moves >> 7);
    let leaves = raised & !first & BEHIND != 0;
    match leaves | (!is_few & (first | last != 0)) {
        true => None,
        false => Some(raised),
    }
}

/// A list that is being written.
pub(super) struct List {
    word: u64,
    count: usize,
    /// The first slot that can follow; 65 if there is something that no list can hold.
    next: u32,
}

impl List {
    #[inline(always)]
    pub(super) fn new() -> Self {
        List {
            word: FEW | u64::from(BEHIND),
            count: 0,
            next: 0,
        }
    }

    /// Adds a symbol; `None` is one that does not fit into a byte.
    #[inline(always)]
    pub(super) fn push(&mut self, slot: u32, symbol: Option<u8>) {
        match symbol {
            Some(symbol) if self.count < MOST && (self.next..64).contains(&slot) => {
                self.word |= u64::from(symbol) << (24 + 8 * self.count);
                self.word ^= u64::from(slot ^ 64) << (8 * self.count);
                self.count += 1;
                self.next = slot + 1;
            }
            _ => self.next = 65,
        }
    }

    /// The word; `None` if there are no symbols, too many, or others.
    #[inline(always)]
    pub(super) fn finish(self) -> Option<u64> {
        (self.count > 0 && self.next < 65).then_some(self.word)
    }
}

/// The symbol of this number in a list, and its slot; of a word that is no list, whatever its
/// bits say.
#[inline(always)]
pub(super) fn get(list: u64, number: usize) -> Option<(u32, u8)> {
    if number >= MOST {
        return None;
    }
    let slot = (list >> (8 * number)) as u8;
    let symbol = (list >> (24 + 8 * number)) as u8;
    (slot < 64).then_some((u32::from(slot), symbol))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All lists of up to three slots, some of them next to each other.
    fn lists() -> Vec<Vec<(u32, u8)>> {
        let slots = [0, 1, 2, 3, 30, 31, 32, 61, 62, 63];
        let mut lists = Vec::new();
        for (i, &a) in slots.iter().enumerate() {
            lists.push(vec![(a, 1)]);
            for (k, &b) in slots.iter().enumerate().skip(i + 1) {
                lists.push(vec![(a, 255), (b, 1)]);
                for &c in &slots[k + 1..] {
                    lists.push(vec![(a, 7), (b, 255), (c, 128)]);
                }
            }
        }
        lists
    }

    /// [`raise`] for a whole word.
    fn raise_word(word: u64, low: u32, high: u32) -> Option<u64> {
        let raised = raise((word as u32, (word >> 24) as u32), low, high)?;
        Some(word & !0xff_ff_ff | u64::from(raised) & 0xff_ff_ff)
    }

    fn code(symbols: &[(u32, u8)]) -> Option<u64> {
        let mut list = List::new();
        for &(slot, symbol) in symbols {
            list.push(slot, Some(symbol));
        }
        list.finish()
    }

    #[test]
    fn lists_hold_what_they_are_given() {
        for symbols in lists() {
            let list = code(&symbols).unwrap();
            assert!(is_few(list) && list < 1 << 56);
            let again: Vec<_> = (0..MOST).map_while(|i| get(list, i)).collect();
            assert_eq!(again, symbols);
        }
        assert_eq!(code(&[]), None, "that is zero");
        assert_eq!(code(&[(1, 1), (2, 1), (3, 1), (4, 1)]), None);
        assert_eq!(code(&[(2, 1), (1, 1)]), None, "they have no order");
        let mut list = List::new();
        list.push(1, Some(1));
        list.push(2, None);
        assert_eq!(list.finish(), None, "it does not fit");
    }

    #[test]
    fn all_slots_are_compared_and_moved_at_once() {
        for symbols in lists() {
            let word = code(&symbols).unwrap();
            for low in 0..=64 {
                // The slot into which the last one moves has no symbol.
                let is_free = |high: &u32| symbols.iter().all(|(slot, _)| slot != high);
                for high in (low..=64).filter(is_free) {
                    let is_in = |slot: u32| (low..high).contains(&slot);
                    let any = symbols.iter().any(|&(slot, _)| is_in(slot));
                    assert_eq!(is_clear(word, low, high), !any, "{symbols:?} {low}..{high}");
                    let moved = symbols
                        .iter()
                        .map(|&(slot, symbol)| (slot + u32::from(is_in(slot)), symbol));
                    let moved: Vec<_> = moved.collect();
                    let leaves = moved.iter().any(|&(slot, _)| slot == 64);
                    let expected = if leaves { None } else { code(&moved) };
                    assert_eq!(
                        raise_word(word, low, high),
                        expected,
                        "{symbols:?} {low}..{high}"
                    );
                }
            }
        }
        for (low, high) in [(0, 64), (0, 0), (5, 9)] {
            assert_eq!(raise_word(0, low, high), Some(0));
            assert_eq!(raise_word(FEW - 1, low, high), None, "that is no list");
        }
    }
}
