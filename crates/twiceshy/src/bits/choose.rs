//! Choices without a branch.
//!
//! A choice that depends on what was just read cannot be foreseen: a branch on it is guessed wrong
//! every other time, and all that was begun behind it, the next lookups among it, is lost. But
//! of an `if` compilers make a branch as they please, and of arithmetic that stands for one too.
//! So on x86-64 the two choices that are made for every key are spelled out; and being spelled
//! out, they take one or two instructions less.

/// The marks of `mask` in the first of two words that has any, and what stands beside that word;
/// no marks, and what stands beside the second one, if none has.
#[inline(always)]
#[must_use]
pub fn first_marked(mask: u64, words: [u64; 2], beside: [u64; 2]) -> (u64, u64) {
    #[cfg(all(target_arch = "x86_64", not(twiceshy_portable), not(miri)))]
    {
        let ([mut word, second], [mut chosen, other]) = (words, beside);
        // SAFETY: it changes registers that it names, and flags, and nothing else; every x86-64
        // has conditional moves.
        unsafe {
            std::arch::asm!(
                "and {word}, {mask}",
                "cmovz {word}, {second}",
                "cmovz {chosen}, {other}",
                word = inout(reg) word,
                chosen = inout(reg) chosen,
                mask = in(reg) mask,
                second = in(reg) second,
                other = in(reg) other,
                options(pure, nomem, nostack),
            );
        }
        (word & mask, chosen)
    }
    #[cfg(not(all(target_arch = "x86_64", not(twiceshy_portable), not(miri))))]
    {
        portable::first_marked(mask, words, beside)
    }
}

/// `a - b`, and `end` more if that is negative.
#[inline(always)]
#[must_use]
pub fn difference_below(end: u64, a: u64, b: u64) -> u64 {
    #[cfg(all(target_arch = "x86_64", not(twiceshy_portable), not(miri)))]
    {
        let mut difference = a;
        // SAFETY: as above.
        unsafe {
            std::arch::asm!(
                "sub {difference}, {b}",
                "lea {sum}, [{difference} + {end}]",
                "cmovb {difference}, {sum}",
                difference = inout(reg) difference,
                sum = out(reg) _,
                b = in(reg) b,
                end = in(reg) end,
                options(pure, nomem, nostack),
            );
        }
        difference
    }
    #[cfg(not(all(target_arch = "x86_64", not(twiceshy_portable), not(miri))))]
    {
        portable::difference_below(end, a, b)
    }
}

/// The same by arithmetic.
#[cfg_attr(
    all(target_arch = "x86_64", not(twiceshy_portable), not(miri)),
    cfg(test)
)]
mod portable {
    #[inline(always)]
    pub(super) fn first_marked(mask: u64, words: [u64; 2], beside: [u64; 2]) -> (u64, u64) {
        let [first, second] = words.map(|word| word & mask);
        let is_zero = ones_if_zero(first);
        let [chosen, other] = beside;
        let chosen = chosen ^ (chosen ^ other) & is_zero;
        (first | second & is_zero, chosen)
    }

    #[inline(always)]
    pub(super) fn difference_below(end: u64, a: u64, b: u64) -> u64 {
        let difference = a.wrapping_sub(b);
        let is_negative = u64::from(a < b).wrapping_neg();
        difference.wrapping_add(end & is_negative)
    }

    /// All ones for zero, and zero for any other word.
    #[inline(always)]
    fn ones_if_zero(word: u64) -> u64 {
        // Its highest bit is set for zero only.
        let below = word.wrapping_sub(1) & !word;
        (below as i64 >> 63) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: [u64; 8] = [0, 1, 2, 1 << 11, 1 << 62, 1 << 63, u64::MAX - 1, u64::MAX];

    #[test]
    fn the_first_that_is_marked() {
        for mask in WORDS {
            for first in WORDS {
                for second in WORDS {
                    let expected = if first & mask == 0 {
                        (second & mask, 9)
                    } else {
                        (first & mask, 4)
                    };
                    let (words, beside) = ([first, second], [4, 9]);
                    assert_eq!(first_marked(mask, words, beside), expected);
                    assert_eq!(portable::first_marked(mask, words, beside), expected);
                }
            }
        }
    }

    #[test]
    fn differences_come_back_below_the_end() {
        for end in [1, 2, 9, 1 << 40, 1 << 63] {
            for a in WORDS.map(|word| word % end) {
                for b in WORDS.map(|word| word % end) {
                    let expected = (u128::from(a) + u128::from(end - b)) % u128::from(end);
                    assert_eq!(u128::from(difference_below(end, a, b)), expected);
                    assert_eq!(u128::from(portable::difference_below(end, a, b)), expected);
                }
            }
        }
    }
}
