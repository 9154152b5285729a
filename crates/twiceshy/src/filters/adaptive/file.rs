//! The filter as a file, and over one; see [`file`](crate::file).

use std::io::{self, Read, Write};

use super::AdaptiveFilter;
use super::core::Core;
use super::marked::Extras;
use crate::bits::Bytes;
use crate::error::Error;
use crate::file::{FileFilter, FilterKind, Header, Stored, read, sealed, write};
use crate::hash::{HashKind, Seed, StreamHash};
use crate::mem::HugePages;
use crate::table::{Order, Table, Violation};

impl<H: StreamHash, M: Bytes> AdaptiveFilter<H, M> {
    /// The filter as a [file](crate::file) in memory, with all that it has learnt. The same
    /// keys and seed give the same bytes until something adapts.
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

impl<H: StreamHash> AdaptiveFilter<H> {
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

impl<H: StreamHash> sealed::Stored for AdaptiveFilter<H> {}

impl<H: StreamHash> Stored for AdaptiveFilter<H> {
    type View<'b> = AdaptiveFilter<H, &'b [u8]>;
}

impl<H: StreamHash, M: Bytes> FileFilter<M> for AdaptiveFilter<H, M> {
    const KIND: FilterKind = FilterKind::Adaptive;
    const HASH: HashKind = H::KIND;

    fn header(&self) -> Header {
        Header {
            hash: H::KIND,
            ..self.core.header(self.seed)
        }
    }

    fn table(&self) -> &[u8] {
        self.core.table.as_bytes()
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
    /// What a file says about this table, as that of an adaptive filter.
    pub(crate) fn header(&self, seed: Seed) -> Header {
        Header {
            kind: FilterKind::Adaptive,
            hash: HashKind::Other,
            geometry: self.geometry,
            value_bits: self.layout.value_bits,
            seed,
            used: self.table.used(),
            live: self.live(),
            ghosts: self.ghosts,
            total: 0,
            extra: [0; 32],
        }
    }

    /// The table of a file.
    pub(crate) fn over(header: &Header, memory: M) -> Result<Self, Error> {
        let (layout, options) =
            Self::measures(header.geometry, header.value_bits, HugePages::default())?;
        let table = match header.kind {
            FilterKind::StaticYesNo => {
                let blocks = (header.total >> 64) as u64;
                Table::over_blocks(memory, options, blocks, header.used)
            }
            _ => Table::over(memory, options, header.used),
        };
        Ok(Core {
            table: table?,
            geometry: header.geometry,
            layout,
            // The header has been checked: of the used slots as many are homes of live ones.
            // To know whether there are counters, one has to look at all of it.
            extras: Extras::new(layout.value_bits, header.used - header.live, true),
            ghosts: header.ghosts,
        })
    }
}
