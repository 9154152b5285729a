//! The memory of a table: zeroed bytes, from huge pages where they help.
//!
//! A random access to a table of more than a few megabytes misses the translation
//! buffers as well as the caches. Pages of 2 MiB remove the first of the two; Linux
//! hands them out on request (`madvise`) where its administrator lets it. Nothing
//! depends on the answer. The crate `memmap2` does the asking, so there is no unsafe code
//! here.
//!
//! ```text
//! | 2 MiB | 2 MiB | 2 MiB |  rest  |         |
//! |---- huge pages asked -|
//! |------------- len --------------|         |
//! |------------------ mapped ----------------|
//! ```
//!
//! A huge page lies at a multiple of its size. Linux (6.7 and later) puts a mapping there whose
//! length is such a multiple, too; any other one lies anywhere, and a table of a few megabytes
//! would lose one of its huge pages by chance. So the length is rounded up: what nobody touches
//! of a mapping is address space and no memory. For the rest of the table small pages do, as
//! there are less than 512 of them.

use std::fmt;

use crate::error::Error;

/// The size of a huge page. From it on memory is mapped, and [`HugePages::Ask`] asks for them.
#[cfg(any(test, all(feature = "huge-pages", target_os = "linux")))]
const HUGE_PAGE: usize = 1 << 21;

/// Whether a table may ask the system for huge pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum HugePages {
    /// Ask if the table is at least 2 MiB and the feature `huge-pages` is on.
    #[default]
    Ask,
    /// Use ordinary memory.
    Never,
}

/// Zeroed bytes of a fixed length.
pub struct Memory(Source);

enum Source {
    Heap(Box<[u8]>),
    #[cfg(all(feature = "huge-pages", target_os = "linux"))]
    Mapped {
        map: memmap2::MmapMut,
        /// How many bytes of the mapping are meant.
        len: usize,
        huge_pages: HugePages,
    },
}

impl Memory {
    /// `len` zeroed bytes.
    ///
    /// # Errors
    /// [`Error::Geometry`] if the system has not that much memory to give.
    pub fn zeroed(len: usize, huge_pages: HugePages) -> Result<Self, Error> {
        let too_large =
            || Error::geometry(format!("a table of {len} bytes does not fit in memory"));
        #[cfg(all(feature = "huge-pages", target_os = "linux"))]
        if len >= HUGE_PAGE {
            let mapped = len.checked_next_multiple_of(HUGE_PAGE);
            let map = memmap2::MmapMut::map_anon(mapped.ok_or_else(too_large)?);
            let map = map.map_err(|_| too_large())?;
            if huge_pages == HugePages::Ask {
                let whole = len / HUGE_PAGE * HUGE_PAGE;
                // A wish, not a need: without it the table works on small pages.
                let _ = map.advise_range(memmap2::Advice::HugePage, 0, whole);
            }
            return Ok(Memory(Source::Mapped {
                map,
                len,
                huge_pages,
            }));
        }
        let _ = huge_pages;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(len).map_err(|_| too_large())?;
        bytes.resize(len, 0);
        Ok(Memory(Source::Heap(bytes.into_boxed_slice())))
    }

    /// A copy of the same bytes.
    ///
    /// # Errors
    /// As [`zeroed`](Self::zeroed).
    pub fn try_clone(&self) -> Result<Self, Error> {
        let huge_pages = match &self.0 {
            Source::Heap(_) => HugePages::default(),
            #[cfg(all(feature = "huge-pages", target_os = "linux"))]
            Source::Mapped { huge_pages, .. } => *huge_pages,
        };
        let mut copy = Self::zeroed(self.as_ref().len(), huge_pages)?;
        copy.as_mut().copy_from_slice(self.as_ref());
        Ok(copy)
    }
}

impl AsRef<[u8]> for Memory {
    #[inline(always)]
    fn as_ref(&self) -> &[u8] {
        match &self.0 {
            Source::Heap(bytes) => bytes,
            #[cfg(all(feature = "huge-pages", target_os = "linux"))]
            // There are as many; and where only the address is asked for, nothing is compared.
            Source::Mapped { map, len, .. } => map.get(..*len).unwrap_or(map),
        }
    }
}

impl AsMut<[u8]> for Memory {
    #[inline(always)]
    fn as_mut(&mut self) -> &mut [u8] {
        match &mut self.0 {
            Source::Heap(bytes) => bytes,
            #[cfg(all(feature = "huge-pages", target_os = "linux"))]
            Source::Mapped { map, len, .. } => {
                // As above: the compiler sees that this can't fail.
                let len = map.len().min(*len);
                &mut map[..len]
            }
        }
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Memory({} bytes)", self.as_ref().len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_zeroed_and_clones_by_value() {
        for len in [0, 1, 4096, HUGE_PAGE, HUGE_PAGE + 17] {
            for huge_pages in [HugePages::Ask, HugePages::Never] {
                let mut memory = Memory::zeroed(len, huge_pages).unwrap();
                assert_eq!(memory.as_ref().len(), len);
                assert!(memory.as_ref().iter().all(|&byte| byte == 0));
                memory.as_mut().fill(7);
                let copy = memory.try_clone().unwrap();
                memory.as_mut().fill(9);
                assert!(copy.as_ref().iter().all(|&byte| byte == 7));
            }
        }
    }

    #[test]
    fn memory_that_cannot_be_had_is_an_error() {
        for len in [usize::MAX / 4, usize::MAX] {
            let error = Memory::zeroed(len, HugePages::Ask).unwrap_err();
            assert!(error.to_string().contains("does not fit in memory"));
        }
    }
}
