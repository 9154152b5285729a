//! One number that depends on every byte of a file.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// The XXH3-64 of the table, seeded with that of the header, which ends where the checksum
/// stands. Two calls instead of a hash that is fed in pieces: the table need not stand behind
/// the header in memory, and one call over much is the fastest there is.
pub(super) fn of(header: &[u8], table: &[u8]) -> u64 {
    xxh3_64_with_seed(table, xxh3_64(header))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Part of the file format: these never change.
    #[test]
    fn golden_checksums() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(of(&bytes[..120], &bytes), GOLDEN[0]);
        assert_eq!(of(&bytes[..120], &bytes[..17]), GOLDEN[1]);
    }

    const GOLDEN: [u64; 2] = [0x9c82_c79b_aeb2_c575, 0x9469_bba0_752a_d904];

    #[test]
    fn every_bit_counts() {
        let bytes: Vec<u8> = (0..=255).collect();
        let right = of(&bytes[..120], &bytes[120..]);
        for bit in 0..256 * 8 {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(of(&bytes[..120], &bytes[120..]), right, "bit {bit}");
        }
    }
}
