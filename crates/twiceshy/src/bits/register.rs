//! Values that compilers are kept from taking apart.
//!
//! Where every instruction counts, it is sometimes one of the compiler's rules of thumb that adds
//! one, or a register, which a short function must save and restore: a sum is kept as its parts,
//! `!(a - b)` becomes a subtraction from a constant, a number that is needed twice is read once.
//! An empty piece of assembly that seems to change a value makes it an end of such reasoning.

/// The same value, which is now in a register, whatever it was made of.
#[inline(always)]
#[must_use]
pub fn in_register(value: u64) -> u64 {
    #[cfg(all(target_arch = "x86_64", not(twiceshy_portable), not(miri)))]
    {
        let mut value = value;
        // SAFETY: there is no instruction in it; the value stays what it is.
        unsafe {
            std::arch::asm!(
                "/* {0} */",
                inout(reg) value,
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        value
    }
    #[cfg(not(all(target_arch = "x86_64", not(twiceshy_portable), not(miri))))]
    {
        value
    }
}

/// [`in_register`] for an address.
#[inline(always)]
#[must_use]
#[allow(
    clippy::pointers_in_nomem_asm_block,
    reason = "nothing is read or written there"
)]
pub fn address_in_register(address: *const u8) -> *const u8 {
    #[cfg(all(target_arch = "x86_64", not(twiceshy_portable), not(miri)))]
    {
        let mut address = address;
        // SAFETY: as above.
        unsafe {
            std::arch::asm!(
                "/* {0} */",
                inout(reg) address,
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        address
    }
    #[cfg(not(all(target_arch = "x86_64", not(twiceshy_portable), not(miri))))]
    {
        address
    }
}

/// What stands there, read from memory even if a register has it: an instruction that reads it as
/// its operand costs nothing more, and the register is free until then.
#[inline(always)]
#[must_use]
pub fn read_again<T: Copy>(place: &T) -> T {
    // SAFETY: a reference is valid for reads.
    unsafe { std::ptr::from_ref(place).read_volatile() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_what_they_are() {
        for value in [0, 1, 63, u64::MAX] {
            assert_eq!(in_register(value), value);
        }
        assert_eq!(read_again(&7), 7);
        let bytes = [1_u8, 2];
        assert_eq!(address_in_register(bytes.as_ptr()), bytes.as_ptr());
    }
}
