//! Which instructions this machine has, found once and then passed along.
//!
//! Code that wants fast bit instructions is written once, generic over [`Isa`]. [`dispatch`](super::dispatch)
//! compiles it for each set of instructions, and picks one **per verb**, never per select.

#[cfg(all(target_arch = "x86_64", not(twiceshy_portable)))]
use super::avx2;
#[cfg(all(target_arch = "x86_64", twiceshy_has_avx512, not(twiceshy_portable)))]
use super::avx512;
use super::packed::Packed;
use super::raw_block::{RawBlock, load, store};
use super::scan::{self, Scanned, SlotScan};
use super::select;
use super::word::{close_bits, mask_below, mask_through, open_bit};

/// A set of instructions to compile code for.
pub trait Isa: Copy {
    /// The set bit of `word` that has `rank` set bits below it, or 0 if there is none.
    /// `rank` is below 64.
    fn select_bit(word: u64, rank: u32) -> u64;

    /// Set bit number `rank` of `word`, from 1 on, and the next one; those of them that are there.
    /// `rank` is below 128.
    fn select_pair(word: u64, rank: u32) -> u64;

    /// The low bits of `bits`, one for each set bit of `mask`, from the lowest up, in the
    /// places of those.
    fn deposit(bits: u64, mask: u64) -> u64;

    /// All slots where everything that has opened has closed, a bit each: with as many bits
    /// of `opened` up to and including the slot, and `open` more, as of `closed` below it.
    fn all_settled(opened: u64, closed: u64, open: u32) -> u64;

    /// Those bits of `ends` that have room behind them: the bit of `starts` that has as many below
    /// it is above, or there is no such bit. The run of a start ends there or above.
    ///
    /// ```text
    /// ends     . 1 . . . 1 . . 1 .        runs end there,
    /// starts   . . 1 . 1 . . . . .        and the ones behind them want to start here:
    ///            ^ with room   ^ with room
    /// ```
    fn with_room(ends: u64, starts: u64) -> u64;

    /// The bits of `word` at the set bits of `mask`, moved together at the low end.
    fn compress(word: u64, mask: u64) -> u64;

    /// `word` without `bit & 63`: all bits above come down by one.
    #[inline(always)]
    fn without_bit(word: u64, bit: u32) -> u64 {
        let below = mask_below(bit & 63);
        word & below | word >> 1 & !below
    }

    /// `word` without `from & 63`: the bits above it through `to & 63`, no lower one, come down by one,
    /// and that is left empty.
    #[inline(always)]
    fn close_bit(word: u64, from: u32, to: u32) -> u64 {
        close_bits(word, mask_through(to & 63) >> (from & 63) << (from & 63))
    }

    /// `word` with a gap at bit `from`, below 64: the bits from there up to `to`, at most 64, come up by
    /// one, over bit `to`, which was clear, or beyond the word.
    #[inline(always)]
    fn with_gap(word: u64, from: u32, to: u32) -> u64 {
        // Added to themselves, bits move up by one.
        let moving = Self::low_bits(word, to) >> (from & 63) << (from & 63);
        word.wrapping_add(moving)
    }

    /// [`close_bit`](Self::close_bit) for two words that lie side by side.
    ///
    /// # Safety
    /// `words` is valid for reads and writes of 16 bytes.
    #[inline(always)]
    unsafe fn close_bit_of_two(words: *mut u8, from: u32, to: u32) {
        for at in [0, 8] {
            // SAFETY: the caller's promise.
            unsafe { store(words, at, Self::close_bit(load(words, at), from, to)) };
        }
    }

    /// [`without_bit`](Self::without_bit) for two words that lie side by side. Their highest bits are
    /// the lowest of two others then.
    ///
    /// # Safety
    /// `words` is valid for reads and writes of 16 bytes, `next` for reads of as many.
    #[inline(always)]
    unsafe fn close_all_of_two(words: *mut u8, next: *const u8, bit: u32) {
        for at in [0, 8] {
            // SAFETY: the caller's promise.
            unsafe {
                let word = Self::without_bit(load(words, at), bit);
                store(words, at, word | load(next, at) << 63);
            }
        }
    }

    /// [`with_gap`](Self::with_gap) for two words that lie side by side, with the bits of `new` in the
    /// gaps, where there must be none else.
    ///
    /// # Safety
    /// `words` is valid for reads and writes of 16 bytes.
    #[inline(always)]
    unsafe fn open_bit_of_two(words: *mut u8, from: u32, to: u32, new: [u64; 2]) {
        for (at, new) in [0, 8].into_iter().zip(new) {
            // SAFETY: the caller's promise.
            unsafe { store(words, at, open_bit::<Self>(load(words, at), from, to, new)) };
        }
    }

    /// The lowest `count` bits of `word`; all of them if `count` is 64.
    fn low_bits(word: u64, count: u32) -> u64;

    /// `word` without the bits below `bit & 63`.
    #[inline(always)]
    fn bits_from(word: u64, bit: u32) -> u64 {
        word >> (bit & 63) << (bit & 63)
    }

    /// Which slots of a block hold something and are in order.
    ///
    /// # Safety
    /// `packed` is that of the block, and `scan` was made for it.
    unsafe fn scan<const STRICT: bool>(
        block: &RawBlock<'_>,
        packed: &Packed,
        scan: &SlotScan,
    ) -> Scanned;

    /// Moves bits `low..high - bits` of the words up by `bits` and puts the `bits` bits of
    /// `carry` below them; bits outside of `low..high` stay.
    ///
    /// # Safety
    /// `words` is valid for writes up to the word of bit `high - 1` and [`SLACK`] bytes more,
    /// and for reads of eight bytes before; `0 < bits < 64`, `low + bits <= high`, and
    /// `carry` has no further bits.
    unsafe fn shift_words_up(words: *mut u8, bits: u32, low: u32, high: u32, carry: u64);

    /// Moves bits `low + bits..high` of the words down by `bits` and puts the `bits` bits of
    /// `carry` above them; bits outside of `low..high` stay.
    ///
    /// # Safety
    /// As [`shift_words_up`](Self::shift_words_up).
    unsafe fn shift_words_down(words: *mut u8, bits: u32, low: u32, high: u32, carry: u64);

    /// Takes out a slot of the window at slot `start`, with so many [bits
    /// before](Packed::bits_before) it: those behind it, through slot `to`, come down by one, and that
    /// is left empty. If there is no such slot, then the slots, and 64 bytes from `start` on, may be
    /// anything.
    ///
    /// # Safety
    /// `words` is valid for reads and writes of 64 slots and [`SLACK`], and of 64 bytes from the byte
    /// on where any of them starts.
    #[inline(always)]
    unsafe fn close_words(words: *mut u8, packed: &Packed, start: u32, before: u32, to: u32) {
        // SAFETY: the caller's promise.
        unsafe { close_by_shift::<Self>(words, packed, start, before, to) };
    }

    /// Puts `value` in at slot `at`: those from there up to `to` come up by one, and what was in that
    /// is no more. If there are no such slots, the same holds as for `close_words`.
    ///
    /// # Safety
    /// As [`close_words`](Self::close_words); and eight bytes before can be read.
    #[inline(always)]
    unsafe fn open_words(words: *mut u8, packed: &Packed, at: u32, to: u32, value: u64) {
        // SAFETY: the caller's promise.
        unsafe { open_by_shift::<Self>(words, packed, at, to, value) };
    }

    /// The same for all slots of a block.
    ///
    /// # Safety
    /// As [`close_all_words`](Self::close_all_words); and eight bytes before can be read.
    #[inline(always)]
    unsafe fn open_all_words(words: *mut u8, packed: &Packed, value: u64) {
        // SAFETY: the caller's promise.
        unsafe { open_by_shift::<Self>(words, packed, 0, 63, value) };
    }

    /// Takes out the slot that starts at bit `low`: all slots of the block behind it come down by
    /// one, and the low bits of `carry` come into the last.
    ///
    /// # Safety
    /// `words` is valid for reads and writes of 64 slots and [`SLACK`]; `0 < bits < 64`.
    #[inline(always)]
    unsafe fn close_all_words(words: *mut u8, bits: u32, low: u32, carry: u64) {
        // SAFETY: the caller's promise.
        unsafe { close_all_by_shift::<Self>(words, bits, low, carry) };
    }
}

/// [`Isa::close_words`] as a shift of words: for any number of slots of any width.
///
/// # Safety
/// As there.
#[inline(always)]
pub(super) unsafe fn close_by_shift<I: Isa>(
    words: *mut u8,
    packed: &Packed,
    start: u32,
    before: u32,
    to: u32,
) {
    let bits = packed.bits();
    let high = (to.min(63) + 1) * bits;
    let low = packed.byte(start) as u32 * 8 + before.min(63);
    let low = low.min(high - bits);
    // SAFETY: the caller's promise, and the range is one now.
    unsafe { I::shift_words_down(words, bits, low, high, 0) };
}

/// [`Isa::close_all_words`] in the same way.
///
/// # Safety
/// As there.
#[inline(always)]
pub(super) unsafe fn close_all_by_shift<I: Isa>(words: *mut u8, bits: u32, low: u32, carry: u64) {
    let carry = carry & mask_below(bits);
    // SAFETY: as in `close_by_shift`.
    unsafe { I::shift_words_down(words, bits, low.min(63 * bits), 64 * bits, carry) };
}

/// [`Isa::open_words`] as a shift of words: for any number of slots of any width.
///
/// # Safety
/// As there.
#[inline(always)]
pub(super) unsafe fn open_by_shift<I: Isa>(
    words: *mut u8,
    packed: &Packed,
    at: u32,
    to: u32,
    value: u64,
) {
    let bits = packed.bits();
    let high = (to.min(63) + 1) * bits;
    let low = (packed.first_bit(at) as u32).min(high - bits);
    // SAFETY: the caller's promise, and the range is one now.
    unsafe { I::shift_words_up(words, bits, low, high, value & mask_below(bits)) };
}

/// Bytes behind a block that must be there, because whole vectors are read and written.
pub const SLACK: usize = 32;

/// No special instructions.
#[derive(Clone, Copy, Debug)]
pub struct Portable;

impl Isa for Portable {
    #[inline(always)]
    fn select_bit(word: u64, rank: u32) -> u64 {
        select::select_bit(word, rank)
    }

    #[inline(always)]
    fn select_pair(word: u64, rank: u32) -> u64 {
        let select = |rank: u32| match rank {
            0..64 => Self::select_bit(word, rank),
            _ => 0,
        };
        select(rank.wrapping_sub(1)) | select(rank)
    }

    #[inline(always)]
    fn deposit(mut bits: u64, mut mask: u64) -> u64 {
        let mut result = 0;
        while mask != 0 && bits != 0 {
            let lowest = mask & mask.wrapping_neg();
            result |= lowest & (bits & 1).wrapping_neg();
            mask ^= lowest;
            bits >>= 1;
        }
        result
    }

    #[inline(always)]
    fn all_settled(opened: u64, closed: u64, open: u32) -> u64 {
        let mut balance = i64::from(open);
        let mut settled = 0;
        for slot in 0..64 {
            balance += (opened >> slot & 1) as i64;
            settled |= u64::from(balance == 0) << slot;
            balance -= (closed >> slot & 1) as i64;
        }
        settled
    }

    #[inline(always)]
    fn with_room(mut ends: u64, mut starts: u64) -> u64 {
        let mut with_room = 0;
        while ends != 0 {
            let (end, start) = (ends.trailing_zeros(), starts.trailing_zeros());
            with_room |= u64::from(start > end) << end;
            ends &= ends - 1;
            starts &= starts.wrapping_sub(1);
        }
        with_room
    }

    #[inline(always)]
    fn low_bits(word: u64, count: u32) -> u64 {
        debug_assert!(count <= 64);
        if count < 64 {
            word & mask_below(count)
        } else {
            word
        }
    }

    #[inline(always)]
    fn compress(word: u64, mut mask: u64) -> u64 {
        let (mut compressed, mut at) = (0, 0);
        while mask != 0 {
            compressed |= (word >> mask.trailing_zeros() & 1) << at;
            at += 1;
            mask &= mask - 1;
        }
        compressed
    }

    #[inline(always)]
    unsafe fn scan<const STRICT: bool>(
        block: &RawBlock<'_>,
        packed: &Packed,
        _: &SlotScan,
    ) -> Scanned {
        scan::by_windows::<Self, STRICT>(block, packed)
    }

    #[inline(always)]
    unsafe fn shift_words_up(words: *mut u8, bits: u32, low: u32, high: u32, carry: u64) {
        let (mut at, last) = (byte_of_word(low), byte_of_word(high - 1));
        // The first word keeps what lies below `low`; the carry follows, then what was
        // there. `new` is the shifted word, `over` what it pushes into the next one.
        // SAFETY: the caller's promise, here and below: all words lie in the range.
        let mut word = unsafe { load(words, at) };
        let below = mask_below(low % 64);
        let moving = word & !below;
        let mut new = word & below | carry << (low % 64) | moving << bits;
        let mut over = carry >> 1 >> (63 - low % 64) | moving >> (64 - bits);
        while at < last {
            // SAFETY: as above.
            unsafe { store(words, at, new) };
            at += 8;
            // SAFETY: as above.
            word = unsafe { load(words, at) };
            new = over | word << bits;
            over = word >> (64 - bits);
        }
        // The last word keeps what lies above `high`.
        let through = mask_through((high - 1) % 64);
        // SAFETY: as above.
        unsafe { store(words, last, word & !through | new & through) };
    }

    #[inline(always)]
    unsafe fn shift_words_down(words: *mut u8, bits: u32, low: u32, high: u32, carry: u64) {
        let (first, mut at) = (byte_of_word(low), byte_of_word(high - 1));
        let top = (high - 1) % 64;
        // The last word keeps what lies above `high`; the carry comes in right above the
        // bits that move. `over` is what comes in from above the word.
        // SAFETY: the caller's promise, here and below: all words lie in the range.
        let word = unsafe { load(words, at) };
        let mut kept = word & !mask_through(top);
        let mut moving = word & mask_through(top) | carry << 1 << top;
        let mut over = carry >> (63 - top);
        while at > first {
            // SAFETY: as above.
            unsafe { store(words, at, kept | moving >> bits | over << (64 - bits)) };
            at -= 8;
            over = moving;
            // SAFETY: as above.
            moving = unsafe { load(words, at) };
            kept = 0;
        }
        // The first word keeps what lies below `low`.
        let below = mask_below(low % 64);
        let new = moving >> bits | over << (64 - bits);
        // SAFETY: as above.
        unsafe { store(words, first, kept | new & !below | moving & below) };
    }
}

/// Where the word of a bit starts.
#[inline(always)]
fn byte_of_word(bit: u32) -> usize {
    bit as usize / 64 * 8
}

/// Work of a test, to be done with each set of instructions.
#[cfg(test)]
pub trait Operation {
    /// What the work gives.
    type Output;

    /// Does the work.
    fn run<I: Isa>(self) -> Self::Output;
}

/// The best instruction set of this machine. One flag for each, and not a number for all, so that
/// the choice of the best is one comparison with a byte in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpu {
    // Private, so that only `detect` and `all` set them, after a look at the machine.
    #[cfg(all(target_arch = "x86_64", twiceshy_has_avx512, not(twiceshy_portable)))]
    avx512: bool,
    #[cfg(all(target_arch = "x86_64", not(twiceshy_portable)))]
    avx2: bool,
}

impl Cpu {
    /// Finds what this machine has.
    #[must_use]
    pub fn detect() -> Self {
        Cpu {
            #[cfg(all(target_arch = "x86_64", twiceshy_has_avx512, not(twiceshy_portable)))]
            avx512: avx512::is_available(),
            #[cfg(all(target_arch = "x86_64", not(twiceshy_portable)))]
            avx2: avx2::is_available(),
        }
    }

    /// All sets of instructions that this machine has, the least first: for tests.
    #[cfg(test)]
    pub(crate) fn all() -> Vec<Self> {
        #[cfg(all(target_arch = "x86_64", twiceshy_has_avx512, not(twiceshy_portable)))]
        let without_avx512 = Cpu {
            avx512: false,
            ..Self::detect()
        };
        let mut all = vec![
            Self::portable(),
            #[cfg(all(target_arch = "x86_64", twiceshy_has_avx512, not(twiceshy_portable)))]
            without_avx512,
            Self::detect(),
        ];
        all.dedup();
        all
    }

    /// No special instructions, whatever the machine has: for tests.
    #[cfg(test)]
    pub(crate) fn portable() -> Self {
        Cpu {
            #[cfg(all(target_arch = "x86_64", twiceshy_has_avx512, not(twiceshy_portable)))]
            avx512: false,
            #[cfg(all(target_arch = "x86_64", not(twiceshy_portable)))]
            avx2: false,
        }
    }

    /// Has the machine 512-bit vectors, and all else that [`Avx512`](super::Avx512) needs?
    #[cfg(all(target_arch = "x86_64", twiceshy_has_avx512, not(twiceshy_portable)))]
    #[inline(always)]
    pub(crate) fn has_avx512(self) -> bool {
        self.avx512
    }

    /// Has it 256-bit vectors, and all else that [`Avx2`](super::Avx2) needs?
    #[cfg(all(target_arch = "x86_64", not(twiceshy_portable)))]
    #[inline(always)]
    pub(crate) fn has_avx2(self) -> bool {
        self.avx2
    }

    /// Does the work of a test with these instructions.
    #[cfg(test)]
    pub(crate) fn run<O: Operation>(self, operation: O) -> O::Output {
        #[cfg(all(target_arch = "x86_64", twiceshy_has_avx512, not(twiceshy_portable)))]
        if self.avx512 {
            // SAFETY: the flag is set only where every feature that `run` enables was found.
            return unsafe { avx512::run(operation) };
        }
        #[cfg(all(target_arch = "x86_64", not(twiceshy_portable)))]
        if self.avx2 {
            // SAFETY: as above.
            return unsafe { avx2::run(operation) };
        }
        operation.run::<Portable>()
    }
}

#[cfg(test)]
mod tests;
