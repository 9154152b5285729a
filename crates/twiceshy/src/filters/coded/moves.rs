//! Symbols that move with their slots.
//!
//! ```text
//! slots      . . a b c d | e f . .        symbols   . . 0 1 0 2 | 0 1 . .
//! open at 2  . . X a b c | d e f .                  . . 0 0 1 0 | 2 0 1 .
//! ```
//!
//! Each block's new symbols are those of its own slots and the one that comes over from its
//! neighbour. They move before the slots do, and if a block has no room for its symbols, nothing
//! moves: whoever wanted that is told which block is full.
//!
//! Moving up goes block by block, as far as it takes, by [`Coding::raise_few`] where a block has
//! no symbols or few and none leaves it, and by [`Coding::raise`] from the first other block on.
//! Both write at once; if a later block has no room, everything is taken back.

use super::code::Coding;
use super::symbols::{Symbols, Unit};
use crate::bits::Bytes;
use crate::table::{Beside, BlockFull, Table, split};

impl<S: Symbols> Beside<S::Lane> for &S {
    const CHANGES_REMAINDERS: bool = matches!(S::UNIT, Unit::Run);

    #[inline(always)]
    fn asks(self, lane: &[u8], from: u32, to: u32) -> bool {
        let word = S::load(lane);
        !self.is_clear(word, from, to) && has_symbol(self, word, from, to)
    }

    #[inline(always)]
    fn raise_few(self, lane: &mut [u8], from: u32, to: u32) -> bool {
        Coding::raise_few(self, lane, from, to)
    }

    #[inline(always)]
    fn make_way<M: Bytes + AsMut<[u8]>>(
        self,
        table: &mut Table<S::Lane, M>,
        from: u64,
        to: u64,
        up: bool,
    ) -> Result<(), BlockFull> {
        if up {
            return raise(table, self, from, to);
        }
        if is_clear(table, self, from, to - 1) {
            return Ok(());
        }
        lower(table, self, from, to, None)
    }
}

/// Has one of the slots `from..=to` a symbol? Kept out of what asks.
#[inline(never)]
fn has_symbol<C: Coding>(coding: &C, word: C::Word, from: u32, to: u32) -> bool {
    coding.has_symbol(word, from, to)
}

/// Is it certain that none of the slots `from..=to` has a symbol?
#[inline(always)]
pub(super) fn is_clear<C: Coding, M: Bytes>(
    table: &Table<C::Lane, M>,
    coding: &C,
    from: u64,
    to: u64,
) -> bool {
    let ((first, i), (last, j)) = (split(from), split(to));
    (first..=last).all(|block| {
        let low = if block == first { i } else { 0 };
        let high = if block == last { j } else { 63 };
        coding.is_clear(C::load(table.lane(block)), low, high)
    })
}

/// Moves the symbols of the slots `from..to` up by one; slot `to` has none. If they do not fit,
/// nothing has changed.
#[inline(always)]
fn raise<C: Coding, M: Bytes + AsMut<[u8]>>(
    table: &mut Table<C::Lane, M>,
    coding: &C,
    from: u64,
    to: u64,
) -> Result<(), BlockFull> {
    let ((mut block, mut low), (last, j)) = (split(from), split(to));
    let nothing = C::Symbol::default();
    let mut carry = nothing;
    loop {
        let high = if block == last { j } else { 64 };
        let mut bytes = table.block_mut(block);
        if carry != nothing || !coding.raise_few(bytes.lane(), low, high) {
            let word = C::load(bytes.lane());
            let Some((raised, out)) = coding.raise(word, low, high, carry) else {
                take_back(table, coding, from, block, carry);
                return Err(BlockFull(block));
            };
            C::store(bytes.lane(), raised);
            carry = out;
        }
        if block == last {
            return Ok(());
        }
        (block, low) = (block + 1, 0);
    }
}

/// Undoes what has been done to the symbols of the slots from `from` up to the start of `block`;
/// `carry` is the symbol that left them.
#[cold]
#[inline(never)]
fn take_back<C: Coding, M: Bytes + AsMut<[u8]>>(
    table: &mut Table<C::Lane, M>,
    coding: &C,
    from: u64,
    block: u64,
    carry: C::Symbol,
) {
    let carry = (carry != C::Symbol::default()).then_some(carry);
    if from < block * 64 {
        lower(table, coding, from, block * 64, carry)
            .expect("there was room for them where they were");
    }
}

/// Moves the symbols of the slots behind `at` up to, not including, `to` down by one; that of
/// `at` goes, and the last of them gets `carry`, if there is one: then it is the last of its block.
fn lower<C: Coding, M: Bytes + AsMut<[u8]>>(
    table: &mut Table<C::Lane, M>,
    coding: &C,
    at: u64,
    to: u64,
    carry: Option<C::Symbol>,
) -> Result<(), BlockFull> {
    let ((first, i), (last, j)) = (split(at), split(to - 1));
    let symbols = |block| coding.symbols(C::load(table.lane(block)));
    let lowered = |block| {
        let low = if block == first { i } else { 0 };
        let high = if block == last { j } else { 63 };
        let here = symbols(block).filter(|&(slot, _)| slot != low);
        let here = here.map(|(slot, symbol)| match low < slot && slot <= high {
            true => (slot - 1, symbol),
            false => (slot, symbol),
        });
        let next = match block < last {
            true => symbols(block + 1).next().filter(|&(slot, _)| slot == 0),
            false => carry.map(|carry| (0, carry)),
        };
        let next = next.map(|(_, symbol)| (high, symbol));
        let (below, above): (Vec<_>, Vec<_>) = here.partition(|&(slot, _)| slot < high);
        let word = coding.encode(below.into_iter().chain(next).chain(above));
        word.ok_or(BlockFull(block))
    };
    // All words are made before the first is written.
    let words = (first..=last).map(lowered).collect::<Result<Vec<_>, _>>()?;
    for (block, word) in (first..).zip(words) {
        table.with_lane(block, |lane| C::store(lane, word));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filters::bare_options;
    use crate::filters::coded::code::{Coder, Extension, Extensions, PlainSelectors, Selectors};
    use crate::geometry::Geometry;
    use crate::hash::mix;
    use crate::mem::{HugePages, Memory};

    const BLOCKS: u64 = 12;

    /// The symbols of all slots up to `to` and from there on moved up, one by one; or the first
    /// block that has no room for its own.
    fn raise_naively<C: Coding>(
        coding: &C,
        lanes: &[C::Word],
        (from, to): (u64, u64),
    ) -> Result<Vec<C::Word>, BlockFull> {
        let mut all = vec![C::Symbol::default(); lanes.len() * 64];
        for (block, &word) in lanes.iter().enumerate() {
            for (slot, symbol) in coding.symbols(word) {
                all[block * 64 + slot as usize] = symbol;
            }
        }
        all[from as usize..=to as usize].rotate_right(1);
        let word = |block: usize| {
            let symbols = (0..).zip(all[block * 64..][..64].iter().copied());
            let word = coding.encode(symbols.filter(|&(_, symbol)| symbol != C::Symbol::default()));
            word.ok_or(BlockFull(block as u64))
        };
        (0..lanes.len()).map(word).collect()
    }

    /// Moves symbols up and down again; gives how many blocks change and whether all went well.
    fn raise_and_lower<C: Coding>(
        coding: &C,
        lanes: &[C::Word],
        (from, to): (u64, u64),
    ) -> (usize, bool) {
        let geometry = Geometry::new(BLOCKS * 64, 8).unwrap();
        let options = bare_options(&geometry, HugePages::default());
        let mut table = Table::<C::Lane, Memory>::new(options).unwrap();
        for (block, &word) in (0..).zip(lanes) {
            table.with_lane(block, |lane| C::store(lane, word));
        }
        let words = |table: &Table<C::Lane, Memory>| -> Vec<_> {
            let word = |block| C::load(table.lane(block));
            (0..BLOCKS).map(word).collect()
        };
        let done = raise(&mut table, coding, from, to);
        let raised = words(&table);
        match raise_naively(coding, lanes, (from, to)) {
            Ok(expected) => assert_eq!((done, &raised), (Ok(()), &expected), "{from}..{to}"),
            Err(full) => assert_eq!((done, &raised[..]), (Err(full), lanes), "{from}..{to}"),
        }
        if done.is_ok() {
            assert_eq!(lower(&mut table, coding, from, to + 1, None), Ok(()));
            assert_eq!(words(&table), lanes, "{from}..{to}");
        }
        let changed = raised.iter().zip(lanes).filter(|(new, old)| new != old);
        (changed.count(), done.is_ok())
    }

    /// Tables with few symbols and with many, moved within a block and across all of them.
    fn raise_in_tables<C: Coding>(coding: &C, can_refuse: bool, symbol: impl Fn(u64) -> C::Symbol) {
        let (mut most, mut moved, mut refused) = (0, 0, 0);
        for round in 0..3_000_u64 {
            let mut seed = mix(round);
            let mut random = |below: u64| {
                seed = mix(seed.wrapping_add(0x9e37_79b9_7f4a_7c15));
                seed % below
            };
            let from = random(BLOCKS * 64 - 1);
            let farthest = (BLOCKS * 64 - 1 - from).min(1 << random(10));
            let to = from + 1 + random(farthest);
            let scarcity = 1 + random(40);
            let some_are_full = random(2) == 0;
            let lanes: Vec<_> = (0..BLOCKS)
                .map(|block| {
                    let mut symbols = Vec::new();
                    let is_full = some_are_full && random(3) == 0;
                    let scarcity = if is_full { 2 } else { scarcity + 3 };
                    for slot in 0..64_u32 {
                        // The slot into which the last one moves is empty.
                        if random(scarcity) == 0 && block * 64 + u64::from(slot) != to {
                            symbols.push((slot, symbol(random(u64::MAX))));
                        }
                    }
                    // As many as fit: one that moves may be too much then.
                    while coding.encode(symbols.iter().copied()).is_none() {
                        symbols.pop();
                    }
                    coding.encode(symbols).unwrap_or_default()
                })
                .collect();
            let (changed, is_done) = raise_and_lower(coding, &lanes, (from, to));
            most = most.max(changed);
            moved += usize::from(changed > 0);
            refused += usize::from(!is_done);
        }
        assert!(most > 4 && moved > 500, "{most} {moved} {refused}");
        assert_eq!(refused > 20, can_refuse, "{refused}");
        println!("{moved} moved, {most} blocks at most, {refused} had no room");
    }

    #[test]
    fn symbols_move_as_if_one_by_one() {
        let selector = |number: u64| 1 + (number % 5 / 3) as u8;
        raise_in_tables(&Coder::new(Selectors::for_width(8)), true, selector);
        raise_in_tables(&PlainSelectors, false, selector);
        let extension = |number: u64| {
            let len = (number >> 32).trailing_zeros().clamp(1, 6);
            Extension::new(len, number).unwrap()
        };
        raise_in_tables(&Coder::new(Extensions), true, extension);
    }
}
