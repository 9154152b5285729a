//! The filter as a file, and over one; see [`file`](crate::file).

use super::AdaptiveFilter;
use crate::bits::Bytes;
use crate::bits::Packed;
use crate::error::Error;
use crate::file::{FileFilter, FilterKind, Header, file_methods};
use crate::filters::core::Core;
use crate::filters::table_size;
use crate::hash::{HashKind, Seed, StreamHash};
use crate::mem::HugePages;
use crate::table::Marks;
use crate::table::{Order, Table};
use crate::violation::Violation;

file_methods! {
    /// The same keys and seed give the same bytes until something adapts.
    AdaptiveFilter<H: StreamHash; M>
}

impl<H: StreamHash, M: Bytes> FileFilter<M> for AdaptiveFilter<H, M> {
    const KIND: FilterKind = FilterKind::Adaptive;
    const HASH: HashKind = H::KIND;

    fn header(&self) -> Header {
        self.core.header::<Self>(self.seed)
    }

    fn table(&self) -> &[u8] {
        self.core.table.as_bytes()
    }

    fn size(header: &Header) -> Option<(u64, usize)> {
        table_size::<Marks>(header)
    }

    fn most_value_bits(header: &Header) -> u32 {
        16.min(Packed::MAX_BITS - header.geometry.remainder_bits())
    }

    fn assemble(header: &Header, memory: M) -> Result<Self, Error> {
        Ok(AdaptiveFilter {
            core: Core::over(header, memory)?,
            keyed: H::keyed(&header.seed),
            seed: header.seed,
        })
    }

    fn verify(&mut self) -> Result<(), Violation> {
        self.core.verify(Order::Ascending, |_, _| Ok(()))
    }
}

impl<M: Bytes> Core<M> {
    /// What a file says about this table, as that of a filter `F`.
    pub(crate) fn header<F: FileFilter<M>>(&self, seed: Seed) -> Header {
        Header {
            value_bits: self.layout.value_bits,
            used: self.table.used(),
            ghosts: self.ghosts,
            ..Header::new::<M, F>(self.table.geometry(), seed, self.live())
        }
    }

    /// The table of a file.
    pub(crate) fn over(header: &Header, memory: M) -> Result<Self, Error> {
        let (layout, options) =
            Self::measures(header.geometry, header.value_bits, HugePages::default())?;
        // The header has been checked: each fingerprint has a slot that is used.
        let marked = header.used - header.live - header.ghosts;
        let table = match header.kind {
            FilterKind::StaticYesNo => {
                let blocks = (header.total >> 64) as u64;
                Table::over_blocks(memory, options, blocks, header.used, marked)
            }
            _ => Table::over(memory, options, header.used, marked),
        };
        Ok(Core {
            table: table?,
            layout,
            ghosts: header.ghosts,
        })
    }
}
