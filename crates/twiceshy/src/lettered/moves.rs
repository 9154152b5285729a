//! Letters that move with their slots.
//!
//! ```text
//! slots      . . a b c d | e f . .        letters   . . 0 1 0 2 | 0 1 . .
//! open at 2  . . X a b c | d e f .                  . . 0 0 1 0 | 2 0 1 .
//! ```
//!
//! Each block's new letters are those of its own slots and the one that comes over from its
//! neighbour. Nothing is written before all blocks are known to fit.

use super::list::Letters;
use super::ops::has_letter;
use crate::bits::Bytes;
use crate::code::Coding;
use crate::error::Error;
use crate::quotient::{Moving, Table, split};

/// Asked what to do about a block whose letters do not fit: takes at least one away, or fails.
pub(crate) trait Relieve<C: Coding, M> {
    fn relieve(
        &self,
        table: &Table<C::Lane, M>,
        block: u64,
        letters: &mut Letters<C::Letter>,
    ) -> Result<(), Error>;
}

impl<C: Coding, M, F> Relieve<C, M> for F
where
    F: Fn(&Table<C::Lane, M>, u64, &mut Letters<C::Letter>) -> Result<(), Error>,
{
    fn relieve(
        &self,
        table: &Table<C::Lane, M>,
        block: u64,
        letters: &mut Letters<C::Letter>,
    ) -> Result<(), Error> {
        self(table, block, letters)
    }
}

/// Moves letters up with their slots.
pub(super) struct Raise<'c, C, R> {
    pub(super) coding: &'c C,
    pub(super) relieve: R,
}

impl<C: Coding, M: Bytes + AsMut<[u8]>, R: Relieve<C, M>> Moving<C::Lane, M> for Raise<'_, C, R> {
    #[inline(always)]
    fn before(self, table: &mut Table<C::Lane, M>, from: u64, to: u64) -> Result<(), Error> {
        raise(table, self.coding, from, to, self.relieve)
    }
}

/// Moves letters down with their slots.
pub(super) struct Lower<'c, C, R> {
    pub(super) coding: &'c C,
    pub(super) relieve: R,
}

impl<C: Coding, M: Bytes + AsMut<[u8]>, R: Relieve<C, M>> Moving<C::Lane, M> for Lower<'_, C, R> {
    #[inline(always)]
    fn before(self, table: &mut Table<C::Lane, M>, from: u64, to: u64) -> Result<(), Error> {
        lower(table, self.coding, from, to, self.relieve)
    }
}

/// Moves the letters of the slots `from..to` up by one; slot `to` has none.
#[inline(always)]
fn raise<C: Coding, M: Bytes + AsMut<[u8]>>(
    table: &mut Table<C::Lane, M>,
    coding: &C,
    from: u64,
    to: u64,
    relieve: impl Relieve<C, M>,
) -> Result<(), Error> {
    let ((first, i), (last, j)) = (split(from), split(to));
    if first == last {
        let word = C::load(table.lane(first));
        if coding.is_clear(word, i, j) {
            return Ok(());
        }
        return raise_in_block(table, coding, first, i, j, word, relieve);
    }
    if is_clear(table, coding, from, to) {
        return Ok(());
    }
    raise_letters(table, coding, from, to, relieve)
}

/// Is there certainly no letter at the slots `from..=to`?
#[inline(always)]
fn is_clear<C: Coding, M: Bytes>(
    table: &Table<C::Lane, M>,
    coding: &C,
    from: u64,
    to: u64,
) -> bool {
    let ((mut block, mut i), (last, j)) = (split(from), split(to));
    while block < last {
        if !coding.is_clear(C::load(table.lane(block)), i, 63) {
            return false;
        }
        (block, i) = (block + 1, 0);
    }
    coding.is_clear(C::load(table.lane(last)), i, j)
}

/// Where a letter goes when the slots `low..high` move up; `None` if out of the block.
#[inline(always)]
fn raised(slot: u32, low: u32, high: u32) -> Option<u32> {
    let slot = slot + u32::from(low <= slot && slot < high);
    (slot < 64).then_some(slot)
}

/// [`raise`] inside one block, without taking the letters out of their code.
#[inline(never)]
fn raise_in_block<C: Coding, M: Bytes + AsMut<[u8]>>(
    table: &mut Table<C::Lane, M>,
    coding: &C,
    block: u64,
    low: u32,
    high: u32,
    word: C::Word,
    relieve: impl Relieve<C, M>,
) -> Result<(), Error> {
    if !has_letter(coding, word, low, high) {
        return Ok(());
    }
    let moved = |(slot, letter)| Some((raised(slot, low, high)?, letter));
    match coding.encode(coding.letters(word).filter_map(moved)) {
        Some(word) => {
            table.with_lane(block, |lane| C::store(lane, word));
            Ok(())
        }
        None => {
            let base = block * 64;
            let (from, to) = (base + u64::from(low), base + u64::from(high));
            raise_letters(table, coding, from, to, relieve)
        }
    }
}

#[inline(never)]
fn raise_letters<C: Coding, M: Bytes + AsMut<[u8]>>(
    table: &mut Table<C::Lane, M>,
    coding: &C,
    from: u64,
    to: u64,
    relieve: impl Relieve<C, M>,
) -> Result<(), Error> {
    let ((first, i), (last, j)) = (split(from), split(to));
    let mut changes = Changes::new();
    let mut letters = Letters::new();
    let mut carry = None;
    for block in first..=last {
        let low = if block == first { i } else { 0 };
        let high = if block == last { j } else { 64 };
        letters.clear();
        let mut moves = false;
        if let Some(letter) = carry.take() {
            letters.push(0, letter);
            moves = true;
        }
        let word = C::load(table.lane(block));
        if !moves && coding.is_clear(word, low, high.min(63)) {
            continue;
        }
        for (slot, letter) in coding.letters(word) {
            moves |= low <= slot && slot < high;
            match raised(slot, low, high) {
                Some(slot) => letters.push(slot, letter),
                None => carry = Some(letter),
            }
        }
        if moves {
            changes.add(table, coding, block, &mut letters, &relieve)?;
        }
    }
    changes.write::<C, M>(table);
    Ok(())
}

/// Moves the letters of the slots behind `at` up to, not including, `to` down by one; that of
/// `at` goes.
fn lower<C: Coding, M: Bytes + AsMut<[u8]>>(
    table: &mut Table<C::Lane, M>,
    coding: &C,
    at: u64,
    to: u64,
    relieve: impl Relieve<C, M>,
) -> Result<(), Error> {
    if is_clear(table, coding, at, to - 1) {
        return Ok(());
    }
    let ((first, i), (last, j)) = (split(at), split(to - 1));
    let mut changes = Changes::new();
    for block in first..=last {
        let low = if block == first { i } else { 0 };
        let high = if block == last { j } else { 63 };
        let mut letters = Letters::new();
        for (slot, letter) in coding.letters(C::load(table.lane(block))) {
            if slot < low || slot > high {
                letters.push(slot, letter);
            } else if slot > low {
                letters.push(slot - 1, letter);
            }
        }
        if block < last {
            let next = coding.letters(C::load(table.lane(block + 1))).next();
            if let Some((0, letter)) = next {
                letters.push(63, letter);
            }
        }
        changes.add(table, coding, block, &mut letters, &relieve)?;
    }
    changes.write::<C, M>(table);
    Ok(())
}

/// Words to be written once all of them are known. Nearly always they are one or two.
struct Changes<W> {
    first: Option<(u64, W)>,
    others: Vec<(u64, W)>,
}

impl<W: Copy> Changes<W> {
    fn new() -> Self {
        Changes {
            first: None,
            others: Vec::new(),
        }
    }

    #[inline(always)]
    fn add<C: Coding<Word = W>, M>(
        &mut self,
        table: &Table<C::Lane, M>,
        coding: &C,
        block: u64,
        letters: &mut Letters<C::Letter>,
        relieve: &impl Relieve<C, M>,
    ) -> Result<(), Error> {
        let word = loop {
            match coding.encode(letters.iter()) {
                Some(word) => break word,
                None => relieve.relieve(table, block, letters)?,
            }
        };
        match &mut self.first {
            None => self.first = Some((block, word)),
            Some(_) => self.others.push((block, word)),
        }
        Ok(())
    }

    fn write<C: Coding<Word = W>, M: Bytes + AsMut<[u8]>>(self, table: &mut Table<C::Lane, M>) {
        for (block, word) in self.first.into_iter().chain(self.others) {
            table.with_lane(block, |lane| C::store(lane, word));
        }
    }
}
