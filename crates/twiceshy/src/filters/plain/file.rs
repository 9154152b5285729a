//! The filter as a file, and over one; see [`file`](crate::file).

use super::{Core, QuotientFilter};
use crate::bits::Bytes;
use crate::error::Error;
use crate::file::{FileFilter, FilterKind, Header, file_methods};
use crate::filters::table_size;
use crate::geometry::Geometry;
use crate::hash::{HashKind, StreamHash};
use crate::mem::HugePages;
use crate::table::Bare;
use crate::table::{Order, Table, TableOptions};
use crate::violation::Violation;

file_methods! {
    /// The same fingerprints and seed give the same bytes.
    QuotientFilter<H: StreamHash; M>
}

/// What the table of a plain filter is built from.
pub(super) fn table_options(geometry: &Geometry, huge_pages: HugePages) -> TableOptions {
    TableOptions {
        quotients: geometry.slots(),
        slot_bits: geometry.remainder_bits(),
        ignored_bits: 0,
        huge_pages,
    }
}

impl<H: StreamHash, M: Bytes> FileFilter<M> for QuotientFilter<H, M> {
    const KIND: FilterKind = FilterKind::Plain;
    const HASH: HashKind = H::KIND;

    fn header(&self) -> Header {
        Header::new::<M, Self>(self.core.table.geometry(), self.seed, self.len())
    }

    fn table(&self) -> &[u8] {
        self.core.table.as_bytes()
    }

    fn size(header: &Header) -> Option<(u64, usize)> {
        table_size::<Bare>(header)
    }

    fn assemble(header: &Header, memory: M) -> Result<Self, Error> {
        let options = table_options(&header.geometry, HugePages::default());
        Ok(QuotientFilter {
            core: Core {
                table: Table::over(memory, options, header.used, 0)?,
            },
            keyed: H::keyed(&header.seed),
            seed: header.seed,
        })
    }

    fn verify(&mut self) -> Result<(), Violation> {
        let verified = self.core.table.verify(Order::Ascending, |_| Ok(()));
        verified.map(|_marked| ())
    }
}
