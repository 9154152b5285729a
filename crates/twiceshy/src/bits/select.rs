//! Select without special instructions.

const BYTES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = BYTES << 7;

/// The set bit of `word` that has `rank` set bits below it, or 0 if there is none.
///
/// Broadword: per-byte population counts, their prefix sums by one multiplication, the
/// byte by one parallel comparison, and the bit inside that byte by clearing the lower
/// ones (at most seven).
#[inline(always)]
pub(super) fn select_bit(word: u64, rank: u32) -> u64 {
    let pairs = word - (word >> 1 & 0x5555_5555_5555_5555);
    let nibbles = (pairs & 0x3333_3333_3333_3333) + (pairs >> 2 & 0x3333_3333_3333_3333);
    let counts = (nibbles + (nibbles >> 4)) & 0x0f0f_0f0f_0f0f_0f0f;
    // Byte i: how many bits are set in bytes 0..=i; at most 64, so no carry crosses.
    let sums = counts.wrapping_mul(BYTES);
    if u64::from(rank) >= sums >> 56 {
        return 0;
    }
    // The high bit of byte i says that its sum is at most `rank`: the bit lies beyond.
    let beyond = (((u64::from(rank) * BYTES) | HIGHS) - sums) & HIGHS;
    let at = beyond.count_ones() * 8;
    // `sums << 8` holds at byte i the sum of the bytes below it.
    let mut left = u64::from(rank) - (sums << 8 >> at & 0xff);
    let mut byte = word >> at & 0xff;
    while left > 0 {
        byte &= byte - 1;
        left -= 1;
    }
    (byte & byte.wrapping_neg()) << at
}
