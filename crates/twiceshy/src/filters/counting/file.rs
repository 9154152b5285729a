//! The filter as a file, and over one; see [`file`](crate::file).

use std::io::{self, Read, Write};

use super::CountingFilter;
use crate::bits::Bytes;
use crate::error::Error;
use crate::file::{FileFilter, FilterKind, Header, Stored, read, sealed, write};
use crate::filters::adaptive::core::Core;
use crate::hash::{HashKind, StreamHash};
use crate::table::{Order, Violation};

impl<H: StreamHash, M: Bytes> CountingFilter<H, M> {
    /// The filter as a [file](crate::file) in memory. The same fingerprints, counts and seed
    /// give the same bytes.
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

impl<H: StreamHash> CountingFilter<H> {
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

impl<H: StreamHash> sealed::Stored for CountingFilter<H> {}

impl<H: StreamHash> Stored for CountingFilter<H> {
    type View<'b> = CountingFilter<H, &'b [u8]>;
}

impl<H: StreamHash, M: Bytes> FileFilter<M> for CountingFilter<H, M> {
    const KIND: FilterKind = FilterKind::Counting;
    const HASH: HashKind = H::KIND;

    fn header(&self) -> Header {
        Header {
            kind: FilterKind::Counting,
            hash: H::KIND,
            total: self.total,
            extra: [0; 32],
            ..self.core.header(self.seed)
        }
    }

    fn table(&self) -> &[u8] {
        self.core.table.as_bytes()
    }

    fn assemble(header: &Header, memory: M) -> Result<Self, Error> {
        Ok(CountingFilter {
            core: Core::over(header, memory)?,
            total: header.total,
            keyed: H::keyed(&header.seed),
            seed: header.seed,
        })
    }

    fn verify(&mut self) -> Result<(), Violation> {
        let mut extra = 0;
        self.core.verify(Order::Distinct, |home, print| {
            if print.extended || print.count == 0 {
                return Err(Violation::new("a counting filter holds but counts", home));
            }
            extra += u128::from(print.count - 1);
            Ok(())
        })?;
        if u128::from(self.distinct()) + extra != self.total {
            return Err(Violation::new("the sum of all counts is wrong", self.len()));
        }
        Ok(())
    }
}
