//! Masks that are looked up.
//!
//! To look a mask up, or to make it by a shift, takes a processor about as long. But an operation
//! on a table that is larger than the caches mostly waits, and what follows waits with it: up to
//! some seventy instructions, after which the processor takes in no others, and the next operation
//! can't begin to wait at the same time. Loads have a queue of their own. See `docs/performance.md`,
//! "What waits for memory".

/// All of them, so that they have one address.
#[repr(align(64))]
struct Masks {
    /// Entry `n`: all bits but bit `n`, if there is one.
    all_but: [u64; 128],
    /// Entry `n`: the lowest `n` bits, as far as there are such.
    below: [u64; 128],
    /// Entry `n`: the bits `n - 1` and `n`, as far as there are such.
    pairs: [u64; 128],
    /// Row `b`: 64 bytes of ones, one with the lowest `b` bits, and zeros. From `64 - n` on, there
    /// are the lowest `8 n + b` bits of 64 bytes.
    rows: [[u8; ROW]; 8],
}

/// Bytes of a row.
const ROW: usize = 128;

static MASKS: Masks = {
    let mut masks = Masks {
        all_but: [!0; 128],
        below: [!0; 128],
        pairs: [0; 128],
        rows: [[0; ROW]; 8],
    };
    let mut n = 0;
    while n < 64 {
        masks.all_but[n] = !(1 << n);
        masks.below[n] = (1 << n) - 1;
        masks.pairs[n] |= 1 << n;
        masks.pairs[n + 1] = 1 << n;
        let mut row = 0;
        while row < 8 {
            masks.rows[row][n] = !0;
            masks.rows[row][64] = (1 << row) - 1;
            row += 1;
        }
        n += 1;
    }
    masks
};

/// All bits but this one of the low half of 128.
#[inline(always)]
#[must_use]
pub(super) fn all_but(bit: u32) -> u64 {
    MASKS.all_but[(bit & 127) as usize]
}

/// The lowest `count & 63` bits.
#[inline(always)]
#[must_use]
pub(super) fn low_bits(count: u32) -> u64 {
    MASKS.below[(count & 63) as usize]
}

/// The lowest `count & 127` bits, as far as there are such.
#[inline(always)]
#[must_use]
pub(super) fn bits_below(count: u32) -> u64 {
    MASKS.below[(count & 127) as usize]
}

/// Bit number `n & 127`, from 1 on, and the next one, as far as there are such.
#[inline(always)]
#[must_use]
pub(super) fn pair(n: u32) -> u64 {
    MASKS.pairs[(n & 127) as usize]
}

/// For [`below_end`]: what stands for an end that is so many bits behind the start of a vector.
/// For one that starts so many bytes later, it is as many more.
#[must_use]
pub(super) const fn end(bits: u32) -> i16 {
    (bits % 8 * ROW as u32 + 64) as i16 - (bits / 8) as i16
}

/// 64 bytes to be read: all bits below an [`end`] that lies in a vector, or is its end.
#[inline(always)]
#[must_use]
pub(super) fn below_end(end: isize) -> *const u8 {
    debug_assert!((0..(8 * ROW) as isize).contains(&end) && end % ROW as isize <= 64);
    MASKS.rows.as_ptr().cast::<u8>().wrapping_offset(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_what_they_say() {
        for n in 0..64 {
            assert_eq!((all_but(n), all_but(64 + n)), (!(1 << n), !0));
            assert_eq!(low_bits(n), (1 << n) - 1);
            assert_eq!((bits_below(n), bits_below(64 + n)), (low_bits(n), !0));
            assert_eq!(u128::from(pair(n)), 3 << n >> 1);
        }
        assert_eq!((pair(64), pair(65)), (1 << 63, 0));
    }

    #[test]
    fn rows_hold_the_bits_below_any_end() {
        for start in 0..100 {
            for bits in 8 * start..=8 * start + 512 {
                let at = usize::try_from(i32::from(end(bits)) + start as i32).unwrap();
                let bytes = &MASKS.rows.as_flattened()[at..at + 64];
                let inside = bits - 8 * start;
                for bit in 0..512 {
                    let set = bytes[bit as usize / 8] >> (bit % 8) & 1 == 1;
                    assert_eq!(set, bit < inside, "bit {bit} of {inside}");
                }
            }
        }
    }
}
