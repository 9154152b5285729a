//! Letters that move with their slots.
//!
//! ```text
//! slots      . . a b c d | e f . .        letters   . . 0 1 0 2 | 0 1 . .
//! open at 2  . . X a b c | d e f .                  . . 0 0 1 0 | 2 0 1 .
//! ```
//!
//! Each block's new letters are those of its own slots and the one that comes over from its
//! neighbour. Moving up goes block by block, as far as it takes:
//!
//! | | for |
//! | --- | --- |
//! | [`raise`] | blocks with no letters or few, which move inside their block |
//! | [`RaiseRest`] | any number of letters, and one that moves to the next block |
//! | [`raise_listed`] | blocks that are full, where letters are given up |
//!
//! The first two write at once and take everything back if a later block has no room; the last
//! writes nothing before all blocks are known to fit.

use super::list::Letters;
use crate::bits::{Bytes, Isa, Operation};
use crate::code::Coding;
use crate::error::Error;
use crate::table::{Moving, Table, split};

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
        if raise(table, self.coding, from, to) {
            return Ok(());
        }
        raise_listed(table, self.coding, from, to, self.relieve)
    }

    #[inline(always)]
    fn within(&self, table: &mut Table<C::Lane, M>, block: u64, from: u32, to: u32) -> bool {
        if raise_few(table, self.coding, block, (from, to)) {
            return true;
        }
        let start = block * 64;
        let (from, to) = (start + u64::from(from), start + u64::from(to));
        raise_rest(table, self.coding, (from, from), to)
    }

    #[inline(always)]
    fn across(&self, table: &mut Table<C::Lane, M>, block: u64, from: u32, to: u64) -> bool {
        raise(table, self.coding, block * 64 + u64::from(from), to)
    }
}

/// Moves the letters of a block up if they are few and none leaves it.
#[inline(always)]
fn raise_few<C: Coding, M: Bytes + AsMut<[u8]>>(
    table: &mut Table<C::Lane, M>,
    coding: &C,
    block: u64,
    (low, high): (u32, u32),
) -> bool {
    coding.raise_few(table.block_mut(block).lane(), low, high)
}

/// Moves letters down with their slots.
pub(super) struct Lower<'c, C, R> {
    pub(super) coding: &'c C,
    pub(super) relieve: R,
}

impl<C: Coding, M: Bytes + AsMut<[u8]>, R: Relieve<C, M>> Moving<C::Lane, M> for Lower<'_, C, R> {
    #[inline(always)]
    fn before(self, table: &mut Table<C::Lane, M>, from: u64, to: u64) -> Result<(), Error> {
        if is_clear(table, self.coding, from, to - 1) {
            return Ok(());
        }
        lower(table, self.coding, from, to, None, self.relieve)
    }
}

/// Moves the letters of the slots `from..to` up by one; slot `to` has none. If they do not fit,
/// nothing has changed, and [`raise_listed`] must do it.
#[inline(always)]
fn raise<C: Coding, M: Bytes + AsMut<[u8]>>(
    table: &mut Table<C::Lane, M>,
    coding: &C,
    from: u64,
    to: u64,
) -> bool {
    let ((mut block, mut low), (last, j)) = (split(from), split(to));
    while block < last {
        if !raise_few(table, coding, block, (low, 64)) {
            return raise_rest(table, coding, (from, block * 64 + u64::from(low)), to);
        }
        (block, low) = (block + 1, 0);
    }
    if !raise_few(table, coding, last, (low, j)) {
        return raise_rest(table, coding, (from, last * 64 + u64::from(low)), to);
    }
    true
}

/// Is it certain that none of the slots `from..=to` has a letter?
fn is_clear<C: Coding, M: Bytes>(
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

/// [`raise`] from slot `next` on, with any number of letters, after those from slot `from` on have
/// been raised. If there is no room for the others, these are taken back.
#[inline(always)]
fn raise_rest<C: Coding, M: Bytes + AsMut<[u8]>>(
    table: &mut Table<C::Lane, M>,
    coding: &C,
    (from, next): (u64, u64),
    to: u64,
) -> bool {
    table.cpu().run(RaiseRest {
        table,
        coding,
        from,
        next,
        to,
    })
}

struct RaiseRest<'t, C: Coding, M> {
    table: &'t mut Table<C::Lane, M>,
    coding: &'t C,
    from: u64,
    next: u64,
    to: u64,
}

impl<C: Coding, M: Bytes + AsMut<[u8]>> Operation for RaiseRest<'_, C, M> {
    type Output = bool;

    #[inline(always)]
    fn run<I: Isa>(self) -> bool {
        let RaiseRest {
            table,
            coding,
            from,
            next,
            to,
        } = self;
        let ((mut block, mut low), (last, j)) = (split(next), split(to));
        let nothing = C::Letter::default();
        let mut carry = nothing;
        loop {
            let high = if block == last { j } else { 64 };
            let word = C::load(table.lane(block));
            if carry != nothing || !coding.is_clear(word, low, high.min(63)) {
                let Some((raised, out)) = coding.raise(word, low, high, carry) else {
                    take_back(table, coding, from, block, carry);
                    return false;
                };
                table.with_lane(block, |lane| C::store(lane, raised));
                carry = out;
            }
            if block == last {
                return true;
            }
            (block, low) = (block + 1, 0);
        }
    }
}

/// Undoes what has been done to the letters of the slots from `from` up to the start of `block`;
/// `carry` is the letter that left them.
#[cold]
#[inline(never)]
fn take_back<C: Coding, M: Bytes + AsMut<[u8]>>(
    table: &mut Table<C::Lane, M>,
    coding: &C,
    from: u64,
    block: u64,
    carry: C::Letter,
) {
    let carry = (carry != C::Letter::default()).then_some(carry);
    if from < block * 64 {
        lower(table, coding, from, block * 64, carry, Refuse)
            .expect("there was room for them where they were");
    }
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
/// `at` goes, and the last of them gets `carry`, if there is one: then it is the last of its block.
fn lower<C: Coding, M: Bytes + AsMut<[u8]>>(
    table: &mut Table<C::Lane, M>,
    coding: &C,
    at: u64,
    to: u64,
    carry: Option<C::Letter>,
    relieve: impl Relieve<C, M>,
) -> Result<(), Error> {
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
        let next = match block < last {
            true => coding.letters(C::load(table.lane(block + 1))).next(),
            false => carry.map(|carry| (0, carry)),
        };
        if let Some((0, letter)) = next {
            letters.push(high, letter);
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
    use crate::filters::lettered::table_options;
    use crate::hash::mix;
    use crate::mem::{HugePages, Memory};
    use crate::table::Geometry;

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
        let is_done = raise(&mut fast, coding, from, to);
        let expected = raise_listed(&mut listed, coding, from, to, Refuse);
        assert_eq!(is_done, expected.is_ok(), "{from}..{to}");
        assert_eq!(words::<C>(&fast), words::<C>(&listed), "{from}..{to}");
        let changed = words::<C>(&fast);
        let changed = changed.iter().zip(lanes).filter(|(new, old)| new != old);
        (changed.count(), is_done)
    }

    /// Tables with few letters and with many, moved within a block and across all of them.
    fn raise_in_tables<C: Coding>(coding: &C, can_refuse: bool, letter: impl Fn(u64) -> C::Letter) {
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
                    let mut letters = Vec::new();
                    let is_full = some_are_full && random(3) == 0;
                    let scarcity = if is_full { 2 } else { scarcity + 3 };
                    for slot in 0..64_u32 {
                        // The slot into which the last one moves is empty.
                        if random(scarcity) == 0 && block * 64 + u64::from(slot) != to {
                            letters.push((slot, letter(random(u64::MAX))));
                        }
                    }
                    // As many as fit: one that moves may be too much then.
                    while coding.encode(letters.iter().copied()).is_none() {
                        letters.pop();
                    }
                    coding.encode(letters).unwrap_or_default()
                })
                .collect();
            let (changed, is_done) = raise_twice(coding, &lanes, (from, to));
            most = most.max(changed);
            moved += usize::from(changed > 0);
            refused += usize::from(!is_done);
        }
        assert!(most > 4 && moved > 500, "{most} {moved} {refused}");
        assert_eq!(refused > 20, can_refuse, "{refused}");
        println!("{moved} moved, {most} blocks at most, {refused} had no room");
    }

    #[test]
    fn the_short_way_gives_what_the_long_way_gives() {
        let selector = |number: u64| 1 + (number % 5 / 3) as u8;
        raise_in_tables(&Coder::new(Selectors::for_width(8)), true, selector);
        raise_in_tables(&Planes, false, selector);
        let extension = |number: u64| {
            let len = (number >> 32).trailing_zeros().clamp(1, 6);
            crate::code::Extension::new(len, number).unwrap()
        };
        raise_in_tables(&Coder::new(Extensions), true, extension);
    }
}
