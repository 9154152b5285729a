//! The coder: intervals of integers, narrowed gap by gap.

use super::{CODE_BITS, Coding, SLOTS};
use crate::bits::{load_word, store_word};
use crate::quotient::Bare;
use std::fmt::Debug;

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

impl<A: Alphabet> Iterator for Decode<'_, A> {
    type Item = (u32, A::Letter);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let coder = self.coder;
        let left = coder.slots - self.slot;
        if self.at < coder.bound(self.width, left) {
            return None;
        }
        // The last gap whose bound is above: bounds fall as gaps grow. Every step halves what
        // is left, without a branch on where it is.
        let mut gap = 0;
        let mut step = 32;
        while step > 0 {
            let further = gap + step;
            // Behind the last slot the bounds go on falling, so no limit is needed.
            let is_above = self.at < times(self.width - 1, coder.nothings[further as usize]) + 1;
            gap = if is_above { further } else { gap };
            step /= 2;
        }
        if gap >= left {
            return None;
        }
        let (from, to) = (
            coder.bound(self.width, gap + 1),
            coder.bound(self.width, gap),
        );
        let at = self.at.wrapping_sub(from);
        if self.at < from || from >= to || at >= to - from {
            // Only a number that is no code leads here.
            self.stop();
            return None;
        }
        let Some((letter, part)) = coder.alphabet.find(to - from, at) else {
            self.stop();
            return None;
        };
        let slot = self.slot + gap;
        self.at = at - part.low;
        self.width = part.width;
        self.slot = slot + 1;
        Some((slot, letter))
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
    type Lane = Bare<{ CODE_BITS as usize / 8 }>;
    type Word = u64;

    #[inline(always)]
    fn load(lane: &[u8]) -> u64 {
        let mut bytes = [0; 8];
        bytes[..CODE_BITS as usize / 8].copy_from_slice(&lane[..CODE_BITS as usize / 8]);
        load_word(&bytes, 0)
    }

    #[inline(always)]
    fn store(lane: &mut [u8], word: u64) {
        let mut bytes = [0; 8];
        store_word(&mut bytes, 0, word);
        lane[..CODE_BITS as usize / 8].copy_from_slice(&bytes[..CODE_BITS as usize / 8]);
    }

    #[inline(always)]
    fn is_clear(&self, word: u64, _from: u32, to: u32) -> bool {
        word < self.clear[(to & 63) as usize + 1]
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
