//! The static list as a file, and over one; see [`file`](crate::file).

use super::StaticYesNo;
use crate::bits::Bytes;
use crate::error::Error;
use crate::file::{FileFilter, FilterKind, Header, file_methods};
use crate::filters::adaptive::AdaptiveFilter;
use crate::filters::core::Core;
use crate::filters::facade::TableCore;
use crate::filters::in_slots;
use crate::hash::{HashKind, Seed, StreamHash};
use crate::table::{Marks, Order, size};
use crate::violation::Violation;

file_methods! {
    /// The same lists and seed give the same bytes.
    StaticYesNo<H: StreamHash; M>
}

impl<H: StreamHash, M: Bytes> FileFilter<M> for StaticYesNo<H, M> {
    const KIND: FilterKind = FilterKind::StaticYesNo;
    const HASH: HashKind = H::KIND;

    fn header(&self) -> Header {
        header::<M, Self>(self.filter.core(), self.filter.seed(), self.no)
    }

    fn table(&self) -> &[u8] {
        self.filter.core().table.as_bytes()
    }

    fn size(header: &Header) -> Option<(u64, usize)> {
        let (slots, bits) = (header.geometry.slots(), header.geometry.remainder_bits());
        in_slots(size::<Marks>(
            slots,
            bits + header.value_bits,
            Some(blocks(header)),
        )?)
    }

    fn assemble(header: &Header, memory: M) -> Result<Self, Error> {
        let core = Core::of_file(header, memory, Some(blocks(header)))?;
        let filter = AdaptiveFilter::from_core(core, header.seed);
        Ok(StaticYesNo::of(filter, header.total as u64))
    }

    fn verify(&mut self) -> Result<(), Violation> {
        self.filter
            .core_mut()
            .verify_each(Order::Ascending, |home, tail| {
                if tail.count == 1 {
                    return Ok(());
                }
                Err(Violation::new("a list has a counter or a ghost", home))
            })
    }
}

/// How many blocks the table of a list has, by its file.
pub(super) fn blocks(header: &Header) -> u64 {
    (header.total >> 64) as u64
}

/// What a file says about the table of a list with this many NO keys.
pub(super) fn header<M: Bytes, F: FileFilter<M>>(core: &Core<M>, seed: Seed, no: u64) -> Header {
    Header {
        total: u128::from(core.table.slots() / 64) << 64 | u128::from(no),
        ..core.header::<F>(seed)
    }
}
