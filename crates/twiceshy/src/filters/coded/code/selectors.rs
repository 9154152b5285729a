//! Hash selectors, with the probabilities of the paper.
//!
//! The selector of an element says how often its remainder was changed. If `c n` different
//! queries are asked of `n` elements, then (Corollary 3 of the paper, `e = 2^-r`)
//!
//! ```text
//! Pr[0] < e^(-c e)        Pr[k] < e^k sum_{i=1}^{k} c^i / i!  =  sum_{i=1}^{k} (c e)^i e^(k-i) / i!
//! ```
//!
//! so with `l = c e`, the mistakes expected at one element, it is Poisson's distribution but
//! for mistakes that one query makes twice. For each width we code for the `l` at which the
//! entropy of 64 slots is just below 56 bits: a code that is meant for more is longer for
//! fewer, and the other way round. For remainders of eight bits and more that is `l` = 0.2
//! (`Pr[0]` = 0.786; the thesis has 0.781 for eight bits); narrower ones repeat mistakes more
//! often and fill the code earlier.

use super::coder::{Alphabet, Part, times};

/// Which of its remainders an element has: 0 the one of its home fingerprint, `i` the `i`-th
/// piece of its hash stream from `h1` on.
pub type Selector = u8;

/// The alphabet of hash selectors for one width of remainders.
#[derive(Clone, Debug)]
pub struct Selectors {
    nothing: u64,
    /// The probability of the selectors up to this one, given that it is not 0, times `2^64`.
    up_to: [u64; Selectors::MAX as usize + 1],
}

/// Mistakes expected at an element for which we code, in thousandths, by the width of
/// remainders from one bit on; wider ones have the last.
const EXPECTED: [u64; 8] = [80, 120, 150, 175, 185, 190, 195, 200];

/// A one in fixed point.
const ONE: u64 = 1 << 62;

impl Selectors {
    /// The highest selector.
    pub const MAX: Selector = 31;

    /// The alphabet for remainders of `bits` bits.
    #[must_use]
    pub fn for_width(bits: u32) -> Self {
        let row = bits.clamp(1, EXPECTED.len() as u32) - 1;
        let expected = ONE / 1000 * EXPECTED[row as usize];
        Self::with_expected(bits, expected)
    }

    /// Weights as above, in fixed point: the same on every machine, because they are part of
    /// what a code means.
    fn with_expected(bits: u32, expected: u64) -> Self {
        // l^i / i!
        let mut terms = [ONE; Self::MAX as usize + 1];
        for i in 1..terms.len() {
            let product = u128::from(terms[i - 1]) * u128::from(expected);
            terms[i] = (product / (u128::from(ONE) * i as u128)) as u64;
        }
        // e^-l, by its series.
        let (mut zero, mut minus) = (0, 0);
        for pair in terms.chunks_exact(2) {
            zero += pair[0];
            minus += pair[1];
        }
        let zero = zero - minus;
        let mut sums = [0_u64; Self::MAX as usize + 1];
        for k in 1..sums.len() {
            let weight = |i: usize| terms[i] >> (u64::from(bits) * (k - i) as u64).min(63);
            sums[k] = sums[k - 1] + (1..=k).map(weight).sum::<u64>();
        }
        let others = sums[Self::MAX as usize];
        let fraction = |part: u64, whole: u64| {
            let fraction = (u128::from(part) << 64) / u128::from(whole);
            u64::try_from(fraction).unwrap_or(u64::MAX)
        };
        Selectors {
            nothing: fraction(zero, zero + others),
            up_to: sums.map(|sum| fraction(sum, others)),
        }
    }

    /// Below this number of `width` are the selectors up to this one. The first always has
    /// some, the last gets what is left.
    #[inline(always)]
    fn bound(&self, width: u64, selector: Selector) -> u64 {
        match selector {
            0 => 0,
            Self::MAX => width,
            _ => times(width - 1, self.up_to[usize::from(selector)]) + 1,
        }
    }
}

impl Alphabet for Selectors {
    type Symbol = Selector;

    fn nothing(&self) -> u64 {
        self.nothing
    }

    #[inline(always)]
    fn part(&self, width: u64, symbol: Selector) -> Option<Part> {
        if !(1..=Self::MAX).contains(&symbol) {
            return None;
        }
        // Most are the first: it has one bound.
        let end = self.bound(width, symbol);
        let low = match symbol {
            1 => 0,
            _ => self.bound(width, symbol - 1),
        };
        (low < end).then(|| Part {
            low,
            width: end - low,
        })
    }

    #[inline(always)]
    fn find(&self, width: u64, at: u64) -> Option<(Selector, Part)> {
        let mut low = self.bound(width, 1);
        if at < low {
            return Some((1, Part { low: 0, width: low }));
        }
        for selector in 2..=Self::MAX {
            let end = self.bound(width, selector);
            if at < end {
                let width = end - low;
                return Some((selector, Part { low, width }));
            }
            low = end;
        }
        None
    }

    #[inline(always)]
    fn byte_of(&self, symbol: Selector) -> Option<u8> {
        (1..=Self::MAX).contains(&symbol).then_some(symbol)
    }

    #[inline(always)]
    fn symbol_of(&self, byte: u8) -> Option<Selector> {
        (1..=Self::MAX).contains(&byte).then_some(byte)
    }
}
