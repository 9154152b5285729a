//! The filter as a file, and over one; see [`file`](crate::file).

use std::io::{self, Read, Write};

use super::{SelectorCoding, TelescopingFilter};
use crate::bits::Bytes;
use crate::error::Error;
use crate::file::{FileFilter, FilterKind, Header, Stored, read, sealed, write};
use crate::filters::lettered::{Core, Overflow};
use crate::hash::{HashKind, StreamHash};
use crate::table::Violation;

impl<H: StreamHash, C: SelectorCoding, M: Bytes> TelescopingFilter<H, C, M> {
    /// The filter as a [file](crate::file) in memory.
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

impl<H: StreamHash, C: SelectorCoding> TelescopingFilter<H, C> {
    /// The filter of a [file](crate::file) in memory, all of which is verified, codes
    /// included. What to do about full codes is not part of a file: see
    /// [`with_overflow`](Self::with_overflow).
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

impl<H: StreamHash, C: SelectorCoding> sealed::Stored for TelescopingFilter<H, C> {}

impl<H: StreamHash, C: SelectorCoding> Stored for TelescopingFilter<H, C> {
    type View<'b> = TelescopingFilter<H, C, &'b [u8]>;
}

impl<H: StreamHash, C: SelectorCoding, M: Bytes> FileFilter<M> for TelescopingFilter<H, C, M> {
    const KIND: FilterKind = C::KIND;
    const HASH: HashKind = H::KIND;

    fn header(&self) -> Header {
        Header {
            kind: C::KIND,
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
        let coding = C::for_width(header.geometry.remainder_bits());
        Ok(TelescopingFilter {
            core: Core::over(header.geometry, memory, header.used, coding)?,
            keyed: H::keyed(&header.seed),
            seed: header.seed,
            overflow: Overflow::default(),
        })
    }

    fn verify(&mut self) -> Result<(), Violation> {
        self.core.verify()
    }
}
