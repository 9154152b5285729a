//! Hash selectors stored plainly: three bits a slot, in three words of one bit each.

use super::selectors::Selector;
use super::{Coding, SLOTS};
use crate::bits::{load_word, mask_through, store_word};
use crate::table::Bare;

/// Stores selectors up to 7 as they are. Nothing ever overflows, at more than three times the
/// space of a code.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlainSelectors;

const BITS: usize = 3;

impl PlainSelectors {
    /// The highest selector.
    pub const MAX: Selector = (1 << BITS) - 1;
}

impl Coding for PlainSelectors {
    type Symbol = Selector;
    type Lane = Bare<{ BITS * 8 }>;
    type Word = [u64; BITS];

    #[inline(always)]
    fn load(lane: &[u8]) -> [u64; BITS] {
        // A function for each of them would not be inlined.
        [load_word(lane, 0), load_word(lane, 8), load_word(lane, 16)]
    }

    #[inline(always)]
    fn store(lane: &mut [u8], word: [u64; BITS]) {
        for (plane, bits) in word.into_iter().enumerate() {
            store_word(lane, 8 * plane, bits);
        }
    }

    #[inline(always)]
    fn is_clear(&self, word: [u64; BITS], from: u32, to: u32) -> bool {
        let range = mask_through(to & 63) & !0 << (from & 63);
        (word[0] | word[1] | word[2]) & range == 0
    }

    #[inline(always)]
    fn has_symbol(&self, word: [u64; BITS], from: u32, to: u32) -> bool {
        !self.is_clear(word, from, to)
    }

    #[inline(always)]
    fn symbols(&self, word: [u64; BITS]) -> impl Iterator<Item = (u32, Selector)> {
        let mut left = word[0] | word[1] | word[2];
        std::iter::from_fn(move || {
            let slot = left.trailing_zeros();
            if slot == SLOTS {
                return None;
            }
            left &= left - 1;
            let bit = |plane: usize| (word[plane] >> slot & 1) << plane;
            Some((slot, (0..BITS).map(bit).sum::<u64>() as Selector))
        })
    }

    #[inline(always)]
    fn encode(&self, symbols: impl IntoIterator<Item = (u32, Selector)>) -> Option<[u64; BITS]> {
        let mut word = [0; BITS];
        for (slot, selector) in symbols {
            if selector > Self::MAX {
                return None;
            }
            for (plane, bits) in word.iter_mut().enumerate() {
                *bits |= u64::from(selector >> plane & 1) << slot;
            }
        }
        Some(word)
    }

    #[inline(always)]
    fn raise_few(&self, lane: &mut [u8], low: u32, high: u32) -> bool {
        match self.raise(Self::load(lane), low, high, 0) {
            Some((raised, 0)) => {
                Self::store(lane, raised);
                true
            }
            _ => false,
        }
    }

    #[inline(always)]
    fn raise(
        &self,
        word: [u64; BITS],
        low: u32,
        high: u32,
        carry: Selector,
    ) -> Option<([u64; BITS], Selector)> {
        let below = |slot| 1_u64.checked_shl(slot).map_or(!0, |bit| bit - 1);
        let range = below(high) & !below(low);
        let mut raised = [0; BITS];
        let mut out = 0;
        for (plane, bits) in word.into_iter().enumerate() {
            let moves = bits & range;
            raised[plane] = bits & !range | moves << 1 | u64::from(carry >> plane & 1);
            out |= ((moves >> 63) as Selector) << plane;
        }
        Some((raised, out))
    }
}
