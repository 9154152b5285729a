//! Where shifting stops: the places of ends and homes, counted or put in order, 64 slots at once.
//!
//! Everything here needs what [`Avx512`](super::Avx512) needs.

#![allow(
    clippy::incompatible_msrv,
    reason = "compiled only where the compiler has all of this: see build.rs"
)]

use std::arch::x86_64::{
    __m512i, _mm512_add_epi8, _mm512_and_si512, _mm512_cmpeq_epi8_mask, _mm512_cmplt_epu8_mask,
    _mm512_loadu_si512, _mm512_maskz_compress_epi8, _mm512_popcnt_epi8, _mm512_popcnt_epi64,
    _mm512_set1_epi8, _mm512_set1_epi64, _mm512_setr_epi64, _mm512_shuffle_epi8, _mm512_sub_epi8,
    _mm512_sub_epi64,
};

/// The places of 64 slots, counted down.
const PLACES: &[u8; 64] = &{
    let mut places = [0; 64];
    let mut i = 0;
    while i < 64 {
        places[i] = 64 - i as u8;
        i += 1;
    }
    places
};

/// A bit for each slot up to and including which as many bits of `opened` are set, and `open`
/// more, as of `closed`. The count of opened less the count of closed at every slot, in a byte
/// each: what the eight bits around it say, and what the bits below those do.
///
/// ```text
/// byte     0   1  …  7     8   9  …  15       of the result
/// within   bits 0..=i of byte 0 | of byte 1   a byte for each, masked and counted
/// before   0                    | byte 0      a word for each eight, masked and counted
/// ```
///
/// # Safety
/// The machine has what [`Avx512`](super::Avx512) needs.
#[inline(always)]
pub(super) unsafe fn all_balanced(opened: u64, closed: u64, open: u32) -> u64 {
    // SAFETY: the caller's promise.
    unsafe {
        let opened = _mm512_set1_epi64(opened as i64);
        let closed = _mm512_set1_epi64(closed as i64);
        let within = _mm512_sub_epi8(count_within(opened), count_within(closed));
        let before = _mm512_sub_epi64(count_before(closed), count_before(opened));
        // Each word's lowest byte, eight times.
        let before = _mm512_shuffle_epi8(
            before,
            _mm512_setr_epi64(0, EIGHTS, 0, EIGHTS, 0, EIGHTS, 0, EIGHTS),
        );
        // With 64 open ones none of the 64 slots is settled, and bytes can't tell more.
        let within = _mm512_add_epi8(within, _mm512_set1_epi8(open.min(64) as i8));
        _mm512_cmpeq_epi8_mask(within, before)
    }
}

/// Whether there is room behind the ends, in the order of their ranks: see [`with_room`](super::cpu::Isa::with_room). The
/// places of ends and starts are put in order, counted down so that a start that is not there is the
/// last. What is said of an end that is not there means nothing.
///
/// # Safety
/// The machine has what [`Avx512`](super::Avx512) needs.
#[inline(always)]
pub(super) unsafe fn room_in_order(ends: u64, starts: u64) -> u64 {
    // SAFETY: the caller's promise.
    unsafe {
        let places = _mm512_loadu_si512(PLACES.as_ptr().cast());
        let ends = _mm512_maskz_compress_epi8(ends, places);
        let starts = _mm512_maskz_compress_epi8(starts, places);
        _mm512_cmplt_epu8_mask(starts, ends)
    }
}

/// Eight bytes of 8: which byte of 16 to take.
const EIGHTS: i64 = 0x0808_0808_0808_0808;

/// Byte `i` of the result: how many of the bits of byte `i / 8`, up to and including bit `i % 8`,
/// are set. `word` is eight times the same.
#[inline(always)]
unsafe fn count_within(word: __m512i) -> __m512i {
    const ONES: i64 = 0x0101_0101_0101_0101;
    // SAFETY: the caller's promise.
    unsafe {
        let bytes = _mm512_setr_epi64(
            0,
            ONES,
            2 * ONES,
            3 * ONES,
            4 * ONES,
            5 * ONES,
            6 * ONES,
            7 * ONES,
        );
        let through = _mm512_set1_epi64(0xff7f_3f1f_0f07_0301_u64 as i64);
        _mm512_popcnt_epi8(_mm512_and_si512(_mm512_shuffle_epi8(word, bytes), through))
    }
}

/// Word `i` of the result: how many of the first `8 i` bits are set. `word` is eight times the
/// same.
#[inline(always)]
unsafe fn count_before(word: __m512i) -> __m512i {
    const fn below(bits: u32) -> i64 {
        (1 << bits) - 1
    }
    // SAFETY: the caller's promise.
    unsafe {
        let before = _mm512_setr_epi64(
            0,
            below(8),
            below(16),
            below(24),
            below(32),
            below(40),
            below(48),
            below(56),
        );
        _mm512_popcnt_epi64(_mm512_and_si512(word, before))
    }
}
