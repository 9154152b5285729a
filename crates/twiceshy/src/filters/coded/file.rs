//! The filter as a file, and over one; see [`file`](crate::file). What to do about full codes is
//! not part of a file.

use super::core::Core;
use super::symbols::Symbols;
use super::{CodedFilter, Overflow};
use crate::bits::Bytes;
use crate::error::Error;
use crate::file::{FileFilter, FilterKind, Header, file_methods};
use crate::filters::table_size;
use crate::hash::{HashKind, StreamHash};
use crate::violation::Violation;

file_methods! {
    CodedFilter<S: Symbols, H: StreamHash; M>
}

impl<S: Symbols, H: StreamHash, M: Bytes> FileFilter<M> for CodedFilter<S, H, M> {
    const KIND: FilterKind = S::KIND;
    const HASH: HashKind = H::KIND;

    fn header(&self) -> Header {
        Header::new::<M, Self>(self.core.table.geometry(), self.seed, self.len())
    }

    fn table(&self) -> &[u8] {
        self.core.table.as_bytes()
    }

    fn size(header: &Header) -> Option<(u64, usize)> {
        table_size::<S::Lane>(header)
    }

    fn assemble(header: &Header, memory: M) -> Result<Self, Error> {
        Ok(CodedFilter {
            core: Core::over(header.geometry, memory, header.used)?,
            keyed: H::keyed(&header.seed),
            seed: header.seed,
            overflow: Overflow::default(),
        })
    }

    fn verify(&mut self) -> Result<(), Violation> {
        self.core.verify()
    }
}
