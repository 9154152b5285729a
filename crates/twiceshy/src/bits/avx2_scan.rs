//! [`SlotScan`] by vectors: a lane for each slot.

use std::arch::x86_64::{
    __m256i, _mm_loadu_si128, _mm256_and_si256, _mm256_blend_epi32, _mm256_castsi128_si256,
    _mm256_castsi256_pd, _mm256_cmpeq_epi32, _mm256_cmpeq_epi64, _mm256_cmpgt_epi32,
    _mm256_cmpgt_epi64, _mm256_inserti128_si256, _mm256_loadu_si256, _mm256_movemask_epi8,
    _mm256_movemask_pd, _mm256_packs_epi16, _mm256_packs_epi32, _mm256_permute4x64_epi64,
    _mm256_permutevar8x32_epi32, _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_setr_epi32,
    _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_srlv_epi32, _mm256_srlv_epi64,
};

use super::scan::{Scanned, SlotScan};

/// # Safety
/// The machine has AVX2, and 64 slots of `scan.bits` bits and 16 more bytes are readable at
/// `slots`.
#[inline(always)]
pub(super) unsafe fn scan<const STRICT: bool>(slots: *const u8, scan: &SlotScan) -> Scanned {
    // SAFETY: the caller's promise.
    unsafe {
        if scan.is_narrow() {
            by_narrow_lanes::<STRICT>(slots, scan)
        } else {
            by_wide_lanes::<STRICT>(slots, scan)
        }
    }
}

/// The bytes of one vector, those of each slot at the start of its lane.
///
/// # Safety
/// As [`scan`]; `at` is where one of the eight times eight slots starts, and `vector` is one of
/// those that these take.
#[inline(always)]
unsafe fn spread(at: *const u8, scan: &SlotScan, vector: usize) -> __m256i {
    // SAFETY: the last half of eight slots starts before the end of them, and 16 bytes may be
    // read from there; the shuffle has 32 bytes for each of two vectors.
    unsafe {
        let [low, high] = [scan.halves[2 * vector], scan.halves[2 * vector + 1]];
        let low = _mm256_castsi128_si256(_mm_loadu_si128(at.add(low).cast()));
        let both = _mm256_inserti128_si256::<1>(low, _mm_loadu_si128(at.add(high).cast()));
        _mm256_shuffle_epi8(both, load(&scan.shuffle, vector))
    }
}

/// One of two vectors of constants.
///
/// # Safety
/// The machine has AVX2.
#[inline(always)]
unsafe fn load(constants: &[u8; 64], vector: usize) -> __m256i {
    // SAFETY: the second half ends with the array.
    unsafe { _mm256_loadu_si256(constants.as_ptr().add(vector % 2 * 32).cast()) }
}

/// Eight slots in lanes of 32 bits.
///
/// # Safety
/// As [`scan`].
#[inline(always)]
unsafe fn by_narrow_lanes<const STRICT: bool>(slots: *const u8, scan: &SlotScan) -> Scanned {
    let (mut zero, mut differs) = (0, 0);
    // SAFETY: the caller's promise; eight slots take as many bytes as one has bits.
    unsafe {
        let shifts = load(&scan.shifts, 0);
        let mask = _mm256_set1_epi32((1 << scan.bits) - 1);
        let rotate = _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 0);
        let nothing = _mm256_setzero_si256();
        // From the last slots down, so that the right neighbours are at hand.
        let mut behind = nothing;
        for half in (0..2).rev() {
            let (mut zeros, mut above) = ([nothing; 4], [nothing; 4]);
            for eight in (0..4).rev() {
                let at = (half * 4 + eight) * scan.bits as usize;
                let here = _mm256_srlv_epi32(spread(slots.add(at), scan, 0), shifts);
                let here = _mm256_and_si256(here, mask);
                let next = _mm256_blend_epi32::<1>(here, behind);
                let next = _mm256_permutevar8x32_epi32(next, rotate);
                zeros[eight] = _mm256_cmpeq_epi32(here, nothing);
                // Values have fewer bits than lanes: they are the same signed or not.
                above[eight] = if STRICT {
                    _mm256_cmpgt_epi32(next, here)
                } else {
                    _mm256_cmpgt_epi32(here, next)
                };
                behind = here;
            }
            zero = zero << 32 | lane_bits(zeros);
            differs = differs << 32 | lane_bits(above);
        }
    }
    Scanned {
        filled: !zero,
        ascending: if STRICT { differs } else { !differs },
    }
}

/// A bit for each of 32 lanes that are 0 or -1.
///
/// # Safety
/// The machine has AVX2.
#[inline(always)]
unsafe fn lane_bits([a, b, c, d]: [__m256i; 4]) -> u64 {
    // SAFETY: the caller's promise.
    unsafe {
        // Both halves of the vectors are packed alone, which leaves their quarters in the order
        // a, b, c, d, a, b, c, d.
        let halves = [_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d)];
        let bytes = _mm256_packs_epi16(halves[0], halves[1]);
        let order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
        let bytes = _mm256_permutevar8x32_epi32(bytes, order);
        u64::from(_mm256_movemask_epi8(bytes) as u32)
    }
}

/// Four slots in lanes of 64 bits.
///
/// # Safety
/// As [`scan`].
#[inline(always)]
unsafe fn by_wide_lanes<const STRICT: bool>(slots: *const u8, scan: &SlotScan) -> Scanned {
    let (mut filled, mut ascending) = (0, 0);
    // SAFETY: the caller's promise; eight slots take as many bytes as one has bits.
    unsafe {
        let mask = _mm256_set1_epi64x((1 << scan.bits) - 1);
        let bits = |lanes| u64::from(_mm256_movemask_pd(_mm256_castsi256_pd(lanes)) as u32);
        let mut behind = _mm256_setzero_si256();
        for four in (0..16).rev() {
            let here = spread(slots.add(four / 2 * scan.bits as usize), scan, four % 2);
            let here = _mm256_srlv_epi64(here, load(&scan.shifts, four % 2));
            let here = _mm256_and_si256(here, mask);
            let next = _mm256_blend_epi32::<3>(here, behind);
            let next = _mm256_permute4x64_epi64::<0b00_11_10_01>(next);
            let right = if STRICT {
                bits(_mm256_cmpgt_epi64(next, here))
            } else {
                bits(_mm256_cmpgt_epi64(here, next)) ^ 0xf
            };
            let zero = bits(_mm256_cmpeq_epi64(here, _mm256_setzero_si256()));
            ascending = ascending << 4 | right;
            filled = filled << 4 | (zero ^ 0xf);
            behind = here;
        }
    }
    Scanned { filled, ascending }
}
