//! The instructions of x86-64 since 2013: `popcnt`, `lzcnt`, `pdep` and 256-bit vectors.
//!
//! What vectors are for: the two loops of an insertion or a removal, the search for the
//! slot where the shifting stops and the shifting itself, run a number of times that no
//! branch predictor guesses. Here they take the same few steps always.

use std::arch::x86_64::{
    __cpuid, __m256i, _mm256_add_epi8, _mm256_add_epi64, _mm256_and_si256, _mm256_andnot_si256,
    _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_max_epi32, _mm256_movemask_epi8,
    _mm256_or_si256, _mm256_permute2x128_si256, _mm256_set1_epi8, _mm256_set1_epi32,
    _mm256_set1_epi64x, _mm256_setr_epi8, _mm256_setr_epi64x, _mm256_setzero_si256,
    _mm256_shuffle_epi8, _mm256_sll_epi64, _mm256_slli_si256, _mm256_sllv_epi64,
    _mm256_srl_epi64, _mm256_storeu_si256, _mm256_sub_epi8, _mm256_sub_epi64, _mm_cvtsi32_si128,
    _pdep_u64,
};
use std::sync::OnceLock;

use super::cpu::{Isa, Operation};

/// Every method is called from [`run`] only, on a machine with all that it enables: that
/// is the `SAFETY` of every block here.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx2(());

/// # Safety
/// The machine must have popcnt, lzcnt, bmi1, bmi2 and avx2.
#[inline(never)]
#[target_feature(enable = "popcnt,lzcnt,bmi1,bmi2,avx2")]
pub(super) unsafe fn run<O: Operation>(operation: O) -> O::Output {
    operation.run::<Avx2>()
}

/// Has this machine all that [`run`] needs, and is it fast? AMD families before 19h take
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

impl Isa for Avx2 {
    #[inline(always)]
    fn select_bit(word: u64, rank: u32) -> u64 {
        // SAFETY: see `Avx2`.
        unsafe { _pdep_u64(1 << rank, word) }
    }

    /// The count of opened less the count of closed at every slot, as prefix sums of 64
    /// bytes: settled is where it is zero.
    #[inline(always)]
    fn first_settled(opened: u64, closed: u64, from: u32) -> Option<u32> {
        // SAFETY: see `Avx2`.
        let settled = unsafe {
            // What closes at a slot counts from the next one on.
            let closed = closed << 1;
            let low = prefix_sums(opened as u32, closed as u32);
            // The sum of the whole lower half, in every byte of the upper one.
            let total = (opened as u32).count_ones() as i8 - (closed as u32).count_ones() as i8;
            let high = prefix_sums((opened >> 32) as u32, (closed >> 32) as u32);
            let high = _mm256_add_epi8(high, _mm256_set1_epi8(total));
            zeros(low) | zeros(high) << 32
        };
        let settled = settled & !0 << from;
        (settled != 0).then(|| settled.trailing_zeros())
    }

    #[inline(always)]
    unsafe fn shift_words_up(words: *mut u8, count: u32, bits: u32, low: u32, high: u32) {
        // From the highest vector down, so that each reads what is not yet moved.
        for vector in (0..count.div_ceil(4)).rev() {
            // SAFETY: see `Avx2` and the caller's promise: vectors reach at most 24 bytes
            // beyond the words, where they write what was there.
            unsafe {
                let at = words.add(vector as usize * 32);
                let here = _mm256_loadu_si256(at.cast());
                let below = _mm256_loadu_si256(at.sub(8).cast());
                let up = _mm256_sll_epi64(here, _mm_cvtsi32_si128(bits as i32));
                let over = _mm256_srl_epi64(below, _mm_cvtsi32_si128(64 - bits as i32));
                let moved = _mm256_or_si256(up, over);
                let range = range(vector * 256, low, high);
                let kept = _mm256_andnot_si256(range, here);
                let new = _mm256_or_si256(_mm256_and_si256(range, moved), kept);
                _mm256_storeu_si256(at.cast(), new);
            }
        }
    }

    #[inline(always)]
    unsafe fn shift_words_down(words: *mut u8, count: u32, bits: u32, low: u32, high: u32) {
        // From the lowest vector up, so that each reads what is not yet moved.
        for vector in 0..count.div_ceil(4) {
            // SAFETY: see `Avx2` and the caller's promise: vectors reach at most 32 bytes
            // beyond the words, where they write what was there.
            unsafe {
                let at = words.add(vector as usize * 32);
                let here = _mm256_loadu_si256(at.cast());
                let above = _mm256_loadu_si256(at.add(8).cast());
                let down = _mm256_srl_epi64(here, _mm_cvtsi32_si128(bits as i32));
                let over = _mm256_sll_epi64(above, _mm_cvtsi32_si128(64 - bits as i32));
                let moved = _mm256_or_si256(down, over);
                let range = range(vector * 256, low, high);
                let kept = _mm256_andnot_si256(range, here);
                let new = _mm256_or_si256(_mm256_and_si256(range, moved), kept);
                _mm256_storeu_si256(at.cast(), new);
            }
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

/// A bit for each byte that is zero.
#[inline(always)]
unsafe fn zeros(bytes: __m256i) -> u64 {
    // SAFETY: see `Avx2`.
    unsafe {
        let zero = _mm256_cmpeq_epi8(bytes, _mm256_setzero_si256());
        u64::from(_mm256_movemask_epi8(zero) as u32)
    }
}

/// The bits `low..high` as far as they are in the four words that start at bit `start`.
#[inline(always)]
unsafe fn range(start: u32, low: u32, high: u32) -> __m256i {
    // SAFETY: see `Avx2`.
    unsafe {
        let word = _mm256_add_epi64(
            _mm256_set1_epi64x(i64::from(start)),
            _mm256_setr_epi64x(0, 64, 128, 192),
        );
        // Shifts by 64 and more give zero; negative ones must not.
        let from = |bit: u32| {
            let bit = _mm256_sub_epi64(_mm256_set1_epi64x(i64::from(bit)), word);
            let bit = _mm256_max_epi32(bit, _mm256_setzero_si256());
            _mm256_sllv_epi64(_mm256_set1_epi8(-1), bit)
        };
        _mm256_andnot_si256(from(high), from(low))
    }
}
