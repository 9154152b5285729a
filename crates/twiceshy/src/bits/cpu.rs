//! Which instructions this machine has, found once and then passed along.
//!
//! Code that wants fast bit instructions is written once, generic over [`Isa`], as an
//! [`Operation`]; [`Cpu::run`] compiles its body twice, with and without the
//! instructions, and picks one **per operation**, never per select. Everything that
//! an operation calls is `#[inline(always)]`, so that it is compiled with the
//! operation's instructions (the way `memchr` does it).

use super::select;

/// A set of instructions to compile an [`Operation`] for.
pub trait Isa: Copy {
    /// The set bit of `word` that has `rank` set bits below it, or 0 if there is none.
    /// `rank` is below 64.
    fn select_bit(word: u64, rank: u32) -> u64;
}

/// No special instructions.
#[derive(Clone, Copy, Debug)]
pub struct Portable;

impl Isa for Portable {
    #[inline(always)]
    fn select_bit(word: u64, rank: u32) -> u64 {
        select::select_bit(word, rank)
    }
}

/// Work to be compiled for each instruction set. `run` and all it calls must be
/// `#[inline(always)]`.
pub trait Operation {
    /// What the work gives.
    type Output;

    /// Does the work.
    fn run<I: Isa>(self) -> Self::Output;
}

/// The best instruction set of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpu(Level);

// Private, so that `Bmi2` can only come out of `Cpu::detect`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Portable,
    #[cfg(all(target_arch = "x86_64", not(twiceshy_portable)))]
    Bmi2,
}

impl Cpu {
    /// Finds what this machine has. CPUs whose `pdep` is microcoded (AMD before Zen 3)
    /// count as having none.
    #[must_use]
    pub fn detect() -> Self {
        #[cfg(all(target_arch = "x86_64", not(twiceshy_portable)))]
        if std::arch::is_x86_feature_detected!("popcnt")
            && std::arch::is_x86_feature_detected!("lzcnt")
            && std::arch::is_x86_feature_detected!("bmi1")
            && std::arch::is_x86_feature_detected!("bmi2")
            && !x86::pdep_is_slow()
        {
            return Cpu(Level::Bmi2);
        }
        Self::portable()
    }

    /// No special instructions, whatever the machine has.
    #[must_use]
    pub fn portable() -> Self {
        Cpu(Level::Portable)
    }

    /// Runs an operation with the instructions of this machine.
    #[inline(always)]
    pub fn run<O: Operation>(self, operation: O) -> O::Output {
        match self.0 {
            Level::Portable => run_portable(operation),
            #[cfg(all(target_arch = "x86_64", not(twiceshy_portable)))]
            // SAFETY: `Level::Bmi2` is made by `detect` only, after it has found every
            // feature that `run_bmi2` enables.
            Level::Bmi2 => unsafe { x86::run_bmi2(operation) },
        }
    }
}

/// A function of its own, as the fast twin must be: so that the choice between them is a
/// test and a jump, and none pays for the other's registers.
#[inline(never)]
fn run_portable<O: Operation>(operation: O) -> O::Output {
    operation.run::<Portable>()
}

#[cfg(all(target_arch = "x86_64", not(twiceshy_portable)))]
mod x86 {
    use super::{Isa, Operation};
    use std::arch::x86_64::{__cpuid, _pdep_u64};
    use std::sync::OnceLock;

    /// `popcnt`, `lzcnt`, `tzcnt`, `bzhi`, `pdep`, all fast.
    #[derive(Clone, Copy, Debug)]
    pub(super) struct Bmi2(());

    impl Isa for Bmi2 {
        #[inline(always)]
        fn select_bit(word: u64, rank: u32) -> u64 {
            // SAFETY: the type is private and only `run_bmi2` names it, which runs on
            // machines with bmi2 only.
            unsafe { _pdep_u64(1 << rank, word) }
        }
    }

    /// # Safety
    /// The machine must have popcnt, lzcnt, bmi1 and bmi2.
    #[inline(never)]
    #[target_feature(enable = "popcnt,lzcnt,bmi1,bmi2")]
    pub(super) unsafe fn run_bmi2<O: Operation>(operation: O) -> O::Output {
        operation.run::<Bmi2>()
    }

    /// AMD families 15h to 17h take hundreds of cycles for a `pdep`.
    pub(super) fn pdep_is_slow() -> bool {
        static SLOW: OnceLock<bool> = OnceLock::new();
        *SLOW.get_or_init(|| {
            // SAFETY: every x86-64 has `cpuid` with leaves 0 and 1.
            #[allow(unused_unsafe)]
            let (vendor, version) = unsafe { (__cpuid(0), __cpuid(1)) };
            // "AuthenticAMD" in the order of the registers.
            let amd =
                (vendor.ebx, vendor.edx, vendor.ecx) == (0x6874_7541, 0x6974_6e65, 0x444d_4163);
            let base = version.eax >> 8 & 0xf;
            let family = if base == 0xf {
                base + (version.eax >> 20 & 0xff)
            } else {
                base
            };
            amd && family < 0x19
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Select(u64, u32);

    impl Operation for Select {
        type Output = u64;

        #[inline(always)]
        fn run<I: Isa>(self) -> u64 {
            I::select_bit(self.0, self.1)
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
            assert_eq!(
                Cpu::portable().run(Select(word, rank)),
                expected,
                "{word:#x} {rank}"
            );
            assert_eq!(
                Cpu::detect().run(Select(word, rank)),
                expected,
                "{word:#x} {rank}"
            );
        }
    }

    #[test]
    fn select_is_exact_on_every_16_bit_word_at_every_byte() {
        for low in 0..=0xffff_u64 {
            let word = low << (low % 7 * 8) | low.rotate_right(16);
            let rank = (low % 33) as u32;
            let expected = naive(word, rank);
            assert_eq!(Cpu::portable().run(Select(word, rank)), expected);
            assert_eq!(Cpu::detect().run(Select(word, rank)), expected);
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

    #[cfg(all(target_arch = "x86_64", not(twiceshy_portable)))]
    #[test]
    fn the_fast_path_is_taken_where_the_machine_has_it() {
        let has = std::arch::is_x86_feature_detected!("bmi2") && !x86::pdep_is_slow();
        assert_eq!(Cpu::detect() != Cpu::portable(), has);
    }
}
