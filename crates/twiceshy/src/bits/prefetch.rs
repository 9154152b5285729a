//! Asking for a cache line before it is needed.

/// Asks for the cache line with byte `at` of `bytes`. Does nothing where there is no such
/// instruction; a byte that isn't there does no harm.
#[inline(always)]
pub fn prefetch(bytes: &[u8], at: usize) {
    #[cfg(all(target_arch = "x86_64", not(twiceshy_portable)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let line = bytes.as_ptr().wrapping_add(at);
        // SAFETY: a prefetch reads nothing and is allowed at any address; every x86-64 has it.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(twiceshy_portable))))]
    {
        let _ = (bytes, at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_place_will_do() {
        let bytes = [1, 2, 3];
        for at in [0, 2, 3, 1 << 20, usize::MAX] {
            prefetch(&bytes, at);
        }
        assert_eq!(bytes, [1, 2, 3]);
    }
}
