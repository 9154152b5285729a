//! The coder: intervals of integers, narrowed gap by gap.

use super::{CODE_BITS, Coding, SLOTS};
use crate::quotient::Bare;
use std::fmt::Debug;

/// Bytes of a code.
const LANE: usize = CODE_BITS as usize / 8;

/// A part of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Where it starts, counted from the start of the interval.
    pub low: u64,
    /// How many numbers it has; at least one.
    pub width: u64,
}

/// The letters of a slot and how likely they are.
pub trait Alphabet: Clone + Debug + Send + Sync {
    /// A letter. The default is *nothing*.
    type Letter: Copy + Default + Eq + Debug + Send + Sync;

    /// The probability of *nothing*, times `2^64`.
    fn nothing(&self) -> u64;

    /// The part of an interval of `width` numbers, at least one, that stands for a letter
    /// that is not *nothing*; `None` if there is none left for it.
    fn part(&self, width: u64, letter: Self::Letter) -> Option<Part>;

    /// The letter in whose part the number `at` lies, and that part; `None` if it lies in no
    /// letter's.
    fn find(&self, width: u64, at: u64) -> Option<(Self::Letter, Part)>;
}

/// Codes the letters of a block as one number.
#[derive(Clone, Debug)]
pub struct Coder<A> {
    alphabet: A,
    /// The probability of so many *nothings*, times `2^64`. The first, which would be one, is
    /// not used.
    nothings: [u64; SLOTS as usize + 1],
    /// Numbers below `clear[k]` have no letter in the first `k` slots.
    clear: [u64; SLOTS as usize + 1],
    slots: u32,
    numbers: u64,
    /// How many *nothings* make up a factor of two, times `2^12`.
    per_bit: u64,
}

/// The logarithm of a number, with 52 bits behind the point and a constant too much; about.
#[inline(always)]
fn logarithm(number: u64) -> u64 {
    // Numbers have 56 bits at most, and signed ones are converted at once.
    (number as i64 as f64).to_bits()
}

/// The highest word of a product: `a` times the fraction `b`.
#[inline(always)]
pub(super) fn times(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

impl<A: Alphabet> Coder<A> {
    /// A coder of blocks of 64 slots in [`CODE_BITS`] bits.
    #[must_use]
    pub fn new(alphabet: A) -> Self {
        Self::with_size(alphabet, SLOTS, CODE_BITS)
    }

    /// A smaller one, for tests that try everything.
    pub(super) fn with_size(alphabet: A, slots: u32, bits: u32) -> Self {
        debug_assert!(slots <= SLOTS && bits <= CODE_BITS);
        let one = alphabet.nothing();
        let mut coder = Coder {
            alphabet,
            nothings: [u64::MAX; SLOTS as usize + 1],
            clear: [1 << bits; SLOTS as usize + 1],
            slots,
            numbers: 1 << bits,
            per_bit: (-4096.0 / (one as f64 / 2_f64.powi(64)).log2()) as u64,
        };
        for k in 1..=SLOTS as usize {
            coder.nothings[k] = if k == 1 {
                one
            } else {
                times(coder.nothings[k - 1], one)
            };
            coder.clear[k] = coder.bound(coder.numbers, k as u32);
        }
        coder
    }

    /// The letters and their probabilities.
    #[must_use]
    pub fn alphabet(&self) -> &A {
        &self.alphabet
    }

    /// The numbers of an interval below this have `gap` *nothings* to begin with. Never less
    /// than one: that nothing follows fits into every interval.
    #[inline(always)]
    fn bound(&self, width: u64, gap: u32) -> u64 {
        if gap == 0 {
            width
        } else {
            times(width - 1, self.nothings[gap as usize]) + 1
        }
    }

    /// About how many *nothings* leave `at` numbers of `width`, which are more: their logarithm,
    /// divided by that of one *nothing*. What the bits of a floating-point number say of its
    /// logarithm, a straight line between powers of two, is near enough.
    #[inline(always)]
    fn guess(&self, at: u64, width: u64) -> u32 {
        times(logarithm(width).wrapping_sub(logarithm(at)), self.per_bit) as u32
    }

    /// The interval of a message: its first number is the code.
    #[inline(always)]
    fn interval(&self, letters: impl IntoIterator<Item = (u32, A::Letter)>) -> Option<Part> {
        let (mut low, mut width) = (0, self.numbers);
        let mut next = 0;
        for (slot, letter) in letters {
            debug_assert!(next <= slot && slot < self.slots && letter != A::Letter::default());
            let gap = slot - next;
            let (from, to) = (self.bound(width, gap + 1), self.bound(width, gap));
            if from >= to {
                return None;
            }
            let part = self.alphabet.part(to - from, letter)?;
            low += from + part.low;
            width = part.width;
            next = slot + 1;
        }
        let width = self.bound(width, self.slots - next);
        Some(Part { low, width })
    }

    /// How many bits a message takes: the logarithm of how often its interval goes into all
    /// numbers.
    #[cfg(test)]
    pub(super) fn bits(&self, letters: impl IntoIterator<Item = (u32, A::Letter)>) -> Option<f64> {
        let interval = self.interval(letters)?;
        Some((self.numbers as f64 / interval.width as f64).log2())
    }

    /// The letters of a code, in the order of their slots. Of a number that is no code, those
    /// that come out of it.
    #[inline(always)]
    pub fn decode(&self, code: u64) -> Decode<'_, A> {
        Decode {
            coder: self,
            at: code,
            width: self.numbers,
            slot: 0,
        }
    }
}

/// The letters of a code.
#[derive(Clone, Debug)]
pub struct Decode<'c, A> {
    coder: &'c Coder<A>,
    /// The code, counted from the start of the interval.
    at: u64,
    width: u64,
    /// The first slot whose letter is not known yet.
    slot: u32,
}

/// Where the next letter is, and where its numbers are in the interval.
struct Next {
    slot: u32,
    from: u64,
    to: u64,
}

impl<A: Alphabet> Decode<'_, A> {
    #[inline(always)]
    fn locate(&self) -> Option<Next> {
        let coder = self.coder;
        let left = coder.slots - self.slot;
        if self.at < coder.bound(self.width, left) {
            return None;
        }
        // The last gap whose bound is above: bounds fall as gaps grow. A guess by the
        // logarithm is off by one at most, or by more if widths are small; then it is mended.
        let mut gap = coder.guess(self.at, self.width).min(left - 1);
        let mut to = coder.bound(self.width, gap);
        let mut from = coder.bound(self.width, gap + 1);
        while self.at >= to && gap > 0 {
            gap -= 1;
            (from, to) = (to, coder.bound(self.width, gap));
        }
        while self.at < from && gap + 1 < left {
            gap += 1;
            (to, from) = (from, coder.bound(self.width, gap + 1));
        }
        let slot = self.slot + gap;
        Some(Next { slot, from, to })
    }

    #[inline(always)]
    fn read(&mut self, next: &Next) -> Option<A::Letter> {
        let Next { slot, from, to } = *next;
        let at = self.at.wrapping_sub(from);
        let width = to.wrapping_sub(from);
        // A number that is no code may lie beyond all letters.
        let found = match at < width {
            true => self.coder.alphabet.find(width, at),
            false => None,
        };
        let Some((letter, part)) = found else {
            self.stop();
            return None;
        };
        self.at = at - part.low;
        self.width = part.width;
        self.slot = slot + 1;
        Some(letter)
    }
}

impl<A: Alphabet> Iterator for Decode<'_, A> {
    type Item = (u32, A::Letter);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let next = self.locate()?;
        Some((next.slot, self.read(&next)?))
    }
}

impl<A> Decode<'_, A> {
    #[cold]
    fn stop(&mut self) {
        self.slot = self.coder.slots;
        self.at = 0;
    }
}

impl<A: Alphabet> Coding for Coder<A> {
    type Letter = A::Letter;
    type Lane = Bare<LANE>;
    type Word = u64;

    #[inline(always)]
    fn load(lane: &[u8]) -> u64 {
        // In two halves that share a byte: a copy to make eight bytes of seven would be
        // read back before it is written.
        let half = |at: usize| {
            let bytes = lane[at..].first_chunk().expect("the lane has seven bytes");
            u64::from(u32::from_le_bytes(*bytes))
        };
        half(0) | half(3) << 24
    }

    #[inline(always)]
    fn store(lane: &mut [u8], word: u64) {
        let bytes = word.to_le_bytes();
        lane[..LANE].copy_from_slice(&bytes[..LANE]);
    }

    #[inline(always)]
    fn is_clear(&self, word: u64, _from: u32, to: u32) -> bool {
        word < self.clear[(to & 63) as usize + 1]
    }

    #[inline(always)]
    fn has_letter(&self, word: u64, from: u32, to: u32) -> bool {
        debug_assert!(!self.is_clear(word, from, to));
        // There is a letter up to `to`. The first is found with constants alone.
        let mut gap = (self.guess(word, self.numbers) & 63) as usize;
        while word >= self.clear[gap] {
            gap -= 1;
        }
        while gap < 63 && word < self.clear[gap + 1] {
            gap += 1;
        }
        let mut next = Next {
            slot: gap as u32,
            from: self.clear[gap + 1],
            to: self.clear[gap],
        };
        let mut letters = self.decode(word);
        while next.slot < from {
            if letters.read(&next).is_none() {
                return false;
            }
            match letters.locate() {
                Some(later) => next = later,
                None => return false,
            }
        }
        next.slot <= to
    }

    #[inline(always)]
    fn letters(&self, word: u64) -> impl Iterator<Item = (u32, A::Letter)> {
        self.decode(word)
    }

    #[inline(always)]
    fn encode(&self, letters: impl IntoIterator<Item = (u32, A::Letter)>) -> Option<u64> {
        Some(self.interval(letters)?.low)
    }
}
