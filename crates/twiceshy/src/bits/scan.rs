//! All 64 slots of a block at once: which hold something, and which are in order.
//!
//! ```text
//! slots        3  5  5  0  0  9  2 …
//! filled       1  1  1  .  .  1  1          not zero
//! ascending    1  1  .  1  1  .  …          at most the slot to the right
//!              1  .  .  .  1  .  …          below it (`STRICT`)
//! ```

use super::cpu::Isa;
use super::packed::Packed;
use super::raw_block::RawBlock;

/// What [`RawBlock::scan`] needs to know about the width of slots, prepared once.
///
/// Eight slots are as many bytes as one has bits, so each eight of a block lie alike: in
/// vectors of eight narrow or four wide lanes, each half of which is loaded from where its
/// first slot starts, a byte shuffle and a shift put every slot into a lane of its own.
#[derive(Clone, Debug)]
pub struct SlotScan {
    pub(super) bits: u32,
    /// Where the first slot of each half of a vector starts: two halves if narrow, four if
    /// wide.
    pub(super) halves: [usize; 4],
    /// Which bytes of its half hold each slot.
    pub(super) shuffle: [u8; 64],
    /// By how many bits each slot is shifted there: as words of 32 bits if narrow, of 64 if
    /// wide.
    pub(super) shifts: [u8; 64],
}

/// The answers, a bit for each slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scanned {
    /// The slots that are not zero.
    pub filled: u64,
    /// The slots that are at most, or below, their right neighbours. The last slot of the
    /// block has none: its bit means nothing.
    pub ascending: u64,
}

impl SlotScan {
    /// The widest slot that is found in four bytes wherever it starts. (All are found in
    /// eight.)
    const MAX_NARROW_BITS: u32 = 25;

    /// For slots of this width.
    #[must_use]
    pub fn new(packed: &Packed) -> Self {
        let mut scan = SlotScan {
            bits: packed.bits(),
            halves: [0; 4],
            shuffle: [0; 64],
            shifts: [0; 64],
        };
        let bits = scan.bits as usize;
        let (lane, per_half) = if scan.is_narrow() { (4, 4) } else { (8, 2) };
        for slot in 0..8 {
            let half = slot / per_half;
            scan.halves[half] = half * per_half * bits / 8;
            let bit = slot * bits - scan.halves[half] * 8;
            scan.shifts[slot * lane] = (bit % 8) as u8;
            for byte in 0..lane {
                scan.shuffle[slot * lane + byte] = (bit / 8 + byte) as u8;
            }
        }
        scan
    }

    /// Are lanes of 32 bits wide enough?
    #[inline(always)]
    pub(super) fn is_narrow(&self) -> bool {
        self.bits <= Self::MAX_NARROW_BITS
    }
}

/// A window of slots at a time.
#[inline(always)]
pub(super) fn by_windows<I: Isa, const STRICT: bool>(
    block: &RawBlock<'_>,
    packed: &Packed,
) -> Scanned {
    let highs = packed.highs();
    let (mut filled, mut ascending) = (0, 0);
    let mut first = 0;
    while first < 64 {
        let window = block.window(first);
        let next = block.window(first + 1);
        let right = if STRICT {
            highs & !packed.at_most(next, window)
        } else {
            packed.at_most(window, next)
        };
        // Slots beyond the last one of the block are shifted out.
        ascending |= I::compress(right, highs) << first;
        filled |= I::compress(packed.nonzero(window), highs) << first;
        first += packed.per_window();
    }
    Scanned { filled, ascending }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::cpu::SLACK;
    use crate::bits::raw_block::HEADER;
    use crate::bits::{Blocks, Cpu, Lane, Operation, mask_below};

    /// Nothing between header and slots.
    struct NoLane;

    impl Lane for NoLane {
        const BYTES: usize = 0;
    }

    struct Look<'t, const STRICT: bool>(&'t [u8], &'t Packed, &'t SlotScan);

    impl<const STRICT: bool> Operation for Look<'_, STRICT> {
        type Output = Scanned;

        #[inline(always)]
        fn run<I: Isa>(self) -> Scanned {
            let blocks: Blocks<&[u8], NoLane> =
                Blocks::new(self.0, self.1.clone(), 1).expect("one block and its padding");
            blocks.get(0).scan::<I, STRICT>(self.2)
        }
    }

    fn naive(values: &[u64], strict: bool) -> Scanned {
        let bits = |is: &dyn Fn(usize) -> bool, count| {
            (0..count).fold(0, |word, slot| word | u64::from(is(slot)) << slot)
        };
        let ascends = |slot: usize| {
            values[slot] < values[slot + 1] || !strict && values[slot] == values[slot + 1]
        };
        Scanned {
            filled: bits(&|slot| values[slot] != 0, 64),
            ascending: bits(&ascends, 63),
        }
    }

    #[test]
    fn scans_match_a_loop_at_every_width() {
        let mut state = 7_u64;
        let mut random = move || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z ^ z >> 27
        };
        for bits in 1..=56 {
            let packed = Packed::new(bits, 0);
            let scan = SlotScan::new(&packed);
            for round in 0..300 {
                let len = HEADER + packed.bytes_per_block() + SLACK;
                let mut bytes: Vec<u8> = (0..len).map(|_| random() as u8).collect();
                let mut values = Vec::new();
                for slot in 0..64 {
                    // Some equal to the one before, some off by one bit, some zero, some any.
                    let before = values.last().copied().unwrap_or(0);
                    let value = match random() % 4 {
                        0 => before,
                        1 => before ^ 1 << (random() % u64::from(bits)),
                        2 if round % 2 == 0 => 0,
                        _ => random() & mask_below(bits),
                    };
                    packed.set(&mut bytes[HEADER..], slot, value);
                    values.push(value);
                }
                for cpu in Cpu::all() {
                    let mask = |scanned: Scanned| Scanned {
                        ascending: scanned.ascending & mask_below(63),
                        ..scanned
                    };
                    let got = mask(cpu.run(Look::<false>(&bytes, &packed, &scan)));
                    assert_eq!(got, naive(&values, false), "{bits} bits");
                    let got = mask(cpu.run(Look::<true>(&bytes, &packed, &scan)));
                    assert_eq!(got, naive(&values, true), "{bits} bits");
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "of the block's width")]
    fn a_scan_of_another_width_is_refused() {
        let packed = Packed::new(9, 0);
        let bytes = vec![0; HEADER + packed.bytes_per_block() + SLACK];
        let _ = Cpu::detect().run(Look::<false>(
            &bytes,
            &packed,
            &SlotScan::new(&Packed::new(10, 0)),
        ));
    }
}
