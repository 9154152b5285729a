//! A static function from keys to a few bits, that stores no keys.
//!
//! Every key has three cells, one in each third of a table, and its value is the exclusive or of
//! what they hold. To fill the table, find a cell that only one key has: whatever the other two
//! of that key will hold, this one can be set last and make the value right. Take the key away
//! and go on; with 1.23 cells a key nearly always all go. Then set the cells in the opposite
//! order. For other keys the value is that of three cells that have nothing to do with it.
//!
//! Papers: Chazelle et al., "The Bloomier Filter" (2004); Graf and Lemire, "Xor Filters" (2020).

use super::join::Keys;
use super::words::{Words, impossible};
use crate::error::Error;
use crate::hash::{GOLDEN, Hashed, mix};

/// Cells a key, and so many more.
const CELLS: (f64, u64) = (1.23, 32);
/// How often it is tried with other words of the keys' streams.
const ATTEMPTS: u32 = 30;

/// Where a static function is in the words of a list, and how it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retrieval {
    /// Bits of a value.
    pub(super) width: u32,
    /// Which pair of words of a key's stream is used.
    attempt: u32,
    /// Cells in a third of the table.
    third: u64,
    /// The first word of the cells, behind one word of measures.
    start: u64,
}

/// The three cells of a key, and 64 bits that are independent of them.
struct Places {
    cells: [u64; 3],
    print: u64,
}

impl Retrieval {
    /// Words that are taken, the one of the measures included.
    pub(super) fn words(self) -> u64 {
        1 + (3 * self.third * u64::from(self.width)).div_ceil(64)
    }

    fn places(self, key: &Hashed<'_>) -> Places {
        let (x, y) = (key.word(2 * self.attempt), key.word(2 * self.attempt + 1));
        let cell = |i: u64| {
            let spread = mix(x.wrapping_add(i.wrapping_mul(GOLDEN)));
            i * self.third + ((u128::from(spread) * u128::from(self.third)) >> 64) as u64
        };
        Places {
            cells: [cell(0), cell(1), cell(2)],
            // `x` and `y` are independent, and only `y` is in here.
            print: mix(y),
        }
    }

    /// Is the value of a key its fingerprint?
    #[inline]
    pub(super) fn matches(self, words: &Words, key: &Hashed<'_>) -> bool {
        let places = self.places(key);
        let width = self.width;
        let read = |cell: u64| words.bits(self.start, cell * u64::from(width), width);
        let value = places
            .cells
            .iter()
            .fold(0, |value, &cell| value ^ read(cell));
        value == places.print >> (64 - width)
    }

    /// A function of some keys, in words of its own: `value` gets the fingerprint of a key of
    /// the first or of the second list.
    pub(super) fn of(
        width: u32,
        keys: [Option<&Keys<'_>>; 2],
        value: impl Fn(usize, u64) -> u64,
    ) -> Result<Words, Error> {
        let count: u64 = keys.iter().flatten().map(|keys| keys.len()).sum();
        let cells = (count as f64 * CELLS.0).ceil() as u64 + CELLS.1;
        for attempt in 0..ATTEMPTS {
            let retrieval = Retrieval {
                width,
                attempt,
                third: cells.div_ceil(3),
                start: 1,
            };
            let mut wanted = Vec::new();
            for (which, keys) in keys.iter().enumerate() {
                for key in keys.iter().flat_map(|keys| keys.iter()) {
                    let places = retrieval.places(&key);
                    wanted.push((places.cells, value(which, places.print >> (64 - width))));
                }
            }
            if let Some(words) = retrieval.fill(&wanted)? {
                return Ok(words);
            }
        }
        Err(Error::Inseparable)
    }

    /// The filled table; `None` if some keys are in each other's way.
    fn fill(self, wanted: &[([u64; 3], u64)]) -> Result<Option<Words>, Error> {
        let cells = 3 * self.third as usize;
        // How many keys a cell has left, and the exclusive or of their numbers.
        let mut left = vec![(0_u32, 0_usize); cells];
        for (number, (places, _)) in wanted.iter().enumerate() {
            for &cell in places {
                let (count, numbers) = &mut left[cell as usize];
                *count += 1;
                *numbers ^= number;
            }
        }
        let mut alone: Vec<u64> = (0..cells as u64)
            .filter(|&c| left[c as usize].0 == 1)
            .collect();
        let mut order = Vec::with_capacity(wanted.len());
        while let Some(cell) = alone.pop() {
            let (count, number) = left[cell as usize];
            if count != 1 {
                continue; // its key went by another of its cells
            }
            order.push((cell, number));
            for &other in &wanted[number].0 {
                let (count, numbers) = &mut left[other as usize];
                *count -= 1;
                *numbers ^= number;
                if *count == 1 {
                    alone.push(other);
                }
            }
        }
        if order.len() < wanted.len() {
            return Ok(None);
        }
        let mut words = Words::zeroed(self.words())?;
        words.set(
            0,
            u64::from(self.width) | u64::from(self.attempt) << 8 | self.third << 16,
        );
        let width = u64::from(self.width);
        for &(cell, number) in order.iter().rev() {
            let (places, value) = &wanted[number];
            let read = |&cell: &u64| words.bits(self.start, cell * width, self.width);
            let now = places.iter().map(read).fold(0, |now, bits| now ^ bits);
            words.flip(self.start, cell * width, self.width, now ^ value);
        }
        Ok(Some(words))
    }

    /// The function whose measures are the word `at`.
    pub(super) fn read_at(words: &Words, at: u64) -> Result<Self, Error> {
        let word = words.get(at);
        let retrieval = Retrieval {
            width: (word & 0xff) as u32,
            attempt: (word >> 8 & 0xff) as u32,
            third: word >> 16,
            start: at + 1,
        };
        let possible = (1..=MAX_WIDTH).contains(&retrieval.width)
            && retrieval.attempt < ATTEMPTS
            && (1..1 << 40).contains(&retrieval.third);
        if !possible || retrieval.words() > words.len().saturating_sub(at) {
            return Err(impossible("a table does not fit"));
        }
        let bits = 3 * retrieval.third * u64::from(retrieval.width);
        if !words.is_zero_behind(at + 1, retrieval.words() - 1, bits) {
            return Err(impossible("a table has bits behind its last"));
        }
        Ok(retrieval)
    }
}

/// The widest values: rates down to `2^-32`.
pub(super) const MAX_WIDTH: u32 = 32;

/// The width of fingerprints for a rate.
///
/// # Errors
/// [`Error::Geometry`] if they would be too wide.
pub(super) fn width_for(fpr: f64) -> Result<u32, Error> {
    let width = (1.0 / fpr).log2().ceil().max(1.0);
    if width > f64::from(MAX_WIDTH) {
        return Err(Error::geometry(format!(
            "a rate of {fpr:e} needs fingerprints of more than {MAX_WIDTH} bits"
        )));
    }
    Ok(width as u32)
}
