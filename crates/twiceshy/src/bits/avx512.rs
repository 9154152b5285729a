//! The instructions of x86-64 since 2019 (Ice Lake, Zen 4): 512-bit vectors that count bits and
//! shift across words.
//!
//! A block has 64 slots, so one vector of bytes holds a count for each of them, and eight words
//! are nearly always all that moves. What [`avx2`](super::avx2) does in some hundred instructions,
//! takes thirty here; that matters because an operation waits for memory, and how many of them
//! wait at the same time depends on how many fit into the processor's window of instructions.

#![allow(
    clippy::incompatible_msrv,
    reason = "compiled only where the compiler has all of this: see build.rs"
)]

use std::arch::x86_64::{
    __m128i, __m512i, _bzhi_u32, _mm_add_epi64, _mm_and_si128, _mm_cvtsi64_si128, _mm_loadu_si128,
    _mm_or_si128, _mm_set_epi64x, _mm_set1_epi64x, _mm_shrdi_epi64, _mm_srli_epi64,
    _mm_storeu_si128, _mm_ternarylogic_epi64, _mm512_alignr_epi64, _mm512_and_si512,
    _mm512_andnot_si512, _mm512_loadu_si512, _mm512_mask_storeu_epi64, _mm512_maskz_loadu_epi64,
    _mm512_or_si512, _mm512_set1_epi64, _mm512_setr_epi64, _mm512_setzero_si512,
    _mm512_shldv_epi64, _mm512_shrdv_epi64, _mm512_sllv_epi64, _mm512_srlv_epi64,
    _mm512_storeu_si512, _mm512_sub_epi64, _mm512_subs_epu16, _mm512_ternarylogic_epi64,
    _mm512_xor_si512, _mm512_zextsi128_si512,
};
use std::ops::Range;
use std::sync::OnceLock;

use super::avx2::{self, Avx2};
use super::avx512_room::{all_balanced, room_in_order};
use super::cpu::{Isa, close_all_by_shift, close_by_shift, open_by_shift};
use super::masks::{below_end, bits_below, low_bits};
use super::packed::{Packed, Start};
use super::raw_block::RawBlock;
use super::scan::{Scanned, SlotScan};

/// Every method is called from functions only that enable these features, on a machine that has them
/// (see [`dispatch`](super::dispatch)): that is the `SAFETY` of every block here.
#[derive(Clone, Copy, Debug)]
pub struct Avx512(());

/// Does the work of a test.
///
/// # Safety
/// The machine must have popcnt, lzcnt, bmi1, bmi2, avx2, and avx512 with f, bw, vl, bitalg,
/// vpopcntdq and vbmi2.
#[cfg(test)]
#[target_feature(
    enable = "popcnt,lzcnt,bmi1,bmi2,avx2,avx512f,avx512bw,avx512vl,avx512bitalg,avx512vpopcntdq,avx512vbmi2"
)]
pub(super) unsafe fn run<O: super::cpu::Operation>(operation: O) -> O::Output {
    operation.run::<Avx512>()
}

/// Has this machine all that [`Avx512`] needs?
pub(super) fn is_available() -> bool {
    static AVAILABLE: OnceLock<bool> = OnceLock::new();
    *AVAILABLE.get_or_init(|| {
        avx2::is_available()
            && std::arch::is_x86_feature_detected!("avx512f")
            && std::arch::is_x86_feature_detected!("avx512bw")
            && std::arch::is_x86_feature_detected!("avx512vl")
            && std::arch::is_x86_feature_detected!("avx512bitalg")
            && std::arch::is_x86_feature_detected!("avx512vpopcntdq")
            && std::arch::is_x86_feature_detected!("avx512vbmi2")
    })
}

impl Isa for Avx512 {
    #[inline(always)]
    fn select_bit(word: u64, rank: u32) -> u64 {
        Avx2::select_bit(word, rank)
    }

    #[inline(always)]
    fn select_pair(word: u64, rank: u32) -> u64 {
        Avx2::select_pair(word, rank)
    }

    #[inline(always)]
    fn with_room(ends: u64, starts: u64) -> u64 {
        // SAFETY: see `Avx512`.
        Self::deposit(unsafe { room_in_order(ends, starts) }, ends)
    }

    #[inline(always)]
    fn deposit(bits: u64, mask: u64) -> u64 {
        Avx2::deposit(bits, mask)
    }

    #[inline(always)]
    fn compress(word: u64, mask: u64) -> u64 {
        Avx2::compress(word, mask)
    }

    #[inline(always)]
    unsafe fn scan<const STRICT: bool>(
        block: &RawBlock<'_>,
        packed: &Packed,
        scan: &SlotScan,
    ) -> Scanned {
        // SAFETY: the caller's promise.
        unsafe { Avx2::scan::<STRICT>(block, packed, scan) }
    }

    #[inline(always)]
    fn all_settled(opened: u64, closed: u64, open: u32) -> u64 {
        // What closes at a slot counts from the next one on.
        // SAFETY: see `Avx512`.
        unsafe { all_balanced(opened, closed << 1, open) }
    }

    #[inline(always)]
    fn without_bit(word: u64, bit: u32) -> u64 {
        Avx2::without_bit(word, bit)
    }

    #[inline(always)]
    fn close_bit(word: u64, from: u32, to: u32) -> u64 {
        Avx2::close_bit(word, from, to)
    }

    #[inline(always)]
    fn with_gap(word: u64, from: u32, to: u32) -> u64 {
        Avx2::with_gap(word, from, to)
    }

    /// What moves is cut off above before it does, so that what it leaves is empty.
    #[inline(always)]
    unsafe fn close_bit_of_two(words: *mut u8, from: u32, to: u32) {
        // SAFETY: see `Avx512` and the caller's promise.
        unsafe {
            let here = _mm_loadu_si128(words.cast());
            let through = both(bits_below((to & 63) + 1));
            let moved = _mm_srli_epi64::<1>(_mm_and_si128(here, through));
            // The tables are those of `c ? b : a`, and of `a | b & !c`.
            let closed = _mm_ternarylogic_epi64::<0b1101_1000>(moved, here, both(low_bits(from)));
            let closed = _mm_ternarylogic_epi64::<0b1111_0100>(closed, here, through);
            _mm_storeu_si128(words.cast(), closed);
        }
    }

    #[inline(always)]
    unsafe fn close_all_of_two(words: *mut u8, next: *const u8, bit: u32) {
        // SAFETY: see `Avx512` and the caller's promise.
        unsafe {
            let here = _mm_loadu_si128(words.cast());
            let moved = _mm_shrdi_epi64::<1>(here, _mm_loadu_si128(next.cast()));
            // The table is that of `c ? b : a`.
            let closed = _mm_ternarylogic_epi64::<0b1101_1000>(moved, here, both(low_bits(bit)));
            _mm_storeu_si128(words.cast(), closed);
        }
    }

    /// Added to themselves, bits move up by one.
    #[inline(always)]
    unsafe fn open_bit_of_two(words: *mut u8, from: u32, to: u32, new: [u64; 2]) {
        let [first, second] = new.map(|bit| (bit << (from & 63)) as i64);
        // SAFETY: see `Avx512` and the caller's promise.
        unsafe {
            let here = _mm_loadu_si128(words.cast());
            let moving = _mm_and_si128(here, both(bits_below(to)));
            // The table is that of `a & !c`.
            let below = both(low_bits(from));
            let moving = _mm_ternarylogic_epi64::<0b0101_0000>(moving, moving, below);
            let opened = _mm_add_epi64(here, moving);
            let opened = _mm_or_si128(opened, _mm_set_epi64x(second, first));
            _mm_storeu_si128(words.cast(), opened);
        }
    }

    #[inline(always)]
    fn low_bits(word: u64, count: u32) -> u64 {
        Avx2::low_bits(word, count)
    }

    #[inline(always)]
    fn bits_from(word: u64, bit: u32) -> u64 {
        word & !low_bits(bit)
    }

    #[inline(always)]
    unsafe fn shift_words_up(words: *mut u8, bits: u32, low: u32, high: u32, carry: u64) {
        let (first, last) = (low / 64, high.wrapping_sub(1) / 64);
        // From the highest vector down, so that each reads what is not yet moved. One is nearly
        // always enough.
        if last - first >= 8 {
            // SAFETY: see `Avx512` and the caller's promise.
            unsafe { rest_up(words, bits, first, high) };
        }
        // SAFETY: as above.
        unsafe {
            let (low, high) = (low % 64, high - first * 64);
            let eight = Eight::moved_up(words, first, last, bits);
            eight.store(low..high, low + bits..high, i64::from(low), carry);
        }
    }

    #[inline(always)]
    unsafe fn shift_words_down(words: *mut u8, bits: u32, low: u32, high: u32, carry: u64) {
        let (first, last) = (low / 64, high.wrapping_sub(1) / 64);
        // From the lowest vector up, so that each reads what is not yet moved. One is nearly
        // always enough.
        // SAFETY: see `Avx512` and the caller's promise.
        unsafe {
            let (low, high) = (low % 64, high - first * 64);
            let eight = Eight::moved_down(words, first, last, bits);
            eight.store(low..high, low..high - bits, i64::from(high - bits), carry);
        }
        if last - first >= 8 {
            // SAFETY: as above.
            unsafe { rest_down(words, bits, first, high, carry) };
        }
    }

    /// One vector from the byte of the first slot on is nearly always enough.
    #[inline(always)]
    unsafe fn close_words(words: *mut u8, packed: &Packed, start: u32, before: u32, to: u32) {
        if !packed.is_in_vector(start, to) {
            // SAFETY: the caller's promise.
            return unsafe { close_many(words, packed, start, before, to) };
        }
        // SAFETY: see `Avx512` and the caller's promise. The end of the slots is in the vector.
        unsafe {
            let byte = packed.byte(start);
            let at = words.add(byte);
            let here = _mm512_loadu_si512(at.cast());
            let closed = closed(here, packed, byte, before, to);
            _mm512_storeu_si512(at.cast(), closed);
        }
    }

    /// One vector from the byte of the slot on is nearly always enough.
    #[inline(always)]
    unsafe fn open_words(words: *mut u8, packed: &Packed, at: u32, to: u32, value: u64) {
        if !packed.is_in_vector(at, to) {
            // SAFETY: the caller's promise.
            return unsafe { open_many(words, packed, at, to, value) };
        }
        let Start { byte, bit } = packed.start(at);
        // SAFETY: see `Avx512` and the caller's promise. The end of the slots is in the vector.
        unsafe {
            let at = words.add(byte);
            let here = _mm512_loadu_si512(at.cast());
            let through = _mm512_loadu_si512(below_end(packed.end(to, byte)).cast());
            let before = first_word(low_bits(bit));
            // The table is that of `a & !b & c`.
            let moving = _mm512_ternarylogic_epi64::<0b0010_0000>(through, before, here);
            let below = _mm512_alignr_epi64::<7>(moving, _mm512_setzero_si512());
            let by = _mm512_set1_epi64(i64::from(packed.bits()));
            let moved = _mm512_shldv_epi64(moving, below, by);
            // What was in the last slot goes nowhere. The table is that of `a & b ^ c`.
            let changed = _mm512_ternarylogic_epi64::<0b0110_1010>(through, moved, moving);
            // And that of `a ^ b ^ c`.
            let value = first_word(value << (bit & 63));
            let words = _mm512_ternarylogic_epi64::<0b1001_0110>(here, changed, value);
            _mm512_storeu_si512(at.cast(), words);
        }
    }

    /// One vector that ends where the block does, and one that starts there.
    #[inline(always)]
    unsafe fn open_all_words(words: *mut u8, packed: &Packed, value: u64) {
        let bits = packed.bits();
        if !(8..=16).contains(&bits) {
            // SAFETY: the caller's promise.
            return unsafe { open_many(words, packed, 0, 63, value) };
        }
        // SAFETY: see `Avx512` and the caller's promise. A block has at least eight words, and all
        // of them are in the two vectors; the first takes precedence.
        unsafe {
            let tail = words.add(8 * bits as usize - 64);
            let by = _mm512_set1_epi64(i64::from(bits));
            let first = _mm512_loadu_si512(words.cast());
            let last = _mm512_loadu_si512(tail.cast());
            let below_last = _mm512_loadu_si512(tail.sub(8).cast());
            let below_first = _mm512_alignr_epi64::<7>(first, _mm512_setzero_si512());
            let first = _mm512_shldv_epi64(first, below_first, by);
            let last = _mm512_shldv_epi64(last, below_last, by);
            _mm512_storeu_si512(tail.cast(), last);
            _mm512_storeu_si512(words.cast(), _mm512_or_si512(first, first_word(value)));
        }
    }

    /// One vector that ends where the block does, or another before it.
    #[inline(always)]
    unsafe fn close_all_words(words: *mut u8, bits: u32, low: u32, carry: u64) {
        if !(8..=16).contains(&bits) {
            // SAFETY: the caller's promise.
            return unsafe { close_all_many(words, bits, low, carry) };
        }
        let skipped = 64 * bits - 512;
        // SAFETY: see `Avx512` and the caller's promise. A block has at least eight words, and all
        // of them are in the two vectors.
        unsafe {
            let tail = words.add(skipped as usize / 8);
            let here = _mm512_loadu_si512(tail.cast());
            let by = _mm512_set1_epi64(i64::from(bits));
            let above = _mm512_alignr_epi64::<1>(first_word(carry), here);
            let moved = _mm512_shrdv_epi64(here, above, by);
            if low < skipped {
                let head = words.add(low as usize / 8);
                let here = _mm512_loadu_si512(head.cast());
                let above = _mm512_loadu_si512(head.add(8).cast());
                let changed = _mm512_xor_si512(here, _mm512_shrdv_epi64(here, above, by));
                let changed = _mm512_andnot_si512(first_word(Self::low_bits(!0, low % 8)), changed);
                _mm512_storeu_si512(head.cast(), _mm512_xor_si512(here, changed));
                _mm512_storeu_si512(tail.cast(), moved);
            } else {
                let changed = from(low - skipped);
                // The table is that of `a ? b : c`.
                let words = _mm512_ternarylogic_epi64::<0b1100_1010>(changed, moved, here);
                _mm512_storeu_si512(tail.cast(), words);
            }
        }
    }
}

/// A vector from `byte` on with a slot taken out that starts behind `before` bits of the first word:
/// those through slot `to` come down by one, and that is left empty.
///
/// # Safety
/// The machine has what [`Avx512`] needs, and the end of slot `to` is in the vector.
#[inline(always)]
unsafe fn closed(here: __m512i, packed: &Packed, byte: usize, before: u32, to: u32) -> __m512i {
    // SAFETY: see `Avx512`; a row is there for every end in the vector.
    unsafe {
        // Nothing above comes down, so what opens there is empty.
        let through = _mm512_loadu_si512(below_end(packed.end(to, byte)).cast());
        let moving = _mm512_and_si512(here, through);
        let above = _mm512_alignr_epi64::<1>(_mm512_setzero_si512(), moving);
        let by = _mm512_set1_epi64(i64::from(packed.bits()));
        let moved = _mm512_shrdv_epi64(moving, above, by);
        let changed = _mm512_xor_si512(moving, moved);
        // The slot starts in the first word: 7 bits and one slot, of at most 56, are before it at most.
        let changed = _mm512_andnot_si512(first_word(low_bits(before)), changed);
        _mm512_xor_si512(here, changed)
    }
}

/// [`close_words`](Isa::close_words) for more than a vector. As this is rare, a
/// function without the instructions calls the one with them: that one alone would be inlined.
///
/// # Safety
/// As there; and the machine has what [`Avx512`] needs.
#[cold]
#[inline(never)]
unsafe fn close_many(words: *mut u8, packed: &Packed, start: u32, before: u32, to: u32) {
    #[target_feature(enable = "popcnt,bmi2,avx512f,avx512bw,avx512vbmi2")]
    unsafe fn close(words: *mut u8, packed: &Packed, start: u32, before: u32, to: u32) {
        // SAFETY: the caller's promise.
        unsafe { close_by_shift::<Avx512>(words, packed, start, before, to) };
    }
    // SAFETY: the caller's promise.
    unsafe { close(words, packed, start, before, to) };
}

/// [`open_words`](Isa::open_words) for more than a vector, in the same way.
///
/// # Safety
/// As there, and eight bytes before `words` can be read; and the machine has what [`Avx512`] needs.
#[cold]
#[inline(never)]
unsafe fn open_many(words: *mut u8, packed: &Packed, at: u32, to: u32, value: u64) {
    #[target_feature(enable = "bmi2,avx512f,avx512bw,avx512vbmi2")]
    unsafe fn open(words: *mut u8, packed: &Packed, at: u32, to: u32, value: u64) {
        // SAFETY: the caller's promise.
        unsafe { open_by_shift::<Avx512>(words, packed, at, to, value) };
    }
    // SAFETY: the caller's promise.
    unsafe { open(words, packed, at, to, value) };
}

/// [`close_all_words`](Isa::close_all_words) for slots of any width, in the same way.
///
/// # Safety
/// As there; and the machine has what [`Avx512`] needs.
#[cold]
#[inline(never)]
unsafe fn close_all_many(words: *mut u8, bits: u32, low: u32, carry: u64) {
    #[target_feature(enable = "bmi2,avx512f,avx512bw,avx512vbmi2")]
    unsafe fn close(words: *mut u8, bits: u32, low: u32, carry: u64) {
        // SAFETY: the caller's promise.
        unsafe { close_all_by_shift::<Avx512>(words, bits, low, carry) };
    }
    // SAFETY: the caller's promise.
    unsafe { close(words, bits, low, carry) };
}

/// [`shift_words_up`](Isa::shift_words_up) for all vectors behind the one that starts with word
/// `first`, where the carry is.
///
/// # Safety
/// As there; and the machine has what [`Avx512`] needs.
#[inline(never)]
#[target_feature(enable = "bmi2,avx512f,avx512bw,avx512vbmi2")]
unsafe fn rest_up(words: *mut u8, bits: u32, first: u32, high: u32) {
    let last = (high - 1) / 64;
    let mut word = first + (last - first) / 8 * 8;
    while word > first {
        // SAFETY: the caller's promise.
        unsafe {
            let range = 0..high - word * 64;
            Eight::moved_up(words, word, last, bits).store(range.clone(), range, 0, 0);
        }
        word -= 8;
    }
}

/// [`shift_words_down`](Isa::shift_words_down) for all vectors behind the one that starts with
/// word `first`.
///
/// # Safety
/// As there; and the machine has what [`Avx512`] needs.
#[inline(never)]
#[target_feature(enable = "bmi2,avx512f,avx512bw,avx512vbmi2")]
unsafe fn rest_down(words: *mut u8, bits: u32, first: u32, high: u32, carry: u64) {
    let last = (high - 1) / 64;
    let mut word = first + 8;
    while word <= last {
        let high = high - word * 64;
        // The slot of the carry may have begun in the vector before.
        let slot = i64::from(high) - i64::from(bits);
        // SAFETY: the caller's promise.
        unsafe {
            let eight = Eight::moved_down(words, word, last, bits);
            eight.store(0..high, 0..slot.max(0) as u32, slot, carry);
        }
        word += 8;
    }
}

/// Eight words, or as many as there are, about to move.
struct Eight {
    at: *mut u8,
    lanes: u8,
    here: __m512i,
    moved: __m512i,
}

impl Eight {
    /// The words from `word` on, but not behind `last`, all of them moved up.
    ///
    /// # Safety
    /// They can be read and written, and eight bytes before them can be read.
    #[inline(always)]
    unsafe fn moved_up(words: *mut u8, word: u32, last: u32, bits: u32) -> Self {
        // SAFETY: see `Avx512` and the caller's promise.
        unsafe {
            let (at, lanes) = (words.add(word as usize * 8), first_lanes(last + 1 - word));
            let here = _mm512_maskz_loadu_epi64(lanes, at.cast());
            let below = _mm512_maskz_loadu_epi64(lanes, at.sub(8).cast());
            let moved = _mm512_shldv_epi64(here, below, _mm512_set1_epi64(i64::from(bits)));
            Eight {
                at,
                lanes,
                here,
                moved,
            }
        }
    }

    /// The same, moved down.
    ///
    /// # Safety
    /// They can be read and written, and eight bytes behind them can be read.
    #[inline(always)]
    unsafe fn moved_down(words: *mut u8, word: u32, last: u32, bits: u32) -> Self {
        // SAFETY: see `Avx512` and the caller's promise.
        unsafe {
            let (at, lanes) = (words.add(word as usize * 8), first_lanes(last + 1 - word));
            let here = _mm512_maskz_loadu_epi64(lanes, at.cast());
            let above = _mm512_maskz_loadu_epi64(lanes, at.add(8).cast());
            let moved = _mm512_shrdv_epi64(here, above, _mm512_set1_epi64(i64::from(bits)));
            Eight {
                at,
                lanes,
                here,
                moved,
            }
        }
    }

    /// Writes them: the bits of `range` moved, those outside of `all` as they were, and `carry` in
    /// the slot between, which starts at bit `slot`. Bits are counted from the first word.
    ///
    /// # Safety
    /// What was promised when they were read still holds.
    #[inline(always)]
    unsafe fn store(self, all: Range<u32>, range: Range<u32>, slot: i64, carry: u64) {
        // SAFETY: see `Avx512` and the caller's promise.
        unsafe {
            let kept = outside(all.start, all.end, self.here);
            let moved = inside(range.start, range.end, self.moved);
            let words = put(carry, slot, _mm512_or_si512(kept, moved));
            _mm512_mask_storeu_epi64(self.at.cast(), self.lanes, words);
        }
    }
}

/// Where the eight words of a vector start, in bits.
#[inline(always)]
unsafe fn starts() -> __m512i {
    // SAFETY: see `Avx512`.
    unsafe { _mm512_setr_epi64(0, 64, 128, 192, 256, 320, 384, 448) }
}

/// The first `count` of eight lanes; all of them if `count` is more.
#[inline(always)]
fn first_lanes(count: u32) -> u8 {
    // SAFETY: see `Avx512`.
    unsafe { _bzhi_u32(0xff, count) as u8 }
}

/// A word, twice.
#[inline(always)]
unsafe fn both(word: u64) -> __m128i {
    // SAFETY: see `Avx512`.
    unsafe { _mm_set1_epi64x(word as i64) }
}

/// A word, and seven zeros.
#[inline(always)]
unsafe fn first_word(word: u64) -> __m512i {
    // SAFETY: see `Avx512`.
    unsafe { _mm512_zextsi128_si512(_mm_cvtsi64_si128(word as i64)) }
}

/// All bits from `bit` on, in eight words.
#[inline(always)]
unsafe fn from(bit: u32) -> __m512i {
    // SAFETY: see `Avx512`.
    unsafe {
        // Bits are counted in 16 bits each, so that words behind `bit` are left with zero.
        let bit = _mm512_subs_epu16(_mm512_set1_epi64(bit.into()), starts());
        _mm512_sllv_epi64(_mm512_set1_epi64(-1), bit)
    }
}

/// The bits `low..high` of `words`, and zeros.
#[inline(always)]
unsafe fn inside(low: u32, high: u32, words: __m512i) -> __m512i {
    // SAFETY: see `Avx512`. The table is that of `(a ^ b) & c`.
    unsafe { _mm512_ternarylogic_epi64::<0b0010_1000>(from(low), from(high), words) }
}

/// `words` with zeros for the bits `low..high`.
#[inline(always)]
unsafe fn outside(low: u32, high: u32, words: __m512i) -> __m512i {
    // SAFETY: see `Avx512`. The table is that of `!(a ^ b) & c`.
    unsafe { _mm512_ternarylogic_epi64::<0b1000_0010>(from(low), from(high), words) }
}

/// `words` with `value` put where zeros are, from `bit` on: by a shift up or down, of which the
/// other, by a negative number, gives zero. A value that is known to be zero costs nothing.
#[inline(always)]
unsafe fn put(value: u64, bit: i64, words: __m512i) -> __m512i {
    if value == 0 {
        return words;
    }
    // SAFETY: see `Avx512`.
    unsafe {
        let (value, bit) = (_mm512_set1_epi64(value as i64), _mm512_set1_epi64(bit));
        let up = _mm512_sllv_epi64(value, _mm512_sub_epi64(bit, starts()));
        let down = _mm512_srlv_epi64(value, _mm512_sub_epi64(starts(), bit));
        // All three together.
        _mm512_ternarylogic_epi64::<0b1111_1110>(words, up, down)
    }
}
