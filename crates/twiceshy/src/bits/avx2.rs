//! The instructions of x86-64 since 2013: `popcnt`, `lzcnt`, `pdep` and 256-bit vectors.
//!
//! What vectors are for: the two loops of an insertion or a removal, the search for the
//! slot where the shifting stops and the shifting itself, run a number of times that no
//! branch predictor guesses. Here they take the same few steps always.

use std::arch::x86_64::{
    __cpuid, __m256i, _bzhi_u64, _mm_cvtsi32_si128, _mm256_add_epi8, _mm256_and_si256,
    _mm256_andnot_si256, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_max_epi32,
    _mm256_movemask_epi8, _mm256_or_si256, _mm256_permute2x128_si256, _mm256_set1_epi8,
    _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_setr_epi8, _mm256_setr_epi64x,
    _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_sll_epi64, _mm256_slli_si256,
    _mm256_sllv_epi64, _mm256_srl_epi64, _mm256_srlv_epi64, _mm256_storeu_si256, _mm256_sub_epi8,
    _mm256_sub_epi64, _mm256_xor_si256, _pdep_u64, _pext_u64,
};
use std::sync::OnceLock;

use super::avx2_scan;
use super::cpu::Isa;
use super::masks::{all_but, pair};
use super::packed::Packed;
use super::raw_block::RawBlock;
use super::scan::{Scanned, SlotScan};

/// Every method is called from functions only that enable these features, on a machine that has them
/// (see [`dispatch`](super::dispatch)): that is the `SAFETY` of every block here.
#[derive(Clone, Copy, Debug)]
pub struct Avx2(());

/// Does the work of a test.
///
/// # Safety
/// The machine must have popcnt, lzcnt, bmi1, bmi2 and avx2.
#[cfg(test)]
#[target_feature(enable = "popcnt,lzcnt,bmi1,bmi2,avx2")]
pub(super) unsafe fn run<O: super::cpu::Operation>(operation: O) -> O::Output {
    operation.run::<Avx2>()
}

/// Has this machine all that [`Avx2`] needs, and is it fast? AMD families before 19h take
/// hundreds of cycles for a `pdep`.
pub(super) fn is_available() -> bool {
    static AVAILABLE: OnceLock<bool> = OnceLock::new();
    *AVAILABLE.get_or_init(|| {
        std::arch::is_x86_feature_detected!("popcnt")
            && std::arch::is_x86_feature_detected!("lzcnt")
            && std::arch::is_x86_feature_detected!("bmi1")
            && std::arch::is_x86_feature_detected!("bmi2")
            && std::arch::is_x86_feature_detected!("avx2")
            && !pdep_is_slow()
    })
}

fn pdep_is_slow() -> bool {
    // SAFETY: every x86-64 has `cpuid` with leaves 0 and 1.
    #[allow(unused_unsafe)]
    let (vendor, version) = unsafe { (__cpuid(0), __cpuid(1)) };
    // "AuthenticAMD" in the order of the registers.
    let amd = (vendor.ebx, vendor.edx, vendor.ecx) == (0x6874_7541, 0x6974_6e65, 0x444d_4163);
    let base = version.eax >> 8 & 0xf;
    let family = if base == 0xf {
        base + (version.eax >> 20 & 0xff)
    } else {
        base
    };
    amd && family < 0x19
}

/// A bit for each slot up to and including which as many bits of `opened` are set, and `open` more,
/// as of `closed`. Both halves of the block are always summed: which of them it is, no predictor
/// knows.
#[inline(always)]
fn all_balanced(opened: u64, closed: u64, open: i32) -> u64 {
    let half = (opened as u32).count_ones() as i32 - (closed as u32).count_ones() as i32;
    // SAFETY: see `Avx2`.
    unsafe {
        sums_equal(opened as u32, closed as u32, -open)
            | sums_equal((opened >> 32) as u32, (closed >> 32) as u32, -open - half) << 32
    }
}

impl Isa for Avx2 {
    #[inline(always)]
    fn select_bit(word: u64, rank: u32) -> u64 {
        // SAFETY: see `Avx2`.
        unsafe { _pdep_u64(1 << rank, word) }
    }

    #[inline(always)]
    fn select_pair(word: u64, rank: u32) -> u64 {
        Self::deposit(pair(rank), word)
    }

    /// There is room behind an end where one bit less of `starts` is set than of `ends`.
    #[inline(always)]
    fn with_room(ends: u64, starts: u64) -> u64 {
        all_balanced(starts, ends, 1) & ends
    }

    #[inline(always)]
    fn deposit(bits: u64, mask: u64) -> u64 {
        // SAFETY: see `Avx2`.
        unsafe { _pdep_u64(bits, mask) }
    }

    #[inline(always)]
    fn all_settled(opened: u64, closed: u64, open: u32) -> u64 {
        // What closes at a slot counts from the next one on.
        let closed = closed << 1;
        // With 64 open ones none of the 64 slots is settled, and sums of bytes can't tell
        // more. So every sum below is within -96 and 96.
        let open = open.min(64) as i32;
        let (low, high) = (opened as u32, (opened >> 32) as u32);
        let (closed_low, closed_high) = (closed as u32, (closed >> 32) as u32);
        let open_high = open + low.count_ones() as i32 - closed_low.count_ones() as i32;
        // SAFETY: see `Avx2`.
        unsafe {
            sums_equal(low, closed_low, -open) | sums_equal(high, closed_high, -open_high) << 32
        }
    }

    #[inline(always)]
    fn compress(word: u64, mask: u64) -> u64 {
        // SAFETY: see `Avx2`.
        unsafe { _pext_u64(word, mask) }
    }

    #[inline(always)]
    fn without_bit(word: u64, bit: u32) -> u64 {
        Self::compress(word, all_but(bit & 63))
    }

    #[inline(always)]
    fn close_bit(word: u64, from: u32, to: u32) -> u64 {
        // All bits but one are put together, and apart again with a gap elsewhere.
        Self::deposit(Self::compress(word, all_but(from)), all_but(to))
    }

    #[inline(always)]
    fn with_gap(word: u64, from: u32, to: u32) -> u64 {
        Self::deposit(Self::compress(word, all_but(to)), all_but(from))
    }

    #[inline(always)]
    fn low_bits(word: u64, count: u32) -> u64 {
        // SAFETY: see `Avx2`.
        unsafe { _bzhi_u64(word, count) }
    }

    #[inline(always)]
    unsafe fn scan<const STRICT: bool>(
        block: &RawBlock<'_>,
        _: &Packed,
        scan: &SlotScan,
    ) -> Scanned {
        // SAFETY: see `Avx2`; the block has 64 slots of that width, and padding behind them.
        unsafe { avx2_scan::scan::<STRICT>(block.slots(), scan) }
    }

    #[inline(always)]
    unsafe fn shift_words_up(words: *mut u8, bits: u32, low: u32, high: u32, carry: u64) {
        let (first, last) = (low / 64, high.wrapping_sub(1) / 64);
        // SAFETY: see `Avx2` and the caller's promise: vectors reach at most 24 bytes beyond
        // the last word, where they write what was there.
        unsafe {
            let (up, over) = (
                _mm_cvtsi32_si128(bits as i32),
                _mm_cvtsi32_si128(64 - bits as i32),
            );
            let range = Range::new(low, low + bits, high);
            let carry = Carry {
                value: carry,
                bit: low,
            };
            // From the highest vector down, so that each reads what is not yet moved. One
            // vector is nearly always enough.
            let mut word = first + (last - first) / 4 * 4;
            loop {
                let at = words.add(word as usize * 8);
                let here = _mm256_loadu_si256(at.cast());
                let below = _mm256_loadu_si256(at.sub(8).cast());
                let moved =
                    _mm256_or_si256(_mm256_sll_epi64(here, up), _mm256_srl_epi64(below, over));
                _mm256_storeu_si256(at.cast(), carry.put(word, range.choose(word, moved, here)));
                if word == first {
                    break;
                }
                word -= 4;
            }
        }
    }

    #[inline(always)]
    unsafe fn shift_words_down(words: *mut u8, bits: u32, low: u32, high: u32, carry: u64) {
        let (first, last) = (low / 64, high.wrapping_sub(1) / 64);
        // SAFETY: see `Avx2` and the caller's promise: vectors reach at most 32 bytes beyond
        // the last word, where they write what was there.
        unsafe {
            let (down, over) = (
                _mm_cvtsi32_si128(bits as i32),
                _mm_cvtsi32_si128(64 - bits as i32),
            );
            let range = Range::new(high, low, high - bits);
            let carry = Carry {
                value: carry,
                bit: high - bits,
            };
            // From the lowest vector up, so that each reads what is not yet moved. One
            // vector is nearly always enough.
            let mut word = first;
            loop {
                let at = words.add(word as usize * 8);
                let here = _mm256_loadu_si256(at.cast());
                let above = _mm256_loadu_si256(at.add(8).cast());
                let moved =
                    _mm256_or_si256(_mm256_srl_epi64(here, down), _mm256_sll_epi64(above, over));
                _mm256_storeu_si256(at.cast(), carry.put(word, range.choose(word, moved, here)));
                word += 4;
                if word > last {
                    break;
                }
            }
        }
    }
}

/// Where the bits `low..high` of many words move, and those of one slot beside them change.
struct Range {
    low: __m256i,
    high: __m256i,
    /// The other end of the slot: below `low` or above `high`.
    slot: __m256i,
}

/// How far `bit` is from the start of each of the first four words.
#[inline(always)]
unsafe fn distances(bit: u32) -> __m256i {
    // SAFETY: see `Avx2`.
    unsafe {
        _mm256_sub_epi64(
            _mm256_set1_epi64x(i64::from(bit)),
            _mm256_setr_epi64x(0, 64, 128, 192),
        )
    }
}

impl Range {
    #[inline(always)]
    unsafe fn new(slot: u32, low: u32, high: u32) -> Self {
        // SAFETY: see `Avx2`.
        unsafe {
            Range {
                low: distances(low),
                high: distances(high),
                slot: distances(slot),
            }
        }
    }

    /// The bits of `moved` that are in the range, zeros in the slot, and the others of
    /// `here`, all being the four words from `word` on.
    #[inline(always)]
    unsafe fn choose(&self, word: u32, moved: __m256i, here: __m256i) -> __m256i {
        // SAFETY: see `Avx2`.
        unsafe {
            let start = _mm256_set1_epi64x(i64::from(word * 64));
            // Shifts by 64 and more give zero; negative ones must not.
            let from = |bit: __m256i| {
                let bit = _mm256_sub_epi64(bit, start);
                let bit = _mm256_max_epi32(bit, _mm256_setzero_si256());
                _mm256_sllv_epi64(_mm256_set1_epi8(-1), bit)
            };
            let (low, high, slot) = (from(self.low), from(self.high), from(self.slot));
            let range = _mm256_xor_si256(low, high);
            // The slot lies below `low` or above `high`, so one of these is the range.
            let slot = _mm256_or_si256(_mm256_xor_si256(slot, low), _mm256_xor_si256(slot, high));
            _mm256_or_si256(
                _mm256_and_si256(range, moved),
                _mm256_andnot_si256(slot, here),
            )
        }
    }
}

/// The value of a slot, in its place.
struct Carry {
    value: u64,
    bit: u32,
}

impl Carry {
    /// `words` with the value put where zeros are, in the four words from `word` on: by a
    /// shift up or down, of which the other, by a negative number, gives zero. A value that
    /// is known to be zero costs nothing.
    #[inline(always)]
    unsafe fn put(&self, word: u32, words: __m256i) -> __m256i {
        if self.value == 0 {
            return words;
        }
        // SAFETY: see `Avx2`.
        unsafe {
            let value = _mm256_set1_epi64x(self.value as i64);
            let start = _mm256_set1_epi64x(i64::from(word * 64));
            let up = _mm256_sub_epi64(distances(self.bit), start);
            let down = _mm256_sub_epi64(_mm256_setzero_si256(), up);
            let placed =
                _mm256_or_si256(_mm256_sllv_epi64(value, up), _mm256_srlv_epi64(value, down));
            _mm256_or_si256(words, placed)
        }
    }
}

/// Byte `i` of the result: how many bits of `opened` less how many of `closed` are set
/// from bit 0 up to and including `i`.
#[inline(always)]
unsafe fn prefix_sums(opened: u32, closed: u32) -> __m256i {
    // SAFETY: see `Avx2`.
    unsafe {
        // Set bits are -1 as bytes.
        let x = _mm256_sub_epi8(spread(closed), spread(opened));
        let x = _mm256_add_epi8(x, _mm256_slli_si256::<1>(x));
        let x = _mm256_add_epi8(x, _mm256_slli_si256::<2>(x));
        let x = _mm256_add_epi8(x, _mm256_slli_si256::<4>(x));
        let x = _mm256_add_epi8(x, _mm256_slli_si256::<8>(x));
        // Each half of the vector is summed; the upper one lacks the sum of the lower.
        let lower = _mm256_permute2x128_si256::<0x08>(x, x);
        let total = _mm256_shuffle_epi8(lower, _mm256_set1_epi8(15));
        _mm256_add_epi8(x, total)
    }
}

/// Each bit as a byte: 0 or -1.
#[inline(always)]
unsafe fn spread(bits: u32) -> __m256i {
    // SAFETY: see `Avx2`.
    unsafe {
        let bytes = _mm256_setr_epi8(
            0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3,
            3, 3, 3,
        );
        let bit = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64 as i64);
        let x = _mm256_shuffle_epi8(_mm256_set1_epi32(bits as i32), bytes);
        _mm256_cmpeq_epi8(_mm256_and_si256(x, bit), bit)
    }
}

/// A bit for each of 32 places up to which as many bits of `opened` are set as of `closed`,
/// and `sum` more.
#[inline(always)]
unsafe fn sums_equal(opened: u32, closed: u32, sum: i32) -> u64 {
    // SAFETY: see `Avx2`.
    unsafe {
        let sums = prefix_sums(opened, closed);
        let equal = _mm256_cmpeq_epi8(sums, _mm256_set1_epi8(sum as i8));
        u64::from(_mm256_movemask_epi8(equal) as u32)
    }
}
