//! The static list as a file, and over one; see [`file`](crate::file).

use std::io::{self, Read, Write};

use super::StaticYesNo;
use crate::bits::Bytes;
use crate::error::Error;
use crate::file::{FileFilter, FilterKind, Header, Stored, read, sealed, write};
use crate::filters::adaptive::AdaptiveFilter;
use crate::filters::adaptive::core::Core;
use crate::hash::{HashKind, StreamHash};
use crate::table::{Order, Violation};

impl<H: StreamHash, M: Bytes> StaticYesNo<H, M> {
    /// The list as a [file](crate::file) in memory. The same lists and seed give the same
    /// bytes.
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

impl<H: StreamHash> StaticYesNo<H> {
    /// The list of a [file](crate::file) in memory, all of which is verified.
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

impl<H: StreamHash> sealed::Stored for StaticYesNo<H> {}

impl<H: StreamHash> Stored for StaticYesNo<H> {
    type View<'b> = StaticYesNo<H, &'b [u8]>;
}

impl<H: StreamHash, M: Bytes> FileFilter<M> for StaticYesNo<H, M> {
    const KIND: FilterKind = FilterKind::StaticYesNo;
    const HASH: HashKind = H::KIND;

    fn header(&self) -> Header {
        let core = self.filter.core();
        Header {
            hash: H::KIND,
            ..header(core, self.filter.seed(), self.no)
        }
    }

    fn table(&self) -> &[u8] {
        self.filter.core().table.as_bytes()
    }

    fn assemble(header: &Header, memory: M) -> Result<Self, Error> {
        let filter = AdaptiveFilter::from_core(Core::over(header, memory)?, header.seed);
        Ok(StaticYesNo::of(filter, header.total as u64))
    }

    fn verify(&mut self) -> Result<(), Violation> {
        self.filter
            .core_mut()
            .verify(Order::Ascending, |home, tail| {
                if tail.count == 1 {
                    return Ok(());
                }
                Err(Violation::new("a list has a counter or a ghost", home))
            })
    }
}

/// What a file says about a table with this many NO keys, hash aside.
pub(super) fn header<M: Bytes>(core: &Core<M>, seed: crate::hash::Seed, no: u64) -> Header {
    Header {
        kind: FilterKind::StaticYesNo,
        total: u128::from(core.table.slots() / 64) << 64 | u128::from(no),
        ..core.header(seed)
    }
}
