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

/// Takes nothing away: what would need room fails, and nothing has changed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refuse;

impl<C: Coding, M> Relieve<C, M> for Refuse {
    fn relieve(
        &self,
        _: &Table<C::Lane, M>,
        block: u64,
        _: &mut Letters<C::Letter>,
    ) -> Result<(), Error> {
        // On its way through the table the error names the block; see `Refuse::block`.
        let (first, last) = (block, block);
        Err(Error::NeedsHashes { first, last })
    }
}

impl Refuse {
    /// The block that has no room, if that is why an operation failed.
    pub(crate) fn block(error: &Error) -> Option<u64> {
        match error {
            Error::NeedsHashes { first, .. } => Some(*first),
            _ => None,
        }
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

    #[inline(always)]
    fn rests(&self, lane: &[u8], from: u32, to: u32) -> bool {
        self.coding.is_clear(C::load(lane), from, to)
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

    #[inline(always)]
    fn rests(&self, _: &[u8], _: u32, _: u32) -> bool {
        false
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
    match first_unclear(table, coding, from, to) {
        None => Ok(()),
        Some(from) if from / 64 == to / 64 => raise_in_block(table, coding, from, to, relieve),
        Some(from) => raise_letters(table, coding, from, to, relieve),
    }
}

/// Where the letters of `from..=to` may begin: `from`, or the start of a block behind it; `None`
/// if there is certainly no letter.
#[inline(always)]
fn first_unclear<C: Coding, M: Bytes>(
    table: &Table<C::Lane, M>,
    coding: &C,
    from: u64,
    to: u64,
) -> Option<u64> {
    let ((mut block, mut i), (last, j)) = (split(from), split(to));
    while block < last {
        if !coding.is_clear(C::load(table.lane(block)), i, 63) {
            return Some(block * 64 + u64::from(i));
        }
        (block, i) = (block + 1, 0);
    }
    let is_clear = coding.is_clear(C::load(table.lane(last)), i, j);
    (!is_clear).then_some(last * 64 + u64::from(i))
}

/// [`raise_letters`] inside one block.
#[inline(never)]
fn raise_in_block<C: Coding, M: Bytes + AsMut<[u8]>>(
    table: &mut Table<C::Lane, M>,
    coding: &C,
    from: u64,
    to: u64,
    relieve: impl Relieve<C, M>,
) -> Result<(), Error> {
    let ((block, low), (_, high)) = (split(from), split(to));
    let word = C::load(table.lane(block));
    match coding.raise(word, low, high, C::Letter::default()) {
        Some((raised, _)) => {
            table.with_lane(block, |lane| C::store(lane, raised));
            Ok(())
        }
        None => raise_listed(table, coding, from, to, relieve),
    }
}

/// How many blocks [`raise_letters`] can change before it leaves the work to
/// [`raise_listed`]. With a letter at one slot in a hundred that are one or two.
const FEW: usize = 4;

/// [`raise`], each block's letters from one code into the next. What it can't do it leaves to
/// [`raise_listed`], before anything has changed.
#[inline(never)]
fn raise_letters<C: Coding, M: Bytes + AsMut<[u8]>>(
    table: &mut Table<C::Lane, M>,
    coding: &C,
    from: u64,
    to: u64,
    relieve: impl Relieve<C, M>,
) -> Result<(), Error> {
    let ((first, i), (last, j)) = (split(from), split(to));
    let mut changes = [(0, C::Word::default()); FEW];
    let mut count = 0;
    let mut carry = C::Letter::default();
    let (mut block, mut low) = (first, i);
    while block <= last {
        let high = if block == last { j } else { 64 };
        let word = C::load(table.lane(block));
        let Some((raised, out)) = coding.raise(word, low, high, carry) else {
            return raise_listed(table, coding, from, to, relieve);
        };
        carry = out;
        if raised != word {
            let Some(change) = changes.get_mut(count) else {
                return raise_listed(table, coding, from, to, relieve);
            };
            *change = (block, raised);
            count += 1;
        }
        (block, low) = (block + 1, 0);
    }
    for &(block, word) in &changes[..count] {
        table.with_lane(block, |lane| C::store(lane, word));
    }
    Ok(())
}

/// Where a letter goes when the slots `low..high` move up; `None` if out of the block.
#[inline(always)]
fn raised(slot: u32, low: u32, high: u32) -> Option<u32> {
    let slot = slot + u32::from(low <= slot && slot < high);
    (slot < 64).then_some(slot)
}

/// [`raise`] for any number of blocks, and with letters given up where they do not fit.
#[cold]
#[inline(never)]
fn raise_listed<C: Coding, M: Bytes + AsMut<[u8]>>(
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
    if first_unclear(table, coding, at, to - 1).is_none() {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::{Coder, Extensions, Planes, Selectors};
    use crate::hash::mix;
    use crate::lettered::table_options;
    use crate::mem::{HugePages, Memory};
    use crate::quotient::Geometry;

    const BLOCKS: u64 = 12;

    type Rack<C> = Table<<C as Coding>::Lane, Memory>;

    fn words<C: Coding>(table: &Rack<C>) -> Vec<C::Word> {
        let word = |block| C::load(table.lane(block));
        (0..BLOCKS).map(word).collect()
    }

    /// Moves letters both ways; gives how many blocks change and whether all went well.
    fn raise_twice<C: Coding>(
        coding: &C,
        lanes: &[C::Word],
        (from, to): (u64, u64),
    ) -> (usize, bool) {
        let geometry = Geometry::new(BLOCKS * 64, 8).unwrap();
        let racks = [(); 2].map(|()| {
            let mut table = Rack::<C>::new(table_options(&geometry, HugePages::default())).unwrap();
            for (block, &word) in (0..).zip(lanes) {
                table.with_lane(block, |lane| C::store(lane, word));
            }
            table
        });
        let [mut fast, mut listed] = racks;
        let result = raise(&mut fast, coding, from, to, Refuse);
        let expected = raise_listed(&mut listed, coding, from, to, Refuse);
        assert_eq!(result.is_ok(), expected.is_ok(), "{from}..{to}");
        assert_eq!(words::<C>(&fast), words::<C>(&listed), "{from}..{to}");
        let changed = words::<C>(&fast);
        let changed = changed.iter().zip(lanes).filter(|(new, old)| new != old);
        (changed.count(), result.is_ok())
    }

    /// Tables with few letters and with many, moved within a block and across all of them.
    fn raise_in_tables<C: Coding>(coding: &C, letter: impl Fn(u64) -> C::Letter) {
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
            let lanes: Vec<_> = (0..BLOCKS)
                .map(|block| {
                    let mut letters = Vec::new();
                    for slot in 0..64_u32 {
                        // The slot into which the last one moves is empty.
                        if random(scarcity + 3) == 0 && block * 64 + u64::from(slot) != to {
                            letters.push((slot, letter(random(u64::MAX))));
                        }
                    }
                    coding.encode(letters).unwrap_or_default()
                })
                .collect();
            let (changed, is_done) = raise_twice(coding, &lanes, (from, to));
            most = most.max(changed);
            moved += usize::from(changed > 0);
            refused += usize::from(!is_done);
        }
        assert!(most > FEW && moved > 500, "{most} {moved} {refused}");
        println!("{moved} moved, {most} blocks at most, {refused} had no room");
    }

    #[test]
    fn the_short_way_gives_what_the_long_way_gives() {
        let selector = |number: u64| 1 + (number % 5 / 3) as u8;
        raise_in_tables(&Coder::new(Selectors::for_width(8)), selector);
        raise_in_tables(&Planes, selector);
        let extension = |number: u64| {
            let len = (number >> 32).trailing_zeros().clamp(1, 6);
            crate::code::Extension::new(len, number).unwrap()
        };
        raise_in_tables(&Coder::new(Extensions), extension);
    }
}
