//! The filter as a file, and over one; see [`file`](crate::file).

use std::io::{self, Read, Write};

use super::{Core, QuotientFilter};
use crate::bits::Bytes;
use crate::error::Error;
use crate::file::{FileFilter, FilterKind, Header, Stored, read, sealed, write};
use crate::hash::{HashKind, StreamHash};
use crate::mem::HugePages;
use crate::table::{Geometry, Order, Table, TableOptions, Violation};

impl<H: StreamHash, M: Bytes> QuotientFilter<H, M> {
    /// The filter as a [file](crate::file) in memory. The same fingerprints and seed give the
    /// same bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        write::to_bytes(self)
    }

    /// Writes what [`to_bytes`](Self::to_bytes) gives, without making it in memory first.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_to(&self, writer: impl Write) -> io::Result<()> {
        write::write_to(self, writer)
    }
}

impl<H: StreamHash> QuotientFilter<H> {
    /// The filter of a [file](crate::file) in memory, all of which is verified.
    ///
    /// # Errors
    /// [`Error::Format`] if it holds something else, or with another hash,
    /// [`Error::Corrupt`] if it is damaged, [`Error::Geometry`] if there is no memory for it.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        read::from_bytes(bytes)
    }

    /// The same from a stream, of which nothing behind the file is read.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes), and [`Error::Io`] if the reader fails.
    pub fn read_from(reader: impl Read) -> Result<Self, Error> {
        read::read_from(reader)
    }
}

impl<H: StreamHash> sealed::Stored for QuotientFilter<H> {}

impl<H: StreamHash> Stored for QuotientFilter<H> {
    type View<'b> = QuotientFilter<H, &'b [u8]>;
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
        Header {
            kind: FilterKind::Plain,
            hash: H::KIND,
            geometry: self.core.geometry,
            value_bits: 0,
            seed: self.seed,
            used: self.len(),
            live: self.len(),
            ghosts: 0,
            total: 0,
            extra: [0; 32],
        }
    }

    fn table(&self) -> &[u8] {
        self.core.table.as_bytes()
    }

    fn assemble(header: &Header, memory: M) -> Result<Self, Error> {
        let options = table_options(&header.geometry, HugePages::default());
        Ok(QuotientFilter {
            core: Core {
                table: Table::over(memory, options, header.used)?,
                geometry: header.geometry,
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
