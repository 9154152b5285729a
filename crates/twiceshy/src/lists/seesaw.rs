//! The seesaw counting filter: lists that change, without the keys, and sometimes wrong.
//!
//! # The idea
//!
//! A counting Bloom filter whose cells lean to one side or the other. YES keys push their cells up,
//! a NO key that must be guarded pushes one of its cells down. Each of a key's `k` rows has two
//! candidate cells; where the first leans to NO, the second stands in for it, which is how a
//! YES key avoids a cell that guards somebody:
//!
//! ```text
//!   row of a key    first cell > 0                        the row says YES
//!                   first cell < 0, second cell > 0       the row says YES
//!                   otherwise                             the row says NO
//!   the key         YES if all its rows do
//! ```
//!
//! # What it promises
//!
//! Little. It knows no keys, so it can't tell whom a push hurts:
//!
//! * A NO key that pushes a cell from YES to NO makes those YES keys wrong that counted on it and
//!   whose second cell nobody has pushed up: **false negatives**.
//! * A YES key that finds both cells of a row on the NO side pushes one up and may uncover the
//!   NO key that it guarded, and a second cell that others push up uncovers one as well: **false
//!   positives on the NO list**.
//!
//! Both are shown by a test, which is why this type is no
//! [`BuildList`](super::BuildList): the exactness that those promise is not there. It is here because
//! it is what others use for this problem, and to compare with.
//!
//! Paper: Li et al., "Seesaw Counting Filter" (2022). This follows its idea, counters that lean and
//! hash functions that give way, not its details.
//!
//! ```
//! use twiceshy::lists::{Answer, List, Seesaw, YesNoList};
//!
//! let mut list = Seesaw::new(10_000, 5)?;
//! list.add("ads.example", List::Yes);
//! list.add("vote.example", List::No);
//! assert_eq!(list.answer("ads.example"), Answer::Yes); // most likely
//! assert_eq!(list.answer("vote.example"), Answer::No); // most likely
//! # Ok::<(), twiceshy::Error>(())
//! ```

use super::words::{Content, WordList, Words, impossible};
use super::{Answer, List, YesNoList};
use crate::error::Error;
use crate::file::FilterKind;
use crate::hash::{Hashed, Key, Seed, Sip13, StreamHash};

/// A seesaw counting filter. See the [module](self).
pub type Seesaw<H = Sip13> = WordList<Cells, H>;

/// How many cells there are, and rows. The words are the number of cells and, in the top byte, of rows; then
/// the cells, eight to a word, as bytes from -127 to 127.
#[derive(Clone, Copy, Debug)]
pub struct Cells {
    cells: u64,
    rows: u32,
}

impl Seesaw {
    /// An empty list of so many cells (a byte each) and rows, with a random seed and the
    /// default hash. About `1.44 k n` cells and `k = log2(1/fpr)` rows keep the rate `fpr` with
    /// `n` YES keys; guards need some more.
    ///
    /// # Errors
    /// [`Error::Geometry`] if there are no cells or rows, or too many; [`Error::Seed`] if the
    /// system has no randomness to give.
    pub fn new(cells: u64, rows: u32) -> Result<Self, Error> {
        Self::with_seed(cells, rows, Seed::random()?)
    }
}

impl<H: StreamHash> Seesaw<H> {
    /// [`new`](Seesaw::new) with a seed.
    ///
    /// # Errors
    /// As [`new`](Seesaw::new).
    pub fn with_seed(cells: u64, rows: u32, seed: Seed) -> Result<Self, Error> {
        if !possible(cells, rows) {
            return Err(Error::geometry(
                "a seesaw filter has at least one cell, and 1 to 64 rows",
            ));
        }
        let mut words = Words::zeroed(1 + cells.div_ceil(8))?;
        words.set(0, cells | u64::from(rows) << 56);
        Self::of(words, seed, [0, 0])
    }

    /// Adds a key to a list. It can't know whether the key is there already, or on the other
    /// list.
    pub fn add<K: Key + ?Sized>(&mut self, key: &K, list: List) {
        let key = Hashed::new::<H, K>(&self.seed, key);
        match list {
            List::Yes => self.push_up(&key),
            List::No => self.push_down(&key),
        }
    }

    fn push_up(&mut self, key: &Hashed<'_>) {
        self.yes += 1;
        for row in 0..self.content.rows {
            let [first, second] = self.content.candidates(key, row);
            let cell = match (self.cell(first), self.cell(second)) {
                (0.., _) | (_, ..0) => first,
                _ => second,
            };
            self.push(cell, 1);
        }
    }

    /// Guards one row: one with cells that no key has pushed, or else the one that the fewest YES keys have.
    fn push_down(&mut self, key: &Hashed<'_>) {
        self.no += 1;
        if self.answer_hashed(key) == Answer::No {
            // It needs no guard yet. One that hurts nobody keeps it so: on an empty cell with
            // no stand-in, which YES keys then avoid.
            let rows = (0..self.content.rows).map(|row| self.content.candidates(key, row));
            let mut free = rows.filter(|&[first, second]| {
                self.cell(first) <= 0 && self.cell(second) <= 0 && first != second
            });
            if let Some([first, _]) = free.next() {
                self.push(first, -1);
            }
            return;
        }
        let rows = (0..self.content.rows).map(|row| self.content.candidates(key, row));
        let cheapest =
            rows.min_by_key(|&[first, second]| (self.cell(second).max(0), self.cell(first).abs()));
        let Some([first, second]) = cheapest else {
            return;
        };
        for cell in [first, second] {
            let lean = self.cell(cell);
            if lean > 0 {
                self.push(cell, -lean - 1);
            }
        }
    }

    fn cell(&self, cell: u64) -> i16 {
        lean(&self.words, cell)
    }

    fn push(&mut self, cell: u64, by: i16) {
        let (old, bits) = (self.cell(cell), |lean: i16| lean as i8 as u8);
        let new = (old + by).clamp(-127, 127);
        self.words
            .flip(1, cell * 8, 8, u64::from(bits(old) ^ bits(new)));
    }
}

fn possible(cells: u64, rows: u32) -> bool {
    (1..1 << 48).contains(&cells) && (1..=64).contains(&rows)
}

/// How far a cell leans, to YES if above zero.
fn lean(words: &Words, cell: u64) -> i16 {
    i16::from(words.bits(1, cell * 8, 8) as u8 as i8)
}

impl Cells {
    /// The two cells of a row.
    fn candidates(self, key: &Hashed<'_>, row: u32) -> [u64; 2] {
        let place = |word: u64| ((u128::from(word) * u128::from(self.cells)) >> 64) as u64;
        [place(key.word(2 * row)), place(key.word(2 * row + 1))]
    }
}

impl Content for Cells {
    const KIND: FilterKind = FilterKind::Seesaw;

    fn read(words: &Words) -> Result<Self, Error> {
        let (cells, rows) = (words.get(0) << 8 >> 8, (words.get(0) >> 56) as u32);
        if !possible(cells, rows) || words.len() != 1 + cells.div_ceil(8) {
            return Err(impossible("there are not as many cells as it says"));
        }
        if !words.is_zero_behind(1, words.len() - 1, cells * 8) {
            return Err(impossible("there is something behind the last cell"));
        }
        if (0..cells).any(|cell| lean(words, cell) == -128) {
            return Err(impossible("a cell leans too far"));
        }
        Ok(Cells { cells, rows })
    }

    fn says_yes(&self, words: &Words, key: &Hashed<'_>) -> bool {
        (0..self.rows).all(|row| {
            let [first, second] = self.candidates(key, row);
            match lean(words, first) {
                1.. => true,
                0 => false,
                _ => lean(words, second) > 0,
            }
        })
    }

    fn expected_fpr(&self, words: &Words) -> f64 {
        let share = |side: fn(i16) -> bool| {
            let leaning = (0..self.cells).filter(|&cell| side(lean(words, cell)));
            leaning.count() as f64 / self.cells as f64
        };
        let (up, down) = (share(|lean| lean > 0), share(|lean| lean < 0));
        (up + down * up).powi(self.rows as i32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Why there are others: wrong on both lists, which a right list never is.
    #[test]
    fn it_is_wrong_in_both_ways() {
        let mut list = Seesaw::<Sip13>::with_seed(40_000, 5, Seed::from_u64(1)).unwrap();
        // NO keys that come late push YES keys off, YES keys that come later uncover them.
        (0..4_000_u64).for_each(|key| list.add(&key, List::Yes));
        (10_000..20_000_u64).for_each(|key| list.add(&key, List::No));
        (4_000..5_000_u64).for_each(|key| list.add(&key, List::Yes));
        let wrong_yes = (0..5_000_u64).filter(|key| !list.answer(key).is_yes());
        let wrong_no = (10_000..20_000_u64).filter(|key| list.answer(key).is_yes());
        let (wrong_yes, wrong_no) = (wrong_yes.count(), wrong_no.count());
        assert!(wrong_yes > 0, "YES keys that are answered NO");
        assert!(wrong_no > 0, "NO keys that are answered YES");
        assert!(
            wrong_yes < 2_500 && wrong_no < 1_000,
            "{wrong_yes} {wrong_no}"
        );
    }

    #[test]
    fn guards_help() {
        let filled = || {
            let mut list = Seesaw::<Sip13>::with_seed(20_000, 4, Seed::from_u64(2)).unwrap();
            (0..4_000_u64).for_each(|key| list.add(&key, List::Yes));
            list
        };
        let (plain, mut guarded) = (filled(), filled());
        (10_000..11_000_u64).for_each(|key| guarded.add(&key, List::No));
        let wrong = |list: &Seesaw| {
            let keys = 10_000..11_000_u64;
            keys.filter(|key| list.answer(key).is_yes()).count()
        };
        let (plain, guarded) = (wrong(&plain), wrong(&guarded));
        assert!(plain > 50 && guarded < plain / 4, "{plain} and {guarded}");
    }
}
