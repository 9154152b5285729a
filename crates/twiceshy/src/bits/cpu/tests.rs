//! The fast against the portable, and both against counting.

use super::*;
use crate::bits::{shift_bits_down, shift_bits_up};

struct Select(u64, u32);

impl Operation for Select {
    type Output = u64;

    #[inline(always)]
    fn run<I: Isa>(self) -> u64 {
        I::select_bit(self.0, self.1)
    }
}

struct SelectPair(u64, u32);

impl Operation for SelectPair {
    type Output = u64;

    #[inline(always)]
    fn run<I: Isa>(self) -> u64 {
        I::select_pair(self.0, self.1)
    }
}

struct Deposit(u64, u64);

impl Operation for Deposit {
    type Output = u64;

    #[inline(always)]
    fn run<I: Isa>(self) -> u64 {
        I::deposit(self.0, self.1)
    }
}

#[test]
fn deposit_is_select_of_each_bit() {
    let mut state = 9_u64;
    for _ in 0..20_000 {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let (bits, mask) = (state ^ state >> 29, state.rotate_left(20) & state);
        let places = (0..64).filter(|&i| bits >> i & 1 == 1);
        let expected = places.fold(0, |all, i| all | naive(mask, i));
        for cpu in Cpu::all() {
            assert_eq!(cpu.run(Deposit(bits, mask)), expected);
        }
    }
}

/// The definition of select, bit by bit.
fn naive(word: u64, rank: u32) -> u64 {
    let nth = (0..64)
        .filter(|&bit| word >> bit & 1 == 1)
        .nth(rank as usize);
    nth.map_or(0, |bit| 1 << bit)
}

fn check(word: u64) {
    for rank in 0..64 {
        let expected = naive(word, rank);
        let two = expected | if rank < 63 { naive(word, rank + 1) } else { 0 };
        for cpu in Cpu::all() {
            let context = || format!("{cpu:?} {word:#x} {rank}");
            assert_eq!(cpu.run(Select(word, rank)), expected, "{}", context());
            assert_eq!(cpu.run(SelectPair(word, rank + 1)), two, "{}", context());
        }
    }
}

#[test]
fn select_is_exact_on_every_16_bit_word_at_every_byte() {
    for low in 0..=0xffff_u64 {
        let word = low << (low % 7 * 8) | low.rotate_right(16);
        let rank = (low % 33) as u32;
        let expected = naive(word, rank);
        for cpu in Cpu::all() {
            assert_eq!(cpu.run(Select(word, rank)), expected);
        }
    }
    for byte in 0..=0xff_u64 {
        for at in 0..8 {
            check(byte << (8 * at));
            check(!(byte << (8 * at)));
        }
    }
}

#[test]
fn select_is_exact_on_random_words() {
    let mut state = 1_u64;
    for _ in 0..2_000 {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        check(state ^ state >> 29);
        check(state & state.rotate_left(17) & state.rotate_left(31));
    }
    check(0);
    check(!0);
}

struct WithRoom(u64, u64);

impl Operation for WithRoom {
    type Output = u64;

    #[inline(always)]
    fn run<I: Isa>(self) -> u64 {
        I::with_room(self.0, self.1)
    }
}

/// The definition, bit by bit.
fn naive_with_room(ends: u64, starts: u64) -> u64 {
    let places = |word: u64| (0..64).filter(move |bit| word >> bit & 1 == 1);
    let starts = places(starts).map(Some).chain(std::iter::repeat(None));
    (places(ends).zip(starts))
        .filter(|(end, start)| start.is_none_or(|start| start > *end))
        .fold(0, |all, (end, _)| all | 1 << end)
}

#[test]
fn ends_with_room_are_those_before_their_next_start() {
    let mut state = 11_u64;
    let mut random = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        state >> 33
    };
    for round in 0..100_000 {
        // Runs at random quotients, of random lengths, in the way of a table.
        let (mut ends, mut starts, mut end) = (0, 0, 0);
        for quotient in 0..64 {
            if random() % 16 < round % 16 {
                starts |= 1_u64 << quotient;
                end = quotient.max(end) + 1 + random() % 3 / 2;
                if end <= 64 {
                    ends |= 1_u64 << (end - 1);
                }
            }
        }
        let next_starts = starts & starts.wrapping_sub(1);
        let expected = naive_with_room(ends, next_starts);
        for cpu in Cpu::all() {
            assert_eq!(cpu.run(WithRoom(ends, next_starts)), expected, "{cpu:?}");
        }
    }
}

struct LowBits(u64, u32);

impl Operation for LowBits {
    type Output = u64;

    #[inline(always)]
    fn run<I: Isa>(self) -> u64 {
        I::low_bits(self.0, self.1)
    }
}

struct BitsFrom(u64, u32);

impl Operation for BitsFrom {
    type Output = u64;

    #[inline(always)]
    fn run<I: Isa>(self) -> u64 {
        I::bits_from(self.0, self.1)
    }
}

struct WithoutBit(u64, u32);

impl Operation for WithoutBit {
    type Output = u64;

    #[inline(always)]
    fn run<I: Isa>(self) -> u64 {
        I::without_bit(self.0, self.1)
    }
}

#[test]
fn low_bits_are_those_below() {
    let word = 0xdead_beef_0bad_cafe_u64;
    for count in 0..=64 {
        let kept = (0..count).fold(0, |kept, bit| kept | word & 1 << bit);
        for cpu in Cpu::all() {
            assert_eq!(cpu.run(LowBits(word, count)), kept, "{cpu:?} {count}");
            let above = if count < 64 { word ^ kept } else { word };
            assert_eq!(cpu.run(BitsFrom(word, count)), above, "{cpu:?} {count}");
            let above = word.checked_shr(count + 1).unwrap_or(0);
            let without = above.checked_shl(count).unwrap_or(word) | kept;
            let bit = count.min(63);
            let expected = if count < 64 { without } else { kept & !0 >> 1 };
            assert_eq!(cpu.run(WithoutBit(word, bit)), expected, "{cpu:?} {bit}");
        }
    }
}

struct AllSettled(u64, u64, u32);

impl Operation for AllSettled {
    type Output = u64;

    #[inline(always)]
    fn run<I: Isa>(self) -> u64 {
        I::all_settled(self.0, self.1, self.2)
    }
}

struct Compress(u64, u64);

impl Operation for Compress {
    type Output = u64;

    #[inline(always)]
    fn run<I: Isa>(self) -> u64 {
        I::compress(self.0, self.1)
    }
}

/// Of any words, not only those that a table can hold.
#[test]
fn all_settled_and_compress_match_counting() {
    let mut state = 11_u64;
    let mut random = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        state ^ state >> 31
    };
    for round in 0..100_000_u64 {
        let (mut opened, mut closed) = (random(), random());
        for _ in 0..round % 4 {
            opened &= random();
        }
        for _ in 0..round / 4 % 4 {
            closed &= random();
        }
        if round % 5 == 0 {
            (opened, closed) = (!opened, !closed);
        }
        let open = (random() % if round % 2 == 0 { 4 } else { 200 }) as u32;
        let count = |word: u64, below: u32| (0..below).filter(|bit| word >> bit & 1 == 1).count();
        let is_settled =
            |&slot: &u32| open as usize + count(opened, slot + 1) == count(closed, slot);
        let settled = (0..64).filter(is_settled);
        let settled = settled.fold(0_u64, |word, slot| word | 1 << slot);
        let mut taken = (0..64).filter(|bit| closed >> bit & 1 == 1);
        let compressed = (0..64).map_while(|at| Some((at, taken.next()?)));
        let compressed = compressed.fold(0_u64, |word, (at, bit)| word | (opened >> bit & 1) << at);
        for cpu in Cpu::all() {
            assert_eq!(cpu.run(AllSettled(opened, closed, open)), settled);
            assert_eq!(cpu.run(Compress(opened, closed)), compressed);
        }
    }
}

#[cfg(all(target_arch = "x86_64", not(twiceshy_portable)))]
#[test]
fn the_fast_path_is_taken_where_the_machine_has_it() {
    assert_eq!(Cpu::detect() != Cpu::portable(), avx2::is_available());
}

/// Something that is done to two words side by side.
#[derive(Clone, Copy, Debug)]
enum OfTwo {
    Close(u32, u32),
    CloseAll(u32, [u64; 2]),
    Open(u32, u32, [u64; 2]),
}

/// Does it, with words of zeros before and behind that must stay.
struct DoToTwo([u64; 2], OfTwo);

impl Operation for DoToTwo {
    type Output = [u64; 4];

    #[inline(always)]
    fn run<I: Isa>(self) -> [u64; 4] {
        let DoToTwo([first, second], what) = self;
        let mut words = [0, first.to_le(), second.to_le(), 0];
        let here = words[1..3].as_mut_ptr().cast::<u8>();
        // SAFETY: there are two words, and two in every `next`.
        unsafe {
            match what {
                OfTwo::Close(from, to) => I::close_bit_of_two(here, from, to),
                OfTwo::CloseAll(bit, next) => {
                    let next = next.map(u64::to_le);
                    I::close_all_of_two(here, next.as_ptr().cast(), bit);
                }
                OfTwo::Open(from, to, new) => I::open_bit_of_two(here, from, to, new),
            }
        }
        words.map(u64::from_le)
    }
}

#[test]
fn two_words_are_changed_as_each_of_them() {
    let check = |words: [u64; 2], what, expected: [u64; 2]| {
        let expected = [0, expected[0], expected[1], 0];
        for cpu in Cpu::all() {
            assert_eq!(cpu.run(DoToTwo(words, what)), expected, "{cpu:?} {what:?}");
        }
    };
    let words = [0xdead_beef_0bad_cafe_u64, 0x9e37_79b9_7f4a_7c15];
    for from in 0..64 {
        for next in [[0, 0], [1, 2], [0, 1], [!0, !0]] {
            let closed = |at: usize| shift_bits_down(words[at], from, 63, next[at] & 1 == 1).0;
            check(words, OfTwo::CloseAll(from, next), [0, 1].map(closed));
        }
        for to in from..64 {
            let closed = |word| shift_bits_down(word, from, to, false).0;
            check(words, OfTwo::Close(from, to), words.map(closed));
        }
        for to in from..=64 {
            // Bit `to` is clear, if there is one.
            let room = words.map(|word| if to < 64 { word & !(1 << to) } else { word });
            for new in [[0, 0], [1, 0], [0, 1], [1, 1]] {
                let opened = |at: usize| shift_bits_up(room[at], from, to.min(63), new[at] == 1).0;
                check(room, OfTwo::Open(from, to, new), [0, 1].map(opened));
            }
        }
    }
}
