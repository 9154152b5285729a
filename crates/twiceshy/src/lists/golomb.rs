//! Gaps between sorted numbers, in as few bits as their distribution allows.
//!
//! Numbers that are spread at random over a range have gaps of a geometric distribution, for which
//! Golomb's code is the best prefix code: a gap is divided by a parameter `M`, about `ln 2` of the
//! mean; the quotient is written in unary, the rest in `log2(M)` bits, rounded down for
//! the first few values and up for the others. It takes `log2(range / count) + 1.5` bits a number,
//! within a twentieth of a bit of the entropy.

use crate::bits::mask_below;

/// The parameter for `count` numbers below `range`, the same on every machine.
fn parameter(range: u64, count: u64) -> u64 {
    let mean_in_hundredths = u128::from(range) * 69 / u128::from(count.max(1));
    // Below `range`, so it fits.
    (mean_in_hundredths / 100).max(1) as u64
}

/// Writes numbers bit by bit, lowest bit first.
#[derive(Debug, Default)]
pub(super) struct BitWriter {
    bytes: Vec<u8>,
    /// Bits of the last byte that are taken; 0 if it is full or there is none.
    taken: u32,
}

impl BitWriter {
    /// The low `count` bits of `value`.
    pub(super) fn bits(&mut self, value: u64, count: u32) {
        for i in 0..count {
            if self.taken == 0 {
                self.bytes.push(0);
            }
            if let Some(last) = self.bytes.last_mut() {
                *last |= ((value >> i & 1) as u8) << self.taken;
            }
            self.taken = (self.taken + 1) % 8;
        }
    }

    /// So many ones and a zero.
    pub(super) fn unary(&mut self, value: u64) {
        (0..value).for_each(|_| self.bits(1, 1));
        self.bits(0, 1);
    }

    /// A number in Golomb's code of parameter `m`.
    pub(super) fn golomb(&mut self, value: u64, m: u64) {
        self.unary(value / m);
        let (width, short) = truncated(m);
        let rest = value % m;
        if rest < short {
            self.bits(rest, width);
        } else {
            // The high bits first, so that the reader sees which of the two it is.
            let long = rest + short;
            self.bits(long >> 1, width);
            self.bits(long & 1, 1);
        }
    }

    /// Numbers below `range` in ascending order, by their gaps.
    pub(super) fn sorted(&mut self, range: u64, numbers: &[u64]) {
        let m = parameter(range, numbers.len() as u64);
        let mut last = 0;
        for &number in numbers {
            self.golomb(number - last, m);
            last = number;
        }
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// How many bits the short rests of a parameter take, and how many rests are short.
fn truncated(m: u64) -> (u32, u64) {
    let width = m.ilog2();
    // 2^(width + 1) - m, which is at most m.
    (width, (1_u64 << width) - (m - (1_u64 << width)))
}

/// Reads what [`BitWriter`] wrote; `None` where the bits end, or say what can't be.
#[derive(Debug)]
pub(super) struct BitReader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> BitReader<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        BitReader { bytes, at: 0 }
    }

    /// How many bits are left.
    pub(super) fn left(&self) -> usize {
        self.bytes.len() * 8 - self.at
    }

    /// The next `count` bits, at most 64.
    pub(super) fn bits(&mut self, count: u32) -> Option<u64> {
        if self.left() < count as usize {
            return None;
        }
        let mut value = 0;
        let mut have = 0;
        while have < count {
            let (byte, skip) = (self.bytes[self.at / 8], (self.at % 8) as u32);
            let take = (8 - skip).min(count - have);
            let part = u64::from(byte >> skip) & mask_below(take);
            value |= part << have;
            have += take;
            self.at += take as usize;
        }
        Some(value)
    }

    pub(super) fn unary(&mut self) -> Option<u64> {
        let mut value = 0;
        while self.bits(1)? == 1 {
            value += 1;
        }
        Some(value)
    }

    pub(super) fn golomb(&mut self, m: u64) -> Option<u64> {
        let quotient = self.unary()?;
        let (width, short) = truncated(m);
        let mut rest = self.bits(width)?;
        if rest >= short {
            rest = (rest << 1 | self.bits(1)?) - short;
        }
        quotient.checked_mul(m)?.checked_add(rest)
    }

    /// So many numbers below `range` in ascending order, all different if `strictly`.
    pub(super) fn sorted(&mut self, range: u64, count: u64, strictly: bool) -> Option<Vec<u64>> {
        let m = parameter(range, count);
        let (mut numbers, mut last) = (Vec::new(), 0_u64);
        for i in 0..count {
            let gap = self.golomb(m)?;
            let number = last.checked_add(gap).filter(|&number| number < range)?;
            if strictly && i > 0 && gap == 0 {
                return None;
            }
            numbers.push(number);
            last = number;
        }
        Some(numbers)
    }

    /// Is nothing left but the zero bits of the last byte?
    pub(super) fn is_done(&mut self) -> bool {
        let left = self.left();
        left < 8 && self.bits(left as u32) == Some(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_back_at_every_parameter() {
        for m in (1..70).chain([127, 128, 129, 1_000, 1 << 40, (1 << 40) + 1]) {
            let numbers = (0..200).chain([m - 1, m, m + 1, 3 * m + m / 2]);
            let numbers: Vec<u64> = numbers.collect();
            let mut writer = BitWriter::default();
            for &number in numbers.iter().filter(|&&number| number / m < 1_000) {
                writer.golomb(number, m);
            }
            writer.bits(0b101, 3);
            writer.unary(7);
            let bytes = writer.into_bytes();
            let mut reader = BitReader::new(&bytes);
            for &number in numbers.iter().filter(|&&number| number / m < 1_000) {
                assert_eq!(reader.golomb(m), Some(number), "parameter {m}");
            }
            assert_eq!(reader.bits(3), Some(0b101));
            assert_eq!(reader.unary(), Some(7));
            assert!(reader.is_done());
            assert_eq!(reader.golomb(m), None);
        }
    }

    #[test]
    fn random_gaps_take_what_the_entropy_says() {
        let (range, count) = (1_u64 << 29, 1_000_u64);
        let m = parameter(range, count);
        let mut state = 1_u64;
        let mut numbers: Vec<u64> = (0..count)
            .map(|_| {
                state = state.wrapping_add(crate::hash::GOLDEN);
                crate::hash::mix(state) % range
            })
            .collect();
        numbers.sort_unstable();
        let mut writer = BitWriter::default();
        let mut last = 0;
        for number in numbers {
            writer.golomb(number - last, m);
            last = number;
        }
        let bits = writer.into_bytes().len() as f64 * 8.0 / count as f64;
        let entropy = (range as f64 / count as f64).log2() + std::f64::consts::LOG2_E;
        // The mean of 1,000 lengths, each within a few bits: a tenth is five deviations.
        assert!((bits - entropy).abs() < 0.2, "{bits} against {entropy}");
    }
}
